"""The log of what was done: chained entries, added and verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.conf import settings
from django.db import transaction

from sfumato.core import chain
from sfumato.core.chain import START, Head, Link, Verdict, detail_text
from sfumato.server.store.models import Account, AuditEntry
from sfumato.server.store.statements import Statement, ask, locks_rows

# One number for all processes: entries are chained, so that one at a time is added.
_LOCK = 7_033_2001
"""PostgreSQL's advisory lock of the log; on SQLite a transaction has the only write lock."""
_LAST = "SELECT number, digest FROM audit_entry ORDER BY number DESC LIMIT 1"
_FIELDS = (
    *("number", "time", "actor", "action", "resource", "detail"),
    *("previous", "digest", "signature"),
)
_ADD = f"""
INSERT INTO audit_entry ({", ".join(_FIELDS)})
VALUES ({", ".join(["%s"] * len(_FIELDS))})"""  # noqa: S608 - made of names of columns


def append(
    actor: Account | None,
    action: str,
    resource: str,
    detail: Mapping[str, object] | None = None,
    along: Sequence[Statement] = (),
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
    """
    # No savepoint: a failed entry takes down with it what it tells of.
    with transaction.atomic(savepoint=False):
        before: list[Statement] = [("SELECT pg_advisory_xact_lock(%s)", [_LOCK])]
        *_, last = ask(*(before if locks_rows() else ()), (_LAST, ()))
        before_it = Head(*last[0]) if last else Head(0, START)
        name = actor.pseudonym if actor else ""
        told = (name, action, resource, detail_text(detail or {}))
        entry = chain.next_row(before_it, told, settings.SFUMATO_KEYS.signer)
        ask(*along, (_ADD, entry))
        return AuditEntry(**dict(zip(_FIELDS, entry, strict=True)))


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
    """Check every entry: its number, its digest, the digest before, its signature.

    A log that was cut off, or rewritten from some entry on by somebody who holds the signing
    key, is found only by a head that was kept elsewhere.

    Parameters
    ----------
    against
        A head that was kept elsewhere.
    """
    signed = chain.made_by(settings.SFUMATO_KEYS.signer)
    return chain.follow(_links(), signed, "log", "this server", against)


def _links() -> Iterator[Link]:
    rows = AuditEntry.objects.order_by("number").values_list(*_FIELDS)
    yield from map(Link.of, rows.iterator(chunk_size=2000))
