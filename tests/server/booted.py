"""One server for a whole test process, and an empty one for each test."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from sfumato.server.boot import boot
from sfumato.server.config import ServerConfig


@cache
def booted() -> ServerConfig:
    """A server on SQLite in a folder of this process; a process can be one server only."""
    memory = Path("/dev/shm")
    folder = Path(
        tempfile.mkdtemp(prefix="sfumato-server-", dir=memory if memory.is_dir() else None)
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    config = ServerConfig(folder / "data", folder / "keys")
    boot(config)
    return config


def emptied() -> None:
    """Remove every row and whatever is held in memory."""
    from django.conf import settings
    from django.db import connection, transaction

    from sfumato.server import discretion, heads, proofs
    from sfumato.server.live import live_projects as memory

    with connection.constraint_checks_disabled(), transaction.atomic():
        for table in _tables():
            with connection.cursor() as cursor:
                cursor.execute(f"DELETE FROM {table}")
    # Last: a request of the test before may still read the log, and would keep what it read.
    (settings.SFUMATO.keys / heads.FILE).unlink(missing_ok=True)
    proofs.forget()
    discretion.FAULTS.clear()
    with memory._guard:
        memory._kept.clear()


@cache
def _tables() -> tuple[str, ...]:
    """The tables that tests write to."""
    from django.apps import apps

    kept = {"contenttypes.ContentType", "auth.Permission"}
    models = (model for model in apps.get_models() if model._meta.label not in kept)
    return tuple(f'"{model._meta.db_table}"' for model in models)
