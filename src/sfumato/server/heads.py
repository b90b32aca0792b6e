"""The last entry of the audit log, kept outside the database with what must not come back.

An older copy of the database brings back budgets that were spent and rights that were taken away.
Who can only write the database can put one in while the server is stopped; so nothing starts from
a database that lacks the entry kept beside the keys, until `restore` has stated in the log that it
is older, and brought what was kept into it.
"""

from __future__ import annotations

import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import DatabaseError, close_old_connections, transaction

from sfumato.core.atomic import atomic_path
from sfumato.core.chain import Head, detail_text, parse_head
from sfumato.core.errors import InputError
from sfumato.server import audit_log
from sfumato.server.custodian.project_grants import purge
from sfumato.server.proofs import forget, proofs
from sfumato.server.stated_rows import STATED, Columns, Stated, gone, image, stated, table_of
from sfumato.server.store import models

FILE = "log.head"
"""Beside the keys, where who writes the database does not write."""
SECONDS = 60
"""How often the head is kept, while there are new entries."""
ADVICE = (
    "restore the newest backup; to go on from an older one, with budgets and rights as they were "
    "kept: sfumato audit restore"
)
_CARRIED: dict[str, tuple[str, ...]] = {
    "account": ("roles", "is_active"),
    "project": ("settings", "closed", "state"),
    "permission_grant": ("used", "expires", "detail"),
    "allowance": ("budget",),
    "spent": (),
    "link": ("used",),
    "member": (),
}
"""By table, the columns that a restored row takes from what was kept; for `spent` see `_spent`."""
_WHO = ("password", "totp", "recovery", "identity")
"""Columns of an account of which only digests are kept: what proves who somebody is."""
_ENDS = ("link", "member")
"""Tables of which a row that was removed since stays removed."""
_KEEPING = threading.Lock()
"""Of two threads that keep at a time the later one has the later entry."""


@dataclass(frozen=True)
class Kept:
    """What was kept.

    Attributes
    ----------
    head
        The last entry.
    made
        When it was kept, ISO 8601 in UTC.
    rows
        By table and key, the columns that the log stated.
    """

    head: Head
    made: str
    rows: dict[str, dict[str, Columns]]


def keep() -> None:
    """Keep the last entry, where there is a new one.

    A key folder may be read-only, and a database away for a moment: nothing is kept then, and the
    auditor's page says how old is what was.
    """
    with suppress(OSError, InputError, DatabaseError):
        _keep()


def _keep() -> None:
    known = proofs()
    # Requests wait for the lock of what is known, and so must not wait for the disk in it.
    with _KEEPING:
        if not known.kept and (was := kept()) is not None and not _holds(was.head):
            return
        with known.lock:
            known.follow()
            # A log that is not whole is not to take the place of one that was.
            if known.fault or known.tip.number in (0, known.kept):
                return
            tip = known.tip
            rows = {table: known.replay.rows.get(table, {}) for table in _CARRIED}
            content = {"head": str(tip), "made": datetime.now(UTC).isoformat(), "rows": rows}
            text = detail_text(content)
        with atomic_path(_path()) as part:
            part.touch(mode=0o600)
            part.write_text(f"{_signature(text)}\n{text}\n", encoding="utf-8")
        known.kept = tip.number


def keep_beside() -> None:
    """Keep the last entry from time to time, beside the requests."""

    def go_on() -> None:
        while True:
            time.sleep(SECONDS)
            close_old_connections()
            keep()

    threading.Thread(target=go_on, name="heads", daemon=True).start()


def kept() -> Kept | None:
    """What was kept last, if anything was.

    Raises
    ------
    InputError
        If it is not of this server.
    """
    try:
        signature, _, text = _path().read_text(encoding="utf-8").strip().partition("\n")
    except FileNotFoundError:
        return None
    if not hmac.compare_digest(signature.encode(), _signature(text).encode()):
        raise InputError(f"the file {FILE}", "must be signed by this server", found="another")
    content = json.loads(text)
    return Kept(parse_head(content["head"], FILE), content["made"], content["rows"])


def check_kept() -> None:
    """Refuse to go on from a database that is older than what was kept.

    Raises
    ------
    InputError
        If it is.
    """
    was = kept()
    if was is not None and not _holds(was.head):
        raise InputError(
            "the database",
            f"must hold entry {was.head.number} of the audit log, which was kept beside the keys",
            found=f"a log that ends with entry {audit_log.head().number}"
            if audit_log.head().number < was.head.number
            else "another entry",
            advice=ADVICE,
        )


def restore() -> int:
    """Go on from an older database: state it in the log, and bring into it what was kept.

    Budgets, roles, grants and links are as they were kept; whose password or second factor was
    another then needs a new one. Projects that were purged are purged again; all sessions end.

    Returns
    -------
    int
        Rows that were kept and are not in the database: of what was made since.

    Raises
    ------
    InputError
        If the database is not older than what was kept, or its log is not whole.
    """
    was = kept()
    if was is None or _holds(was.head):
        raise InputError("the database", "must be older than what was kept", found="none older")
    proofs().follow()
    # Nothing could be kept of it in place of what is there.
    if proofs().fault:
        raise InputError(
            "the audit log", "must be whole", found=proofs().fault, advice="restore another backup"
        )
    purged: list[Any] = []
    with transaction.atomic():
        rows = list(_brought(was, purged))
        lost = sum(
            len(
                of_table.keys()
                - {str(key) for key in _model(table).objects.values_list("pk", flat=True)}
            )
            for table, of_table in was.rows.items()
            if table != "spent"
        )
        told = {"kept": str(was.head), "found": str(audit_log.head()), "lost": lost}
        audit_log.append(None, "restore", "database", told, rows=rows)
        Session.objects.all().delete()  # whoever has logged out since
    for project in purged:
        purge(None, project)
    forget()
    _path().unlink(missing_ok=True)
    keep()
    return lost


def _brought(was: Kept, purged: list[Any]) -> Iterator[Stated]:
    """Bring what was kept into the rows, and tell what is stated of each that it changes."""
    for table, names in _CARRIED.items():
        of_table, model = was.rows.get(table, {}), _model(table)
        for row in model.objects.select_for_update().order_by("pk"):
            columns = of_table.get(str(row.pk))
            if columns is None:
                if table in _ENDS:
                    yield from gone([row])
                    row.delete()
                continue
            columns = {**table_of(model).usual, **columns}
            changed = [name for name in names if _set(row, name, columns[name])]
            if table == "account" and _is_other(row, columns):
                row.set_unusable_password()
                row.totp, row.recovery, row.identity = b"", [], ""
                changed += _WHO
            if table == "project" and columns["state"] == models.ProjectState.PURGED:
                purged.append(row.pk)
                continue
            if changed:
                row.save(update_fields=changed)
                yield stated(row, *changed)
    yield from _spent(was)


def _spent(was: Kept) -> Iterator[Stated]:
    """What was spent of sources: whatever the key of its row, never less than was kept."""
    usual = table_of(models.Spent).usual
    # By whose it is: a database that went on by itself gave the keys to others.
    for kept_row in was.rows.get("spent", {}).values():
        columns = {**usual, **kept_row}
        score = columns.pop("score")
        row, new = models.Spent.objects.get_or_create(**columns)
        if new or row.score < score:
            row.score = score
            row.save(update_fields=["score"])
            yield stated(row)


def _set(row: Any, name: str, value: Any) -> bool:
    """Whether a column had another value than was kept; it has that now."""
    if image(row._meta.db_table, name, getattr(row, name), secret=False) == value:  # noqa: SLF001
        return False
    setattr(row, name, row._meta.get_field(name).to_python(value))  # noqa: SLF001
    return True


def _is_other(row: models.Account, columns: Columns) -> bool:
    return any(
        image("account", name, getattr(row, name), secret=table_of(models.Account).secret[name])
        != columns[name]
        for name in _WHO
    )


def _model(table: str) -> Any:
    return next(model for model in STATED if table_of(model).name == table)


def _holds(head: Head) -> bool:
    found = models.AuditEntry.objects.filter(number=head.number).values_list("digest", flat=True)
    return list(found) == [head.digest]


def _path() -> Any:
    return settings.SFUMATO.keys / FILE


def _signature(text: str) -> str:
    return hmac.digest(settings.SFUMATO_KEYS.chaining, f"head {text}".encode(), "sha256").hex()
