"""Encode the records of a standardised table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress, silent
from sfumato.linkage.encodings.encoded import Encoded
from sfumato.linkage.encodings.hashes import positions_of
from sfumato.linkage.encodings.keys import FieldKeys, field_keys, key_check, spec_check
from sfumato.linkage.encodings.spec import EncodingSpec, FieldEncoding
from sfumato.linkage.encodings.tokens import bits_of, tokens_of

Bytes = npt.NDArray[np.uint8]
_AT_ONCE = 1 << 14


def encode(
    table: pa.Table,
    spec: EncodingSpec,
    secret: bytes,
    *,
    id_column: str,
    progress: Progress = silent,
) -> Encoded:
    """Encode each record into one Bloom filter: a cryptographic long-term key (CLK).

    Tokens of each column are hashed into one filter under keys of the column's own (Schnell,
    Bachteler and Reiher 2011, "A Novel Error-Tolerant Anonymous Linking Code"). A missing or
    empty value sets no bit. Equal values are hashed once.

    Parameters
    ----------
    table
        Standardised values: what differs in case, accents or format is different here.
    spec
        What is encoded how.
    secret
        At least 16 random bytes that the owners share, and nobody else has.
    id_column
        The owner's id of each record; it leaves as it is, so it must say nothing of the person.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If a column is missing or cannot be read as text, ids are missing or come twice, or the
        secret is too short.
    """
    keys = field_keys(secret, len(spec.fields), salt=spec.salt_bytes, info=spec.info_bytes)
    ids = _text(table, id_column)
    if ids.null_count or len(ids.unique()) < len(ids):
        raise InputError(f"column {id_column!r}", "must hold a different id for every record")
    filters = np.zeros((len(table), spec.hashed_length // 8), np.uint8)
    for place, (field, own) in enumerate(zip(spec.fields, keys, strict=True)):
        progress("encode", place / len(keys))
        column = _text(table, field.column).dictionary_encode()
        values = _encoded_values(column.dictionary.to_pylist(), field, own, spec)
        there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        codes = column.indices.drop_null().to_numpy()
        for start in range(0, len(there), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            filters[there[part]] |= values[codes[part]]
    bits = folded(filters, spec.folds)
    return Encoded(ids, bits, key_check(secret), spec_check(secret, spec))


def folded(filters: Bytes, folds: int) -> Bytes:
    """Each filter halved ``folds`` times by XOR of its halves; shape (records, bytes)."""
    for _ in range(folds):
        half = filters.shape[1] // 2
        filters = filters[:, :half] ^ filters[:, half:]
    return filters


def _text(table: pa.Table, name: str) -> pa.StringArray:
    if name not in table.column_names:
        raise InputError(f"column {name!r}", "must be in the table that is encoded")
    column = table[name].combine_chunks()
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {name!r}", "must hold text, numbers or dates", found=str(column.type)
        ) from None


def _encoded_values(
    values: list[str], field: FieldEncoding, keys: FieldKeys, spec: EncodingSpec
) -> Bytes:
    """The filter of each of some different values of one column."""
    known: dict[str, npt.NDArray[np.int64]] = {}
    result = np.empty((len(values), spec.hashed_length // 8), np.uint8)
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        bits = np.zeros((len(part), spec.hashed_length), np.uint8)
        for row, value in zip(bits, part, strict=True):
            tokens = tokens_of(value, field)
            for token, count in zip(tokens, bits_of(len(tokens), field), strict=True):
                found = known.get(token)
                if found is None or len(found) < count:
                    found = known[token] = positions_of(token, count, keys, spec)
                row[found[:count]] = 1
        result[start : start + len(part)] = np.packbits(bits, axis=1)
    return result
