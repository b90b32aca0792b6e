"""Encodings as a file: Parquet with id and pattern, the specification beside, and no key."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.atomic import atomic_path
from sfumato.core.errors import InputError
from sfumato.linkage.encodings.encoded import Encoded
from sfumato.linkage.encodings.spec import EncodingSpec

_SPEC = b"sfumato.encoding"
_CHECK = b"sfumato.encoding.key_check"


def write_encoded(encoded: Encoded, target: str | os.PathLike[str]) -> None:
    """Write encodings as Parquet, whole or not at all.

    Columns ``id`` (text) and ``clk`` (binary, length / 8 bytes a record); the specification as
    JSON, and what tells different keys apart, are in the file's metadata.

    Parameters
    ----------
    encoded
        What to write.
    target
        The file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    width = encoded.bits.shape[1]
    raw = pa.py_buffer(np.ascontiguousarray(encoded.bits))
    patterns = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(encoded), [None, raw])
    table = pa.table({"id": encoded.ids, "clk": patterns}).replace_schema_metadata(
        {_SPEC: encoded.spec.to_json().encode(), _CHECK: encoded.key_check.encode()}
    )
    with atomic_path(target) as path:
        pq.write_table(table, path, use_dictionary=False, write_statistics=False)


def read_encoded(source: str | os.PathLike[str]) -> Encoded:
    """Read what `write_encoded` wrote.

    Raises
    ------
    InputError
        If the file cannot be read or is something else.
    """
    path = Path(source)
    subject = f"file {path.name}"
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError):
        raise InputError(subject, "must be a Parquet file that can be read") from None
    known = table.schema.metadata or {}
    if table.column_names != ["id", "clk"] or _SPEC not in known or _CHECK not in known:
        raise InputError(subject, "must hold encodings that sfumato wrote")
    spec = EncodingSpec.from_json(known[_SPEC])
    patterns = table["clk"].combine_chunks()
    width = spec.length // 8
    if patterns.type != pa.binary(width) or patterns.null_count:
        raise InputError(subject, "must hold a pattern of the stated length for every record")
    start = patterns.offset * width
    raw = np.frombuffer(patterns.buffers()[1], np.uint8)[start : start + len(table) * width]
    bits = raw.reshape(len(table), width).copy()
    return Encoded(table["id"].combine_chunks(), bits, spec, known[_CHECK].decode())
