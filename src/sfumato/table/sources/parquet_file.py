"""Parquet by path, streamed, only the columns that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.kernels.threads import read_ahead
from sfumato.table.sources.batches import (
    ACCEPTED,
    BATCH_ROWS,
    Source,
    check_known,
    check_names,
    no_records,
    plain_batch,
)
from sfumato.table.sources.files import check_file, subject_of

PARQUET_SUFFIXES = frozenset({".parquet", ".pq"})


def open_parquet_file(path: Path) -> Source:
    """Open a Parquet file by its footer.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it cannot be read, is not Parquet or damaged, has no record, or column names that
        are empty or there twice.
    """
    check_file(path)
    subject = subject_of(path)
    try:
        with pq.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise _damaged(subject) from None
    names = check_names(schema.names, subject)
    if not rows:
        raise no_records(subject)
    nested = {name for name in names if pa.types.is_nested(schema.field(name).type)}

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check_known(columns, names, subject)
        for name in columns:
            if name in nested:
                raise InputError(
                    f"column '{name}'",
                    "must hold single values",
                    found="lists or nested records",
                    accepted=ACCEPTED,
                )
        return _batches(path, columns)

    return Source(subject, names, batches, rows, text=False)


def _batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(path) as file:
            batches = file.iter_batches(batch_size=BATCH_ROWS, columns=list(columns))
            for batch in read_ahead(batches):
                if batch.num_rows:
                    yield plain_batch(batch, columns)
    except (pa.ArrowException, OSError):
        raise _damaged(subject_of(path)) from None


def _damaged(subject: str) -> InputError:
    return InputError(
        subject,
        "must be a whole Parquet file",
        found="another format, or a damaged or cut file",
        advice="write it again, or give it the suffix of its format",
    )
