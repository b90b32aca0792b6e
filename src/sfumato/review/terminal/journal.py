"""The journal of a worker: a file that is only added to, each line on the disk before the next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.review.terminal.entries import (
    Beginning,
    Entry,
    beginning_text,
    entry_text,
    read_beginning,
    read_entry,
)

LOCK = "review.lock"
"""The file that is locked while somebody reviews in a folder."""
WORKER = "reviewer"
"""The pseudonym of a worker who gives none."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Written:
    """What a journal says.

    Attributes
    ----------
    beginning
        Its first line.
    entries
        The others.
    size
        Bytes up to the last whole line; what follows was never acknowledged.
    """

    beginning: Beginning
    entries: tuple[Entry, ...]
    size: int


def journal_path(folder: Path, worker: str) -> Path:
    """Where the journal of a worker is.

    Parameters
    ----------
    folder
        The folder of the review.
    worker
        The pseudonym.

    Raises
    ------
    InputError
        If the pseudonym cannot be part of a file's name.
    """
    plain = worker.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum() and len(worker) <= 40):
        raise InputError(
            "a worker's pseudonym", "must be 1 to 40 letters, digits, hyphens or underscores"
        )
    return folder / ("review.state" if worker == WORKER else f"review.{worker}.state")


def journals_in(folder: Path) -> tuple[Path, ...]:
    """The journals of all workers in a folder, by name.

    Parameters
    ----------
    folder
        The folder of a review.
    """
    found = {*folder.glob("review.state"), *folder.glob("review.*.state")}
    return tuple(sorted(found))


def read_journal(path: Path) -> Written | None:
    """What a journal says, its last line left out where it is torn; ``None`` without one.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it is none, or damaged elsewhere than at its end.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _error(path, error) from None
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.decode("utf-8", errors="replace").splitlines()
    if not lines:
        return None
    beginning = read_beginning(lines[0])
    entries = []
    for number, line in enumerate(lines[1:], 2):
        entry = read_entry(line, beginning.worker)
        if entry is None:
            raise InputError(
                f"file {path.name}",
                "must be the journal of a review",
                found=f"something else in line {number}",
            )
        entries.append(entry)
    return Written(beginning, tuple(entries), len(whole))


class Journal:
    """A journal that is written.

    Parameters
    ----------
    path
        The file. It can be read by its owner only.
    beginning
        The first line of a new one.

    Raises
    ------
    InputError
        If it cannot be written, or is none.
    """

    def __init__(self, path: Path, beginning: Beginning) -> None:
        self.path = path
        self._file = -1
        written = read_journal(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_LINK
        try:
            self._file = os.open(path, flags, 0o600)
            os.fchmod(self._file, 0o600)
            os.ftruncate(self._file, 0 if written is None else written.size)
            self.entries: tuple[Entry, ...] = () if written is None else written.entries
            self.beginning = beginning if written is None else written.beginning
            if written is None:
                self._write(beginning_text(beginning))
                _sync_folder(path.parent)
        except OSError as error:
            self.close()
            raise _error(path, error) from None

    def add(self, entry: Entry) -> None:
        """Add an entry; it is on the disk when this returns.

        Parameters
        ----------
        entry
            What happened.

        Raises
        ------
        InputError
            If it cannot be written, or the file is no longer in its folder.
        """
        try:
            if not os.fstat(self._file).st_nlink:
                raise InputError(
                    f"file {self.path.name}",
                    "must stay where it is during a review",
                    found="its folder replaced",
                )
            self._write(entry_text(entry))
        except OSError as error:
            raise _error(self.path, error) from None

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, text: str) -> None:
        data = memoryview(f"{text}\n".encode())
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a review's folder; it goes with the process.

    Parameters
    ----------
    folder
        The folder.

    Raises
    ------
    InputError
        If somebody holds it, or the folder cannot be written.
    """
    if find_spec("fcntl") is None:
        raise InputError("a review at the terminal", "needs a system with file locks")
    import fcntl

    path = folder / LOCK
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    except OSError as error:
        raise _error(path, error) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise InputError(
            f"folder {folder.resolve().name}",
            "must be reviewed by one at a time",
            found="a review that is under way",
        ) from None
    except OSError as error:
        os.close(file)
        raise _error(path, error) from None
    try:
        yield
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _error(path: Path, error: OSError) -> InputError:
    return InputError(
        f"file {path.name}",
        "must be a file that can be read and written",
        found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
    )
