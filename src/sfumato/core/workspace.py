"""A private folder for what a run writes on its way, removed at its end or the next start."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
import weakref
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from sfumato.core.errors import InputError

HAS_LOCKS = find_spec("fcntl") is not None
"""Whether the system has locks; without them what a killed run has left stays."""

_LOCK = "lock"


class Workspace:
    """A folder of its own for one run, that nobody else may enter.

    It lies in a private folder that all runs of one user share, in the system's place for temporary
    files if not given. A run holds a lock on its own; a folder whose lock nobody holds is left from
    a run that was killed, and the next one removes it.
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        place = Path(tempfile.gettempdir() if parent is None else parent)
        user = os.getuid() if hasattr(os, "getuid") else 0
        root = place / f"sfumato-{user}"
        try:
            root.mkdir(mode=0o700, exist_ok=True)
            status = root.lstat()
            # In a place that all may write to, somebody may
            # have laid the folder or a link there before.
            if root.is_symlink() or status.st_uid != user:
                raise _not_private()
            root.chmod(0o700)
            _remove_left(root)
            self.path = root / secrets.token_hex(8)
            self._lock = _locked(self.path)
            # Ctrl-C between the making and the block that ends with it leaves nothing, either.
            self._remove = weakref.finalize(self, _removed, self.path, self._lock)
        except OSError:
            raise _not_private() from None

    def __enter__(self) -> Workspace:
        """The folder, until the block ends."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove it."""
        self.close()

    def close(self) -> None:
        """Remove the folder and all in it; more than once does no harm."""
        self._remove()


def _removed(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)


def _locked(path: Path) -> int:
    """Make the folder under another name, so that it never stands there without its lock."""
    making = path.with_name(f".{path.name}")
    making.mkdir(mode=0o700)
    lock = os.open(making / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    lock_file(lock)
    making.rename(path)
    return lock


def lock_file(file: int) -> None:
    """Lock an open file until it is closed; nothing where the system has no locks.

    Raises
    ------
    BlockingIOError
        If somebody else holds the lock.
    OSError
        If it cannot be locked.
    """
    if HAS_LOCKS:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_soon(file: int, seconds: float = 2.0) -> None:
    """Lock an open file that others lock for moments only; BlockingIOError if it stays locked."""
    end = time.monotonic() + seconds
    while True:
        try:
            return lock_file(file)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def is_held(lock: Path) -> bool:
    """Whether a process holds the lock of a file; others may ask at the same time."""
    try:
        file = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        if HAS_LOCKS:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(file)


def _remove_left(root: Path) -> None:
    if not HAS_LOCKS:
        return
    for folder in root.iterdir():
        # It is being made, and has no lock yet that would say that it is in use.
        if folder.name.startswith("."):
            continue
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            continue
        try:
            lock_file(lock)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass
        finally:
            os.close(lock)


def _not_private() -> InputError:
    return InputError(
        "the folder for temporary files",
        "must allow a private folder in it",
        found="none that only this user can enter",
        advice="set TMPDIR to a folder of your own",
    )
