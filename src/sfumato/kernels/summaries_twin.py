"""Per class counts of persons and sensitive values: the readable twin, by sorting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def count_records(class_of: Codes, classes: int) -> tuple[Counts, Counts]:
    """The number of records of each class, and its first row."""
    first = np.zeros(classes, dtype=np.int64)
    numbers, rows = np.unique(class_of, return_index=True)
    first[numbers] = rows
    return np.bincount(class_of, minlength=classes).astype(np.int64), first


def class_order(class_of: Codes, person: Codes, starts: Counts) -> tuple[Codes, Counts, Codes]:
    """Sort the rows by (class, person, row)."""
    rows = np.lexsort((person, class_of)).astype(np.int32)
    return rows, starts, person[rows]


def _run_starts(*keys: npt.NDArray[np.integer]) -> Counts:
    """Where a run of records that agree on all ``keys`` starts."""
    changed = np.ones(len(keys[0]), dtype=np.bool_)
    changed[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(changed).astype(np.int64)


def _run_lengths(starts: Counts, total: int) -> Counts:
    return np.diff(np.append(starts, total))


def _sums(groups: npt.NDArray[np.integer], count: int, values: Counts | int) -> Counts:
    out = np.zeros(count, dtype=np.int64)
    np.add.at(out, groups, values)
    return out


def _largest(
    groups: npt.NDArray[np.integer], count: int, values: Counts, rows: Counts
) -> tuple[Counts, Counts]:
    """The largest value of each group, and the smallest of the rows that go with it."""
    largest = np.zeros(count, dtype=np.int64)
    np.maximum.at(largest, groups, values)
    first = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    tied = values == largest[groups]
    np.minimum.at(first, groups[tied], rows[tied])
    first[largest == 0] = -1
    return largest, first


def count_persons(
    rows: Codes, starts: Counts, owners: Codes
) -> tuple[Counts, Counts, Counts, Counts, Counts]:
    """Count over runs of one person within one class; the fields of `PersonCounts`."""
    classes = len(starts) - 1
    class_of = np.repeat(np.arange(classes), np.diff(starts))
    runs = _run_starts(class_of, owners)
    records = _run_lengths(runs, len(rows))
    run_class = class_of[runs]
    largest, largest_row = _largest(run_class, classes, records, rows[runs].astype(np.int64))
    return (
        _sums(run_class, classes, 1),
        _sums(run_class, classes, records**2),
        largest,
        largest_row,
        np.minimum.reduceat(rows, starts[:-1]).astype(np.int64),
    )


def count_values(
    rows: Codes, starts: Counts, owners: Codes, codes: Codes, file: Floats
) -> tuple[Counts, Counts, Counts, Floats, Counts, Counts, Floats]:
    """Count over runs of one value within one class; the fields of `ValueCounts`."""
    classes = len(starts) - 1
    class_of = np.repeat(np.arange(classes), np.diff(starts))
    order = np.lexsort((rows, owners, codes, class_of))
    order = order[codes[order] >= 0]
    rows, class_of, value, owner = rows[order], class_of[order], codes[order], owners[order]

    runs = _run_starts(class_of, value)
    run_class = class_of[runs]
    records = _run_lengths(runs, len(rows))
    run_of_person = np.searchsorted(runs, _run_starts(class_of, value, owner), side="right") - 1
    persons = np.bincount(run_of_person, minlength=len(runs))
    first_row = np.minimum.reduceat(rows, runs) if len(runs) else rows
    affiliation, affiliation_row = _largest(run_class, classes, persons, first_row.astype(np.int64))
    total = _sums(run_class, classes, records)
    share = records / total[run_class]
    entropy = np.bincount(run_class, weights=-share * np.log(share), minlength=classes)
    more = np.maximum(share - file[value[runs]], 0.0)
    distance = np.bincount(run_class, weights=more, minlength=classes)
    return (
        affiliation,
        affiliation_row,
        _sums(run_class, classes, 1),
        np.asarray(entropy, dtype=np.float64),
        total,
        _two_largest(run_class, classes, records),
        np.asarray(distance, dtype=np.float64),
    )


def _two_largest(groups: npt.NDArray[np.integer], count: int, values: Counts) -> Counts:
    order = np.lexsort((-values, groups))
    groups, values = groups[order], values[order]
    starts = _run_starts(groups)
    rank = np.arange(len(groups)) - np.repeat(starts, _run_lengths(starts, len(groups)))
    out = np.zeros((count, 2), dtype=np.int64)
    leading = rank < 2
    out[groups[leading], rank[leading]] = values[leading]
    return out
