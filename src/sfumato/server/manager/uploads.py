"""What was uploaded and is not a project yet: sealed, for one hour, for one session.

The files of an upload are one encrypted file in the data folder's ``uploads``. Its key is random,
stands in the row of the session only, and there encrypted with the server's own key: the data
folder and the database together tell nothing of it. It is removed when the project is made or
given up, and after an hour; at logout the row goes, and with it the key. Where the files are
read, they are in memory only (`folder_in_memory`).
"""

from __future__ import annotations

import json
import secrets
import shutil
import struct
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from django.conf import settings

from sfumato.core.errors import InputError
from sfumato.server.vault.sealed import new_key, read_sealed, write_sealed

HOUR = 3600
_SESSION = "upload"

Session = MutableMapping[str, Any]


@dataclass(frozen=True)
class Upload:
    """Files from which a project is to be made.

    Attributes
    ----------
    kind
        ``"linkage"`` or ``"tables"``.
    files
        By the name that they have for the server, what they hold.
    about
        More that was entered with them: how the tables are called, the column of ids.
    seed
        Of the order of the pairs and of the preview, so that it shows the same five again.
    """

    kind: str
    files: Mapping[str, bytes] = field(repr=False)
    about: Mapping[str, str] = field(default_factory=dict)
    seed: int = field(default_factory=lambda: secrets.randbits(64), repr=False)


def keep_upload(session: Session, upload: Upload) -> None:
    """Seal an upload, in place of the one that the session had.

    Parameters
    ----------
    session
        The session.
    upload
        The upload.
    """
    drop_upload(session)
    token, key = secrets.token_hex(16), new_key()
    write_sealed(_path(token), _packed(upload), key, _purpose(token))
    wrapped = settings.SFUMATO_KEYS.wrap(key, _purpose(token)).hex()
    session[_SESSION] = {"token": token, "key": wrapped, "time": time.time()}


def kept_upload(session: Session) -> Upload | None:
    """The upload of a session; ``None`` where there is none, or it is over an hour old.

    Parameters
    ----------
    session
        The session.
    """
    about = session.get(_SESSION)
    if about is None:
        return None
    token = about["token"]
    try:
        key = settings.SFUMATO_KEYS.unwrap(bytes.fromhex(about["key"]), _purpose(token))
        if 0 <= time.time() - about["time"] <= HOUR:
            return _unpacked(read_sealed(_path(token), key, _purpose(token)))
    except (InputError, InvalidTag):
        pass
    drop_upload(session)
    return None


def drop_upload(session: Session) -> None:
    """Remove the upload of a session, and what others left over an hour ago.

    Parameters
    ----------
    session
        The session.
    """
    about = session.pop(_SESSION, None)
    if about is not None:
        _path(about["token"]).unlink(missing_ok=True)
    sweep()


def sweep() -> None:
    """Remove the uploads that are over an hour old."""
    for path in _folder().iterdir():
        try:
            old = time.time() - path.stat().st_mtime > HOUR
        except FileNotFoundError:
            continue
        if old and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif old:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.SFUMATO.data) / "uploads"


def _path(token: str) -> Path:
    return _folder() / f"{token}.sealed"


def _purpose(token: str) -> bytes:
    return b"upload " + token.encode()


def _packed(upload: Upload) -> bytes:
    sizes = {name: len(data) for name, data in upload.files.items()}
    fields = {"kind": upload.kind, "about": dict(upload.about), "seed": upload.seed}
    head = json.dumps({**fields, "sizes": sizes}).encode()
    return b"".join([struct.pack(">I", len(head)), head, *upload.files.values()])


def _unpacked(data: bytes) -> Upload:
    (size,) = struct.unpack_from(">I", data)
    head, at = json.loads(data[4 : 4 + size]), 4 + size
    files = {}
    for name, length in head["sizes"].items():
        files[name] = data[at : at + length]
        at += length
    return Upload(head["kind"], files, head["about"], head["seed"])
