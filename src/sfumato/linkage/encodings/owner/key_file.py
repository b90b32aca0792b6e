"""The secret of the owners as a file that nobody else may read."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.core.secret_keys import read_secret

KEY_BYTES = 32
"""Random bytes of a new key; the file holds them in hexadecimal."""


def write_new_key(path: str | os.PathLike[str]) -> None:
    """Write a new random key to a new file that only its owner may read (mode 0600).

    Parameters
    ----------
    path
        The file; it must not exist, for a key that is written over is lost.

    Raises
    ------
    InputError
        If it exists or cannot be written.
    """
    file = Path(path)
    subject = f"key file {file.name or file}"
    try:
        number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise InputError(
            subject,
            "must be a new file",
            found="a file of that name",
            advice="a key that is written over is lost; choose another name",
        ) from None
    except OSError:
        raise InputError(subject, "must be in a folder that exists and can be written") from None
    with os.fdopen(number, "w", encoding="ascii") as stream:
        stream.write(secrets.token_hex(KEY_BYTES) + "\n")


def read_key(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str] | None] = ()
) -> bytes:
    """The secret that a file holds, blanks and ends of lines around it left out.

    Parameters
    ----------
    path
        The file.
    inputs
        What else is read: data is no secret.

    Raises
    ------
    InputError
        If it cannot be read, is one of the inputs or no key, or others than its owner may read or
        write it.
    """
    file = Path(path)
    subject = f"key file {file.name or file}"
    if not file.exists():
        raise InputError(
            subject,
            "must be a file that can be read",
            found="no such file",
            advice="'sfumato link key FILE' makes one, which all owners share",
        )
    secret = read_secret(file, subject, inputs)
    mode = file.stat().st_mode
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(
            subject,
            "must be for its owner's eyes only",
            found=f"mode {stat.S_IMODE(mode):04o}",
            accepted="mode 0600",
            advice="run chmod 600 on it; if others may have read it, make a new key",
        )
    return secret
