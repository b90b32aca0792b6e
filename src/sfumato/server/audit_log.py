"""The log of what was done: chained entries, added and verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from django.conf import settings
from django.db import transaction

from sfumato.core import chain
from sfumato.core.chain import START, Head, Link, Verdict, detail_text, digest_of
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
        number, previous = (last[0][0] + 1, last[0][1]) if last else (1, START)
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        text = detail_text(detail or {})
        name = actor.pseudonym if actor else ""
        told = (number, time, name, action, resource, text, previous)
        digest = digest_of(*told)
        # The digest is signed, of which the one before is a part: no entry can be left out.
        signature = settings.SFUMATO_KEYS.signer.sign(bytes.fromhex(digest)).hex()
        entry = (*told, digest, signature)
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
    return chain.follow(_links(), _signed(), "log", "this server", against)


def _links() -> Iterator[Link]:
    for entry in AuditEntry.objects.order_by("number").iterator(chunk_size=2000):
        made = digest_of(*(getattr(entry, name) for name in _FIELDS[:-2]))
        yield Link(entry.number, entry.previous, entry.digest, entry.signature, made)


def _signed() -> Callable[[bytes, bytes], bool]:
    key = settings.SFUMATO_KEYS.signer.public_key()

    def signed(signature: bytes, digest: bytes) -> bool:
        try:
            key.verify(signature, digest)
        except InvalidSignature:
            return False
        return True

    return signed
