"""Dice similarities of bit patterns, compiled; the twin is ``dice_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def ones(word: np.uint64) -> np.uint64:
    """Number of bits set in a word; the compiler makes one instruction of it."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def counts(patterns: Words) -> Ints:
    """Number of bits set in each pattern."""
    result = np.empty(len(patterns), np.int64)
    for row in range(len(patterns)):
        found = np.uint64(0)
        for word in range(patterns.shape[1]):
            found += ones(patterns[row, word])
        result[row] = found
    return result


@compiled
def pairs_above(
    one: Words, other: Words, low: Ints, high: Ints, least: float
) -> tuple[Ints, Ints, Floats]:
    """All pairs within windows whose Dice similarity is at least ``least``, above 0."""
    ones_one, ones_other = counts(one), counts(other)
    left, right = np.empty(1024, np.int64), np.empty(1024, np.int64)
    found = np.empty(1024, np.float64)
    size = 0
    for a in range(len(one)):
        for b in range(low[a], high[a]):
            common = np.uint64(0)
            for word in range(one.shape[1]):
                common += ones(one[a, word] & other[b, word])
            if common == 0:
                continue
            dice = 2.0 * common / (ones_one[a] + ones_other[b])
            if dice < least:
                continue
            if size == len(left):
                left = np.concatenate((left, np.empty(size, np.int64)))
                right = np.concatenate((right, np.empty(size, np.int64)))
                found = np.concatenate((found, np.empty(size, np.float64)))
            left[size], right[size], found[size] = a, b, dice
            size += 1
    return left[:size], right[:size], found[:size]
