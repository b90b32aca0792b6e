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

SMALL_DICTIONARY = 1 << 16
"""Bytes, as stored, of a dictionary that certainly holds every value of its part of the file."""


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
            footer, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise _damaged(subject) from None
    names = check_names(schema.names, subject)
    if not footer.num_rows:
        raise no_records(subject)
    nested = {name for name in names if pa.types.is_nested(schema.field(name).type)}

    def check(columns: Sequence[str]) -> None:
        check_known(columns, names, subject)
        for name in columns:
            if name in nested:
                raise InputError(
                    f"column '{name}'",
                    "must hold single values",
                    found="lists or nested records",
                    accepted=ACCEPTED,
                )

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check(columns)
        return read_ahead(_batches(path, columns, footer))

    def column(name: str) -> Iterator[pa.Array]:
        check([name])
        repeated = pa.types.is_string(schema.field(name).type) and _has_few_values(footer, name)
        given = _batches(path, [name], footer, repeated=repeated)
        return (batch.column(0) for batch in given)

    return Source(subject, names, batches, footer.num_rows, text=False, column=column)


def _has_few_values(footer: pq.FileMetaData, name: str) -> bool:
    """Whether the file itself holds the column as codes into small dictionaries."""
    paths = footer.row_group(0)
    places = [i for i in range(footer.num_columns) if paths.column(i).path_in_schema == name]
    chunks = [footer.row_group(i).column(places[0]) for i in range(footer.num_row_groups)]
    return all(
        chunk.has_dictionary_page
        and 0 < chunk.data_page_offset - chunk.dictionary_page_offset <= SMALL_DICTIONARY
        for chunk in chunks
    )


def _batches(
    path: Path, columns: Sequence[str], footer: pq.FileMetaData, *, repeated: bool = False
) -> Iterator[pa.RecordBatch]:
    coded = list(columns) if repeated else None
    try:
        with pq.ParquetFile(path, metadata=footer, read_dictionary=coded) as file:
            for batch in file.iter_batches(
                batch_size=BATCH_ROWS, columns=list(columns), use_threads=len(columns) > 1
            ):
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
