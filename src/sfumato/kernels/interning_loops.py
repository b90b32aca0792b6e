"""Number byte strings by first appearance, batch after batch: compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.stored import stored

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
PRIME = np.uint64(0x100000001B3)
BASIS = np.uint64(0xCBF29CE484222325)
"""The numbers of the hash FNV-1a."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SHORT = 15
"""Bytes of the longest string that fits into two integers, with its length."""
LONG = -1
"""The second integer of longer strings, whose first one is a hash."""
NUMBER_BITS = 32
NUMBER = (1 << NUMBER_BITS) - 1
"""The bits of a slot that hold a number; those above hold a hash."""
AHEAD = 64
"""Strings that are looked up side by side."""


@stored
def _key(data: Bytes, start: int, stop: int) -> tuple[int, int]:
    """Two integers that say which string it is; of a long one, only which it may be."""
    length = stop - start
    if length <= SHORT:
        low, high = np.uint64(0), np.uint64(length) << np.uint64(56)
        for i in range(min(length, 8)):
            low |= np.uint64(data[start + i]) << np.uint64(8 * i)
        for i in range(8, length):
            high |= np.uint64(data[start + i]) << np.uint64(8 * (i - 8))
        return np.int64(low), np.int64(high)  # type: ignore[return-value]
    value = BASIS
    for place in range(start, stop):
        value = (value ^ np.uint64(data[place])) * PRIME
    return np.int64(value), LONG  # type: ignore[return-value]


@stored
def _hash(low: int, high: int) -> int:
    """The bits of a key, spread over 31 others (as MurmurHash ends)."""
    value = (np.uint64(low) ^ (np.uint64(high) * PRIME)) * GOLDEN
    value = (value ^ (value >> np.uint64(32))) * GOLDEN
    return np.int64(value >> np.uint64(33))  # type: ignore[return-value]


@stored
def _same(one: Bytes, start: int, stop: int, other: Bytes, first: int, last: int) -> bool:
    if stop - start != last - first:
        return False
    same = 0
    while same < stop - start and one[start + same] == other[first + same]:
        same += 1
    return same == stop - start


@stored
def number(
    offsets: npt.NDArray[np.integer],
    data: Bytes,
    missing: npt.NDArray[np.bool_],
    begin: int,
    slots: Ints,
    known: int,
    known_keys: Ints,
    known_offsets: Ints,
    known_data: Bytes,
    keys: Ints,
    codes: Codes,
    done: Ints,
) -> None:
    """Fill ``codes`` from row ``begin`` on, until the end or until there is no room.

    ``slots``, shape (2**bits,), hold the hash of a key times 2**32 and a number plus one (0:
    empty); ``known_keys``, shape (room, 2), the keys by number; known strings are
    ``known_data[known_offsets[i]:known_offsets[i + 1]]``. ``done``, shape (2,), gets the first row
    that is not done, and how many strings are known then; ``keys`` has shape (`AHEAD`, 5).

    Some strings at a time find their slots, and touch them and what they point to, before one is
    looked up: so the processor fetches what it needs of the memory side by side.
    """
    mask = len(slots) - 1
    done[0] = len(codes)
    for row in range(begin, len(codes)):
        ahead = (row - begin) % AHEAD
        if ahead == 0:
            rows = min(AHEAD, len(codes) - row)
            for i in range(rows):
                low, high = _key(data, offsets[row + i], offsets[row + i + 1])
                keys[i, 0], keys[i, 1], keys[i, 2] = low, high, _hash(low, high)
            for i in range(rows):
                keys[i, 3] = slots[keys[i, 2] & mask] & NUMBER
            for i in range(rows):
                keys[i, 4] = known_keys[max(keys[i, 3] - 1, 0), 0]
        if missing[row]:
            codes[row] = -1
            continue
        start, stop = offsets[row], offsets[row + 1]
        low, high, spread = keys[ahead, 0], keys[ahead, 1], keys[ahead, 2]
        slot = spread & mask
        while slots[slot] != 0:
            if slots[slot] >> NUMBER_BITS == spread:
                found = (slots[slot] & NUMBER) - 1
                if known_keys[found, 0] == low and known_keys[found, 1] == high:
                    if high != LONG:
                        break
                    first, last = known_offsets[found], known_offsets[found + 1]
                    if _same(data, start, stop, known_data, first, last):
                        break
            slot = (slot + 1) & mask
        if slots[slot] == 0:
            end = known_offsets[known] + stop - start
            full = 3 * len(slots) <= 4 * known or known + 2 > len(known_offsets)
            if full or end > len(known_data):
                done[0] = row
                break
            for i in range(stop - start):
                known_data[known_offsets[known] + i] = data[start + i]
            known_keys[known, 0], known_keys[known, 1] = low, high
            known += 1
            known_offsets[known] = end
            slots[slot] = (spread << NUMBER_BITS) | known
        codes[row] = (slots[slot] & NUMBER) - 1
    done[1] = known


@stored
def move(slots: Ints, larger: Ints) -> None:
    """Put the entries into more slots, which come as zeros."""
    mask = len(larger) - 1
    for entry in slots:
        if entry != 0:
            new = (entry >> NUMBER_BITS) & mask
            while larger[new] != 0:
                new = (new + 1) & mask
            larger[new] = entry
