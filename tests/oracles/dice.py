"""Dice similarities in NumPy: an oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def pairs_above(
    one: Words, other: Words, low: Ints, high: Ints, least: float
) -> tuple[Ints, Ints, Floats]:
    """All pairs within windows whose Dice similarity is at least ``least``, above 0."""
    left, right, found = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    for row, (start, stop) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        dice = _dice(one[row], other[start:stop])
        kept = np.flatnonzero((dice >= least) & (dice > 0))
        left.append(np.full(len(kept), row))
        right.append(start + kept)
        found.append(dice[kept])
    return np.concatenate(left), np.concatenate(right), np.concatenate(found)


def _dice(one: Words, other: Words) -> Floats:
    """Dice similarity of one pattern with each of the others."""
    common = np.bitwise_count(one & other).sum(axis=-1, dtype=np.int64)
    bits = np.bitwise_count(one).sum(axis=-1, dtype=np.int64)
    bits = bits + np.bitwise_count(other).sum(axis=-1, dtype=np.int64)
    return np.asarray(2.0 * common / np.maximum(bits, 1), dtype=np.float64)
