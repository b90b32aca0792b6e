"""Ids that count, such as P00017, by a table with a place for each: compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
DIGITS = 18
"""Digits that, with a one before them, fit into an integer."""
ZERO, NINE = 48, 57


@compiled
def spelled(
    offsets: npt.NDArray[np.integer],
    data: Bytes,
    missing: npt.NDArray[np.bool_],
    prefix: Bytes,
    keys: Ints,
) -> bool:
    """Whether all strings are the prefix and 1 to `DIGITS` digits; fills ``keys`` if so.

    The key of a string is its digits behind a one, so that 7 and 07 are not the same.
    """
    for row in range(len(keys)):
        if missing[row]:
            continue
        start, stop = offsets[row] + len(prefix), offsets[row + 1]
        if not 1 <= stop - start <= DIGITS:
            return False
        for i in range(len(prefix)):
            if data[offsets[row] + i] != prefix[i]:
                return False
        key = 1
        for place in range(start, stop):
            if not ZERO <= data[place] <= NINE:
                return False
            key = 10 * key + data[place] - ZERO
        keys[row] = key
    return True


@compiled
def bounds(keys: Ints, missing: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """The lowest and the highest key; the lowest is above the highest where all are missing."""
    low, high = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    for row in range(len(keys)):
        if not missing[row]:
            low, high = min(low, keys[row]), max(high, keys[row])
    return low, high


@compiled
def number(
    keys: Ints,
    offsets: npt.NDArray[np.integer],
    data: Bytes,
    missing: npt.NDArray[np.bool_],
    begin: int,
    base: int,
    table: Codes,
    known: int,
    known_offsets: Ints,
    known_data: Bytes,
    codes: Codes,
) -> tuple[int, int]:
    """As `sfumato.kernels.interning_loops.number`, by a table instead of a hash.

    ``table[key - base]`` is a string's number plus one, 0 where it is not known yet.
    """
    for row in range(begin, len(codes)):
        if missing[row]:
            codes[row] = -1
            continue
        place = keys[row] - base
        if table[place] == 0:
            start, stop = offsets[row], offsets[row + 1]
            end = known_offsets[known] + stop - start
            if known + 2 > len(known_offsets) or end > len(known_data):
                return row, known
            for i in range(stop - start):
                known_data[known_offsets[known] + i] = data[start + i]
            known += 1
            known_offsets[known] = end
            table[place] = known
        codes[row] = table[place] - 1
    return len(codes), known
