"""Questions about Arrow types and arrays that the door asks in several places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
PRINTABLE = np.frombuffer(b"!~", dtype=np.uint8)
"""The first and the last letter of ASCII that one sees."""


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


# Arrow imports pandas, where it is installed, at its first conversion from or to Python's or
# NumPy's values. The functions that follow read and make its buffers, which saves that time.


def as_numpy(values: pa.Array) -> npt.NDArray[Any]:
    """An array without nulls as NumPy; numbers are not copied."""
    kind = values.type
    if pa.types.is_boolean(kind):
        bits = np.frombuffer(values.buffers()[1], dtype=np.uint8)
        end = values.offset + len(values)
        return np.unpackbits(bits, count=end, bitorder="little")[values.offset :].view(np.bool_)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = np.frombuffer(values.buffers()[1], dtype=kind.to_pandas_dtype())
        return numbers[values.offset : values.offset + len(values)]
    array: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return array


def from_numpy(values: npt.NDArray[Any], missing: Flags | None = None) -> pa.Array:
    """Booleans, integers or floats as an array, null where missing; numbers are not copied."""
    if values.dtype == np.bool_:
        kind, data = pa.bool_(), np.packbits(values, bitorder="little")
    else:
        kind, data = pa.from_numpy_dtype(values.dtype), np.ascontiguousarray(values)
    known = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(data)])


def from_texts(texts: Iterable[str]) -> pa.Array:
    """Texts as an array of large strings."""
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def texts_of(values: pa.Array) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.uint8]]:
    """Where each text starts, where the last one ends, and the bytes; null ones mean nothing.

    Views are no such texts: cast them first.
    """
    _, ends, letters = values.buffers()
    width = pa.int64() if pa.types.is_large_string(values.type) else pa.int32()
    offsets = np.frombuffer(ends, dtype=width.to_pandas_dtype())
    data = np.empty(0, np.uint8) if letters is None else np.frombuffer(letters, dtype=np.uint8)
    return offsets[values.offset :][: len(values) + 1], data


def are_equal(texts: pa.Array, text: str) -> pa.Array:
    """Which texts are that one."""
    return pc.equal(texts, from_texts([text])[0])


def as_integers(values: pa.Array) -> Ints:
    """An array of integers without nulls as 64-bit integers."""
    return as_numpy(values).astype(np.int64, copy=False)


def flags(mask: pa.Array) -> Flags:
    """A boolean array without nulls as NumPy."""
    return as_numpy(mask).astype(np.bool_, copy=False)


def check_utf8(values: pa.Array, name: str) -> None:
    """Refuse texts whose bytes are not UTF-8; Parquet and Arrow may hold such.

    Parameters
    ----------
    values
        Values of any type.
    name
        The column's name.

    Raises
    ------
    InputError
        If they are texts and not UTF-8.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary
    if not is_text(values.type):
        return
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        raise not_utf8(name) from None


def not_utf8(name: str) -> InputError:
    """The error for a column whose texts are other bytes.

    Parameters
    ----------
    name
        The column's name.
    """
    return InputError(
        f"column '{name}'", "must hold text in UTF-8", found="other bytes in its texts"
    )


def one_zero(values: pa.Array) -> pa.Array:
    """The values, -0.0 as 0.0: they are equal, and Arrow looks them up by their bits."""
    if pa.types.is_float32(values.type) or pa.types.is_float64(values.type):
        return pc.add(values, pa.scalar(0.0, values.type))
    return values


def trimmed(texts: pa.Array) -> pa.Array:
    """The texts without spaces around them; the same array where surely none has any."""
    return texts if _have_plain_ends(texts) else pc.utf8_trim_whitespace(texts)


def _have_plain_ends(texts: pa.Array) -> bool:
    """Whether every text starts and ends with a printable letter of ASCII, not a space."""
    if not len(texts) or texts.null_count:
        return False
    offsets, data = texts_of(texts)
    if (offsets[1:] == offsets[:-1]).any():
        return False
    return all(
        bool((data.take(places) - PRINTABLE[0] <= PRINTABLE[1] - PRINTABLE[0]).all())
        for places in (offsets[:-1], offsets[1:] - 1)
    )


def matching(texts: pa.Array, pattern: str) -> Flags:
    """Which texts match a regular expression (RE2)."""
    return flags(pc.match_substring_regex(texts, pattern))
