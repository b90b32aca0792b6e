"""Rows that must be as the log states them before something is built on them."""

from __future__ import annotations

from typing import Any

from sfumato.server.audit_log import replay_of
from sfumato.server.live.live_projects import Stop
from sfumato.server.stated_rows import image, table_of


def check_stated(row: Any, *names: str) -> None:
    """Read columns of a row anew, locked, and refuse to go on from what no entry states.

    It reads every entry on the row, which is too slow for a click: there, entries state what is
    added.

    Parameters
    ----------
    *names
        The columns; all of them without.

    Raises
    ------
    Stop
        If the row is not as the log states it.
    """
    model = row.__class__
    table = table_of(model)
    columns = names or tuple(table.secret)
    # The entry of whoever wrote last is there once the row is free.
    locked = model.objects.select_for_update(no_key=True).filter(pk=row.pk)
    found = locked.values(*columns).first() or {}
    stated = replay_of(table.name, row.pk).columns(table.name, row.pk) or {}
    for name in columns:
        value = found.get(name)
        is_there = image(table.name, name, value, secret=table.secret[name])
        if name not in found or name not in stated or is_there != stated[name]:
            raise Stop(
                409,
                f"{table.name} {row.pk}: {name} is not what the audit log states. Nothing was "
                "changed. Have an auditor check the log, and restore the database.",
            )
        setattr(row, name, value)
