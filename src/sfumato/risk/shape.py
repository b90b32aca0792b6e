"""How the classes of a file are distributed: what plots and checks read beside the measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sfumato.risk.classes import ClassSummary, Counts, Floats
from sfumato.risk.multi_record import gidr, gsar

SHARE_BINS = 20
"""Bins of equal width on [0, 1]."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class ClassShape:
    """Numbers of classes by size and by share; no class of its own.

    Attributes
    ----------
    persons
        The class sizes that occur, in persons, ascending; shape (sizes,).
    classes
        Number of classes of each size; shape (sizes,).
    records
        Number of records in the classes of each size; shape (sizes,).
    gidr
        Number of classes by their GIDR, in `SHARE_BINS` bins of equal width on [0, 1], each open
        at its left end but the first; shape (`SHARE_BINS`,).
    gsar
        The same by their GSAR, per sensitive attribute.
    balance
        Sum of c_i^2 and number of records N_t of the class with the smallest g-balance.
    """

    persons: Counts
    classes: Counts
    records: Counts
    gidr: Counts
    gsar: Mapping[str, Counts] = field(default_factory=dict)
    balance: tuple[int, int] = (0, 0)

    @property
    def held(self) -> int:
        """Number of persons, each counted once in every class that they are in."""
        return int(self.persons @ self.classes)

    @property
    def alone(self) -> float:
        """Share of the classes that hold one person."""
        return float(self.classes[self.persons == 1].sum()) / int(self.classes.sum())

    def share_above(self, risk: float) -> float:
        """Share of the records in classes with 1 / persons above a risk."""
        at_risk = 1.0 / self.persons > risk
        return float(self.records[at_risk].sum()) / int(self.records.sum())


def shape_of(summary: ClassSummary, balance: tuple[int, int]) -> ClassShape:
    """The distribution of classes that were summarised: O(classes + largest class).

    Parameters
    ----------
    summary
        The classes.
    balance
        Sum of squares and records of the class with the smallest g-balance.
    """
    classes = np.bincount(summary.persons)
    sizes = np.flatnonzero(classes)
    return ClassShape(
        persons=sizes.astype(np.int64),
        classes=classes[sizes].astype(np.int64),
        records=np.bincount(summary.persons, summary.records)[sizes].astype(np.int64),
        gidr=share_counts(gidr(summary)),
        gsar={name: share_counts(gsar(summary, name)) for name in summary.affiliation},
        balance=balance,
    )


def share_counts(shares: Floats) -> Counts:
    """Number of values in each of 20 bins on [0, 1], each open at its left end; 0 is in the first.

    Parameters
    ----------
    shares
        Values in [0, 1].
    """
    bin_of = np.ceil(shares * SHARE_BINS - ROUNDING).astype(np.int64) - 1
    counts = np.bincount(np.clip(bin_of, 0, SHARE_BINS - 1), minlength=SHARE_BINS)
    return counts.astype(np.int64)
