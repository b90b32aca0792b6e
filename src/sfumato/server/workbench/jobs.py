"""Long computations beside the pages: each in a process of its own, told line by line, resumable.

A job is a folder: what was asked (``request.json``), the lines it told (``lines.jsonl``), a lock
that its process holds. So it outlives a reload, and a process that was killed leaves its lines.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.core.workspace import is_held, lock_soon
from sfumato.pipeline.project_folder import open_project

FOLDER, REQUEST, LINES, LOCK, STOP = "jobs", "request.json", "lines.jsonl", "lock", "stop"
ENDED = "ended"
"""The key of the last line, which says how the job ended."""
KINDS = {
    "run": "sfumato.server.workbench.job_process:run_stages",
    "dots": "sfumato.server.workbench.release_dots:search",
}
"""What is called for each kind of job: ``module:function``."""
KEPT = 12
"""Jobs whose folders are kept."""
_MAIN = (
    "import sys; from pathlib import Path; "
    "from sfumato.server.workbench.job_process import main; main(Path(sys.argv[1]))"
)
PATIENCE = 1.0
"""Seconds that a job has to end by itself once it is asked to."""


class JobState(StrEnum):
    """How a job stands."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    """It was asked to end, and ended."""
    FAILED = "failed"
    """It ended with an error, which its last line says."""
    KILLED = "killed"
    """Its process is gone without a word; it can be resumed."""


@dataclass(frozen=True)
class Job:
    """A job as its folder says it.

    Attributes
    ----------
    revision
        The revision that it computes for.
    """

    folder: Path
    kind: str
    revision: str
    arguments: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its name in addresses."""
        return self.folder.name

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What it told so far, but for how it ended."""
        return [line for line in _lines_in(self.folder) if ENDED not in line]

    @property
    def ended(self) -> dict[str, Any]:
        """How it ended: ``ended`` has the `JobState`, ``said`` the words; empty while it runs."""
        last = [line for line in _lines_in(self.folder)[-1:] if ENDED in line]
        return last[0] if last else {}

    @property
    def state(self) -> JobState:
        """How it stands."""
        # The lock first: a job that ends between the two looks has told its last line by then.
        running = is_held(self.folder / LOCK)
        return JobState.RUNNING if running and not self.ended else self.rests

    @property
    def rests(self) -> JobState:
        """How it stands if no process holds its lock."""
        ended = self.ended
        if ended:
            return JobState(ended[ENDED])
        return JobState.STOPPED if (self.folder / STOP).exists() else JobState.KILLED


@dataclass
class Jobs:
    """The jobs of a project."""

    file: Path

    @property
    def folder(self) -> Path:
        """Where their folders are."""
        return open_project(self.file).stages / FOLDER

    def start(self, kind: str, revision: str, arguments: Mapping[str, Any] | None = None) -> Job:
        """Start a job; one of its kind that runs is stopped first.

        Raises
        ------
        InputError
            If its folder cannot be written.
        """
        before = self.latest(kind)
        if before is not None and before.state is JobState.RUNNING:
            self.stop(before)
        self._forget_old()
        folder = self.folder / f"{time.time_ns():x}"
        asked = {"kind": kind, "revision": revision, "arguments": dict(arguments or {})}
        try:
            folder.mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise _not_written(error) from None
        # The lock first: a job that can be seen and holds none would be taken as killed.
        with _locked(folder) as lock:
            write_text(folder / REQUEST, json.dumps(asked | {"file": str(self.file)}))
            return _spawned(_job_in(folder), lock)

    def resume(self, job: Job, revision: str) -> Job:
        """Go on with a job that was killed or stopped: it gets the lines that it has told.

        Parameters
        ----------
        revision
            That of the project now: what was told of another one is no part of it.

        Raises
        ------
        InputError
            If it runs, has ended by itself, or is of another revision.
        """
        with _locked(job.folder) as lock:
            if job.rests not in (JobState.STOPPED, JobState.KILLED):
                raise _not_resumed(f"it is {job.rests.value}")
            if job.revision != revision:
                raise _not_resumed("the project changed since")
            kept = job.lines
            (job.folder / STOP).unlink(missing_ok=True)
            write_text(job.folder / LINES, "".join(json.dumps(line) + "\n" for line in kept))
            return _spawned(job, lock)

    def stop(self, job: Job) -> None:
        """Ask a job to end, and end its process if it has not a second later."""
        if job.state is not JobState.RUNNING:
            return
        (job.folder / STOP).touch(mode=0o600)
        for number in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                if not is_held(job.folder / LOCK):
                    return
                time.sleep(0.02)
            _signal(job.folder, number)

    def latest(self, kind: str = "") -> Job | None:
        """The job of a kind that was started last."""
        return next((job for job in self.every() if kind in ("", job.kind)), None)

    def job(self, name: str) -> Job | None:
        """A job by its id."""
        return next((job for job in self.every() if job.id == name), None)

    def every(self) -> Iterator[Job]:
        """All jobs, the newest first."""
        folders = self.folder.iterdir() if self.folder.is_dir() else ()
        for folder in sorted(folders, reverse=True):
            if (folder / REQUEST).is_file():
                yield _job_in(folder)

    def _forget_old(self) -> None:
        for job in list(self.every())[KEPT:]:
            if job.state is not JobState.RUNNING:
                shutil.rmtree(job.folder, ignore_errors=True)


def _job_in(folder: Path) -> Job:
    asked = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    return Job(folder, asked["kind"], asked["revision"], asked["arguments"])


def _lines_in(folder: Path) -> list[dict[str, Any]]:
    """The lines of a job; half a line at the end is one that is being written."""
    try:
        text = (folder / LINES).read_text(encoding="utf-8")
    except OSError:
        return []
    whole = text[: text.rfind("\n") + 1]
    return [json.loads(line) for line in whole.splitlines()]


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """The lock of a job, held: by its process alone once this one lets go of the file."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            lock_soon(lock, PATIENCE)
        except BlockingIOError:
            raise _not_resumed("it runs") from None
        yield lock
    finally:
        os.close(lock)


def _spawned(job: Job, lock: int) -> Job:
    """The job, once its process has started, which holds the lock from its start."""
    # A process of its own and no fork: threads of the server hold locks. -P: a file of the folder
    # it starts in, say a json.py beside the data, is no module of it.
    process = subprocess.Popen(  # noqa: S603 - a program of ours
        [sys.executable, "-P", "-c", _MAIN, str(job.folder)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, pass_fds=(lock,),
    )  # fmt: skip
    os.truncate(lock, 0)
    os.write(lock, str(process.pid).encode("ascii"))
    # Else it would stay in the system's list of processes after its end.
    threading.Thread(target=process.wait, daemon=True).start()
    return job


def _not_resumed(found: str) -> InputError:
    return InputError(
        "the job", "must be a stopped one of the project as it is now", found=found,
        advice="start it anew",
    )  # fmt: skip


def _signal(folder: Path, number: signal.Signals) -> None:
    try:
        os.killpg(int((folder / LOCK).read_text(encoding="ascii")), number)
    except (OSError, ValueError):  # it has ended meanwhile
        return


def _not_written(error: OSError) -> InputError:
    return InputError(
        "the folder of jobs",
        "must be written",
        found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
        advice="make room; nothing was started",
    )
