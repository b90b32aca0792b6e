"""The last entry of the audit log, kept outside the database with what must not come back.

An older copy of the database brings back budgets that were spent and rights that were taken away.
Who can only write the database can put one in while the server is stopped; so nothing starts from
a database that lacks the entry kept beside the keys, until `restore` has stated in the log that it
is older, and brought what was kept into it. Where new keys come in the place of others, the entry
that begins with them states all secrets anew: what states them is a digest of a key.
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
from sfumato.server import audit_log, stated_rows
from sfumato.server.accounts.backend import seal_secret, unseal_secret
from sfumato.server.custodian.project_grants import purge
from sfumato.server.live.live_projects import key_of, wrapped
from sfumato.server.proofs import forget, proofs
from sfumato.server.stated_rows import STATED, Columns, Stated, gone, image, stated, table_of
from sfumato.server.store import models
from sfumato.server.vault import load_keys, replace_keys

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
    "project": ("settings", "consent", "fingerprint", "closed", "state"),
    "source_sketch": ("fingerprint",),
    "proposal": ("state",),
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
            signature = _signature(text, settings.SFUMATO_KEYS.chaining)
            part.write_text(f"{signature}\n{text}\n", encoding="utf-8")
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
    # Cut short, a change of keys leaves one of the key of before.
    made = (_signature(text, key) for key in settings.SFUMATO_KEYS.chainings)
    if not any(hmac.compare_digest(signature.encode(), each.encode()) for each in made):
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
        found = audit_log.head()
        if audit_log.is_behind():
            state_anew(check_state())
        rows = list(_brought(was, purged))
        lost = sum(
            len(
                of_table.keys()
                - {str(key) for key in _model(table).objects.values_list("pk", flat=True)}
            )
            for table, of_table in was.rows.items()
            if table != "spent"
        )
        told = {"kept": str(was.head), "found": str(found), "lost": lost}
        audit_log.append(None, "restore", "database", told, rows=rows)
        Session.objects.all().delete()  # whoever has logged out since
    for project in purged:
        purge(None, project)
    forget()
    _path().unlink(missing_ok=True)
    keep()
    return lost


def rotate() -> dict[str, str]:
    """Put new keys in the place of the server's; all sessions end.

    Returns
    -------
    dict of str to str
        By key, what the one of before is called, and that which came in its place.

    Raises
    ------
    InputError
        If the log is not whole, or the key folder cannot be written.
    """
    with transaction.atomic():
        audit_log.last_entry()  # so that nobody adds one from here on
        before = check_state()
        try:
            replace_keys(settings.SFUMATO.keys)
        except OSError:
            raise InputError("the key folder", "must be one that can be written") from None
        settings.SFUMATO_KEYS = load_keys(settings.SFUMATO.keys)
        forget()
        Session.objects.all().delete()
        return state_anew(before)


def check_state() -> dict[str, str]:
    """Refuse to go on from rows that are not as the log states them; what the keys are called."""
    verdict = audit_log.verify()
    if not verdict.whole:
        raise InputError(
            "the audit log",
            "must be whole",
            found=verdict.fault or f"{len(verdict.differences):,} rows that differ from it",
            advice="restore a backup",
        )
    last = audit_log.last_entry()
    return settings.SFUMATO_KEYS.names(audit_log.signed_with(last) if last else None)


def state_anew(before: dict[str, str]) -> dict[str, str]:
    """Seal with the keys that are there now what others sealed, and state all secrets by them."""
    for account in models.Account.objects.exclude(totp=b"").order_by("pk"):
        account.totp = seal_secret(unseal_secret(account.totp, account), account)
        account.save(update_fields=["totp"])
    for project in models.Project.objects.exclude(state=models.ProjectState.PURGED).order_by("pk"):
        project.wrapped_key = wrapped(key_of(project), project.pk)
        project.save(update_fields=["wrapped_key"])
    now = settings.SFUMATO_KEYS.names()
    told = {name: f"{before[name]} to {now[name]}" for name in now}
    audit_log.append(None, audit_log.ROTATED, "keys", told, rows=stated_rows.secrets())
    return told


def check_current() -> None:
    """Refuse to go on from a log that ends under a key that was replaced."""
    if audit_log.is_behind():
        raise InputError(
            "the audit log",
            "must go on under the newest key",
            found="one that was replaced",
            advice="a change of keys was cut short: sfumato audit rotate",
        )


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


def _signature(text: str, key: bytes) -> str:
    return hmac.digest(key, f"head {text}".encode(), "sha256").hex()
