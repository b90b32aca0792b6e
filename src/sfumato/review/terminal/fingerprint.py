"""The hash of the records of a review, whatever file they were read from."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def records_hash(records: pa.Table) -> str:
    """SHA-256 of all records: names of columns, lengths of values, values.

    Parameters
    ----------
    records
        The records: columns of text.
    """
    digest = hashlib.sha256()
    for name in records.column_names:
        digest.update(f"{len(name)}:{name}".encode())
        for chunk in records[name].chunks:
            lengths = pc.fill_null(pc.binary_length(chunk), -1)
            digest.update(np.asarray(lengths).astype("<i8").tobytes())
        for chunk in records[name].chunks:
            digest.update(_bytes(chunk))
    return digest.hexdigest()


def _bytes(texts: pa.LargeStringArray) -> memoryview:
    """All texts of an array, one behind the other."""
    filled = pc.fill_null(texts, "")
    _, offsets, data = filled.buffers()
    if data is None:
        return memoryview(b"")
    ends = memoryview(offsets).cast("q")
    return memoryview(data)[ends[filled.offset] : ends[filled.offset + len(filled)]]
