"""Write a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.core.paths import check_path


def check_target(target: str | os.PathLike[str]) -> None:
    """Refuse a path that no file can be written to, before any work starts.

    Raises
    ------
    InputError
        If it is a folder, or its folder does not exist or cannot be written.
    """
    check_path(target)
    path = Path(target)
    subject = f"output {path.name or path}"
    try:
        folder, place = path.is_dir(), path.parent.is_dir()
    except OSError as error:
        raise InputError(
            subject,
            "must be a path that can be written",
            found=(error.strerror or "another").lower(),
        ) from None
    if folder:
        raise InputError(subject, "must be a file", found="a folder of that name")
    if not place or not os.access(path.parent, os.W_OK | os.X_OK):
        raise _no_folder(path)


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
        If ``target`` is a folder, or its folder does not exist, cannot be written or is full.
    """
    check_target(target)
    path = Path(target)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part{path.suffix}")
    try:
        _create(temporary, path)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(
            f"output {path.name}",
            "must be written whole",
            found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
            advice="nothing was written; make room, or choose another folder",
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def _create(temporary: Path, path: Path) -> None:
    """An empty file that only its owner may read; its name is known before it exists."""
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        raise _no_folder(path) from None


def _no_folder(path: Path) -> InputError:
    return InputError(
        f"output {path.name}",
        "must be in a folder that exists and can be written",
        advice="create the folder, or choose another one",
    )


def write_text(target: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``target`` in UTF-8, whole or not at all.

    Raises
    ------
    InputError
        If the folder of ``target`` does not exist or cannot be written.
    """
    with atomic_path(target) as path:
        path.write_text(text, encoding="utf-8")
