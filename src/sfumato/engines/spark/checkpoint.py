"""Write a DataFrame where executors find it again, so that what is lost is not computed anew."""

from __future__ import annotations

import atexit
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.optional_packages import silenced, spark_errors
from sfumato.core.workspace import Workspace
from sfumato.engines.spark.session import said_plainly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_workspaces: list[Workspace] = []
_folders: WeakKeyDictionary[DataFrame, str] = WeakKeyDictionary()
_written: dict[str, SparkSession] = {}
"""The folders that are not removed yet."""


def cut_lineage(frame: DataFrame, known: Mapping[str, SfumatoError] | None = None) -> DataFrame:
    """Compute a DataFrame, keep it in files, and give it back as read from them.

    The files are Parquet, in the session's folder for checkpoints where one is set, else, if
    Spark runs on this machine, in a private folder. So a task that is repeated reads the same
    rows, and an action reads only the columns that it needs.

    Parameters
    ----------
    frame
        The DataFrame; its columns may have any names that differ.
    known
        What to raise for what Spark says, as `said_plainly` takes it.

    Returns
    -------
    DataFrame
        The same rows. `release` removes the files, and so does the end of Python.

    Raises
    ------
    InputError
        If Spark runs on several machines and no folder for checkpoints is set.
    SfumatoError
        If Spark fails.
    """
    folder = f"{_place(frame.sparkSession)}/sfumato-{secrets.token_hex(8)}"
    names = frame.columns
    plain = [f"c{place}" for place in range(len(names))]
    _written[folder] = frame.sparkSession
    with ExitStack() as on_error:
        on_error.callback(_remove, folder)
        with said_plainly("compute the records", known):
            own = frame.toDF(*plain)
            own.write.parquet(folder)
            read = frame.sparkSession.read.schema(own.schema).parquet(folder).toDF(*names)
        on_error.pop_all()
    _folders[read] = folder
    return read


def derived(frame: DataFrame, original: DataFrame) -> DataFrame:
    """The frame, whose `release` removes what `cut_lineage` has written for the original.

    Parameters
    ----------
    frame
        Made from ``original``.
    original
        What `cut_lineage` gave back.
    """
    _folders[frame] = _folders[original]
    return frame


def release(frame: DataFrame) -> None:
    """Remove the files of a DataFrame that `cut_lineage` gave back; others are left alone.

    Parameters
    ----------
    frame
        The very object; neither it nor what is made from it can be computed any more.
    """
    folder = _folders.pop(frame, None)
    if folder is not None:
        _remove(folder)


@contextmanager
def released(*frames: DataFrame) -> Iterator[None]:
    """Release DataFrames at the end of a block.

    Parameters
    ----------
    *frames
        What `cut_lineage` gave back.

    Yields
    ------
    None
        While the block runs.
    """
    try:
        yield
    finally:
        for frame in frames:
            release(frame)


def _place(session: SparkSession) -> str:
    """The folder in which checkpoints are kept."""
    context = session.sparkContext
    with said_plainly("find its folder for checkpoints"):
        set_dir = context.getCheckpointDir() or context.getConf().get("spark.checkpoint.dir")
    if set_dir is not None:
        return str(set_dir)
    if not str(context.master).startswith("local"):
        raise InputError(
            "engine spark",
            "needs a folder for checkpoints that all executors reach",
            found="none",
            advice="call spark.sparkContext.setCheckpointDir(...), or set spark.checkpoint.dir, "
            "to a folder on HDFS, S3 or the like",
        )
    if not _workspaces:
        _workspaces.append(Workspace())
        atexit.register(_remove_all)
    return (Path(_workspaces[0].path) / "checkpoints").as_uri()


def _remove_all() -> None:
    for folder in list(_written):
        _remove(folder)
    for workspace in _workspaces:
        workspace.close()


def _remove(folder: str) -> None:
    """Remove a folder of ours, if its Spark still runs; a private one goes with its workspace."""
    session = _written.pop(folder)
    context: Any = session.sparkContext
    errors: tuple[type[Exception], ...] = (*spark_errors(), AttributeError, OSError)
    with silenced(), suppress(*errors):
        path = context._jvm.org.apache.hadoop.fs.Path(folder)  # noqa: SLF001
        path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)  # noqa: SLF001
