"""Per equivalence class: how often each person and each sensitive value occurs.

The counts read the records in one order: by class, within a class by person, within a person by
row. It is made once for all classes; what follows is counted for some of them at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels import summaries_twin
from sfumato.kernels.choose import ONCE, SORTING, worth_compiling
from sfumato.kernels.threads import in_threads

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]
MANY = 32
"""Records of a class, on average, from which all of them are sorted together."""
ROW_BITS = 32
ROW = (1 << ROW_BITS) - 1
"""The bits of a key that hold its row; those above hold its person."""
SCANS = 4
"""Runs of classes, each of which looks through all records for its own."""


class PersonCounts(NamedTuple):
    """What the records of each person say; every array has shape (classes,).

    Attributes
    ----------
    persons
        Number of distinct persons.
    squares
        Sum over persons of the squared number of their records in the class.
    largest
        Number of records of the person who has most of them in the class.
    largest_row
        0-based row of that person's first record in the class; of tied persons the first row.
    """

    persons: Counts
    squares: Counts
    largest: Integers
    largest_row: Integers


class ValueCounts(NamedTuple):
    """What the values of one sensitive attribute say; shape (classes,) unless stated.

    A missing value is no value: it is counted nowhere here.

    Attributes
    ----------
    affiliation
        Number of persons who share the most shared value.
    affiliation_row
        0-based row of the first record with that value (of tied values the first row); -1 in a
        class without a value.
    distinct
        Number of distinct values.
    entropy
        Entropy of the records' values, in nats; 0 in a class without a value.
    valued
        Number of records that have a value.
    commonest
        Number of records with the commonest and with the second commonest value, shape
        (classes, 2).
    distance
        Equal distance of the records' values from those of the whole file, see `distances`.
    """

    affiliation: Integers
    affiliation_row: Integers
    distinct: Integers
    entropy: Floats
    valued: Integers
    commonest: Integers
    distance: Floats


class ClassOrder(NamedTuple):
    """The records of some classes by class, within a class by person, within a person by row.

    Attributes
    ----------
    rows
        The 0-based rows in that order, shape (records,).
    starts
        Where each class starts in it, shape (classes + 1,).
    owners
        The person of each of ``rows``, shape (records,).
    compiled
        Whether the compiled loops count them.
    """

    rows: Codes
    starts: Counts
    owners: Codes
    compiled: bool


@dataclass(frozen=True, eq=False)
class RecordOrder:
    """All records by class, within a class by person, within a person by row.

    Attributes
    ----------
    keys
        The person of each record times 2**32, plus its 0-based row; shape (records,).
    starts
        Where each class starts, shape (classes + 1,).
    compiled
        Whether the compiled loops count them.
    """

    keys: Counts
    starts: Counts
    compiled: bool

    def part(self, start: int, stop: int) -> ClassOrder:
        """The records of the classes from ``start`` to before ``stop``."""
        begin, end = self.starts[start], self.starts[stop]
        own = self.keys[begin:end]
        return ClassOrder(
            (own & ROW).astype(np.int32),
            self.starts[start : stop + 1] - begin,
            (own >> ROW_BITS).astype(np.int32),
            self.compiled,
        )


def count_records(class_of: Codes, classes: int) -> tuple[Counts, Codes]:
    """The number of records of each class, and its 0-based first row: O(records).

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    classes
        Number of classes. The first row of one without a record means nothing.
    """
    if not worth_compiling(len(class_of), ONCE):
        return summaries_twin.count_records(class_of, classes)
    from sfumato.kernels import summaries_loops

    counts = np.zeros((classes, 2), dtype=np.int32)
    summaries_loops.count_records(class_of, counts)
    return counts[:, 0].astype(np.int64), counts[:, 1].copy()


def class_order(class_of: Codes, records: Counts, person: Codes) -> RecordOrder:
    """Order the records by class, within a class by person, within a person by row.

    Classes of few records are sorted each by itself, after one pass that moves the records to
    their classes. Where they have many, two stable counting sorts take O(records + persons +
    classes). Small inputs sort by comparison.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    records
        Number of records of each class.
    person
        Index of each record's person, from 0, shape (records,).
    """
    starts = np.zeros(len(records) + 1, dtype=np.int64)
    np.cumsum(records, out=starts[1:])
    if not worth_compiling(len(person), SORTING):
        return RecordOrder(
            summaries_twin.class_order(class_of, person, len(records)), starts, False
        )
    from sfumato.kernels import summaries_loops

    keys = np.empty(len(person), dtype=np.int64)
    if len(person) > MANY * len(records):
        by_person = np.empty_like(person)
        place = np.zeros(int(person.max()) + 2, dtype=np.int64)
        summaries_loops.order_by_person(person, place, by_person)
        summaries_loops.order_by_class(class_of, person, by_person, starts[:-1].copy(), keys)
        return RecordOrder(keys, starts, True)

    def order(begin: int, end: int) -> None:
        place = starts[begin:end].copy()
        summaries_loops.order_classes(class_of, person, starts, begin, place, keys)
        for t in begin + np.flatnonzero(records[begin:end] >= summaries_loops.LARGE):
            keys[starts[t] : starts[t + 1]].sort()

    wanted = len(person) * np.arange(1, SCANS) // SCANS
    edges = [0, *np.searchsorted(starts, wanted).tolist(), len(records)]
    in_threads([partial(order, *edge) for edge in pairwise(edges)])
    return RecordOrder(keys, starts, True)


def in_order(order: ClassOrder, codes: Codes) -> Codes:
    """A column in the order of some classes, shape (records,)."""
    if not order.compiled:
        return codes[order.rows]
    from sfumato.kernels import summaries_loops

    taken = np.empty_like(order.rows)
    summaries_loops.take(codes, order.rows, taken)
    return taken


def count_persons(order: ClassOrder) -> PersonCounts:
    """Count the records of each person in each class: O(records).

    Parameters
    ----------
    order
        Records of some classes, none of them empty.
    """
    rows, starts, owners, compiled = order
    if not compiled:
        return PersonCounts(*summaries_twin.count_persons(rows, starts, owners))
    from sfumato.kernels import summaries_loops

    counts = np.empty((2, len(starts) - 1), dtype=np.int64)
    largest = np.empty((2, len(starts) - 1), dtype=np.int32)
    summaries_loops.count_persons(rows, starts, owners, counts, largest)
    return PersonCounts(*counts, *largest)


def count_values(order: ClassOrder, codes: Codes, file: Counts) -> ValueCounts:
    """Count the records and the persons of each sensitive value in each class: O(records).

    Parameters
    ----------
    order
        Records of some classes, none of them empty.
    codes
        Sensitive value of each record in [-1, values), -1 for missing, as `in_order` gives them.
    file
        Number of records of the file with each value, shape (values,).
    """
    rows, starts, owners, compiled = order
    share = file / max(file.sum(), 1)
    if not compiled:
        return ValueCounts(*summaries_twin.count_values(rows, starts, owners, codes, share))
    from sfumato.kernels import summaries_loops

    counts = np.empty((6, len(starts) - 1), dtype=np.int32)
    spread = np.empty((2, len(starts) - 1))
    scratch = np.full((5, len(share)), -1, dtype=np.int64)
    summaries_loops.count_values(rows, starts, owners, codes, share, scratch, counts, spread)
    affiliation, affiliation_row, distinct, valued = counts[:4]
    entropy, distance = spread
    commonest = counts[4:].T
    return ValueCounts(affiliation, affiliation_row, distinct, entropy, valued, commonest, distance)
