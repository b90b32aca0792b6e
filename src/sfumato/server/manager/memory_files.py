"""Uploaded files as a folder whose contents are in memory only."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings


@contextmanager
def folder_in_memory(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder in which each file is a link to memory of this process.

    Nothing of what the files hold is written to a disk; the folder has their names only. Where
    the system has no such memory (other systems than Linux), they are files that only the
    server may read, until the block is left.

    Parameters
    ----------
    files
        By name, what each holds.

    Yields
    ------
    Path
        The folder.
    """
    uploads = Path(settings.SFUMATO.data) / "uploads"
    folder = Path(tempfile.mkdtemp(prefix="open-", dir=uploads))
    opened: list[int] = []
    try:
        for name, data in files.items():
            _place(folder / name, data, opened)
        yield folder
    finally:
        for handle in opened:
            os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def _place(path: Path, data: bytes, opened: list[int]) -> None:
    if not hasattr(os, "memfd_create"):
        path.write_bytes(data)
        path.chmod(0o600)
        return
    handle = os.memfd_create(path.name)
    opened.append(handle)
    with os.fdopen(os.dup(handle), "wb") as stream:
        stream.write(data)
    path.symlink_to(f"/proc/{os.getpid()}/fd/{handle}")
