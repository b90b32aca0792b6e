"""Positions of a token in the filter, under a key."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import numpy.typing as npt

from sfumato.linkage.encodings.keys import FieldKeys
from sfumato.linkage.encodings.spec import EncodingSpec

Positions = npt.NDArray[np.int64]
_PER_DIGEST = 32


def positions_of(token: str, count: int, keys: FieldKeys, spec: EncodingSpec) -> Positions:
    """The first ``count`` positions of a token; two of them may be equal.

    Parameters
    ----------
    token
        What is hashed, in UTF-8.
    count
        How many positions.
    keys
        Of the field.
    spec
        Says the hash and the length.
    """
    raw = token.encode("utf-8")
    if spec.hash == "blake":
        return _blake(raw, count, keys[0], spec.hashed_length)
    return _double(raw, count, keys, spec.hashed_length)


def _blake(raw: bytes, count: int, key: bytes, length: int) -> Positions:
    """Independent positions: each two bytes of keyed BLAKE2b digests, salted 0, 1, ..."""
    digests = b"".join(
        hashlib.blake2b(raw, key=key, salt=str(number).encode("ascii")).digest()
        for number in range(-(-count // _PER_DIGEST))
    )
    return np.frombuffer(digests, dtype="<u2")[:count].astype(np.int64) % length


def _double(raw: bytes, count: int, keys: FieldKeys, length: int) -> Positions:
    """(h1 + i h2) mod length; h2 is drawn again where it is 0, so that positions differ."""
    first = int.from_bytes(hmac.digest(keys[0], raw, "sha1"), "big") % length
    step = int.from_bytes(hmac.digest(keys[1], raw, "md5"), "big") % length
    again = 0
    while step == 0:
        step = int.from_bytes(hmac.digest(keys[1], raw + chr(again).encode(), "md5"), "big")
        step %= length
        again += 1
    return (first + step * np.arange(count)) % length
