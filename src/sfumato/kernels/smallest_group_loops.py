"""The smallest group of records, compiled; the twin is ``smallest_group_twin``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled


@compiled
def smallest_group(
    members: npt.NDArray[np.uint32],
    codes: npt.NDArray[np.int32],
    start: npt.NDArray[np.int64],
    characters: npt.NDArray[np.unsignedinteger[Any]],
    columns: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
) -> int:
    """Size of the smallest group of records that agree in every item.

    The groups of the items so far are divided by the next item: a pair of group and item is
    looked up in a hash table of at least twice as many slots as there are members.
    """
    size = len(members)
    bits = 2
    while (1 << bits) < 2 * size:
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    keys = np.empty(1 << bits, np.int64)
    numbers = np.empty(1 << bits, np.int32)
    group = np.zeros(size, np.int32)
    count = 1
    for item in range(len(columns)):
        column, place = columns[item], places[item]
        keys[:] = -1
        count = 0
        for i in range(size):
            value = np.int64(codes[members[i], column])
            part = value + 1
            if place >= 0:
                part = np.int64(0)
                if value >= 0:
                    at = start[value] + place
                    if at < start[value + 1]:
                        part = np.int64(characters[at]) + 1
            key = (np.int64(group[i]) << 32) | part
            slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
            while keys[slot] != key and keys[slot] != -1:
                slot = (slot + 1) & mask
            if keys[slot] == -1:
                keys[slot] = key
                numbers[slot] = count
                count += 1
            group[i] = numbers[slot]
        if count == size:
            return int(weights.min()) if len(weights) else 1
    sizes = np.zeros(count, np.int64)
    for i in range(size):
        sizes[group[i]] += weights[i] if len(weights) else 1
    return int(sizes.min())
