"""Open the tables to be linked and separate each at once into its two halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetWriter

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress, silent
from sfumato.core.workspace import Workspace
from sfumato.linkage.sources.cells import as_text, check_encoding, without
from sfumato.linkage.sources.columns import Seen, check_columns
from sfumato.linkage.sources.halves import Halves, separate
from sfumato.linkage.sources.headers import match_headers
from sfumato.linkage.sources.ids import check_ids
from sfumato.linkage.spec.columns import sql_name
from sfumato.linkage.spec.model import LinkSpec, Mode
from sfumato.linkage.spec.settings import columns_of_settings
from sfumato.linkage.values import Records
from sfumato.schema import Schema
from sfumato.table.preparation import prepared_in_part
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source

RECORD = "record"
"""The column of both halves that holds the number of the record."""


@dataclass(frozen=True, eq=False)
class Opened:
    """Tables that are open and separated; leaving it as a context removes all its files.

    Attributes
    ----------
    spec
        The specification.
    records
        The records.
    identifying
        Per source, its identifying half: a Parquet file with ``record``, the specification's
        columns under their SQL names as text, and direct identifiers that are not compared.
    analytic
        Per source, its analytic half: a Parquet file with ``record`` and all other columns.
    columns
        Names of the specification's columns that are compared or blocked on.
    workspace
        The private folder that all this lies in.
    """

    spec: LinkSpec
    records: Records
    identifying: tuple[Path, ...]
    analytic: tuple[Path, ...]
    columns: tuple[str, ...]
    workspace: Workspace

    def __enter__(self) -> Opened:
        """The tables, until the block ends."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the files."""
        self.close()

    def close(self) -> None:
        """Remove the files."""
        self.workspace.close()


@dataclass
class _Reading:
    """One source while it is read."""

    name: str
    source: Source
    halves: Halves
    id_header: str | None
    start: int
    seen: dict[str, Seen] = field(default_factory=dict)
    ids: list[pa.Array] = field(default_factory=list)
    rows: int = 0


def open_sources(
    tables: Mapping[str, object],
    spec: LinkSpec,
    *,
    schema: Schema | None = None,
    folder: Path | None = None,
    varied: bool = True,
    progress: Progress = silent,
) -> Opened:
    """Open the tables, check them, and write each one's two halves to a private folder.

    Parameters
    ----------
    tables
        Name of each source and its table: anything that `open_source` takes.
    spec
        What is linked, and how.
    schema
        What the columns are; a sensitive one is never put into an identifying half. Without it
        the columns that are not compared are taken apart by their names.
    folder
        Where the private folder is made; the system's place for temporary files if not given.
    varied
        Whether columns are refused that are empty, or hold one value throughout.
    progress
        Told how far the reading is.

    Raises
    ------
    InputError
        If a table cannot be read, has no record, ids that are missing or there twice, garbled
        text, or there is a column that cannot be compared, none that can, or another number of
        tables than the mode needs.
    """
    _check_names(tables, spec)
    columns = tuple(spec.columns) if spec.splink is None else columns_of_settings(spec.splink)
    with ExitStack() as on_error:
        workspace = on_error.enter_context(Workspace(folder))
        readings, start = [], 0
        for number, (name, data) in enumerate(tables.items()):
            reading = _opened(name, data, spec, columns, schema)
            reading.start = start
            _read(reading, number, spec, workspace.path)
            readings.append(reading)
            start += reading.rows
            progress("read", (number + 1) / len(tables))
        if varied:
            check_columns(spec.mode, columns, [(each.name, each.seen) for each in readings])
        on_error.pop_all()
    numbers = range(len(readings))
    return Opened(
        spec=spec,
        records=Records(tuple(tables), tuple(pa.concat_arrays(each.ids) for each in readings)),
        identifying=tuple(_path(workspace.path, "identifying", n) for n in numbers),
        analytic=tuple(_path(workspace.path, "analytic", n) for n in numbers),
        columns=columns,
        workspace=workspace,
    )


def _check_names(tables: Mapping[str, object], spec: LinkSpec) -> None:
    one = spec.mode is Mode.DEDUPE_ONLY
    if (len(tables) != 1) if one else (len(tables) < 2):
        raise InputError(
            f"mode {spec.mode.value}",
            "must have one table" if one else "must have two tables at least",
            found=f"{len(tables)}",
        )
    for option, names in (("one_per_source", spec.one_per_source), ("rename", spec.rename)):
        if not set(names) <= set(tables):
            raise InputError(
                option,
                "must name sources",
                found="a name that no table has",
                accepted=", ".join(tables),
            )


def _opened(
    name: str, data: object, spec: LinkSpec, columns: Sequence[str], schema: Schema | None
) -> _Reading:
    source = prepared_in_part(data if isinstance(data, Source) else open_source(data), schema)
    wanted = [*columns, *([] if spec.id is None else [spec.id])]
    headers = match_headers(source.names, wanted, spec.rename.get(name, {}), f"source {name}")
    id_header = None if spec.id is None else headers.pop(spec.id, None)
    if spec.id is not None and id_header is None:
        raise InputError(f"column '{spec.id}'", f"must be a column of source {name}")
    return _Reading(name, source, separate(source.names, headers, id_header, schema), id_header, 0)


def _path(folder: Path, half: str, number: int) -> Path:
    return folder / f"{half}_{number:03}.parquet"


def _read(reading: _Reading, number: int, spec: LinkSpec, folder: Path) -> None:
    """Stream a source into its two files."""
    writers: dict[str, ParquetWriter] = {}
    with ExitStack() as stack:
        for batch in reading.source.batches(reading.source.names):
            first = reading.start + reading.rows
            record = pa.array(np.arange(first, first + batch.num_rows, dtype=np.int64))
            halves = {
                "identifying": _identifying(reading, batch, record, spec),
                "analytic": _analytic(reading, batch, record),
            }
            for half, rows in halves.items():
                if half not in writers:
                    path = _path(folder, half, number)
                    writers[half] = stack.enter_context(
                        ParquetWriter(path, rows.schema, compression="zstd")
                    )
                _write(writers[half], rows, f"source {reading.name}")
            reading.ids.append(_ids(reading, batch))
            reading.rows += batch.num_rows
    if reading.id_header is not None:
        check_ids(pa.concat_arrays(reading.ids), reading.id_header, f"source {reading.name}")


def _write(writer: ParquetWriter, rows: pa.RecordBatch, subject: str) -> None:
    try:
        writer.write_batch(rows)
    except (pa.ArrowException, ValueError):
        raise InputError(
            subject, "must have one type per column throughout", found="several"
        ) from None


def _identifying(
    reading: _Reading, batch: pa.RecordBatch, record: pa.Array, spec: LinkSpec
) -> pa.RecordBatch:
    arrays = {RECORD: record}
    for name, header in reading.halves.compared.items():
        values = batch.column(header)
        text = without(as_text(values, header), spec.missing)
        check_encoding(text, f"column '{header}' of source {reading.name}", reading.rows + 1)
        reading.seen.setdefault(name, Seen()).add(text)
        as_given = spec.splink is not None
        arrays[name if as_given else sql_name(name)] = values if as_given else text
    for name, header in reading.halves.beside.items():
        arrays[name] = as_text(batch.column(header), header)
    return pa.RecordBatch.from_pydict(arrays)


def _analytic(reading: _Reading, batch: pa.RecordBatch, record: pa.Array) -> pa.RecordBatch:
    names = reading.halves.analytic
    columns = [_stored(batch.column(name)) for name in names]
    return pa.RecordBatch.from_arrays([record, *columns], names=[_free(names), *names])


def _free(names: Sequence[str]) -> str:
    """The name of the record's number, where no column has it."""
    name = RECORD
    while name in names:
        name += "_"
    return name


def _stored(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _ids(reading: _Reading, batch: pa.RecordBatch) -> pa.Array:
    if reading.id_header is None:
        first = reading.rows + 1
        return pc.cast(
            pa.array(np.arange(first, first + batch.num_rows, dtype=np.int64)), pa.large_string()
        )
    return as_text(batch.column(reading.id_header), reading.id_header)
