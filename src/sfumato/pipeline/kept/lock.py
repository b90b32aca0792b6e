"""One run of a project at a time; the lock goes with the process, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from sfumato.core.errors import InputError

LOCK = ".lock"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def run_lock(stages: Path) -> Iterator[None]:
    """Hold the lock of a project's stages; where the system has no file locks, nothing is held.

    Parameters
    ----------
    stages
        The folder of the stages; made if it does not exist.

    Raises
    ------
    InputError
        If another run holds it, or the folder cannot be written.
    """
    try:
        stages.mkdir(mode=0o700, exist_ok=True)
        file = os.open(stages / LOCK, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    except OSError as error:
        raise _not_written(stages, error) from None
    try:
        _lock(file, stages)
        yield
    finally:
        os.close(file)


def _lock(file: int, stages: Path) -> None:
    if find_spec("fcntl") is None:
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "the project",
            "must be run by one at a time",
            found="a run that is under way",
            advice="wait for it, or end it",
        ) from None
    except OSError as error:
        raise _not_written(stages, error) from None


def _not_written(stages: Path, error: OSError) -> InputError:
    return InputError(
        f"folder {stages.name}",
        "must be a folder that can be made and written",
        found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
    )
