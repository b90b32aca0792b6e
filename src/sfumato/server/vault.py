"""Keys, and what is sealed with them."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sfumato.core.atomic import atomic_path
from sfumato.core.chain import keyed_by, made_by
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import make_key, read_key

LOG_BEGAN = "log.began"
"""A file beside the keys: the log of their server states rows. Who writes only to the database
cannot remove it."""
_NAMES = ("wrapping.key", "signing.key", "session.key", "fingerprint.key")
REPLACED = ("wrapping", "signing", "session")
"""Keys that others can come in the place of. By that of fingerprints budgets find their people."""


@dataclass(frozen=True, repr=False)
class Keys:
    """The keys of a server.

    Attributes
    ----------
    signing
        Of it the key of the audit log is made.
    session
        Django's secret: digests of session ids, what it signs.
    fingerprint
        Makes fingerprints of sources that tell nothing without it.
    old_wrapping, old_signing
        Keys that others came in the place of, the first one first.
    """

    wrapping: bytes
    signing: bytes
    session: bytes
    fingerprint: bytes
    old_wrapping: tuple[bytes, ...] = ()
    old_signing: tuple[bytes, ...] = ()

    @property
    def signer(self) -> Ed25519PrivateKey:
        """The key that signed the audit log before its entries were keyed."""
        return Ed25519PrivateKey.from_private_bytes(self.signings[0])

    @property
    def signings(self) -> tuple[bytes, ...]:
        """The keys of which those of the audit log are made, in their order."""
        return (*self.old_signing, self.signing)

    @cached_property
    def chainings(self) -> tuple[bytes, ...]:
        """The keys of the entries of the audit log, in their order."""
        # Others than the signer's, of the same files: a key is used in one way only.
        told = b"entries of the audit log"
        return tuple(hmac.digest(key, told, "sha256") for key in self.signings)

    @property
    def chaining(self) -> bytes:
        """The key of the entries of the audit log that are made now."""
        return self.chainings[-1]

    @cached_property
    def checks(self) -> tuple[Callable[[bytes, bytes], bool], ...]:
        """What checks entries: of before they were keyed, then of each of `chainings`."""
        return (made_by(self.signer), *map(keyed_by, self.chainings))

    def names(self, place: int | None = None) -> dict[str, str]:
        """What each key that can be replaced is called where it must not be told.

        Parameters
        ----------
        place
            Which of `signings` is named; the newest without.
        """
        keys = {name: getattr(self, name) for name in REPLACED} | {
            "signing": self.signings[-1 if place is None else place]
        }
        # Of 64 bits: nobody has so many keys that two meet.
        return {name: hmac.digest(key, b"name", "sha256").hex()[:16] for name, key in keys.items()}

    def fingerprint_of(self, data: bytes) -> str:
        """Keyed fingerprint of some bytes, in hexadecimal digits."""
        return hmac.new(self.fingerprint, data, hashlib.sha256).hexdigest()

    def wrap(self, key: bytes, purpose: bytes) -> bytes:
        """Encrypt the key of a project.

        Parameters
        ----------
        purpose
            What it belongs to; the same is needed to unwrap it.
        """
        # Random for each key: the same nonce twice would give away what AES-GCM hides.
        nonce = os.urandom(12)
        return nonce + AESGCM(self.wrapping).encrypt(nonce, key, purpose)

    def unwrap(self, wrapped: bytes, purpose: bytes) -> bytes:
        """The key of a project.

        Parameters
        ----------
        wrapped
            What `wrap` returned.

        Raises
        ------
        cryptography.exceptions.InvalidTag
            If it was wrapped with none of the keys for this purpose.
        """
        for key in self.old_wrapping:
            with suppress(InvalidTag):
                return AESGCM(key).decrypt(wrapped[:12], wrapped[12:], purpose)
        return AESGCM(self.wrapping).decrypt(wrapped[:12], wrapped[12:], purpose)


def load_keys(folder: Path) -> Keys:
    """The keys in a folder, made there where it is empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Made only where there is none: a new key beside old data would make it unreadable.
        there = [name for name in _NAMES if (folder / name).exists()]
        if not there:
            for name in _NAMES:
                make_key(folder / name)
        elif len(there) < len(_NAMES):
            raise InputError(
                f"key folder {folder.name}",
                "must hold all keys of the server",
                found=f"{len(there)} of {len(_NAMES)}",
                advice="restore it from its backup; without it the data cannot be read",
            )
        wrapping, signing, session, fingerprint = (read_key(folder / name) for name in _NAMES)
        old = (tuple(map(read_key, _replaced(folder, name))) for name in ("wrapping", "signing"))
        return Keys(wrapping, signing, session, fingerprint, *old)
    except OSError:
        raise InputError(
            f"key folder {folder.name}", "must be a folder that can be read and made"
        ) from None


def replace_keys(folder: Path) -> None:
    """Put new keys in the place of those that can be replaced, which stay beside them by number.

    Whenever it is cut short, no key is lost, and it can be done again.
    """
    before = {name: _replaced(folder, name) for name in REPLACED}
    for name, old in before.items():
        path, new = folder / f"{name}.key", folder / f"{name}.new"
        make_key(new)
        if not old or read_key(old[-1]) != read_key(path):
            os.link(path, folder / f"{name}.{len(old) + 1}.key")
        new.replace(path)
    # On the disk before anything is made with them.
    with_folder = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(with_folder)
    finally:
        os.close(with_folder)


def _replaced(folder: Path, name: str) -> list[Path]:
    names = re.compile(rf"{name}\.([1-9][0-9]*)\.key")
    numbers = {int(found[1]) for path in folder.iterdir() if (found := names.fullmatch(path.name))}
    if lost := {*range(1, len(numbers) + 1)} - numbers:
        told = f"{name}.{min(lost)}.key in the key folder"
        raise InputError(told, "must be there", advice="restore it from its backup")
    return [folder / f"{name}.{number}.key" for number in sorted(numbers)]


_MAGIC = b"SFUMATO1"
_CHUNK = 1 << 24
# The highest bit of the chunk's number marks the last: places stay below it.
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
    purpose
        What they are; the same is needed to open them.
    """
    cipher, stem = AESGCM(key), os.urandom(8)
    parts = [_MAGIC, stem]
    # Something empty is one chunk: what was cut off altogether must not open as empty.
    for place, start in enumerate(range(0, len(data) or 1, _CHUNK)):
        chunk = data[start : start + _CHUNK]
        number = place | (_LAST if start + _CHUNK >= len(data) else 0)
        sealed = cipher.encrypt(stem + struct.pack(">I", number), chunk, _MAGIC + purpose)
        parts += [struct.pack(">I", len(sealed)), sealed]
    return b"".join(parts)


def unseal(sealed: bytes, key: bytes, purpose: bytes) -> bytes:
    """What was sealed."""
    cipher, at, place = AESGCM(key), 16, 0
    parts: list[bytes] = []
    stem = sealed[8:16]
    try:
        # At least one chunk, which is the last: a file that ends after its head is refused.
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
    """Encrypt some bytes into a file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with atomic_path(path) as part:
        part.write_bytes(seal(data, key, purpose))
        # Before the file has its name: nobody else may read it in between.
        part.chmod(0o600)


def read_sealed(path: Path, key: bytes, purpose: bytes) -> bytes:
    """What an encrypted file holds."""
    try:
        sealed = path.read_bytes()
    except OSError:
        raise InputError("an encrypted file of the data folder", "must be there") from None
    return unseal(sealed, key, purpose)
