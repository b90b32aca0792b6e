"""Distances between distributions of sensitive values: the readable twin, by sorting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from oracles.cuts import members

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def _counted(
    groups: npt.NDArray[np.integer], values: npt.NDArray[np.integer], counts: Counts
) -> tuple[Counts, Counts, Counts]:
    """The distinct (group, value), ascending, and how many records each has."""
    width = int(values.max(initial=0)) + 1
    key, number = np.unique(groups * np.int64(width) + values, return_inverse=True)
    records = np.bincount(number, weights=counts, minlength=len(key)).astype(np.int64)
    return key // width, key % width, records


def _of_sides(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    offsets: Counts,
) -> tuple[Counts, Counts]:
    """The entries of the persons in the nodes, and the side of its node that each belongs to."""
    places, node = members(low, high)
    person = order[places]
    entry, owner = members(offsets[person], offsets[person + 1])
    return entry, 2 * node[owner] + side[person[owner]]


def _equal(
    groups: npt.NDArray[np.integer],
    values: npt.NDArray[np.integer],
    counts: Counts,
    size: int,
    share: Floats,
) -> Floats:
    group, value, records = _counted(groups, values, counts)
    total = np.bincount(group, weights=records, minlength=size)
    more = np.maximum(records / total[group] - share[value], 0.0)
    return np.bincount(group, weights=more, minlength=size).astype(np.float64)


def _ordered(
    groups: npt.NDArray[np.integer],
    ranks: npt.NDArray[np.integer],
    counts: Counts,
    size: int,
    below: Floats,
    sums: Floats,
) -> Floats:
    """Between two ranks that occur, the class's share at or below stays the same."""
    group, rank, records = _counted(groups, ranks, counts)
    if not len(group) or not len(below):
        return np.zeros(size)
    first = np.diff(group, prepend=-1) != 0
    last = np.append(first[1:], True)
    total = np.bincount(group, weights=records, minlength=size)[group]
    reached = np.cumsum(records)
    reached = reached - np.repeat(
        (reached - records)[first], np.diff(np.flatnonzero(np.append(first, True)))
    )
    until = np.where(last, len(below), np.append(rank[1:], 0))
    moved = moved_between(rank, until, reached / total, below, sums)
    moved += np.where(first, sums[rank], 0.0)
    return np.bincount(group, weights=moved, minlength=size) / len(below)


def moved_between(
    start: Counts, stop: Counts, reached: Floats, below: Floats, sums: Floats
) -> Floats:
    """Sum of |reached - below| over the ranks from start to before stop: O(log r) each."""
    cross = np.clip(np.searchsorted(below, reached), start, stop)
    less = reached * (cross - start) - (sums[cross] - sums[start])
    return np.asarray(less + (sums[stop] - sums[cross]) - reached * (stop - cross))


def side_distances(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    offsets: Counts,
    values: Codes,
    counts: Codes,
    share: Floats,
) -> Floats:
    """Equal distance on both sides; see ``distances``."""
    entry, half = _of_sides(order, low, high, side, offsets)
    found = _equal(half, values[entry], counts[entry].astype(np.int64), 2 * len(low), share)
    return found.reshape(-1, 2)


def side_ordered_distances(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    offsets: Counts,
    values: Codes,
    counts: Codes,
    rank: Codes,
    below: Floats,
    sums: Floats,
) -> Floats:
    """Ordered distance on both sides; see ``distances``."""
    entry, half = _of_sides(order, low, high, side, offsets)
    found = _ordered(
        half, rank[values[entry]], counts[entry].astype(np.int64), 2 * len(low), below, sums
    )
    return found.reshape(-1, 2)


def _of_classes(rows: Codes, low: Counts, high: Counts, codes: Codes) -> tuple[Counts, Codes]:
    """The class and the value of each record that has one."""
    places, group = members(low, high)
    value = codes[rows[places]]
    return group[value >= 0], value[value >= 0]


def class_ordered_distances(
    rows: Codes,
    low: Counts,
    high: Counts,
    codes: Codes,
    rank: Codes,
    below: Floats,
    sums: Floats,
) -> Floats:
    """Ordered distance of each class; see ``distances``."""
    group, value = _of_classes(rows, low, high, codes)
    ones = np.ones(len(value), dtype=np.int64)
    return _ordered(group, rank[value], ones, len(low), below, sums)
