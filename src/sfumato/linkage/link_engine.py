"""The database that Splink works in; the one place that chooses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed, quiet
from sfumato.linkage.comparison_levels import LevelsByRecord, by_record

if TYPE_CHECKING:
    import duckdb


class Engine(StrEnum):
    """Where candidate pairs are made, compared and scored."""

    DUCKDB = "duckdb"
    SPARK = "spark"


class Database(Protocol):
    """What Splink works in. Settings and rules are kept in DuckDB's SQL, whatever it is."""

    notes: tuple[str, ...]

    def register(self, tables: Sequence[str]) -> list[Any]:
        """The standardised tables as Splink knows them."""

    def settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Splink settings in its own SQL."""

    def comparisons(self, settings: dict[str, Any]) -> LevelsByRecord:
        """The comparisons of settings, with conditions that `store` understands.

        And by name what these ask of a record beside its columns, as SQL.
        """

    def send(self, table: str) -> None:
        """Make a table of the standardised ones' database known to queries."""

    def store(self, name: str, sql: str) -> None:
        """Keep what a query gives, under a name."""

    def columns(self, sql: str) -> Mapping[str, npt.NDArray[Any]]:
        """The columns of a query, in their order."""


class OnDuckDB:
    """Splink in the database that holds the standardised tables."""

    notes: tuple[str, ...] = ()

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._api = needed("splink.backends.duckdb").DuckDBAPI(connection)

    def register(self, tables: Sequence[str]) -> list[Any]:
        """The standardised tables as Splink knows them."""
        return [self._api.register(name, dataset_display_name=name) for name in tables]

    def settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings as they are."""
        return settings

    def comparisons(self, settings: dict[str, Any]) -> LevelsByRecord:
        """The comparisons, what they take of one record's values computed once for it."""
        return by_record(settings["comparisons"])

    def send(self, table: str) -> None:
        """Nothing is to be done: it is there."""

    def store(self, name: str, sql: str) -> None:
        """Keep what a query gives, under a name."""
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {sql}")

    def columns(self, sql: str) -> Mapping[str, npt.NDArray[Any]]:
        """The columns of a query, in their order."""
        found = self._connection.execute(sql).fetchnumpy()
        return {name: np.asarray(column) for name, column in found.items()}


def connect(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory that spills into a private folder."""
    connection: duckdb.DuckDBPyConnection = needed("duckdb").connect(
        config={
            # Spilled values must lie in the folder that is removed, not where DuckDB was started.
            "temp_directory": str(folder / "spill"),
            # DuckDB would fetch extensions from the network, while it holds identities.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    # In a notebook without ipywidgets it is off, and DuckDB refuses to hear of it.
    shown = "SELECT current_setting('enable_progress_bar')"
    if connection.execute(shown).fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    return connection


def checked_engine(engine: object) -> Engine:
    """The engine of a name."""
    if engine not in {known.value for known in Engine}:
        raise InputError(
            "parameter engine", "must be a known engine", accepted=", ".join(map(str, Engine))
        )
    known = Engine(engine)
    if known is Engine.SPARK:
        needed("pyspark", extra="spark")
    return known


@contextmanager
def database_of(
    engine: Engine, connection: duckdb.DuckDBPyConnection, folder: Path
) -> Iterator[Database]:
    """What Splink works in, for as long as it is needed: DuckDB on this machine, or Spark."""
    if engine is Engine.DUCKDB:
        with quiet("take the database"):
            database = OnDuckDB(connection)
        yield database
        return
    from sfumato.linkage.spark_linkage import open_spark

    with open_spark(connection, folder) as spark:
        yield spark
