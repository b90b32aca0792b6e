"""The database that Splink works in; the one place that chooses it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.linkage.extra import needed

if TYPE_CHECKING:
    import duckdb
    from splink.backends.duckdb import DuckDBAPI


def connect(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory that spills into a private folder.

    Parameters
    ----------
    folder
        The folder.

    Raises
    ------
    InputError
        If ``[link]`` is not installed.
    """
    connection: duckdb.DuckDBPyConnection = needed("duckdb").connect(
        config={
            "temp_directory": str(folder / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    connection.execute("SET enable_progress_bar = false")
    return connection


def database_api(connection: duckdb.DuckDBPyConnection) -> DuckDBAPI:
    """What Splink calls the database by.

    Parameters
    ----------
    connection
        The database.
    """
    api: DuckDBAPI = needed("splink.backends.duckdb").DuckDBAPI(connection)
    return api
