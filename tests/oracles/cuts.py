"""The tree's loops in NumPy: an oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


def segment_sums(values: npt.NDArray[np.generic], low: Ints, high: Ints) -> npt.NDArray[np.generic]:
    """Sum ``values[low:high]`` for each of the disjoint, ascending, non-empty segments."""
    return _reduce(np.add, values, low, high)


def _reduce(
    ufunc: np.ufunc, values: npt.NDArray[np.generic], low: Ints, high: Ints
) -> npt.NDArray[np.generic]:
    edges = np.column_stack([low, high]).ravel()
    if len(edges) and edges[-1] == len(values):
        edges = edges[:-1]
    reduced: npt.NDArray[np.generic] = ufunc.reduceat(values, edges)[::2]
    return reduced


def members(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """All places inside the segments, and the number of the segment of each."""
    sizes = high - low
    segment = np.repeat(np.arange(len(low)), sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return low[segment] + within, segment


def median_places(cumulative: Ints, low: Ints, records: Ints) -> Ints:
    """The first place of each segment whose cumulative record count reaches N/2."""
    before = np.where(low > 0, cumulative[low - 1], 0)
    return np.searchsorted(cumulative, before + (records + 1) // 2).astype(np.int64)


def ordered_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    node_records: Ints,
    records: Ints,
    position: Codes,
    missing_position: int,
    strict: bool,
    total: Floats,
    square: Floats,
    present: Ints,
) -> tuple[Ints, Ints, Ints, Floats]:
    """Median cut of every node along one ordered axis; see ``cuts.ordered_cuts``."""
    ordered_records = records[order]
    cumulative = np.cumsum(ordered_records)
    squares = np.cumsum(ordered_records * ordered_records)
    median = median_places(cumulative, low, node_records)
    place = position[order]
    if strict:
        end = _strict_ends(place, cumulative, low, high, node_records, median)
    else:
        end = np.where(median + 1 < high, median + 1, median)
        in_missing = place[median] == missing_position
        end = np.where(in_missing, _run_starts(place, low)[median], end)
    left = end - low
    last = np.maximum(end - 1, 0)
    first = np.maximum(low - 1, 0)
    left_records = cumulative[last] - np.where(low > 0, cumulative[first], 0)
    left_squares = squares[last] - np.where(low > 0, squares[first], 0)
    empty = left <= 0
    left_records[empty] = 0
    left_squares[empty] = 0
    counted = np.maximum(segment_sums(present[order], low, high), 1)
    mean = segment_sums(total[order], low, high) / counted
    variance = np.maximum(segment_sums(square[order], low, high) / counted - mean * mean, 0.0)
    return left, left_records, left_squares, variance


def _run_starts(place: Codes, low: Ints) -> Ints:
    starts = np.ones(len(place), dtype=bool)
    starts[1:] = place[1:] != place[:-1]
    starts[low] = True
    return np.maximum.accumulate(np.where(starts, np.arange(len(place)), 0))


def _strict_ends(
    place: Codes, cumulative: Ints, low: Ints, high: Ints, node_records: Ints, median: Ints
) -> Ints:
    starts = _run_starts(place, low)
    is_start = np.append(starts == np.arange(len(place)), True)
    next_start = np.minimum.accumulate(
        np.where(is_start, np.arange(len(place) + 1), len(place))[::-1]
    )[::-1]
    below = starts[median]
    above = np.minimum(next_start[median + 1], high)
    before = np.where(low > 0, cumulative[low - 1], 0)
    at_below = np.where(below > 0, cumulative[below - 1], 0) - before
    at_above = cumulative[above - 1] - before
    nearer_below = node_records - 2 * at_below <= 2 * at_above - node_records
    use_below = np.where(below == low, False, (above == high) | nearer_below)
    return np.where(use_below, below, np.where(above == high, low, above))


def ordered_spreads(
    order: Codes, low: Ints, high: Ints, lowest: Codes, highest: Codes
) -> tuple[Codes, Codes]:
    """Lowest and highest code of each node; see ``cuts.ordered_spreads``."""
    return (
        _reduce(np.minimum, lowest[order], low, high).astype(np.int32),
        _reduce(np.maximum, highest[order], low, high).astype(np.int32),
    )


def indicator_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    member: Codes,
    offsets: Ints,
    values: Codes,
    counts: Ints,
    columns: int,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Ints]:
    """Every indicator column of every node; see ``cuts.indicator_cuts``."""
    places, node = members(low, high)
    person = order[places]
    cells = len(low) * columns
    entry, owner = members(offsets[person], offsets[person + 1])
    inside = np.zeros(cells, dtype=np.int64)
    np.add.at(inside, node[owner] * columns + values[entry], counts[entry])
    belongs = member[person] >= 0
    key = node[belongs] * columns + member[person[belongs]]
    weight = records[person[belongs]]
    right = np.bincount(key, minlength=cells).astype(np.int64)
    right_records = np.zeros(cells, dtype=np.int64)
    right_squares = np.zeros(cells, dtype=np.int64)
    np.add.at(right_records, key, weight)
    np.add.at(right_squares, key, weight * weight)
    found = np.flatnonzero(inside)
    return (
        found // columns,
        (found % columns).astype(np.int32),
        right[found],
        right_records[found],
        right_squares[found],
        inside[found],
    )


def mark_cut(order: Codes, low: Ints, high: Ints, end: Ints, side: npt.NDArray[np.int8]) -> None:
    """Mark persons behind ``end`` in each node as right; see ``cuts.mark_cut``."""
    places, node = members(low, high)
    side[order[places]] = places >= end[node]


def mark_members(
    order: Codes,
    low: Ints,
    high: Ints,
    column: Codes,
    member: Codes,
    side: npt.NDArray[np.int8],
) -> None:
    """Mark persons of an indicator column as right; see ``cuts.mark_members``."""
    places, node = members(low, high)
    person = order[places]
    side[person] = member[person] == column[node]


def partition(order: Codes, low: Ints, high: Ints, side: npt.NDArray[np.int8]) -> None:
    """Move the left persons of each node before the right ones, order kept, in place."""
    places, node = members(low, high)
    person = order[places]
    order[places] = person[np.lexsort((side[person], node))]


def side_affiliations(
    order: Codes,
    low: Ints,
    high: Ints,
    side: npt.NDArray[np.int8],
    offsets: Ints,
    values: Codes,
    size: int,
) -> tuple[Ints, Ints]:
    """Most shared value and distinct values on both sides; see ``cuts.side_affiliations``."""
    places, node = members(low, high)
    person = order[places]
    entry, owner = members(offsets[person], offsets[person + 1])
    half = 2 * node[owner] + side[person[owner]]
    key, shared = np.unique(half * np.int64(size) + values[entry], return_counts=True)
    affiliation = np.zeros(2 * len(low), dtype=np.int64)
    np.maximum.at(affiliation, key // size, shared)
    distinct = np.bincount(key // size, minlength=2 * len(low)).astype(np.int64)
    return affiliation.reshape(-1, 2), distinct.reshape(-1, 2)
