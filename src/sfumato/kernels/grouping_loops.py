"""Number the distinct keys of an array by first appearance: compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.stored import stored

Keys = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio: multiplying by it spreads keys (Knuth, TAOCP 3, 6.4)."""


@stored
def number_with_table(keys: Keys, table: Codes, numbers: Codes) -> int:
    """Look every key up in ``table``, shape (space,), which comes filled with -1."""
    distinct = 0
    for i in range(len(keys)):
        number = table[keys[i]]
        if number < 0:
            number = distinct
            table[keys[i]] = number
            distinct += 1
        numbers[i] = number
    return distinct


@stored
def _spread(key: int, bits: int) -> int:
    """The highest bits of a key's hash."""
    return np.int64((np.uint64(key) * GOLDEN) >> np.uint64(64 - bits))  # type: ignore[return-value]


@stored
def count_parts(keys: Keys, begin: int, end: int, bits: int, counts: Keys) -> None:
    """Add the number of keys of each of ``2**bits`` parts to ``counts``."""
    for i in range(begin, end):
        counts[_spread(keys[i], bits)] += 1


@stored
def scatter(
    keys: Keys, begin: int, end: int, bits: int, place: Keys, part_keys: Keys, part_rows: Codes
) -> None:
    """Move the keys to their parts, the next of each part to ``place``."""
    for i in range(begin, end):
        part = _spread(keys[i], bits)
        part_keys[place[part]] = keys[i]
        part_rows[place[part]] = i
        place[part] += 1


@stored
def first_rows(part_keys: Keys, part_rows: Codes, slots: Keys, first: Codes) -> None:
    """Give each row of one part the first row that has its key.

    ``slots``, shape (a power of 2, 2), comes filled with zeros, with room for more than the keys;
    a slot holds a key and its first row plus one (0: empty).
    """
    mask = len(slots) - 1
    for i in range(len(part_keys)):
        key = part_keys[i]
        slot = ((np.uint64(key) * GOLDEN) >> np.uint64(16)) & np.uint64(mask)
        while slots[slot, 1] != 0 and slots[slot, 0] != key:
            slot = (slot + np.uint64(1)) & np.uint64(mask)
        if slots[slot, 1] == 0:
            slots[slot, 0] = key
            slots[slot, 1] = part_rows[i] + 1
        first[part_rows[i]] = slots[slot, 1] - 1


@stored
def number_first_rows(first: Codes) -> int:
    """Number the rows that are the first of their key, in their order; the others copy theirs.

    ``first`` is turned from first rows into numbers; those of earlier rows are read there.
    """
    distinct = 0
    for i in range(len(first)):
        if first[i] == i:
            first[i] = distinct
            distinct += 1
        else:
            first[i] = first[first[i]]
    return distinct
