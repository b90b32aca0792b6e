"""Per equivalence class: how often each person and each sensitive value occurs.

The counts read the records in one order: by class, within a class by person, within a person by
row. It is made once, and columns are put into it once, so that memory is read from one end to
the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels import summaries_twin
from sfumato.kernels.choose import COMPILED_ABOVE, SORTING, worth_compiling
from sfumato.kernels.threads import PARTS, in_threads, parts

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]
MANY = 32
"""Records of a class, on average, from which all of them are sorted together."""
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
    """The records by class, within a class by person, within a person by row.

    Attributes
    ----------
    rows
        The 0-based rows in that order, shape (records,).
    starts
        Where each class starts in it, shape (classes + 1,).
    owners
        The person of each of ``rows``, shape (records,).
    """

    rows: Codes
    starts: Counts
    owners: Codes


def count_records(class_of: Codes, classes: int) -> tuple[Counts, Counts]:
    """The number of records of each class, and its 0-based first row: O(records).

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    classes
        Number of classes. The first row of one without a record means nothing.
    """
    first = np.zeros(classes, dtype=np.int64)
    first[class_of[::-1]] = np.arange(len(class_of) - 1, -1, -1)
    return np.bincount(class_of, minlength=classes), first


def class_order(class_of: Codes, records: Counts, person: Codes) -> ClassOrder:
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
        return ClassOrder(*summaries_twin.class_order(class_of, person, starts))
    from sfumato.kernels import summaries_loops

    rows, owners = np.empty_like(person), np.empty_like(person)
    if len(person) > MANY * len(records):
        by_person = np.empty_like(person)
        summaries_loops.order_by_person(person, int(person.max()) + 1, by_person)
        summaries_loops.order_by_class(class_of, person, by_person, starts, rows, owners)
        return ClassOrder(rows, starts, owners)
    keys = np.empty(len(person), dtype=np.int64)

    def order(begin: int, end: int) -> None:
        summaries_loops.order_classes(class_of, person, starts, begin, end, keys, rows, owners)

    wanted = len(person) * np.arange(1, SCANS) // SCANS
    edges = [0, *np.searchsorted(starts, wanted).tolist(), len(records)]
    in_threads([partial(order, *edge) for edge in pairwise(edges)])
    return ClassOrder(rows, starts, owners)


def in_order(order: ClassOrder, codes: Codes) -> Codes:
    """A column in the order of the classes, shape (records,)."""
    if not worth_compiling(len(codes), SORTING):
        return codes[order.rows]
    from sfumato.kernels import summaries_loops

    taken = np.empty_like(codes)
    edges = np.linspace(0, len(codes), PARTS + 1).astype(np.int64).tolist()
    in_threads(
        [partial(summaries_loops.take, codes, order.rows, *edge, taken) for edge in pairwise(edges)]
    )
    return taken


def count_persons(order: ClassOrder) -> PersonCounts:
    """Count the records of each person in each class: O(records).

    Parameters
    ----------
    order
        What `class_order` gave; no class is empty.
    """
    rows, starts, owners = order
    if not worth_compiling(len(rows), SORTING):
        return PersonCounts(*summaries_twin.count_persons(rows, starts, owners))
    from sfumato.kernels import summaries_loops

    counts = np.empty((2, len(starts) - 1), dtype=np.int64)
    largest = np.empty((2, len(starts) - 1), dtype=np.int32)

    def count(begin: int, end: int) -> None:
        summaries_loops.count_persons(rows, starts, owners, begin, end, counts, largest)

    of_classes(starts, count)
    return PersonCounts(*counts, *largest)


def count_values(order: ClassOrder, codes: Codes, file: Counts) -> ValueCounts:
    """Count the records and the persons of each sensitive value in each class: O(records).

    Parameters
    ----------
    order
        What `class_order` gave; no class is empty.
    codes
        Sensitive value of each record in [-1, values), -1 for missing, as `in_order` gives them.
    file
        Number of records of the file with each value, shape (values,).
    """
    rows, starts, owners = order
    share = file / max(file.sum(), 1)
    if not worth_compiling(len(rows), SORTING):
        return ValueCounts(*summaries_twin.count_values(rows, starts, owners, codes, share))
    from sfumato.kernels import summaries_loops

    counts = np.empty((6, len(starts) - 1), dtype=np.int32)
    spread = np.empty((2, len(starts) - 1))

    def count(begin: int, end: int) -> None:
        scratch = np.full((5, len(share)), -1, dtype=np.int64)
        summaries_loops.count_values(
            rows, starts, owners, codes, share, begin, end, scratch, counts, spread
        )

    of_classes(starts, count)
    affiliation, affiliation_row, distinct, valued = counts[:4]
    entropy, distance = spread
    commonest = counts[4:].T
    return ValueCounts(affiliation, affiliation_row, distinct, entropy, valued, commonest, distance)


def of_classes(starts: Counts, count: Callable[[int, int], None]) -> None:
    """Count some runs of classes, on all processors."""
    runs = parts(starts[1:], COMPILED_ABOVE)
    in_threads([partial(count, run.start, run.stop) for run in runs])
