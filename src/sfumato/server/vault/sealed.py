"""Encrypted files: identifying values, indexes and notes at rest."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sfumato.core.atomic import atomic_path
from sfumato.core.errors import InputError

_MAGIC = b"SFUMATO1"
_CHUNK = 1 << 24
_LAST = 1 << 31


def new_key() -> bytes:
    """A random key of a project."""
    return AESGCM.generate_key(256)


def seal(data: bytes, key: bytes, purpose: bytes) -> bytes:
    """Encrypt some bytes.

    They are sealed in chunks of 16 MiB; each chunk's place and whether it is the last are
    authenticated, so that none can be left out, repeated or moved.

    Parameters
    ----------
    data
        The bytes.
    key
        The project's key.
    purpose
        What they are; the same is needed to open them.
    """
    cipher, stem = AESGCM(key), os.urandom(8)
    parts = [_MAGIC, stem]
    for place, start in enumerate(range(0, len(data) or 1, _CHUNK)):
        chunk = data[start : start + _CHUNK]
        number = place | (_LAST if start + _CHUNK >= len(data) else 0)
        sealed = cipher.encrypt(stem + struct.pack(">I", number), chunk, _MAGIC + purpose)
        parts += [struct.pack(">I", len(sealed)), sealed]
    return b"".join(parts)


def unseal(sealed: bytes, key: bytes, purpose: bytes) -> bytes:
    """What was sealed.

    Parameters
    ----------
    sealed
        What `seal` returned.
    key
        The same key.
    purpose
        The same purpose.

    Raises
    ------
    InputError
        If it was changed, cut off, or sealed with another key or for another purpose.
    """
    cipher, at, place = AESGCM(key), 16, 0
    parts: list[bytes] = []
    stem = sealed[8:16]
    try:
        while not parts or at < len(sealed):
            (size,) = struct.unpack_from(">I", sealed, at)
            start, at = at + 4, at + 4 + size
            number = place | (_LAST if at == len(sealed) else 0)
            nonce = stem + struct.pack(">I", number)
            parts.append(cipher.decrypt(nonce, sealed[start:at], _MAGIC + purpose))
            place += 1
    except (InvalidTag, struct.error, ValueError):
        raise InputError(
            "an encrypted file of the data folder",
            "must be as the server wrote it, and its key the same",
            advice="restore the data and the keys from one backup",
        ) from None
    return b"".join(parts)


def write_sealed(path: Path, data: bytes, key: bytes, purpose: bytes) -> None:
    """Encrypt some bytes into a file, whole or not at all.

    Parameters
    ----------
    path
        The file.
    data, key, purpose
        As for `seal`.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with atomic_path(path) as part:
        part.write_bytes(seal(data, key, purpose))
        part.chmod(0o600)


def read_sealed(path: Path, key: bytes, purpose: bytes) -> bytes:
    """What an encrypted file holds.

    Parameters
    ----------
    path
        The file.
    key, purpose
        As for `unseal`.

    Raises
    ------
    InputError
        If it is not there, or was changed.
    """
    try:
        sealed = path.read_bytes()
    except OSError:
        raise InputError("an encrypted file of the data folder", "must be there") from None
    return unseal(sealed, key, purpose)
