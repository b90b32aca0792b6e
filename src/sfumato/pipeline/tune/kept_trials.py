"""What a search tried, a line each in a file: one that was ended, or killed, goes on from it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from pydantic import TypeAdapter, ValidationError

from sfumato.core.errors import InputError
from sfumato.pipeline.tune.trials import Trial

_TRIAL: TypeAdapter[Trial] = TypeAdapter(Trial)


class KeptTrials:
    """A file of trials, opened to read and to add.

    It holds limits, measures and names of columns, and no value of the data.

    Parameters
    ----------
    path
        One file for each state of data and project: trials of another one are of no use.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trials: tuple[Trial, ...] = ()
        self._stream: BinaryIO | None = None

    def __enter__(self) -> Self:
        try:
            number = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            self._stream = os.fdopen(number, "r+b")
            self._read(self._stream)
        except OSError as error:
            self._close()
            raise self._unusable((error.strerror or "another").lower()) from None
        except ValidationError:
            self._close()
            raise self._unusable("something else") from None
        return self

    def _read(self, stream: BinaryIO) -> None:
        content = stream.read()
        # The last line may be half of one: it was written as the process was killed.
        whole = content[: content.rfind(b"\n") + 1]
        self.trials = tuple(map(trial_of, whole.splitlines()))
        stream.seek(len(whole))
        stream.truncate()

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def add(self, trial: Trial) -> None:
        """Add a trial; it is in the file when this returns."""
        assert self._stream is not None
        try:
            self._stream.write(line_of(trial) + b"\n")
            self._stream.flush()
        except OSError as error:
            raise self._unusable((error.strerror or "another").lower()) from None

    def _unusable(self, found: str) -> InputError:
        return InputError(
            f"file {self.path.name}",
            "must hold the trials of a search, and take more",
            found=found,
            advice="without it the search begins anew",
        )


def line_of(trial: Trial) -> bytes:
    """A trial as a line of JSON."""
    return _TRIAL.dump_json(trial)


def trial_of(line: bytes) -> Trial:
    """The trial that a line holds."""
    trial = _TRIAL.validate_json(line)
    # Limits that are whole numbers come back as such.
    return replace(trial, point=trial.point.at(trial.point.limits))
