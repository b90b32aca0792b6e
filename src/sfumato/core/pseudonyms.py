"""Names for persons that say nothing about them."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable

import numpy as np

from sfumato.core.errors import InputError

RANDOM_BYTES = 10
KEYED_BYTES = 15
SHORTEST_KEY = 16


def _text(raw: bytes) -> str:
    return base64.b32encode(raw).decode("ascii").lower()


def random_pseudonyms(count: int, rng: np.random.Generator) -> list[str]:
    """Draw ``count`` distinct pseudonyms of 16 characters (80 random bits each).

    Parameters
    ----------
    count
        How many.
    rng
        Source of randomness.
    """
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        raw = rng.bytes(RANDOM_BYTES * (count - len(drawn)))
        for start in range(0, len(raw), RANDOM_BYTES):
            drawn[_text(raw[start : start + RANDOM_BYTES])] = None
    return list(drawn)


def keyed_pseudonyms(identifiers: Iterable[str], key: bytes) -> list[str]:
    """HMAC-SHA-256 of each identifier under ``key``, cut to 120 bits, as 24 characters.

    The same identifier and key give the same pseudonym in every release; without the key a
    pseudonym cannot be computed from an identifier.

    Raises
    ------
    InputError
        If the key is shorter than 16 bytes.
    """
    if len(key) < SHORTEST_KEY:
        raise InputError(
            "parameter pseudonym_key",
            "must be a secret of at least 16 bytes",
            found=f"{len(key)} bytes",
            advice="write 32 random bytes to a file and keep it apart from the data",
        )
    return [
        _text(hmac.new(key, identifier.encode("utf-8"), hashlib.sha256).digest()[:KEYED_BYTES])
        for identifier in identifiers
    ]
