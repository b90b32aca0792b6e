"""Ties of ids and of records: hashes by which persons who are otherwise equal are ordered.

The hash itself is fixed in `sfumato.kernels.ties`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.kernels.key_numbering import EMPTY, extended, of_texts
from sfumato.table.columns import Codes
from sfumato.table.encoding.arrow_types import (
    as_numpy,
    flags,
    from_numpy,
    from_texts,
    is_bytes,
    is_moment,
    is_text,
)
from sfumato.table.encoding.labels import printed

Ints = npt.NDArray[np.int64]
MISSING_TIE = 0
"""The tie of a missing value."""
WHOLE = 2.0**53
"""Floats below this that are whole numbers are integers exactly."""
BLOCK = 1 << 17
"""Records that are hashed together, so that they stay in the processor's cache."""


def ties_of_values(values: pa.Array | pa.ChunkedArray) -> Ints:
    """The hash of the text that each value prints as.

    The same for 7, 7.0 and "7". A date or a time that is a midnight prints as the date. O(bytes)
    for texts, bytes and integers; floats with a fraction, decimals, dates and times print one by
    one.

    Parameters
    ----------
    values
        Values of any type that a person column may have; shape (values,).

    Returns
    -------
    numpy.ndarray
        Shape (values,); `MISSING_TIE` where a value is null.
    """
    if isinstance(values, pa.ChunkedArray):
        none = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *(ties_of_values(chunk) for chunk in values.chunks)])
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    if pa.types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    if pa.types.is_dictionary(values.type):
        known = ties_of_values(values.dictionary)
        places = as_numpy(pc.fill_null(values.indices, 0))
        ties = known[places] if len(known) else np.zeros(len(values), dtype=np.int64)
    elif values.null_count:
        valid = flags(values.is_valid())
        ties = np.zeros(len(values), dtype=np.int64)
        ties[valid] = ties_of_values(values.drop_null())
    else:
        return of_texts(*_buffers(_texts(values)))
    if values.null_count:
        ties = np.where(flags(values.is_valid()), ties, MISSING_TIE)
    return ties


def ties_of_codes(
    quasi_identifiers: Sequence[Codes], sensitive: Sequence[tuple[Codes, Sequence[str]]]
) -> Ints:
    """A hash of each record's content.

    It does not depend on the order of the sensitive attributes' domains, of which the hash of
    the label is taken in. Costs a pass over the records per column.

    Parameters
    ----------
    quasi_identifiers
        Codes of each quasi-identifier, -1 for missing; shape (records,).
    sensitive
        Codes of each sensitive attribute, -1 for missing, and the label of each code.
    """
    known = [
        np.append(of_texts(*_buffers(from_texts(labels))), MISSING_TIE) for _, labels in sensitive
    ]
    ties = np.full(len([*quasi_identifiers, *(codes for codes, _ in sensitive)][0]), EMPTY)
    for start in range(0, len(ties), BLOCK):
        some = slice(start, start + BLOCK)
        block = ties[some]
        for codes in quasi_identifiers:
            block = extended(block, codes[some].astype(np.int64))
        for (codes, _), of_label in zip(sensitive, known, strict=True):
            block = extended(block, of_label[codes[some]])
        ties[some] = block
    return ties


def _texts(values: pa.Array) -> pa.Array:
    """The texts that values without null print as."""
    kind = values.type
    if is_text(kind) and not pa.types.is_string_view(kind):
        return values
    if is_bytes(kind):
        return values.cast(pa.large_binary())
    if pa.types.is_floating(kind):
        numbers = as_numpy(values)
        if np.all(np.abs(numbers) < WHOLE) and np.all(numbers == np.floor(numbers)):
            return from_numpy(numbers.astype(np.int64)).cast(pa.large_string())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return from_texts(printed(values))
    if is_moment(kind):
        alone = [values.slice(place, 1) for place in range(len(values))]
        return from_texts(text for value in alone for text in printed(value))
    return values.cast(pa.large_string())


def _buffers(texts: pa.Array) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.uint8]]:
    """Where each text starts and the last one ends, and the bytes."""
    _, ends, letters = texts.buffers()
    large = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    if ends is None:
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    width = pa.int64() if large else pa.int32()
    offsets = np.frombuffer(ends, dtype=width.to_pandas_dtype())
    data = np.empty(0, np.uint8) if letters is None else np.frombuffer(letters, dtype=np.uint8)
    return offsets[texts.offset :][: len(texts) + 1], data
