"""Splink on Spark: the session that is there, or one on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.extra import needed
from sfumato.core.quiet import quiet
from sfumato.linkage.model.spark_sql import spark_settings, spark_sql

if TYPE_CHECKING:
    import duckdb

_EXTRA = "spark"
_SET_UP_BY = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables of people who say themselves how Spark runs."""
_SHARE_OF_MEMORY = 0.5
_PARTITIONS = "spark.sql.shuffle.partitions"
_FEWEST_PARTITIONS = 8
_PARTITIONS_PER_TASK = 4
"""Partitions of a shuffle, per task that runs at once on this machine."""


class OnSpark:
    """Splink in a Spark session of its own, so that its tables and settings are nobody else's.

    The standardised tables come from DuckDB; candidate pairs are made, compared and scored in
    Spark. Random pairs are looked at at once, because each look takes a second of planning.
    """

    chunks = 1

    def __init__(self, session: Any, connection: duckdb.DuckDBPyConnection) -> None:
        backend = needed("splink.backends.spark", extra=_EXTRA)
        session.sql(f"ADD JAR '{backend.similarity_jar_location()}'")
        self._session, self._connection = session, connection
        own = needed("sfumato.linkage.model.spark_api", extra=_EXTRA)
        self._api = own.PatternsOnDriver(session)

    def register(self, tables: Sequence[str]) -> list[Any]:
        """The standardised tables as Splink knows them."""
        return [
            self._api.register(
                self._connection.table(name).to_arrow_table(), dataset_display_name=name
            )
            for name in tables
        ]

    def settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Splink settings in Spark's SQL."""
        return spark_settings(settings)

    def condition(self, sql: str) -> str:
        """A condition in Spark's SQL."""
        return spark_sql(sql)

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
        sql = needed("pyspark.sql", extra=_EXTRA)
        active = sql.SparkSession.getActiveSession()
        shared = active or _start(sql.SparkSession.builder, folder)
    session = None
    try:
        with quiet("take Spark"):
            session = shared.newSession()
            _set_up(session)
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


def _start(builder: Any, folder: Path) -> Any:
    errors = needed("pyspark.errors", extra=_EXTRA)
    options = {
        "spark.app.name": "sfumato link",
        "spark.driver.maxResultSize": "0",
        "spark.local.dir": str(folder / "spark"),
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(folder / "spark" / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if not any(name in os.environ for name in _SET_UP_BY):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        options["spark.driver.memory"] = f"{max(1024, int(memory * _SHARE_OF_MEMORY) >> 20)}m"
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (errors.PySparkException, OSError):
        raise InputError(
            "engine spark",
            "needs a Spark that starts",
            found="none",
            advice="install Java 17 or newer, or start a SparkSession before",
        ) from None


def _set_up(session: Any) -> None:
    """Let a value that cannot be read be missing, and a small machine make few partitions."""
    session.conf.set("spark.sql.ansi.enabled", "false")
    context = session.sparkContext
    if str(context.master).startswith("local") and not context.getConf().contains(_PARTITIONS):
        parts = max(_FEWEST_PARTITIONS, _PARTITIONS_PER_TASK * int(context.defaultParallelism))
        session.conf.set(_PARTITIONS, str(parts))
