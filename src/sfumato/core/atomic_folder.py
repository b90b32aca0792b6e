"""Write a folder whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.core.atomic import not_whole, take_place, written_at
from sfumato.core.errors import InputError


def check_target_folder(target: str | os.PathLike[str]) -> None:
    """Refuse a path that no folder can be made at, before any work starts.

    Parameters
    ----------
    target
        The folder; it may exist.

    Raises
    ------
    InputError
        If it is a file, or the folder around it does not exist or cannot be written.
    """
    path = _whole(target)
    if path.exists() and not path.is_dir():
        raise InputError(f"output {path.name}", "must be a folder", found="a file of that name")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(
            f"output {path.name}",
            "must be in a folder that exists and can be written",
            advice="create the folder, or choose another one",
        )


@contextmanager
def atomic_folder(
    target: str | os.PathLike[str], *, without: Collection[str] = ()
) -> Iterator[Path]:
    """Give a new folder beside ``target`` that takes its place when the block succeeds.

    What ``target`` holds already and the block has not written is kept. The folder can be entered
    by its owner only; it is removed when the block fails, an interruption by Ctrl-C included.

    Parameters
    ----------
    target
        The folder to write; it may exist.
    without
        Files in it that are not kept, by their paths in it.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    path = _whole(target)
    check_target_folder(path)
    making = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        making.mkdir(mode=0o700)
        yield making
        if path.exists():
            _keep(path, making, {path / name for name in without})
        take_place(making, path)
    except OSError as error:
        raise not_whole(path, error) from None
    finally:
        if written_at(path) != making:
            shutil.rmtree(making, ignore_errors=True)


def _whole(target: str | os.PathLike[str]) -> Path:
    """The path with a name of its own, links followed, so that something can stand beside it."""
    return Path(target).resolve()


def _keep(path: Path, making: Path, without: set[Path]) -> None:
    """Take over what is only in the old folder, and in folders that are in both."""
    for kept in path.iterdir():
        new = making / kept.name
        if kept in without:
            continue
        if not os.path.lexists(new):
            _copied(kept, new, without)
        elif not kept.is_symlink() and kept.is_dir() and new.is_dir():
            _keep(kept, new, without)


def _copied(kept: Path, to: Path, without: set[Path]) -> None:
    if kept.is_dir() and not kept.is_symlink():

        def left(folder: str, names: list[str]) -> list[str]:
            return [name for name in names if Path(folder, name) in without]

        shutil.copytree(kept, to, symlinks=True, ignore=left)
        return
    try:
        os.link(kept, to, follow_symlinks=False)
    except OSError:
        shutil.copy2(kept, to, follow_symlinks=False)
