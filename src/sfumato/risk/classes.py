"""Equivalence classes and the per-class numbers that measures and constraints read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def _unknown() -> Counts:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """Numbers of each equivalence class; every array has shape (classes,) unless stated.

    Constraints need the counts up to ``distinct``; what follows them says more for the measures
    of a whole file, and may be left out. A missing sensitive value is no value: it adds to the
    records and persons of its class only.

    Attributes
    ----------
    records
        Number of records N_t.
    persons
        Number of distinct persons n_t.
    squares
        Sum over persons of the squared number of their records in the class.
    largest
        Number of records of the person who has most of them in the class.
    affiliation
        Per sensitive attribute, the number of persons who share its most shared value
        (max n_j of paper 003, Definition 3).
    distinct
        Per sensitive attribute, its number of distinct values in the class.
    first_row
        0-based row of the class's first record.
    largest_row
        0-based row of the first record of the person who has most of them.
    affiliation_row
        Per sensitive attribute, the 0-based row of the first record with its most shared
        value; -1 in a class without a value.
    entropy
        Per sensitive attribute, the entropy of its values over records, in nats.
    valued
        Per sensitive attribute, the number of records that have a value.
    commonest
        Per sensitive attribute, the number of records with its commonest and with its second
        commonest value, shape (classes, 2).
    """

    records: Counts
    persons: Counts
    squares: Counts
    largest: Counts
    affiliation: Mapping[str, Counts] = field(default_factory=dict)
    distinct: Mapping[str, Counts] = field(default_factory=dict)
    first_row: Counts = field(default_factory=_unknown)
    largest_row: Counts = field(default_factory=_unknown)
    affiliation_row: Mapping[str, Counts] = field(default_factory=dict)
    entropy: Mapping[str, Floats] = field(default_factory=dict)
    valued: Mapping[str, Counts] = field(default_factory=dict)
    commonest: Mapping[str, Counts] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.records)
