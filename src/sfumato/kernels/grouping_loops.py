"""Number the distinct keys of an array by first appearance: compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio: multiplying by it spreads keys (Knuth, TAOCP 3, 6.4)."""
AHEAD = 64
"""Keys that are looked up side by side."""


@compiled
def number_with_table(
    keys: npt.NDArray[np.int64], table: npt.NDArray[np.int32], numbers: npt.NDArray[np.int32]
) -> int:
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


@compiled
def _slot(key: int, slots: npt.NDArray[np.int64], bits: int) -> int:
    """The slot that holds ``key``, or the empty slot where it belongs."""
    mask = (1 << bits) - 1
    slot = np.int64((np.uint64(key) * GOLDEN) >> np.uint64(64 - bits))
    while slots[slot, 0] != 0 and slots[slot, 0] != key + 1:
        slot = (slot + 1) & mask
    return slot  # type: ignore[return-value]


@compiled
def _look_ahead(keys: npt.NDArray[np.int64], slots: npt.NDArray[np.int64], bits: int) -> np.int64:
    """Touch the slots of the next keys: the processor fetches them side by side."""
    touched = np.int64(0)
    for i in range(len(keys)):
        touched += slots[np.int64((np.uint64(keys[i]) * GOLDEN) >> np.uint64(64 - bits)), 0]
    return touched


@compiled
def _doubled(slots: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.int64]:
    """The same keys in a table of ``2**bits`` slots."""
    larger = np.zeros((1 << bits, 2), dtype=np.int64)
    for old in range(len(slots)):
        if slots[old, 0] != 0:
            new = _slot(slots[old, 0] - 1, larger, bits)
            larger[new, 0] = slots[old, 0]
            larger[new, 1] = slots[old, 1]
    return larger


@compiled
def number_with_hash(keys: npt.NDArray[np.int64], bits: int, numbers: npt.NDArray[np.int32]) -> int:
    """Look every key up in an open-addressing table of ``2**bits`` slots, bits >= 1.

    A slot holds a key plus one (0: empty) and its number, side by side. The table doubles when
    it is half full.
    """
    slots = np.zeros((1 << bits, 2), dtype=np.int64)
    distinct = 0
    for i in range(len(keys)):
        if i % AHEAD == 0:
            _look_ahead(keys[i : i + AHEAD], slots, bits)
        key = keys[i]
        slot = _slot(key, slots, bits)
        if slots[slot, 0] == 0:
            slots[slot, 0] = key + 1
            slots[slot, 1] = distinct
            numbers[i] = distinct
            distinct += 1
            if 2 * distinct > (1 << bits):
                bits += 1
                slots = _doubled(slots, bits)
        else:
            numbers[i] = slots[slot, 1]
    return distinct
