"""The log of what was done: chained entries, added and verified."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain as chain_of
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Length

from sfumato.core import chain
from sfumato.core.chain import START, Head, Link, Verdict, detail_text
from sfumato.core.errors import InputError
from sfumato.server.error_pages import Stop
from sfumato.server.replay import Replay, differences, one_view
from sfumato.server.stated_rows import ROWS, Stated, rows_of, stated, stated_pairs
from sfumato.server.store.models import Account, AuditEntry
from sfumato.server.store.statements import Statement, ask, locks_rows
from sfumato.server.vault import LOG_BEGAN

# One number for all processes: entries are chained, so that one at a time is added.
_LOCK = 7_033_2001
"""PostgreSQL's advisory lock of the log; on SQLite a transaction has the only write lock."""
_LAST = "SELECT number, digest FROM audit_entry ORDER BY number DESC LIMIT 1"
FIELDS = (
    *("number", "time", "actor", "action", "resource", "detail"),
    *("previous", "digest", "signature"),
)
"""Columns of an entry, as it is signed."""
_DETAIL = FIELDS.index("detail")
MOST_ROWS = 10_000
"""Rows that an entry states at most; more of them go on in the next."""
TAKE_OVER = "take over"
KEYED = 32
"""Bytes of the signature of an entry: an HMAC."""
_ADD = f"""
INSERT INTO audit_entry ({", ".join(FIELDS)})
VALUES ({", ".join(["%s"] * len(FIELDS))})"""  # noqa: S608 - made of names of columns


def append(
    actor: Account | None,
    action: str,
    resource: str,
    detail: Mapping[str, object] | None = None,
    along: Sequence[Statement] = (),
    rows: Iterable[Stated] = (),
) -> AuditEntry:
    """Add an entry, in the transaction of what it tells of.

    Parameters
    ----------
    actor
        Who did it; ``None`` for the server itself.
    action, resource
        What was done, to what: ``"open"``, ``"project 1f0c/pair x8Jq/dob"``. Never a value.
    detail
        More of it, such as the cost; never a value.
    along
        What it tells of, where that is still to be written.
    rows
        What it states of every row that the transaction writes.
    """
    # No savepoint: a failed entry takes down with it what it tells of.
    with transaction.atomic(savepoint=False):
        left = iter(rows)
        changed = rows_of(islice(left, MOST_ROWS))
        entry = _add(actor, action, resource, {**(detail or {}), **_told(changed)}, along)
        while changed := rows_of(islice(left, MOST_ROWS)):
            told = {"follows entry": entry.number, **_told(changed)}
            entry = _add(actor, action, resource, told)
        return entry


def _told(changed: Mapping[str, object]) -> dict[str, object]:
    return {ROWS: changed} if changed else {}


def _add(
    actor: Account | None,
    action: str,
    resource: str,
    detail: Mapping[str, object],
    along: Sequence[Statement] = (),
) -> AuditEntry:
    with transaction.atomic(savepoint=False):
        before: list[Statement] = [("SELECT pg_advisory_xact_lock(%s)", [_LOCK])]
        *_, last = ask(*(before if locks_rows() else ()), (_LAST, ()))
        before_it = Head(*last[0]) if last else Head(0, START)
        name = actor.pseudonym if actor else ""
        told = (name, action, resource, detail_text(detail))
        entry = chain.next_row(before_it, told, chain.keyed(settings.SFUMATO_KEYS.chaining))
        *_, last = ask(*along, (_ADD, entry), (_LAST, ()))
        # A database may be told to drop what it is given, and say nothing.
        if [tuple(row) for row in last] != [(entry[0], entry[-2])]:
            raise Stop(409, "The audit log took no entry. Nothing was done.")
        transaction.on_commit(_is_committed)
        return AuditEntry(**dict(zip(FIELDS, entry, strict=True)))


def _is_committed() -> None:
    """Mark a transaction that has added entries, until it ends."""


def has_appended() -> bool:
    """Whether the transaction has added entries, which it may still take back."""
    return any(function is _is_committed for _, function, *_ in connection.run_on_commit)


def take_over(models: Sequence[Any], projects: Iterable[Any]) -> None:
    """State every row that a database of an earlier version has, of which nothing is proved.

    Parameters
    ----------
    models
        The tables whose rows are stated, as the migration has them.
    projects
        The projects whose pairs are stated.

    Raises
    ------
    InputError
        If rows were stated before: who may write the database could have it forget.
    """
    if AuditEntry.objects.annotate(length=Length("signature")).filter(length=2 * KEYED).exists():
        raise InputError(
            "the database",
            "must be of an earlier version to be taken over",
            found="entries of this version",
            advice="restore it from its backup",
        )
    began = (settings.SFUMATO.keys / LOG_BEGAN).exists()
    if began and any(model.objects.exists() for model in models):
        raise InputError(
            "the database",
            "must have the audit log that this server began",
            found=f"none, although {LOG_BEGAN} is in the key folder",
            advice="restore the database from its backup; only if that is of an earlier version, "
            f"remove {LOG_BEGAN}",
        )
    found = (row for model in models for row in model.objects.order_by("pk").iterator())
    rows = chain_of(map(stated, found), map(stated_pairs, projects))
    # All rows are never in memory at once.
    for first in rows:
        told = {"state": "taken over at upgrade, unproved before"}
        append(None, TAKE_OVER, "database", told, rows=chain_of((first,), rows))


def head() -> Head:
    """The last entry now: keep it elsewhere, and check against it later."""
    last = AuditEntry.objects.order_by("-number").values("number", "digest").first()
    return Head(last["number"], last["digest"]) if last else Head(0, START)


def parse_head(text: str) -> Head:
    """A head that was printed.

    Parameters
    ----------
    text
        Such as ``"17:5f0c..."``.
    """
    return chain.parse_head(text, "sfumato audit checkpoint")


def verify(against: Head | None = None) -> Verdict:
    """Check every entry, and every table against what the entries state of its rows.

    A log that was cut off, or rewritten from some entry on by somebody who holds the key, is
    found only by a head that was kept elsewhere.

    Parameters
    ----------
    against
        A head that was kept elsewhere.
    """
    with one_view():
        # One answer is kept: an entry is asked for when it is replayed, and when it is followed.
        replay, signed = Replay(), lru_cache(1)(signed_by())
        links = _links(replay, signed)
        verdict = chain.follow(links, signed, "log", "this server", against)
        for _ in links:
            pass  # what follows a fault states rows, too
        told = tuple(_taken_over())
        return replace(verdict, differences=tuple(differences(replay)), notes=told)


def _taken_over() -> Iterator[str]:
    found = AuditEntry.objects.filter(action=TAKE_OVER).order_by("number")
    for number, time, detail in found.values_list("number", "time", "detail"):
        with suppress(ValueError, AttributeError):
            count = sum(map(len, json.loads(detail)[ROWS].values()))
            rows = f"rows unproved before: {count:,}"
            yield f"entry {number} of {time[:10]} took over {rows}"


def signed_by() -> Callable[[bytes, bytes], bool]:
    """A function of (signature, digest): whether this server made the signature of an entry."""
    keys = settings.SFUMATO_KEYS
    with_key, before = chain.keyed_by(keys.chaining), chain.made_by(keys.signer)
    # By their length: the entries of earlier versions have a signature of a key pair.
    return lambda signature, digest: (
        with_key(signature, digest) if len(signature) == KEYED else before(signature, digest)
    )


def _links(replay: Replay, signed: Callable[[bytes, bytes], bool]) -> Iterator[Link]:
    """The entries in their order, while those that this server signed are replayed."""
    rows = AuditEntry.objects.order_by("number").values_list(*FIELDS)
    for row in rows.iterator(chunk_size=2000):
        link = Link.of(row)
        if chain.is_signed(link, signed):
            replay.take(row[_DETAIL])
        yield link
