"""The smallest group of records in NumPy: an oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def smallest_group(
    members: npt.NDArray[np.uint32],
    codes: npt.NDArray[np.int32],
    start: npt.NDArray[np.int64],
    characters: npt.NDArray[np.unsignedinteger[Any]],
    columns: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
) -> int:
    """Size of the smallest group of records that agree in every item."""
    group = np.zeros(len(members), np.int64)
    for column, place in zip(columns.tolist(), places.tolist(), strict=True):
        value = codes[members, column].astype(np.int64)
        item = value + 1
        if place >= 0:
            at = np.where(value < 0, 0, start[value]) + place
            there = (value >= 0) & (at < np.where(value < 0, 0, start[value + 1]))
            item = np.zeros(len(members), np.int64)
            item[there] = characters[at[there]].astype(np.int64) + 1
        group = np.unique((group << 32) | item, return_inverse=True)[1]
    return int(np.bincount(group, weights if len(weights) else None).min())
