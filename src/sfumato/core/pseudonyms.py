"""Names for persons that say nothing about them."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.key_files import SHORTEST_SECRET

ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", dtype=np.uint8)
RANDOM_LENGTH = 16
KEYED_BYTES = 15


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
