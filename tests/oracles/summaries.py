"""Per class counts of persons and sensitive values: the readable twin, by sorting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from oracles.runs import run_lengths, sort_with_places

from sfumato.kernels.key_numbering import run_starts

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NOWHERE = np.iinfo(np.int32).max


def count_records(class_of: Codes, classes: int) -> tuple[Counts, Codes]:
    """Count each class; of its rows, written from the last to the first, the first one stays."""
    first = np.zeros(classes, dtype=np.int32)
    first[class_of[::-1]] = np.arange(len(class_of) - 1, -1, -1, dtype=np.int32)
    return np.bincount(class_of, minlength=classes), first


def class_order(class_of: Codes, person: Codes, classes: int) -> Counts:
    """Sort the rows by (class, person, row); the keys of `RecordOrder`."""
    persons = int(person.max()) + 1
    key = class_of.astype(np.int64) * persons + person
    rows = sort_with_places(key)[1]
    rows |= person[rows].astype(np.int64) << 32
    return rows


def _largest(firsts: Counts, values: Counts, rows: Codes) -> tuple[Counts, Counts]:
    """The largest value of each run that begins at ``firsts``, and the first row that has it."""
    largest = np.maximum.reduceat(values, firsts)
    tied = values == np.repeat(largest, run_lengths(firsts, len(values)))
    return largest, np.minimum.reduceat(np.where(tied, rows, NOWHERE), firsts)


def count_persons(
    rows: Codes, starts: Counts, owners: Codes
) -> tuple[Counts, Counts, Counts, Counts]:
    """Count over runs of one person within one class; the fields of `PersonCounts`."""
    changed = np.ones(len(rows), dtype=np.bool_)
    changed[1:] = owners[1:] != owners[:-1]
    changed[starts[:-1]] = True
    runs = np.flatnonzero(changed)
    firsts = np.searchsorted(runs, starts[:-1])
    records = run_lengths(runs, len(rows))
    largest, largest_row = _largest(firsts, records, rows[runs])
    return (
        run_lengths(firsts, len(runs)),
        np.add.reduceat(records**2, firsts),
        largest,
        largest_row,
    )


def count_values(
    rows: Codes, starts: Counts, owners: Codes, codes: Codes, file: Floats
) -> tuple[Counts, Counts, Counts, Floats, Counts, Counts, Floats]:
    """Count over runs of one value within one class; the fields of `ValueCounts`."""
    classes = len(starts) - 1
    class_of = np.repeat(np.arange(classes), np.diff(starts))
    valued = np.flatnonzero(codes >= 0)
    key = class_of[valued] * len(file) + codes[valued]
    key, places = sort_with_places(key)
    order = valued[places]
    rows, owner = rows[order], owners[order]

    runs = run_starts(key)
    records = run_lengths(runs, len(order))
    holders = run_starts(key, owner)
    persons = run_lengths(np.searchsorted(holders, runs), len(holders))
    first_row = np.minimum.reduceat(rows, runs) if len(runs) else rows
    run_class, run_value = np.divmod(key[runs], len(file))
    firsts = run_starts(run_class)
    filled = run_class[firsts]

    def of_all(found: npt.NDArray[np.integer], nothing: int = 0) -> Counts:
        every = np.full((classes, *found.shape[1:]), nothing, dtype=np.int64)
        every[filled] = found
        return every

    affiliation, affiliation_row = _largest(firsts, persons, first_row)
    total = of_all(np.add.reduceat(records, firsts))
    share = records / total[run_class]
    spread = -share * np.log(share)
    more = np.maximum(share - file[run_value], 0.0)
    return (
        of_all(affiliation),
        of_all(affiliation_row, -1),
        of_all(run_lengths(firsts, len(runs))),
        np.bincount(run_class, weights=spread, minlength=classes).astype(np.float64),
        total,
        of_all(_two_largest(firsts, records)),
        np.bincount(run_class, weights=more, minlength=classes).astype(np.float64),
    )


def _two_largest(firsts: Counts, values: Counts) -> Counts:
    """The two largest values of each run; 0 where there is but one."""
    places = np.arange(len(values))
    largest, place = _largest(firsts, values, places.astype(np.int32))
    rest = values.copy()
    rest[place] = 0
    return np.stack([largest, np.maximum.reduceat(rest, firsts)], axis=1)
