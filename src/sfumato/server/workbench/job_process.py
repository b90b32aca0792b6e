"""The process of a job: does what a folder of `jobs` asks for, and tells it line by line."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.core.declaration import Progress
from sfumato.core.errors import ConstraintsNotMetError, SfumatoError
from sfumato.pipeline.project_folder import ProjectFolder, open_project
from sfumato.pipeline.run import StageState, run
from sfumato.server.workbench.jobs import ENDED, KINDS, LINES, REQUEST, STOP, JobState

BETWEEN = 0.2
"""Seconds between two lines about progress."""


class StoppedError(SfumatoError):
    """The job was asked to end."""


@dataclass
class Telling:
    """What a job tells, and is told.

    Attributes
    ----------
    revision
        What the job is made of: it ends where the project is another one.
    before
        The lines of an earlier attempt that was killed or stopped.
    """

    folder: Path
    revision: str = ""
    before: list[dict[str, Any]] = field(default_factory=list)
    _last: float = 0.0

    def tell(self, line: Mapping[str, Any]) -> None:
        """Add a line; never with a value of the data."""
        text = json.dumps(line, allow_nan=False) + "\n"
        number = os.open(self.folder / LINES, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(number, "a", encoding="utf-8") as file:
            file.write(text)

    def stopped(self) -> bool:
        """Whether the job is to end."""
        return (self.folder / STOP).exists()

    def progress(self, stage: str, share: float) -> None:
        """Tell how far a stage is, and end where that was asked for.

        Raises
        ------
        StoppedError
            If the job is to end.
        """
        if self.stopped():
            raise StoppedError("Stopped.")
        if time.monotonic() - self._last > BETWEEN:
            self._last = time.monotonic()
            self.tell({"stage": stage, "share": round(share, 3)})


def run_stages(place: ProjectFolder, arguments: Mapping[str, Any], job: Telling) -> None:
    """Run the project, as ``sfumato run`` does, up to the stage that is asked for."""

    @contextmanager
    def working(name: str) -> Iterator[Progress]:
        yield lambda stage, share: job.progress(f"{name}: {stage}", share)

    def tell(state: StageState) -> None:
        job.tell({"made": state.name, "state": state.state.value, "ran": state.ran})

    run(place, until=arguments.get("until"), working=working, tell=tell)


def main(folder: Path) -> None:
    """Do what the folder asks for; however it ends, the last line says it."""
    os.umask(0o077)
    asked = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    lines = folder / LINES
    told = lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []
    job = Telling(folder, asked["revision"], [json.loads(line) for line in told])
    module, _, name = KINDS[asked["kind"]].partition(":")
    job.tell(_ended(module, name, asked, job))


def _ended(module: str, name: str, asked: Mapping[str, Any], job: Telling) -> dict[str, Any]:
    """How the job ends: done, stopped, or failed with words that hold no value."""
    try:
        getattr(import_module(module), name)(open_project(asked["file"]), asked["arguments"], job)
    except StoppedError:
        return {ENDED: JobState.STOPPED}
    except ConstraintsNotMetError as error:
        options = list(error.options)
        return {ENDED: JobState.FAILED, "said": str(error).splitlines()[0], "options": options}
    except SfumatoError as error:
        return {ENDED: JobState.FAILED, "said": str(error)}
    except MemoryError:
        return {ENDED: JobState.FAILED, "said": "There was not enough memory."}
    except Exception as error:  # noqa: BLE001 - its message may hold values: its kind alone is said
        return {ENDED: JobState.FAILED, "said": f"It ended with {type(error).__name__}."}
    return {ENDED: JobState.STOPPED if job.stopped() else JobState.DONE}
