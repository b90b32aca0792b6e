"""The keys of a server: made at its first start, kept outside its data."""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sfumato.core.errors import InputError
from sfumato.core.secret_keys import make_key, read_key

_NAMES = ("wrapping.key", "signing.key", "session.key", "fingerprint.key")


@dataclass(frozen=True, repr=False)
class Keys:
    """The keys of a server.

    Attributes
    ----------
    wrapping
        Encrypts the key of each project.
    signing
        Signs the audit log.
    session
        Django's secret: digests of session ids, what it signs.
    fingerprint
        Makes fingerprints of sources that tell nothing without it.
    """

    wrapping: bytes
    signing: bytes
    session: bytes
    fingerprint: bytes

    @property
    def signer(self) -> Ed25519PrivateKey:
        """The key that signs the audit log."""
        return Ed25519PrivateKey.from_private_bytes(self.signing)

    def fingerprint_of(self, data: bytes) -> str:
        """Keyed fingerprint of some bytes, in hexadecimal digits."""
        return hmac.new(self.fingerprint, data, hashlib.sha256).hexdigest()

    def wrap(self, key: bytes, purpose: bytes) -> bytes:
        """Encrypt the key of a project.

        Parameters
        ----------
        key
            The project's key.
        purpose
            What it belongs to; the same is needed to unwrap it.
        """
        nonce = os.urandom(12)
        return nonce + AESGCM(self.wrapping).encrypt(nonce, key, purpose)

    def unwrap(self, wrapped: bytes, purpose: bytes) -> bytes:
        """The key of a project.

        Parameters
        ----------
        wrapped
            What `wrap` returned.
        purpose
            What it belongs to.

        Raises
        ------
        cryptography.exceptions.InvalidTag
            If it was not wrapped with this key for this purpose.
        """
        return AESGCM(self.wrapping).decrypt(wrapped[:12], wrapped[12:], purpose)


def load_keys(folder: Path) -> Keys:
    """The keys in a folder, made there where it is empty.

    Parameters
    ----------
    folder
        The folder; only its owner may read it.

    Raises
    ------
    InputError
        If some of the keys are missing, are none, or may be read by others.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
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
        return Keys(*(read_key(folder / name) for name in _NAMES))
    except OSError:
        raise InputError(
            f"key folder {folder.name}", "must be a folder that can be read and made"
        ) from None
