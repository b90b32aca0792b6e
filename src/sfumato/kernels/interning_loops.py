"""Number byte strings by first appearance, batch after batch: compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
PRIME = np.uint64(0x100000001B3)
BASIS = np.uint64(0xCBF29CE484222325)
"""The numbers of the hash FNV-1a."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
AHEAD = 64
"""Strings that are looked up side by side."""


@compiled
def _hash(data: Bytes, start: int, stop: int) -> int:
    """FNV-1a of some bytes, spread once more over all bits, as a positive integer."""
    value = BASIS
    for place in range(start, stop):
        value = (value ^ np.uint64(data[place])) * PRIME
    value = (value ^ (value >> np.uint64(32))) * GOLDEN
    return np.int64(value >> np.uint64(1))  # type: ignore[return-value]


@compiled
def _look_ahead(
    offsets: Ints,
    data: Bytes,
    begin: int,
    slots: Ints,
    known_offsets: Ints,
    known_data: Bytes,
    hashes: Ints,
) -> int:
    """Hash the next strings, and touch the memory that they will be looked up in.

    The processor fetches what it need not wait for side by side; one after the other, as each
    string is compared, it would wait for each of them.
    """
    rows = min(len(hashes), len(offsets) - 1 - begin)
    touched = 0
    for row in range(rows):
        hashes[row] = _hash(data, offsets[begin + row], offsets[begin + row + 1])
        touched += slots[hashes[row] & (len(slots) - 1), 1]
    for row in range(rows):
        found = max(slots[hashes[row] & (len(slots) - 1), 1] - 1, 0)
        touched += known_data[min(known_offsets[found], len(known_data) - 1)]
    return touched


@compiled
def _same(one: Bytes, start: int, stop: int, other: Bytes, first: int, last: int) -> bool:
    if stop - start != last - first:
        return False
    same = 0
    while same < stop - start and one[start + same] == other[first + same]:
        same += 1
    return same == stop - start


@compiled
def number(
    offsets: Ints,
    data: Bytes,
    missing: npt.NDArray[np.bool_],
    begin: int,
    slots: Ints,
    known: int,
    known_offsets: Ints,
    known_data: Bytes,
    codes: Codes,
) -> tuple[int, int]:
    """Fill ``codes`` from row ``begin`` on, until the end or until there is no room.

    ``slots``, shape (2**bits, 2), hold a hash and a number plus one (0: empty); known strings
    are ``known_data[known_offsets[i]:known_offsets[i + 1]]``. Gives the first row that is not
    done, and how many strings are known then.
    """
    mask = len(slots) - 1
    hashes = np.empty(AHEAD, np.int64)
    for row in range(begin, len(codes)):
        if (row - begin) % AHEAD == 0:
            _look_ahead(offsets, data, row, slots, known_offsets, known_data, hashes)
        if missing[row]:
            codes[row] = -1
            continue
        start, stop = offsets[row], offsets[row + 1]
        hashed = hashes[(row - begin) % AHEAD]
        slot = hashed & mask
        while slots[slot, 1] != 0:
            found = slots[slot, 1] - 1
            if slots[slot, 0] == hashed and _same(
                data, start, stop, known_data, known_offsets[found], known_offsets[found + 1]
            ):
                break
            slot = (slot + 1) & mask
        if slots[slot, 1] == 0:
            end = known_offsets[known] + stop - start
            if 2 * known >= len(slots) or known + 2 > len(known_offsets) or end > len(known_data):
                return row, known
            known_data[known_offsets[known] : end] = data[start:stop]
            known += 1
            known_offsets[known] = end
            slots[slot, 0] = hashed
            slots[slot, 1] = known
        codes[row] = slots[slot, 1] - 1
    return len(codes), known


@compiled
def doubled(slots: Ints) -> Ints:
    """The same entries in twice as many slots."""
    larger = np.zeros((2 * len(slots), 2), np.int64)
    mask = len(larger) - 1
    for old in range(len(slots)):
        if slots[old, 1] != 0:
            new = slots[old, 0] & mask
            while larger[new, 1] != 0:
                new = (new + 1) & mask
            larger[new] = slots[old]
    return larger
