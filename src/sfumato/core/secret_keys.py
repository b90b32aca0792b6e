"""Files of keys, and the pseudonyms that are made with them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from sfumato.core.errors import InputError

KEY_BYTES = 32
SHORTEST_SECRET, LONGEST_SECRET = 16, 1024
_LINES_OF_BASE64 = re.compile(rb"[A-Za-z0-9+/=\r\n]+")
ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", dtype=np.uint8)
RANDOM_LENGTH = 16
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
            os.fsync(stream.fileno())
        os.link(part, path)
    except FileExistsError:
        return
    finally:
        part.unlink(missing_ok=True)


def read_key(path: Path) -> bytes:
    """The key that a file holds.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it may be read by others, or is no key.
    OSError
        If it cannot be read.
    """
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
    path
        The file.
    subject
        What names it: ``"option --pseudonym-key"``.
    inputs
        What else is read: data is no secret.

    Raises
    ------
    InputError
        If it cannot be read, is one of the inputs, is not of 16 to 1,024 bytes, or is several
        lines of text.
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
            content = stream.read(LONGEST_SECRET + 1)
    except OSError as error:
        raise InputError(
            subject,
            "must be a file that can be read",
            found=(error.strerror or type(error).__name__).lower(),
        ) from None
    secret = content.strip()
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


def random_pseudonyms(count: int, rng: np.random.Generator) -> list[str]:
    """Draw ``count`` distinct pseudonyms of 16 letters and digits (80 random bits each).

    Parameters
    ----------
    count
        How many.
    rng
        Source of randomness.
    """
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        letters = ALPHABET[rng.integers(0, len(ALPHABET), (count - len(drawn), RANDOM_LENGTH))]
        texts = letters.view(f"S{RANDOM_LENGTH}").ravel().astype(str)
        drawn.update(dict.fromkeys(texts.tolist()))
    return list(drawn)


def keyed_pseudonyms(identifiers: Iterable[str | bytes], key: bytes) -> list[str]:
    """HMAC-SHA-256 of each identifier under ``key``, cut to 120 bits, as 24 characters.

    The same identifier and key give the same pseudonym in every release; without the key a
    pseudonym cannot be computed from an identifier.

    Raises
    ------
    InputError
        If the key is shorter than 16 bytes.
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


def check_key(key: object) -> None:
    """Refuse a key that can be guessed.

    Raises
    ------
    InputError
        If the key is not bytes, or shorter than 16 bytes.
    """
    if not isinstance(key, bytes):
        raise InputError("parameter pseudonym_key", "must be bytes", found=type(key).__name__)
    if len(key) < SHORTEST_SECRET:
        raise InputError(
            "parameter pseudonym_key",
            "must be a secret of at least 16 bytes",
            found=f"{len(key)} bytes",
            advice="write 32 random bytes to a file and keep it apart from the data",
        )
