"""Secrets: their files, and what is drawn from them: pseudonyms, orders, offsets."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.atomic import atomic_path
from sfumato.core.errors import InputError, unreadable_file

# 256 bits, the length of SHA-256: a longer key of HMAC with it adds nothing.
KEY_BYTES = 32
FOR_REPEATING = "release.secret"
"""The secret of a release, beside its manifest."""
# 128 bits cannot be tried out. A longer file is more likely data than a secret.
SHORTEST_SECRET, LONGEST_SECRET = 16, 1024
_LINES_OF_BASE64 = re.compile(rb"[A-Za-z0-9+/=\r\n]+")
# 32 signs divide 256 evenly, so that a byte gives each with the same chance.
ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", dtype=np.uint8)
RANDOM_LENGTH = 16
# A multiple of 5 bytes, which base32 writes without
# padding; 120 bits do not collide among any persons.
KEYED_BYTES = 15


def make_key(path: Path) -> None:
    """Write a new random key of 32 bytes, whole or not at all; a key that is there stays.

    Parameters
    ----------
    path
        The file; its mode becomes 0600.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(part, flags, 0o600), "wb") as stream:
            stream.write(secrets.token_bytes(KEY_BYTES))
            stream.flush()
            # On the disk before it has its name: a key that is lost after use cannot be made again.
            os.fsync(stream.fileno())
        # A link fails where the file exists, a rename would
        # replace the key: two starts at once keep one.
        os.link(part, path)
    except FileExistsError:
        return
    finally:
        part.unlink(missing_ok=True)


def read_key(path: Path) -> bytes:
    """The key that a file holds; an OSError if it cannot be read."""
    # A key that others could read protects nobody, even if nobody has read it.
    if path.stat().st_mode & 0o077:
        raise InputError(
            f"key {path.name}", "must be readable by its owner only", advice="chmod 600"
        )
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise InputError(f"key {path.name}", f"must have {KEY_BYTES} bytes", found=f"{len(key)}")
    return key


def read_secret(
    path: Path, subject: str, inputs: Iterable[str | os.PathLike[str] | None] = ()
) -> bytes:
    """The secret that a file holds, blanks and ends of lines around it left out.

    Parameters
    ----------
    subject
        What names it: ``"option --pseudonym-key"``.
    inputs
        What else is read: data is no secret.
    """
    try:
        if any(_same(path, each) for each in inputs if each is not None):
            raise InputError(
                subject,
                "must be a file of its own",
                found="a file that is read as something else, too",
                advice="write 32 random bytes to a file and keep it apart from the data",
            )
        with path.open("rb") as stream:
            # One byte more than allowed tells that there is more, without reading a large file.
            content = stream.read(LONGEST_SECRET + 1)
    except OSError as error:
        raise unreadable_file(subject, error) from None
    secret = content.strip()
    # Several lines of text are likely a table that was
    # named by mistake. Random bytes may hold line ends.
    several = len(secret.splitlines()) > 1 and _is_text(secret)
    if several and _LINES_OF_BASE64.fullmatch(secret) is None:
        found = "several lines of text"
    elif len(content) > LONGEST_SECRET:
        found = "more bytes"
    elif len(secret) < SHORTEST_SECRET:
        found = f"{len(secret)} bytes"
    else:
        return secret
    raise InputError(
        subject,
        f"must be a secret of at least {SHORTEST_SECRET} bytes",
        found=found,
        accepted=f"{SHORTEST_SECRET} to {LONGEST_SECRET:,} bytes, in one line if they are text",
        advice="write 32 random bytes to a file and keep it apart from the data",
    )


def _same(path: Path, other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one file, which may be reached by links."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


class Secret(bytes):
    """What protects people, in no printout and in no pickle, which holds ``None`` in its place."""

    @classmethod
    def of(cls, given: bytes | None) -> Self:
        """The secret that was given, without blanks around it, as a file gives it; or a fresh one.

        That is 256 random bits, as text that a file can hold.
        """
        if given is None:
            return cls(_fresh())
        check_key(given, "parameter secret")
        check_key(given.strip(), "parameter secret")
        return cls(given.strip())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"

    __str__ = __repr__

    def __reduce_ex__(self, _protocol: object) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def bound(self, *content: bytes) -> Self:
        """Another secret that follows from this one and from what it is for.

        With other content nothing is the same.
        """
        # Digests have one length, so that contents cannot run into each other.
        parts = b"".join(hashlib.sha256(each).digest() for each in content)
        return type(self)(hmac.digest(self, b"bound" + parts, hashlib.sha256))

    def stream(self, purpose: str) -> SecretStream:
        """What is drawn for a purpose, the same each time."""
        return SecretStream(self.bound(purpose.encode()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it, whole or not at all, to a file that its owner alone may read."""
        with atomic_path(path) as part:
            part.write_bytes(self + b"\n")


def _fresh() -> bytes:
    return secrets.token_hex(KEY_BYTES).encode()


class SecretStream:
    """Numbers that only who has a secret can draw: SHAKE-256 under a key, draw by draw.

    A generator of NumPy would not do: its state can be found from what it drew (Bouillaguet,
    Martinez and Sauvage 2020), and pseudonyms show what was drawn.
    """

    def __init__(self, key: bytes) -> None:
        self._key, self._draws = key, 0

    def bits(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """Numbers of 64 bits; shape (count,)."""
        self._draws += 1
        # SHAKE is no Merkle-Damgård hash: a key before the message needs no HMAC.
        made = hashlib.shake_256(self._key + self._draws.to_bytes(8, "big"))
        return np.frombuffer(made.digest(8 * count), dtype="<u8").astype(np.uint64)

    def below(self, limit: int, count: int) -> Ints:
        """Whole numbers from 0 to below a limit; shape (count,)."""
        # The bias of the remainder is limit / 2^64, which no reader of a release can see.
        return (self.bits(count) % np.uint64(limit)).astype(np.int64)

    def permutation(self, count: int) -> Ints:
        """The numbers from 0 to below the count, in an order of its own."""
        # Stable, so that even equal numbers give one order on every machine.
        return np.argsort(self.bits(count), kind="stable")


@dataclass(frozen=True)
class Secrets:
    """What protects the people of a release: ``key`` is that of pseudonyms that releases share.

    It is ``None`` for pseudonyms of ``own``.
    """

    own: Secret = field(default_factory=lambda: Secret.of(None))
    key: Secret | None = None

    @classmethod
    def of(cls, secret: bytes | None, key: bytes | None) -> Self:
        """What was given, checked; a fresh secret where there is none."""
        if key is not None:
            check_key(key)
        return cls(Secret.of(secret), None if key is None else Secret(key))

    def bound(self, *content: bytes) -> Self:
        """The same with a secret of its own that follows from what it is for."""
        return type(self)(self.own.bound(*content), self.key)


def random_pseudonyms(count: int, stream: SecretStream) -> list[str]:
    """Draw ``count`` distinct pseudonyms of 16 letters and digits (80 bits each)."""
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        # Two numbers of 64 bits make 16 letters. Twins are left out, and as many drawn again.
        more = stream.bits(2 * (count - len(drawn))).view(np.uint8).reshape(-1, RANDOM_LENGTH)
        texts = ALPHABET[more % len(ALPHABET)].view(f"S{RANDOM_LENGTH}").ravel().astype(str)
        drawn.update(dict.fromkeys(texts.tolist()))
    return list(drawn)


def keyed_pseudonyms(identifiers: Iterable[str | bytes], key: bytes) -> list[str]:
    """HMAC-SHA-256 of each identifier under ``key``, cut to 120 bits, as 24 characters.

    The same identifier and key give the same pseudonym in every release; without the key a
    pseudonym cannot be computed from an identifier.
    """
    check_key(key)
    return [
        base64.b32encode(hmac.digest(key, _raw(identifier), hashlib.sha256)[:KEYED_BYTES])
        .decode("ascii")
        .lower()
        for identifier in identifiers
    ]


def _raw(identifier: str | bytes) -> bytes:
    return identifier if isinstance(identifier, bytes) else identifier.encode("utf-8")


def check_key(key: object, subject: str = "parameter pseudonym_key") -> None:
    """Refuse a key that can be guessed."""
    if not isinstance(key, bytes):
        raise InputError(subject, "must be bytes", found=type(key).__name__)
    if len(key) < SHORTEST_SECRET:
        raise InputError(
            subject,
            "must be a secret of at least 16 bytes",
            found=f"{len(key)} bytes",
            advice="write 32 random bytes to a file and keep it apart from the data",
        )
