"""The keyed fingerprint of a source, under which spent disclosure is kept."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from sfumato.review.review_project import SOURCE, Project


def fingerprint_of(project: Project) -> str:
    """The keyed fingerprint of what a project's records are from.

    Files are known by their bytes, however they are named and whichever of their columns are
    shown. Where the records are not from files, the records themselves count, in any order.

    Parameters
    ----------
    project
        The project.
    """
    files = sorted(project.fingerprints.values())
    content = "\n".join(files).encode() if files and all(files) else _digest(project.records)
    return str(settings.SFUMATO_KEYS.fingerprint_of(content))


def _digest(records: pa.Table) -> bytes:
    columns = [
        pc.fill_null(records[name].cast(pa.large_string()), "\x00")
        for name in sorted(records.column_names)
        if name != SOURCE
    ]
    rows = pc.binary_join_element_wise(*columns, pa.scalar("\x1f", pa.large_string()))
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks()
    rows = rows.take(pc.array_sort_indices(rows))
    digest = hashlib.sha256()
    for row in rows.to_pylist():
        data = row.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
