"""Files of random keys that only their owner may read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from sfumato.core.errors import InputError

KEY_BYTES = 32


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
