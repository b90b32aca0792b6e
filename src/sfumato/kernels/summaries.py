"""Per equivalence class: how often each person and each sensitive value occurs.

All functions here work on one order of the records: by class, within a class by person, within
a person by row. It is made once and read by every sensitive attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels import summaries_twin
from sfumato.kernels.choose import COMPILED_ABOVE, worth_compiling
from sfumato.kernels.threads import in_threads, parts

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    first_row
        0-based row of the class's first record.
    """

    persons: Counts
    squares: Counts
    largest: Counts
    largest_row: Counts
    first_row: Counts


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
    """

    affiliation: Counts
    affiliation_row: Counts
    distinct: Counts
    entropy: Floats
    valued: Counts
    commonest: Counts


def class_order(class_of: Codes, classes: int, person: Codes) -> tuple[Codes, Counts]:
    """Order the records by class, within a class by person, within a person by row.

    Two stable counting sorts, the first of which is skipped where the rows are in the order of
    persons already: O(records + persons + classes). Small inputs sort by comparison.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,).
    classes
        Number of classes.
    person
        Index of each record's person, from 0, shape (records,).

    Returns
    -------
    tuple
        The rows in that order, shape (records,), and where each class starts in it,
        shape (classes + 1,).
    """
    if not worth_compiling(len(person)):
        return summaries_twin.class_order(class_of, classes, person)
    from sfumato.kernels import summaries_loops

    rows = np.empty(len(person), dtype=np.int32)
    starts = np.zeros(classes + 1, dtype=np.int64)
    summaries_loops.class_order(class_of, person, int(person.max()) + 1, rows, starts)
    return rows, starts


def count_persons(rows: Codes, starts: Counts, person: Codes) -> PersonCounts:
    """Count the records of each person in each class: O(records).

    Parameters
    ----------
    rows, starts
        What `class_order` gave; no class is empty.
    person
        Index of each record's person, shape (records,).
    """
    if not worth_compiling(len(person)):
        return PersonCounts(*summaries_twin.count_persons(rows, starts, person))
    from sfumato.kernels import summaries_loops

    counts = np.empty((5, len(starts) - 1), dtype=np.int64)

    def count(begin: int, end: int) -> None:
        summaries_loops.count_persons(rows, starts, person, begin, end, counts)

    _of_classes(starts, count)
    return PersonCounts(*counts)


def count_values(
    rows: Codes, starts: Counts, person: Codes, codes: Codes, values: int
) -> ValueCounts:
    """Count the records and the persons of each sensitive value in each class: O(records).

    Parameters
    ----------
    rows, starts
        What `class_order` gave; no class is empty.
    person
        Index of each record's person, shape (records,).
    codes
        Sensitive value of each record in [-1, values), -1 for missing, shape (records,).
    values
        Number of possible values.
    """
    if not worth_compiling(len(person)):
        return ValueCounts(*summaries_twin.count_values(rows, starts, person, codes))
    from sfumato.kernels import summaries_loops

    classes = len(starts) - 1
    counts = np.empty((4, classes), dtype=np.int64)
    commonest, entropy = np.empty((classes, 2), dtype=np.int64), np.empty(classes)

    def count(begin: int, end: int) -> None:
        scratch = np.full((5, values), -1, dtype=np.int64)
        summaries_loops.count_values(
            rows, starts, person, codes, begin, end, scratch, counts, commonest, entropy
        )

    _of_classes(starts, count)
    affiliation, affiliation_row, distinct, valued = counts
    return ValueCounts(affiliation, affiliation_row, distinct, entropy, valued, commonest)


def _of_classes(starts: Counts, count: Callable[[int, int], None]) -> None:
    """Count some runs of classes, on all processors."""
    runs = parts(starts[1:], COMPILED_ABOVE)
    in_threads([partial(count, run.start, run.stop) for run in runs])
