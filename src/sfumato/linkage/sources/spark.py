"""Tables of Spark as sources: streamed to this machine one partition after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.optional_packages import needed
from sfumato.engines.engine_choice import is_spark_frame
from sfumato.engines.spark.frames import check_classic
from sfumato.engines.spark.read import BROKEN, SparkSource, open_on_cluster, plain
from sfumato.engines.spark.session import said_plainly
from sfumato.engines.spark.tasks import WithoutValues
from sfumato.table.sources import Source, check_known, plain_batch, subject_of, with_records
from sfumato.table.table_files import open_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_BATCH = "batch"
_ANSWERS: dict[str, bool] = {}
"""By application: whether its executors run sfumato."""


def any_on_spark(tables: Mapping[str, object]) -> bool:
    """Whether one of the tables is a DataFrame of a Spark session that runs here.

    Parameters
    ----------
    tables
        The tables by name.
    """
    return any(_runs_here(each) for each in tables.values())


def streamed(tables: Mapping[str, object], *, spark: bool) -> dict[str, object]:
    """The tables, those that only Spark reads as sources; the others as they are.

    Parameters
    ----------
    tables
        Name of each table, and a DataFrame, a path, or anything else.
    spark
        Whether Spark may be started for a path: of a folder, or a URI such as ``s3a://bucket/a``.

    Raises
    ------
    InputError
        If a path is for Spark, and Spark is not asked for, not installed, or cannot read it, or
        a DataFrame is one of Spark Connect, and Spark is asked for.
    """
    found: dict[str, object] = {}
    for name, data in tables.items():
        if _runs_here(data):
            found[name] = _source(data)
        elif spark and is_spark_frame(data):
            check_classic(data)
        elif isinstance(data, (str, os.PathLike)) and is_for_spark(data):
            found[name] = _of_path(os.fsdecode(data), spark=spark)
        else:
            found[name] = data
    return found


def is_for_spark(path: str | os.PathLike[str]) -> bool:
    """Whether only Spark reads a path: a folder, or a URI.

    Parameters
    ----------
    path
        The path.
    """
    text = os.fsdecode(path)
    return bool(_URI.match(text)) or _is_folder(text)


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def runs_sfumato(session: SparkSession) -> bool:
    """Whether the executors' Python has sfumato and DuckDB.

    Parameters
    ----------
    session
        The session; the answer is kept for its application.
    """
    application = str(session.sparkContext.applicationId)
    if application not in _ANSWERS:
        try:
            with said_plainly("try its executors"):
                session.range(1).mapInArrow(_trial, "id bigint").collect()
            _ANSWERS[application] = True
        except SfumatoError:
            _ANSWERS[application] = False
    return _ANSWERS[application]


def _trial(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs on an executor, if it has what it needs."""
    needed("duckdb")
    yield from batches


def _runs_here(data: object) -> TypeGuard[DataFrame]:
    if not is_spark_frame(data):
        return False
    classic = needed("pyspark.sql.classic.dataframe", extra="spark")
    return isinstance(data, classic.DataFrame)


def _of_path(path: str, *, spark: bool) -> Source:
    if not spark:
        raise InputError(
            subject_of(Path(path)),
            "must be a file on this machine",
            found="a folder" if _is_folder(path) else "a URI",
            advice='Spark reads it: engine="spark", or --engine spark',
        )
    return _source(path)


def _source(data: object) -> Source:
    opened = open_on_cluster(data)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        check_known(columns, opened.names, opened.subject)
        return with_records(_batches(opened, columns), opened.subject)

    return Source(opened.subject, opened.names, batches, None, text=False)


def _batches(opened: SparkSource, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    chosen = [plain(opened.names.index(name)) for name in columns]
    checked = [] if opened.cells is None else [BROKEN]
    frame = opened.frame.select(*chosen, *checked)
    broken = 0
    for batch in _streamed(frame) if runs_sfumato(frame.sparkSession) else _whole(frame):
        found = batch.columns[: len(columns)]
        broken += sum(int(pc.sum(each).as_py() or 0) for each in batch.columns[len(columns) :])
        yield plain_batch(pa.RecordBatch.from_arrays(found, names=list(columns)), columns)
    opened.check_cells(broken)


def _streamed(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """Each partition's batches as they came out of Arrow on its executor.

    Of what Spark holds, no more than the partition in hand, and the next, is on this machine.
    """
    with said_plainly("read the records"):
        task: Any = WithoutValues(_packed)
        packed = frame.mapInArrow(task, f"{_BATCH} binary")
        rows = packed.toLocalIterator(prefetchPartitions=True)
    while True:
        with said_plainly("read the records"):
            row = next(rows, None)
        if row is None:
            return
        yield from pa.ipc.open_stream(row[_BATCH])


def _whole(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """The records as Spark gives them without Python on its executors: all at once."""
    source = open_source(frame)
    return source.batches(source.names)


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as one value; runs on an executor."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        packed = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([packed], names=[_BATCH])
