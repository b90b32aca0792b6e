"""Keys of the fields, from one secret that the owners share and the linkage unit lacks."""

from __future__ import annotations

import hashlib
import hmac

from sfumato.core.errors import InputError
from sfumato.linkage.encodings.spec import EncodingSpec

KEY_SIZE = 64
"""Bytes of a key: the longest that BLAKE2b takes, the block of HMAC-SHA-1 and HMAC-MD5."""
SHORTEST_SECRET = 16
_CHECK = b"sfumato: do two files have the same key?"
_SPEC_CHECK = b"sfumato: do two files have the same specification?"

FieldKeys = tuple[bytes, bytes]


def hkdf(secret: bytes, length: int, *, salt: bytes = b"", info: bytes = b"") -> bytes:
    """Key material from a secret: HKDF with SHA-256 (RFC 5869, Section 2).

    Parameters
    ----------
    secret
        What to derive from.
    length
        Bytes wanted, at most 8,160.
    salt, info
        As in the RFC; not secret.
    """
    extracted = hmac.digest(salt or bytes(32), secret, hashlib.sha256)
    material, block = b"", b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(extracted, block + info + bytes([number]), hashlib.sha256)
        material += block
    return material[:length]


def field_keys(secret: bytes, fields: int, *, salt: bytes, info: bytes) -> tuple[FieldKeys, ...]:
    """Two keys per field, as clkhash derives them.

    Parameters
    ----------
    secret
        What the owners share.
    fields
        Number of fields.
    salt, info
        Of the derivation.

    Raises
    ------
    InputError
        If the secret is not bytes, or shorter than 16 bytes.
    """
    check_secret(secret)
    material = hkdf(secret, fields * 2 * KEY_SIZE, salt=salt, info=info)
    keys = [material[at : at + KEY_SIZE] for at in range(0, len(material), KEY_SIZE)]
    return tuple(zip(keys[::2], keys[1::2], strict=True))


def key_check(secret: bytes) -> str:
    """Eight bytes in hexadecimal that are equal where the secrets are; they are no key."""
    return hkdf(secret, 8, info=_CHECK).hex()


def spec_check(secret: bytes, spec: EncodingSpec) -> str:
    """Eight bytes in hexadecimal that are equal where specifications under one secret are.

    Nobody without the secret can find the specification by trying.

    Parameters
    ----------
    secret
        What the owners share.
    spec
        The specification.
    """
    digest = hashlib.sha256(spec.to_json().encode()).digest()
    return hkdf(secret, 8, info=_SPEC_CHECK + digest).hex()


def check_secret(secret: object) -> None:
    """Refuse a secret that can be guessed.

    Raises
    ------
    InputError
        If the secret is not bytes, or shorter than 16 bytes.
    """
    if not isinstance(secret, bytes):
        raise InputError("the secret of the encoding", "must be bytes", found=type(secret).__name__)
    if len(secret) < SHORTEST_SECRET:
        raise InputError(
            "the secret of the encoding",
            f"must have at least {SHORTEST_SECRET} bytes",
            found=f"{len(secret)} bytes",
            advice="draw 32 random bytes and give them to the owners only",
        )
