"""Questions about Arrow types and arrays that the door asks in several places."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def is_text(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's texts."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_bytes(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's bytes."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def is_moment(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's dates or timestamps."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether the type is one of Arrow's integers, floats or decimals."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def as_numpy(values: pa.Array) -> npt.NDArray[Any]:
    """An array without nulls as NumPy, without copying where that is possible."""
    array: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return array


def as_integers(values: pa.Array) -> Ints:
    """An array of integers without nulls as 64-bit integers."""
    return as_numpy(values).astype(np.int64, copy=False)


def flags(mask: pa.Array) -> Flags:
    """A boolean array without nulls as NumPy."""
    return as_numpy(mask).astype(np.bool_, copy=False)


def trimmed(texts: pa.Array) -> pa.Array:
    """The texts without spaces around them."""
    return pc.utf8_trim_whitespace(texts)


def matching(texts: pa.Array, pattern: str) -> Flags:
    """Which texts match a regular expression (RE2)."""
    return flags(pc.match_substring_regex(texts, pattern))
