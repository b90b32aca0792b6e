"""The keys of a ledger: made at its first use, kept outside its folder."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.core.errors import InputError
from sfumato.core.secret_keys import make_key, read_key
from sfumato.semantics.extra import needed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNING = "signing.key"
PERSONS = "persons.key"
_CHECKED = b"sfumato ledger: which key"


@dataclass(frozen=True)
class LedgerKeys:
    """The keys of a ledger.

    Attributes
    ----------
    folder
        Where they are.
    signing
        Signs the entries, 32 bytes.
    """

    folder: Path
    signing: bytes = field(repr=False)

    def sign(self, digest: bytes) -> bytes:
        """Ed25519 signature of a digest."""
        return self._signer.sign(digest)

    def check(self) -> Callable[[bytes, bytes], bool]:
        """A function of (signature, digest): whether this key made the signature."""
        from cryptography.exceptions import InvalidSignature

        public = self._signer.public_key()

        def signed(signature: bytes, digest: bytes) -> bool:
            try:
                public.verify(signature, digest)
            except InvalidSignature:
                return False
            return True

        return signed

    @property
    def _signer(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.signing)

    def persons(self, *, make: bool) -> bytes:
        """The key of the digests of persons, 32 bytes.

        Parameters
        ----------
        make
            Whether to make it where there is none.

        Raises
        ------
        InputError
            If it is missing, is none, or may be read by others.
        """
        return _key(self.folder, PERSONS, make=make)


def load_ledger_keys(folder: Path, ledger: Path, *, make: bool) -> LedgerKeys:
    """The keys of a ledger.

    Parameters
    ----------
    folder
        Their folder; only its owner may read it.
    ledger
        The ledger's file.
    make
        Whether to make what is missing, for a new ledger.

    Raises
    ------
    InputError
        If the folder is in the ledger's folder, the key of signatures is missing, is none, or
        may be read by others, or the package cryptography is missing.
    """
    needed("cryptography", "the ledger")
    if folder.resolve().is_relative_to(ledger.resolve().parent):
        raise InputError(
            f"key folder {folder.name}",
            "must be outside the ledger's folder",
            found="a folder in it",
            advice="who takes a copy of the one must not have the other",
        )
    return LedgerKeys(folder, _key(folder, SIGNING, make=make))


def default_ledger_keys() -> Path:
    """Where the keys are, where nothing else is said: under the user's configuration."""
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "sfumato" / "ledger-keys"


def id_of_key(key: bytes) -> str:
    """What tells that two keys are the same, and nothing else, 32 hexadecimal digits."""
    return hmac.digest(key, _CHECKED, hashlib.sha256)[:16].hex()


def _key(folder: Path, name: str, *, make: bool) -> bytes:
    path = folder / name
    try:
        if make and not path.exists():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            make_key(path)
        if not path.exists():
            raise InputError(
                f"key folder {folder.name}",
                f"must hold the ledger's {name}",
                found="none",
                advice="restore it from its backup, or give the folder that holds it",
            )
        return read_key(path)
    except OSError:
        raise InputError(
            f"key folder {folder.name}", "must be a folder that can be read and made"
        ) from None
