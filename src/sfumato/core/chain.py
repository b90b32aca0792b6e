"""A chain of signed entries: how one is made, what is hashed, and whether all are whole."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Row = Sequence[Any]
"""An entry as it is kept: number, time, what it tells, the digest before, digest, signature."""
START = "0" * 64
"""What the first entry has in the place of the digest before."""


@dataclass(frozen=True)
class Head:
    """The last entry at some time, 0 for an empty log.

    Kept elsewhere, it shows what was cut or rewritten.
    """

    number: int
    digest: str

    def __str__(self) -> str:
        """As it is printed and given again."""
        return f"{self.number}:{self.digest}"


@dataclass(frozen=True)
class Link:
    """What binds an entry to the one before."""

    number: int
    previous: str
    digest: str
    signature: str
    made: str

    @classmethod
    def of(cls, row: Row) -> Link:
        """What binds a row of a log, as `next_row` made it."""
        *told, digest, signature = row
        return cls(told[0], told[-1], digest, signature, digest_of(*told))


@dataclass(frozen=True)
class Verdict:
    """What a check of a chain found.

    Attributes
    ----------
    fault
        What is wrong and at which entry, ``""`` if nothing.
    head
        The last entry.
    """

    entries: int
    fault: str
    head: Head
    differences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.fault and not self.differences


def parse_head(text: str, command: str) -> Head:
    """A head that was printed, such as ``"17:5f0c..."``."""
    number, _, digest = text.strip().partition(":")
    # isdigit alone lets digits of other scripts through, which nobody prints here.
    if not (number.isascii() and number.isdigit()) or not _is_digest(digest):
        raise InputError(
            "option --against",
            f"must be a head that '{command}' printed",
            accepted="NUMBER:64 hexadecimal digits",
        )
    return Head(int(number), digest)


def detail_text(detail: Mapping[str, object]) -> str:
    """What an entry's details are as text: JSON with sorted names."""
    # One text for equal details, whatever the order of the keys: it is hashed.
    return json.dumps(detail, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest_of(*fields: int | str) -> str:
    """SHA-256 of an entry, as hexadecimal digits, from its fields.

    The last of them is the digest of the entry before, or `START`. Every field is hashed with
    its length, so that no two entries hash the same text.
    """
    parts = [str(field).encode() for field in fields]
    # Without lengths "ab", "c" and "a", "bc" would hash the same.
    whole = b"".join(each for part in parts for each in (len(part).to_bytes(8, "big"), part))
    return hashlib.sha256(whole).hexdigest()


def next_row(
    last: Head, fields: Sequence[str], sign: Callable[[bytes], bytes], since: str = ""
) -> tuple[Any, ...]:
    """The row that follows another one, signed: number, time, fields, what binds it.

    The digest is signed, of which the one before is a part: no row can be left out.

    Parameters
    ----------
    fields
        What it tells, in the order of the log.
    sign
        Gives the signature of a digest: of a key pair, or `keyed`.
    since
        The time of the row before: a clock that is set back makes none older.
    """
    time = max(datetime.now(UTC).isoformat(timespec="microseconds"), since)
    told: Row = (last.number + 1, time, *fields, last.digest)
    digest = digest_of(*told)
    return (*told, digest, sign(bytes.fromhex(digest)).hex())


def keyed(key: bytes) -> Callable[[bytes], bytes]:
    """A function of a digest: its HMAC-SHA-256, a signature that only holders of the key check."""

    def sign(digest: bytes) -> bytes:
        return hmac.digest(key, digest, "sha256")

    return sign


def keyed_by(key: bytes) -> Callable[[bytes, bytes], bool]:
    """A function of (signature, digest): whether `keyed` made the signature with a key."""
    sign = keyed(key)
    return lambda signature, digest: hmac.compare_digest(signature, sign(digest))


def made_by(signer: Ed25519PrivateKey) -> Callable[[bytes, bytes], bool]:
    """A function of (signature, digest): whether a key made the signature."""
    from cryptography.exceptions import InvalidSignature  # takes a start's time

    public = signer.public_key()

    def signed(signature: bytes, digest: bytes) -> bool:
        try:
            public.verify(signature, digest)
        except InvalidSignature:
            return False
        return True

    return signed


def follow(
    links: Iterable[Link],
    signed: Callable[[bytes, bytes], bool],
    log: str,
    signer: str,
    against: Head | None = None,
) -> Verdict:
    """Check every entry: its number, the digest before, its digest, its signature.

    A log that was cut off, or rewritten from some entry on by somebody who holds the signing
    key, is found only by a head that was kept elsewhere.

    Parameters
    ----------
    log
        What is checked, for the fault: ``"log"``.
    signer
        Who signs, for the fault: ``"this server"``.
    against
        A head that was kept elsewhere.
    """
    last = Head(0, START)
    for link in links:
        fault = fault_of(link, last, signed, signer)
        if fault:
            return Verdict(last.number, fault, last)
        last = Head(link.number, link.digest)
        if against is not None and against.number == last.number and against != last:
            return Verdict(last.number, f"entry {last.number} is another than was kept", last)
    fault = ""
    if against is not None and against.number > last.number:
        kept = against.number
        fault = f"the {log} ends at entry {last.number}, before entry {kept} that was kept"
    return Verdict(last.number, fault, last)


def is_signed(link: Link, signed: Callable[[bytes, bytes], bool]) -> bool:
    """Whether an entry holds what was signed, whatever came before it."""
    try:
        signature, digest = bytes.fromhex(link.signature), bytes.fromhex(link.digest)
    except (TypeError, ValueError):
        return False
    return link.made == link.digest and signed(signature, digest)


def fault_of(link: Link, last: Head, signed: Callable[[bytes, bytes], bool], signer: str) -> str:
    """What is wrong with an entry that should follow another one, ``""`` if nothing."""
    if link.number != last.number + 1:
        return f"entry {last.number + 1} is missing"
    if link.previous != last.digest:
        return f"entry {link.number} does not follow entry {last.number}"
    # After the order of entries: a missing entry is said as such, not as a change of the next one.
    if link.made != link.digest:
        return f"entry {link.number} was changed"
    return "" if is_signed(link, signed) else f"entry {link.number} is not signed by {signer}"


def _is_digest(text: str) -> bool:
    return len(text) == len(START) and all(letter in "0123456789abcdef" for letter in text)
