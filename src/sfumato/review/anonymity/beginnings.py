"""Which values another value begins with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def beginnings(
    start: npt.NDArray[np.int64], characters: npt.NDArray[np.unsignedinteger[Any]]
) -> npt.NDArray[np.bool_]:
    """Whether another value may begin with all characters of a value, and goes on.

    Beginnings are compared by 64-bit hashes: where none is equal, no value does.

    Parameters
    ----------
    start
        Where the characters of each value start, at least one each; shape (values + 1,).
    characters
        The characters of all values, one value after the other.

    Returns
    -------
    NDArray
        Shape (values,).
    """
    lengths = np.diff(start)
    result = np.zeros(len(lengths), np.bool_)
    values = np.arange(len(lengths))
    hashes = np.zeros(len(lengths), np.uint64)
    for place in range(int(lengths.max(initial=0))):
        hashes = hashes * _FACTOR + characters[start[values] + place] + np.uint64(1)
        ends = lengths[values] == place + 1
        if ends.any() and not ends.all():
            result[values[ends]] = np.isin(hashes[ends], hashes[~ends])
        values, hashes = values[~ends], hashes[~ends]
    return result
