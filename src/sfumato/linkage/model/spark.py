"""Splink on Spark: the session that is there, or one on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import pyarrow as pa

from sfumato.core.optional_packages import needed, quiet
from sfumato.engines.spark.session import active_session, own_session, start_session
from sfumato.linkage.model.spark_levels import as_functions
from sfumato.linkage.model.spark_sql import spark_settings, spark_sql
from sfumato.linkage.sources.spark import runs_sfumato

if TYPE_CHECKING:
    import duckdb

_EXTRA = "spark"
_ROWS = 200_000
"""Records that are sent to Spark at once, about."""

OTHER_LEVELS = (
    "Spark's executors have no sfumato[link]: values were compared by Splink's functions for "
    "Spark, whose similarity of names is not quite DuckDB's."
)


class OnSpark:
    """Splink in a Spark session of its own, so that its tables and settings are nobody else's.

    The standardised tables come from DuckDB; candidate pairs are made, compared and scored in
    Spark. Comparisons are those of DuckDB, which runs on the executors, or where it is not
    there, of Splink for Spark.
    """

    def __init__(self, session: Any, connection: duckdb.DuckDBPyConnection) -> None:
        backend = needed("splink.backends.spark", extra=_EXTRA)
        session.sql(f"ADD JAR '{backend.similarity_jar_location()}'")
        self._session, self._connection = session, connection
        self._api = backend.SparkAPI(spark_session=session, break_lineage_method="persist")
        self.notes: tuple[str, ...] = () if runs_sfumato(session) else (OTHER_LEVELS,)

    def register(self, tables: Sequence[str]) -> list[Any]:
        """The standardised tables as Splink knows them."""
        return [self._api.register(self._sent(n), dataset_display_name=n) for n in tables]

    def _sent(self, name: str) -> Any:
        """A table in parts, none of which is too large for a task, that are sent once."""
        parts = self._connection.table(name).fetch_arrow_reader(_ROWS)
        frames = [self._session.createDataFrame(pa.Table.from_batches([each])) for each in parts]
        if len(frames) == 1:
            return frames[0]
        return reduce(lambda one, other: one.unionAll(other), frames).persist()

    def settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Splink settings in Spark's SQL."""
        if self.notes:
            return spark_settings(settings)
        with quiet("bring the comparisons to Spark"):
            asking, functions = as_functions(settings)
            for each in functions:
                each.register(self._session)
        return spark_settings(asking)

    def columns(self, sql: str) -> Mapping[str, npt.NDArray[Any]]:
        """The columns of a query, in their order."""
        table = self._session.sql(spark_sql(sql)).toArrow()
        return {
            name: column.combine_chunks().to_numpy(zero_copy_only=False)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }


@contextmanager
def open_spark(connection: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[OnSpark]:
    """Splink on Spark, in a session beside the active one or, without one, on this machine.

    Parameters
    ----------
    connection
        The database with the standardised tables.
    folder
        A private folder, for what a Spark on this machine puts aside.

    Yields
    ------
    OnSpark
        What Splink works in. At the end its tables are dropped, and a Spark that was started for
        it is stopped.

    Raises
    ------
    InputError
        If Spark or Java is missing.
    SfumatoError
        If Splink cannot use it.
    """
    with quiet("start Spark"):
        active = active_session()
        shared = active or start_session(folder, "sfumato link")
    session = None
    try:
        with quiet("take Spark"):
            session = own_session(shared)
            spark = OnSpark(session, connection)
        yield spark
    finally:
        with quiet("leave Spark"):
            if active is None:
                shared.stop()
            elif session is not None:
                for table in session.catalog.listTables():
                    if table.isTemporary:
                        session.catalog.dropTempView(table.name)
