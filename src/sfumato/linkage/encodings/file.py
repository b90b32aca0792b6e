"""Encodings as a file: Parquet with id and pattern, and what tells keys and specifications apart.

Neither the key nor the specification is in it.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.atomic import atomic_path
from sfumato.core.errors import InputError
from sfumato.linkage.encodings.encoded import Encoded
from sfumato.linkage.sources.ids import check_ids

_SPEC = b"sfumato.encoding.specification"
_KEY = b"sfumato.encoding.key"
_PARQUET = b"PAR1"


def write_encoded(encoded: Encoded, target: str | os.PathLike[str]) -> None:
    """Write encodings as Parquet, whole or not at all.

    Columns ``id`` (text) and ``clk`` (binary, length / 8 bytes a record); what tells different
    keys and specifications apart is in the file's metadata.

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
        {_SPEC: encoded.spec_check.encode(), _KEY: encoded.key_check.encode()}
    )
    with atomic_path(target) as path:
        pq.write_table(table, path, use_dictionary=False, write_statistics=False)


def is_encoded(data: object) -> bool:
    """Whether a table is encodings: in memory, or a file that `write_encoded` wrote.

    Parameters
    ----------
    data
        A table, or the path of a file, whatever its name; only what it says of itself is read.
    """
    if isinstance(data, Encoded):
        return True
    if not isinstance(data, (str, os.PathLike)):
        return False
    try:
        with Path(os.fsdecode(data)).open("rb") as file:
            if file.read(len(_PARQUET)) != _PARQUET:
                return False
        known = pq.read_schema(Path(os.fsdecode(data))).metadata or {}
    except (pa.ArrowInvalid, OSError, ValueError):
        return False
    return _SPEC in known and _KEY in known


def read_encoded(source: str | os.PathLike[str]) -> Encoded:
    """Read what `write_encoded` wrote.

    Parameters
    ----------
    source
        The file.

    Raises
    ------
    InputError
        If the file cannot be read or is something else, or its ids are missing or come twice.
    """
    path = Path(source)
    subject = f"file {path.name}"
    try:
        table = pq.read_table(pa.BufferReader(path.read_bytes()))
    except (pa.ArrowInvalid, OSError):
        raise InputError(subject, "must be a Parquet file that can be read") from None
    known = table.schema.metadata or {}
    if table.column_names != ["id", "clk"] or _SPEC not in known or _KEY not in known:
        raise InputError(subject, "must hold encodings that sfumato wrote")
    patterns = table["clk"].combine_chunks()
    width = getattr(patterns.type, "byte_width", 0) if _fixed(patterns.type) else 0
    if not len(table) or not width or width % 8 or patterns.null_count:
        raise InputError(subject, "must hold records, and a pattern of one length for each")
    ids = table["id"].cast(pa.string()).combine_chunks()
    check_ids(ids, "id", subject)
    start = patterns.offset * width
    raw = np.frombuffer(patterns.buffers()[1], np.uint8)[start : start + len(table) * width]
    bits = raw.reshape(len(table), width).copy()
    key_check, spec_check = (known[name].decode("ascii", "replace") for name in (_KEY, _SPEC))
    return Encoded(ids, bits, key_check, spec_check)


def _fixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_binary(kind))
