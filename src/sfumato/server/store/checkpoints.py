"""Moving what SQLite has written ahead into the database, beside the requests."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

EVERY = 5.0
"""Seconds from one time to the next."""


def checkpoint_beside(path: Path) -> None:
    """Move what is written ahead into the database every few seconds, in a thread of its own.

    A commit that does it instead waits for the disk much longer than the others, and everybody
    who waits for that commit as well. Nobody waits for a passive checkpoint.

    Parameters
    ----------
    path
        The database.
    """
    threading.Thread(target=_checkpoint, args=(path,), daemon=True, name="checkpoints").start()


def _checkpoint(path: Path) -> None:
    while True:
        time.sleep(EVERY)
        try:
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error:
            continue  # SQLite does it itself where it was not done for long
