"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.core.errors import InputError


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``target`` that takes its place when the block succeeds.

    The temporary file is readable by its owner only and is removed when the block fails, an
    interruption by Ctrl-C included.

    Parameters
    ----------
    target
        The file to write. Its folder must exist.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    InputError
        If the folder of ``target`` does not exist or cannot be written.
    """
    path = Path(target)
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=f".part{path.suffix}", dir=path.parent
        )
    except OSError:
        raise InputError(
            f"output {path.name}",
            "must be in a folder that exists and can be written",
            advice="create the folder, or choose another one",
        ) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(target: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``target`` in UTF-8, whole or not at all.

    Raises
    ------
    InputError
        If the folder of ``target`` does not exist or cannot be written.
    """
    with atomic_path(target) as path:
        path.write_text(text, encoding="utf-8")
