"""Persons who share a number of records: the readable twin, by sorting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from oracles.cuts import members
from oracles.runs import run_lengths, sort_with_places

from sfumato.kernels.key_numbering import run_starts

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def _pairs(one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> tuple[Counts, Counts]:
    """Number the distinct pairs of two columns of small numbers; and how often each occurs."""
    size = int(other.max()) + 1
    key = one.astype(np.int64) * size + other
    ascending, order = sort_with_places(key)
    counts = run_lengths(run_starts(ascending), len(key))
    number = np.empty(len(key), dtype=np.int64)
    number[order] = np.repeat(np.arange(len(counts)), counts)
    return number, counts


def _best(
    firsts: Counts, values: npt.NDArray[np.generic], rows: Codes, best: np.ufunc
) -> tuple[npt.NDArray[np.generic], Counts]:
    """The best value by ``best`` of each run that begins at ``firsts``, and its smallest row."""
    found = best.reduceat(values, firsts)
    tied = values == np.repeat(found, run_lengths(firsts, len(values)))
    return found, np.minimum.reduceat(np.where(tied, rows, np.iinfo(np.int32).max), firsts)


def count_sharing(
    rows: Codes, starts: Counts, person: Codes, shown: Codes
) -> tuple[Counts, Counts, Counts, Floats, Counts, Floats]:
    """Count over runs of one id within one class; the fields of ``SharingCounts``."""
    classes = len(starts) - 1
    class_of = np.repeat(np.arange(classes), np.diff(starts))
    runs = run_starts(class_of, shown)
    size = np.diff(np.append(runs, len(rows)))
    run_class, owner, row = class_of[runs], person[runs], rows[runs]

    same_size, ids = _pairs(run_class, size)
    same_size_and_owner, own = _pairs(same_size, owner)
    one_each = np.zeros(len(own), dtype=np.int64)
    one_each[same_size_and_owner] = np.arange(len(runs))
    persons = np.bincount(same_size[one_each], minlength=len(ids))[same_size]
    share = own[same_size_and_owner] / ids[same_size]

    firsts = run_starts(run_class, owner)
    person_class = run_class[firsts]
    alone = np.logical_or.reduceat(persons == 1, firsts)
    worst = np.maximum.reduceat(share, firsts)
    of_class = run_starts(run_class)
    fewest, fewest_row = _best(of_class, persons, row, np.minimum)
    risk, risk_row = _best(of_class, share, row, np.maximum)
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
