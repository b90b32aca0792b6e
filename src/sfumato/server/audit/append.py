"""Add an entry to the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from django.conf import settings
from django.db import connection, transaction

from sfumato.core.chain import START, detail_text, digest_of
from sfumato.server.store.models import Account, AuditEntry

_LOCK = 7_033_2001
"""PostgreSQL's advisory lock of the log; on SQLite a transaction has the only write lock."""


def append(
    actor: Account | None, action: str, resource: str, detail: Mapping[str, object] | None = None
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
    """
    with transaction.atomic(savepoint=False):
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        last = AuditEntry.objects.order_by("-number").values("number", "digest").first()
        number = last["number"] + 1 if last else 1
        previous = last["digest"] if last else START
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        text = detail_text(detail or {})
        name = actor.pseudonym if actor else ""
        digest = digest_of(number, time, name, action, resource, text, previous)
        return AuditEntry.objects.create(
            number=number,
            time=time,
            actor=name,
            action=action,
            resource=resource,
            detail=text,
            previous=previous,
            digest=digest,
            signature=settings.SFUMATO_KEYS.signer.sign(bytes.fromhex(digest)).hex(),
        )
