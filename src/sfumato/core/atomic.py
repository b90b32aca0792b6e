"""Write files and folders whole or not at all, and several all or none."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.errors import InputError


def check_path(value: object, parameter: str = "path") -> None:
    """Refuse what is neither text nor a path."""
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(
            f"parameter {parameter}",
            "must be the path of a file",
            found=f"an object of type {type(value).__name__}",
            accepted="text or a pathlib.Path",
        )


def check_target(target: str | os.PathLike[str]) -> None:
    """Refuse a path that no file can be written to, before any work starts."""
    check_path(target)
    path = Path(target)
    subject = f"output {path.name or path}"
    try:
        # From Python 3.14 on, `is_dir` no longer says that a name is too long.
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
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


@dataclass(frozen=True)
class _Move:
    """What is written, its place, and where that keeps what it held until all are in place."""

    part: Path
    place: Path
    old: Path

    @classmethod
    def of(cls, part: Path, place: Path) -> _Move:
        return cls(part, place, place.with_name(f".{place.name}.{secrets.token_hex(4)}"))


# A context variable and not a global: another thread's files do not join this one's block.
_together: ContextVar[list[_Move] | None] = ContextVar("together", default=None)
"""What the block of `all_or_none` has written; ``None`` outside of one."""


_LEFT = re.compile(r"\..+\.[0-9a-f]{8}(\.part(\.[^.]+)?)?")
"""How a file is called that is being written, or was set aside."""


@contextmanager
def all_or_none() -> Iterator[None]:
    """Let the files that the block writes take their places when all are written, or none of them.

    Until then each lies beside its place (see `written_at`). Within another such block, the outer
    one decides.
    """
    # An inner block that placed its own files could not take them back when the outer one fails.
    if _together.get() is not None:
        yield
        return
    moves: list[_Move] = []
    token = _together.set(moves)
    try:
        yield
        _take_places(moves)
    finally:
        _together.reset(token)
        for move in moves:
            _remove(move.part)


def written_at(target: str | os.PathLike[str]) -> Path:
    """Where a file that was written is now: beside its place until others are written, too."""
    path = Path(target)
    # The last one, as a file may be written twice within a block.
    parts = [move.part for move in _together.get() or () if move.place == path]
    return parts[-1] if parts else path


def take_place(part: Path, target: Path) -> None:
    """Move what was written to its place, at once or with all others of `all_or_none`."""
    moves = _together.get()
    if moves is None:
        _take_places([_Move.of(part, target)])
    else:
        moves.append(_Move.of(part, target))


def _take_places(moves: list[_Move]) -> None:
    """Move all to their places; where one cannot be, put back what the others have replaced."""
    begun: list[tuple[_Move, bool]] = []
    done = False
    try:
        for move in moves:
            # Noted before anything happens, so that an
            # interrupt at any point finds what to put back.
            begun.append((move, os.path.lexists(move.place)))
            # One file replaces another in one step of the system: nothing need be put back.
            if len(moves) > 1 or move.part.is_dir():
                _set_aside(move)
            os.replace(move.part, move.place)
        done = True
    except OSError as error:
        raise not_whole(begun[-1][0].place, error) from None
    finally:
        # Backwards, so that a place that was taken twice gets what it held first.
        for move, was_there in () if done else reversed(begun):
            if os.path.lexists(move.old):
                _remove_folder(move.place)
                os.replace(move.old, move.place)
            # The part is gone and nothing was kept: it stands in a place that was empty, and goes.
            elif not (was_there or os.path.lexists(move.part)):
                _remove(move.place)
        for move, _ in begun:
            _remove(move.old)


def _set_aside(move: _Move) -> None:
    """Keep what is in the place under another name; a file stays in its place as well.

    A folder stays, too, where a file is to be: it is not replaced.
    """
    if move.place.is_dir() and not move.part.is_dir():
        return
    # A second link instead of a rename: at no time is the place empty, should the power fail.
    try:
        os.link(move.place, move.old, follow_symlinks=False)
    except FileNotFoundError:
        return
    except OSError:
        os.replace(move.place, move.old)


def _remove(path: Path) -> None:
    _remove_folder(path)
    path.unlink(missing_ok=True)


def _remove_folder(path: Path) -> None:
    # A link to a folder is not followed: what it leads to is not ours to remove.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)


def leftovers(folder: Path) -> list[Path]:
    """The files of a folder that a writer left there that was killed."""
    return [path for path in folder.iterdir() if path.is_file() and _LEFT.fullmatch(path.name)]


def not_whole(path: Path, error: OSError) -> InputError:
    """The error for an output that the system did not let be written."""
    return InputError(
        f"output {path.name}",
        "must be written whole",
        found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
        advice="nothing was written; make room, or choose another folder",
    )


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
    """
    check_target(target)
    path = Path(target)
    # Beside the target, as only within one file system a rename
    # is one step. The suffix stays, as writers go by it.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part{path.suffix}")
    try:
        _create(temporary, path)
        yield temporary
        take_place(temporary, path)
    except OSError as error:
        raise not_whole(path, error) from None
    finally:
        # Within `all_or_none` the file waits at this path for the others.
        if written_at(path) != temporary:
            temporary.unlink(missing_ok=True)


def _create(temporary: Path, path: Path) -> None:
    """An empty file that only its owner may read; its name is known before it exists."""
    try:
        # O_EXCL refuses a link that somebody laid there;
        # 0600 from the first moment, not by a chmod after.
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
    """Write ``text`` to ``target`` in UTF-8, whole or not at all."""
    with atomic_path(target) as path:
        path.write_text(text, encoding="utf-8")


def check_target_folder(target: str | os.PathLike[str]) -> None:
    """Refuse a path that is a file, or at which no folder can be made, before any work starts."""
    path = _resolved(target)
    if path.exists() and not path.is_dir():
        raise InputError(f"output {path.name}", "must be a folder", found="a file of that name")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        raise _no_folder(path)


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

    Yields
    ------
    Path
        Where to write.
    """
    path = _resolved(target)
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


def _resolved(target: str | os.PathLike[str]) -> Path:
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

        # Links stay links: followed, they could bring in files that never lay in the folder.
        shutil.copytree(kept, to, symlinks=True, ignore=left)
        return
    try:
        # A second name for the same file costs nothing, whatever its size.
        os.link(kept, to, follow_symlinks=False)
    except OSError:
        shutil.copy2(kept, to, follow_symlinks=False)
