"""What SQLite writes ahead is moved into the database beside the requests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from patience import wait_until

from sfumato.server.store import statements


def test_what_was_written_ahead_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "CHECKPOINT_SECONDS", 0.05)
    path = tmp_path / "database"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA wal_autocheckpoint=0")
        database.execute("CREATE TABLE one (text TEXT)")
        database.execute("INSERT INTO one VALUES (?)", ["x" * 100_000])
        database.commit()
        assert path.stat().st_size < 100_000
        statements.checkpoint_beside(path)
        wait_until(lambda: path.stat().st_size >= 100_000)
