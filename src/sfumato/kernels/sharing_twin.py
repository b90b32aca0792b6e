"""Persons who share a number of records: the readable twin, by sorting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.kernels.cuts_twin import members

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def _starts(*keys: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
    """Where a run that agrees on all ``keys`` starts."""
    changed = np.ones(len(keys[0]), dtype=np.bool_)
    changed[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.flatnonzero(changed)


def _pairs(
    one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.intp], Counts]:
    """Number the distinct pairs of two columns of small numbers; and how often each occurs."""
    key = one.astype(np.int64) * (int(other.max()) + 1) + other
    _, number, counts = np.unique(key, return_inverse=True, return_counts=True)
    return number, counts.astype(np.int64)


def _best(
    groups: npt.NDArray[np.integer],
    count: int,
    values: npt.NDArray[np.generic],
    rows: Codes,
    best: np.ufunc,
) -> tuple[npt.NDArray[np.generic], Counts]:
    """The best value of each group by ``best``, and the smallest row that goes with it.

    ``groups`` is ascending and has every group.
    """
    found = best.reduceat(values, np.searchsorted(groups, np.arange(count)))
    first = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    tied = values == found[groups]
    np.minimum.at(first, groups[tied], rows[tied])
    return found, first


def count_sharing(
    rows: Codes, starts: Counts, person: Codes, shown: Codes
) -> tuple[Counts, Counts, Counts, Floats, Counts, Floats]:
    """Count over runs of one id within one class; the fields of ``SharingCounts``."""
    classes = len(starts) - 1
    class_of = np.repeat(np.arange(classes), np.diff(starts))
    runs = _starts(class_of, shown)
    size = np.diff(np.append(runs, len(rows)))
    run_class, owner, row = class_of[runs], person[runs], rows[runs]

    same_size, ids = _pairs(run_class, size)
    same_size_and_owner, own = _pairs(same_size, owner)
    one_each = np.unique(same_size_and_owner, return_index=True)[1]
    persons = np.bincount(same_size[one_each], minlength=len(ids))[same_size]
    share = own[same_size_and_owner] / ids[same_size]

    firsts = _starts(run_class, owner)
    person_class = run_class[firsts]
    alone = np.logical_or.reduceat(persons == 1, firsts)
    worst = np.maximum.reduceat(share, firsts)
    fewest, fewest_row = _best(run_class, classes, persons, row, np.minimum)
    risk, risk_row = _best(run_class, classes, share, row, np.maximum)
    return (
        fewest.astype(np.int64),
        fewest_row,
        np.bincount(person_class[alone], minlength=classes).astype(np.int64),
        risk.astype(np.float64),
        risk_row,
        np.bincount(person_class, weights=worst, minlength=classes).astype(np.float64),
    )


def side_sharing(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    records: npt.NDArray[np.integer],
) -> Counts:
    """Fewest persons who share a number of records on both sides; see ``sharing``."""
    places, node = members(low, high)
    one = order[places]
    half = 2 * node + side[one]
    number, sharing = _pairs(half, records[one])
    most = np.iinfo(np.int64).max
    fewest = np.full(2 * len(low), most, dtype=np.int64)
    np.minimum.at(fewest, half, sharing[number])
    fewest[fewest == most] = 0
    return fewest.reshape(-1, 2)


def scan_sharing(
    order: Codes, low: Counts, high: Counts, records: npt.NDArray[np.integer]
) -> tuple[Counts, Counts]:
    """The fewest on both sides of every place; see ``sharing``."""
    fewest = np.zeros((2, len(order)), dtype=np.int64)
    for start, stop in zip(low.tolist(), high.tolist(), strict=True):
        numbers = records[order[start:stop]].tolist()
        fewest[0, start:stop] = list(_running(numbers))
        fewest[1, start:stop] = [*list(_running(numbers[::-1]))[-2::-1], 0]
    return fewest[0], fewest[1]


def _running(numbers: list[int]) -> Iterator[int]:
    """How many share the rarest of the numbers met so far, after each."""
    seen: Counter[int] = Counter()
    sharing: Counter[int] = Counter()
    least = 0
    for number in numbers:
        sharing[seen[number]] -= 1
        seen[number] += 1
        sharing[seen[number]] += 1
        if seen[number] == 1:
            least = 1
        elif seen[number] == least + 1 and not sharing[least]:
            least += 1
        yield least
