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
from sfumato.server.stated_rows import ROWS, Stated, rows_of, stated, stated_pairs, stated_with
from sfumato.server.store.models import Account, AuditEntry
from sfumato.server.store.statements import Statement, ask, locks_rows
from sfumato.server.vault import LOG_BEGAN, Keys

# One number for all processes: entries are chained, so that one at a time is added.
_LOCK = 7_033_2001
"""PostgreSQL's advisory lock of the log; on SQLite a transaction has the only write lock."""
_LAST = "SELECT number, digest, signature FROM audit_entry ORDER BY number DESC LIMIT 1"
FIELDS = (
    *("number", "time", "actor", "action", "resource", "detail"),
    *("previous", "digest", "signature"),
)
"""Columns of an entry, as it is signed."""
_DETAIL = FIELDS.index("detail")
MOST_ROWS = 10_000
"""Rows that an entry states at most; more of them go on in the next."""
TAKE_OVER, VERIFIED, ROTATED = "take over", "verify", "replace keys"
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
        last = last_entry()
        if last and signed_with(last) is None:
            raise Stop(
                409, "The audit log ends under a key that is not this server's. Nothing was done."
            )
        before_it = Head(*last[:2]) if last else Head(0, START)
        name = actor.pseudonym if actor else ""
        told = (name, action, resource, detail_text(detail))
        entry = chain.next_row(before_it, told, chain.keyed(settings.SFUMATO_KEYS.chaining))
        *_, rows = ask(*along, (_ADD, entry), (_LAST, ()))
        # A database may be told to drop what it is given, and say nothing.
        if [tuple(row) for row in rows] != [(entry[0], *entry[-2:])]:
            raise Stop(409, "The audit log took no entry. Nothing was done.")
        transaction.on_commit(_is_committed)
        return AuditEntry(**dict(zip(FIELDS, entry, strict=True)))


def last_entry() -> tuple[Any, ...]:
    """Number, digest and signature of the last entry, empty without; nobody adds one meanwhile."""
    before: list[Statement] = [("SELECT pg_advisory_xact_lock(%s)", [_LOCK])]
    *_, last = ask(*(before if locks_rows() else ()), (_LAST, ()))
    return tuple(last[0]) if last else ()


def signed_with(last: Sequence[Any]) -> int | None:
    """Which of the `signings` made the signature of a last entry; ``None`` if none of them."""
    checks = settings.SFUMATO_KEYS.checks
    places = range(len(checks) - 1, -1, -1)  # the newest made nearly all of them
    with suppress(ValueError):
        parts = [bytes.fromhex(each) for each in last[:0:-1]]
        return next((max(place - 1, 0) for place in places if checks[place](*parts)), None)
    return None


def is_behind() -> bool:
    """Whether the log ends under a key that another has come in the place of."""
    last, newest = last_entry(), len(settings.SFUMATO_KEYS.signings) - 1
    return bool(last) and signed_with(last) not in (newest, None)


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
    """A head that was printed."""
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
        replay, keys = Replay(), signed_by()
        signed = lru_cache(1)(keys)
        links = _links(replay, signed)
        verdict = chain.follow(links, signed, "log", "this server", against)
        for _ in links:
            pass  # what follows a fault states rows, too
        told = tuple(_taken_over())
        if not verdict.fault and _went_back(keys.place):
            verdict = replace(verdict, fault="it goes on under a key that it says was replaced")
        with stated_with(keys.chaining):
            return replace(verdict, differences=tuple(differences(replay)), notes=told)


def verified(actor: Account | None, against: Head | None = None) -> Verdict:
    """Check as `verify` does, and add an entry where all is whole.

    Parameters
    ----------
    actor
        Who had it checked; ``None`` for the server's command line.
    against
        A head that was kept elsewhere.
    """
    verdict = verify(against)
    if verdict.whole and not is_behind():
        append(actor, VERIFIED, "audit log", {"head": str(verdict.head)})
    return verdict


def _went_back(place: int) -> bool:
    """Whether the log tells that keys were replaced, up to one that its last entry is not of."""
    keys, replaced = settings.SFUMATO_KEYS, AuditEntry.objects.filter(action=ROTATED)
    names = (keys.names(each)["signing"] for each in range(max(place, 1), len(keys.signings)))
    return any(replaced.filter(detail__contains=name).exists() for name in names)


def _taken_over() -> Iterator[str]:
    found = AuditEntry.objects.filter(action=TAKE_OVER).order_by("number")
    for number, time, detail in found.values_list("number", "time", "detail"):
        with suppress(ValueError, AttributeError):
            count = sum(map(len, json.loads(detail)[ROWS].values()))
            rows = f"rows unproved before: {count:,}"
            yield f"entry {number} of {time[:10]} took over {rows}"


class Signatures:
    """Whether this server made the signature of an entry, asked in the order of the entries.

    A key signs nothing after an entry of one that came in its place.

    Attributes
    ----------
    place
        Which of the `checks` of the keys the last entry passed.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys, self.place = keys, 0

    def __call__(self, signature: bytes, digest: bytes) -> bool:
        """Whether one of the keys that are left made it."""
        for place, check in enumerate(self._keys.checks[self.place :], self.place):
            if check(signature, digest):
                self.place = place
                return True
        return False

    @property
    def chaining(self) -> bytes:
        """The key of the entry that was asked for last."""
        return self._keys.chainings[max(self.place - 1, 0)]


def signed_by() -> Signatures:
    """Whether this server made the signatures of entries, from the first one on."""
    return Signatures(settings.SFUMATO_KEYS)


def _links(replay: Replay, signed: Callable[[bytes, bytes], bool]) -> Iterator[Link]:
    """The entries in their order, while those that this server signed are replayed."""
    rows = AuditEntry.objects.order_by("number").values_list(*FIELDS)
    for row in rows.iterator(chunk_size=2000):
        link = Link.of(row)
        if chain.is_signed(link, signed):
            replay.take(row[_DETAIL])
        yield link
