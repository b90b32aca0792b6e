"""All records' identifying attributes, for a review that needs to know how many share a value."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.parquet import ParquetWriter

from sfumato.core.atomic import atomic_path
from sfumato.linkage.pairs.review import may_be_shown
from sfumato.linkage.sources.open import Opened

SOURCE, ID = "source", "id"
"""The first two columns; attributes of such a name have underscores behind it."""


def identifying_file(opened: Opened) -> pa.Buffer:
    """A Parquet file of all records: source, id, and the attributes that a review may show.

    It is streamed and stays compressed, as only a folder that is written needs it.

    Parameters
    ----------
    opened
        The tables; only their identifying halves are read.
    """
    names: dict[str, str] = {}
    for half in opened.identifying:
        for name in pq.read_schema(half).names:
            if may_be_shown(name) and name not in names:
                names[name] = _free(name, {SOURCE, ID, *names.values()})
    kinds = [(SOURCE, pa.string()), (ID, pa.large_string())]
    schema = pa.schema([*kinds, *((name, pa.large_string()) for name in names.values())])
    sink = pa.BufferOutputStream()
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        for number in range(len(opened.identifying)):
            for batch in _batches(opened, number, tuple(names)):
                writer.write_batch(pa.RecordBatch.from_arrays(batch, schema=schema))
    return sink.getvalue()


def write_identifying(given: pa.Buffer | Path, path: Path) -> None:
    """Write the file, readable by its owner only.

    Parameters
    ----------
    given
        The file's content, or a file that holds it.
    path
        Where.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    with atomic_path(path) as temporary:
        if isinstance(given, Path):
            shutil.copyfile(given, temporary)
        else:
            with temporary.open("wb") as file:
                file.write(given)


def _batches(opened: Opened, number: int, names: tuple[str, ...]) -> Iterator[list[pa.Array]]:
    """The columns of one source, some records at a time."""
    ids, source, first = opened.records.ids[number], opened.records.sources[number], 0
    with pq.ParquetFile(opened.identifying[number]) as file:
        own = [name for name in names if name in file.schema_arrow.names]
        for batch in file.iter_batches(columns=own):
            rows = batch.num_rows
            columns = [
                batch.column(name).cast(pa.large_string())
                if name in own
                else pa.nulls(rows, pa.large_string())
                for name in names
            ]
            of = pa.repeat(pa.scalar(source, pa.string()), rows)
            yield [of, ids.slice(first, rows).cast(pa.large_string()), *columns]
            first += rows


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
