"""Distances between distributions of sensitive values: compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def _gap(start: int, stop: int, reached: float, below: Floats, sums: Floats) -> float:
    """Sum of |reached - below| over the ranks from start to before stop."""
    cross = start + np.searchsorted(below[start:stop], reached)
    less = reached * (cross - start) - (sums[cross] - sums[start])
    return float(less + (sums[stop] - sums[cross]) - reached * (stop - cross))


@compiled
def _moved(met: Counts, seen: Counts, total: int, below: Floats, sums: Floats) -> float:
    """The ordered distance of the ranks ``met``; ``seen`` is left as zeros."""
    met.sort()
    moved, at, reached = 0.0, 0, 0
    for rank in met:
        moved += _gap(at, rank, reached / total, below, sums)
        reached += seen[rank]
        seen[rank] = 0
        at = rank
    moved += _gap(at, len(below), 1.0, below, sums)
    return moved / max(len(below), 1)


@compiled
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
    """Equal distance on both sides; shape (nodes, 2)."""
    distance = np.zeros((len(low), 2))
    seen = np.zeros((2, len(share)), np.int64)
    total = np.zeros(2, np.int64)
    for node in range(len(low)):
        total[:] = 0
        for place in range(low[node], high[node]):
            person = order[place]
            half = side[person]
            for entry in range(offsets[person], offsets[person + 1]):
                seen[half, values[entry]] += counts[entry]
                total[half] += counts[entry]
        for place in range(low[node], high[node]):
            person = order[place]
            half = side[person]
            for entry in range(offsets[person], offsets[person + 1]):
                value = values[entry]
                if seen[half, value] > 0:
                    more = seen[half, value] / total[half] - share[value]
                    distance[node, half] += max(more, 0.0)
                    seen[half, value] = 0
    return distance


@compiled
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
    """Ordered distance on both sides; shape (nodes, 2)."""
    distance = np.zeros((len(low), 2))
    seen = np.zeros((2, len(sums)), np.int64)
    met = np.zeros((2, len(sums)), np.int64)
    found, total = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for node in range(len(low)):
        found[:] = 0
        total[:] = 0
        for place in range(low[node], high[node]):
            person = order[place]
            half = side[person]
            for entry in range(offsets[person], offsets[person + 1]):
                one = rank[values[entry]]
                if seen[half, one] == 0:
                    met[half, found[half]] = one
                    found[half] += 1
                seen[half, one] += counts[entry]
                total[half] += counts[entry]
        for half in range(2):
            if found[half] > 0:
                distance[node, half] = _moved(
                    met[half, : found[half]], seen[half], total[half], below, sums
                )
    return distance


@compiled
def class_ordered_distances(
    rows: Codes,
    low: Counts,
    high: Counts,
    codes: Codes,
    rank: Codes,
    below: Floats,
    sums: Floats,
) -> Floats:
    """Ordered distance of each class; shape (classes,)."""
    distance = np.zeros(len(low))
    seen = np.zeros(len(sums), np.int64)
    met = np.zeros(len(sums), np.int64)
    for t in range(len(low)):
        found, total = 0, 0
        for place in range(low[t], high[t]):
            value = codes[rows[place]]
            if value >= 0:
                one = rank[value]
                if seen[one] == 0:
                    met[found] = one
                    found += 1
                seen[one] += 1
                total += 1
        if found > 0:
            distance[t] = _moved(met[:found], seen, total, below, sums)
    return distance
