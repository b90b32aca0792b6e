"""The arrays that the loops take: contiguous, and of one type each.

The loops check nothing. What is handed to them goes through these functions, which give an array
back as it is if it has the type and the order already, as nearly all have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Sides = npt.NDArray[np.int8]
Integers = npt.NDArray[np.integer]
Arrays = tuple[npt.NDArray[Any], ...]


def ints(values: npt.ArrayLike) -> Ints:
    """Numbers of 64 bits."""
    return np.ascontiguousarray(values, dtype=np.int64)


def codes(values: npt.ArrayLike) -> Codes:
    """Numbers of 32 bits."""
    return np.ascontiguousarray(values, dtype=np.int32)


def floats(values: npt.ArrayLike) -> Floats:
    """Floating-point numbers of 64 bits."""
    return np.ascontiguousarray(values, dtype=np.float64)


def flags(values: Bools) -> Bytes:
    """Truth values as bytes, 0 or 1."""
    return np.ascontiguousarray(values, dtype=np.bool_).view(np.uint8)


def offsets_of(values: Integers) -> Ints | Codes:
    """Places in a text, in the width in which Arrow has them."""
    if values.dtype == np.int32:
        return codes(values)
    return ints(values)
