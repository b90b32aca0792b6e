"""Equivalence classes and the per-class numbers that measures and constraints read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]
"""Rows, and counts that are only compared, divided or summed: of 32 bits in large files."""


def _unknown() -> Counts:
    return np.empty(0, dtype=np.int64)


def _no_numbers() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """Numbers of each equivalence class; every array has shape (classes,) unless stated.

    Constraints need the counts up to ``population``; what follows them says more for the
    measures of a whole file, and may be left out. A missing sensitive value is no value: it
    adds to the records and persons of its class only.

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
    distance
        Per sensitive attribute, the distance of its values over records from those of the whole
        file: half the sum of the differences of shares; 0 in a class without a value.
    ordered_distance
        The earth mover's distance on ranks instead, for attributes whose values are numbers and
        for which it was asked.
    fewest_sharing
        Over the numbers of records that occur, the fewest persons who share one; where persons
        have several ids, the fewest who have an id with one number of records.
    population
        Number of persons of a population register F_t who look like the class; empty without one.
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
    fewest_sharing_row
        0-based first row of a person with the rarest number of records.
    alone
        Number of persons whose number of records nobody else of the class shares.
    count_risk
        Largest share of the ids with one number of records that are one person's: with one id
        per person 1 / ``fewest_sharing``.
    count_risk_row
        0-based first row of an id with that share.
    count_risk_total
        Sum over persons of the largest such share of each.
    """

    records: Counts
    persons: Counts
    squares: Counts
    largest: Integers
    affiliation: Mapping[str, Integers] = field(default_factory=dict)
    distinct: Mapping[str, Integers] = field(default_factory=dict)
    distance: Mapping[str, Floats] = field(default_factory=dict)
    ordered_distance: Mapping[str, Floats] = field(default_factory=dict)
    fewest_sharing: Integers = field(default_factory=_unknown)
    population: Counts = field(default_factory=_unknown)
    first_row: Integers = field(default_factory=_unknown)
    largest_row: Integers = field(default_factory=_unknown)
    affiliation_row: Mapping[str, Integers] = field(default_factory=dict)
    entropy: Mapping[str, Floats] = field(default_factory=dict)
    valued: Mapping[str, Integers] = field(default_factory=dict)
    commonest: Mapping[str, Integers] = field(default_factory=dict)
    fewest_sharing_row: Integers = field(default_factory=_unknown)
    alone: Integers = field(default_factory=_unknown)
    count_risk: Floats = field(default_factory=_no_numbers)
    count_risk_row: Integers = field(default_factory=_unknown)
    count_risk_total: Floats = field(default_factory=_no_numbers)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.records)

    def each_array(self, made: Callable[[Any], Any]) -> ClassSummary:
        """The same with every array replaced by what is made of it."""
        own: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mapping):
                own[each.name] = {name: made(array) for name, array in value.items()}
            else:
                own[each.name] = made(value)
        return ClassSummary(**own)

    def arrays(self) -> Iterator[npt.NDArray[Any]]:
        """Every array, in the order of the attributes."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Mapping):
                yield from value.values()
            else:
                yield value


class LaterSummary(ClassSummary):
    """A summary that is made when one of its arrays is first read.

    Parameters
    ----------
    make
        What makes it.
    """

    def __init__(self, make: Callable[[], ClassSummary]) -> None:
        object.__setattr__(self, "_make", make)

    def __getattr__(self, name: str) -> Any:
        if name not in {each.name for each in fields(self)}:
            raise AttributeError(name)
        made = self._make()
        for each in fields(self):
            object.__setattr__(self, each.name, getattr(made, each.name))
        return getattr(made, name)
