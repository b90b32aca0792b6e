"""One server for a whole test process, and an empty one for each test."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from sfumato.server.boot import boot
from sfumato.server.config import ServerConfig


@cache
def booted() -> ServerConfig:
    """A server on SQLite in a folder of this process; a process can be one server only."""
    folder = Path(tempfile.mkdtemp(prefix="sfumato-server-"))
    config = ServerConfig(folder / "data", folder / "keys")
    boot(config)
    return config


def emptied() -> None:
    """Remove every row and whatever is held in memory."""
    from django.apps import apps
    from django.db import connection, transaction

    from sfumato.server.live import memory

    with memory._guard:
        memory._kept.clear()
    with connection.constraint_checks_disabled(), transaction.atomic():
        for model in apps.get_models():
            if model._meta.label not in {"contenttypes.ContentType", "auth.Permission"}:
                model._default_manager.all()._raw_delete("default")
