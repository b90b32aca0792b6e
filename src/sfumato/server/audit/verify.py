"""Check that the audit log is whole: nothing changed, left out, cut off or rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cryptography.exceptions import InvalidSignature
from django.conf import settings

from sfumato.core import chain
from sfumato.core.chain import START, Head, Link, Verdict, digest_of
from sfumato.server.store.models import AuditEntry


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

    Raises
    ------
    InputError
        If it is none.
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
        made = digest_of(
            entry.number,
            entry.time,
            entry.actor,
            entry.action,
            entry.resource,
            entry.detail,
            entry.previous,
        )
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
