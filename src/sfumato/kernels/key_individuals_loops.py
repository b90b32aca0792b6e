"""How many individuals have a key, compiled; the twin is ``key_individuals_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled


@compiled
def key_individuals(
    keys: npt.NDArray[np.int64],
    alone: npt.NDArray[np.int64],
    tuple_of: npt.NDArray[np.int32],
    person_of: npt.NDArray[np.int32],
    asked: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """How many distinct individuals have a tuple with each of some keys.

    The keys go into a hash table of at least twice as many slots as there are tuples. Entries
    come individual by individual, so that a slot remembers the last one that it counted.
    """
    bits = 2
    while (1 << bits) < 2 * len(keys):
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    held = np.full(1 << bits, -1, np.int64)
    counts = np.zeros(1 << bits, np.int64)
    slot_of = np.empty(len(keys), np.int32)
    for i in range(len(keys)):
        key = keys[i]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while held[slot] != key and held[slot] != -1:
            slot = (slot + 1) & mask
        held[slot] = key
        counts[slot] += alone[i]
        slot_of[i] = slot
    if len(tuple_of):
        last = np.full(1 << bits, -1, np.int32)
        for e in range(len(tuple_of)):
            slot = np.int64(slot_of[tuple_of[e]])
            if last[slot] != person_of[e]:
                last[slot] = person_of[e]
                counts[slot] += 1
    found = np.zeros(len(asked), np.int64)
    for i in range(len(asked)):
        key = asked[i]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while held[slot] != key and held[slot] != -1:
            slot = (slot + 1) & mask
        if held[slot] == key:
            found[i] = counts[slot]
    return found
