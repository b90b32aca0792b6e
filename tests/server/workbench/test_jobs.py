"""Jobs: told line by line, stopped, killed, gone on with."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from patience import wait_until
from server.workbench.conftest import project

from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.core.workspace import is_held, lock_file
from sfumato.pipeline.project_folder import ProjectFolder, open_project
from sfumato.server.workbench import job_process, jobs
from sfumato.server.workbench.job_process import Telling, run_stages
from sfumato.server.workbench.jobs import ENDED, LOCK, Job, Jobs, JobState

SECRET = "a value of the data"


def counting(place: ProjectFolder, arguments: Mapping[str, Any], job: Telling) -> None:
    """Count from where it was left."""
    for number in range(len(job.before), int(arguments["to"])):
        job.tell({"number": number})
        end = time.monotonic() + float(arguments.get("each", 0.0))
        while time.monotonic() < end:
            if job.stopped():
                return
            time.sleep(0.005)


def deaf(place: ProjectFolder, arguments: Mapping[str, Any], job: Telling) -> None:
    """Never look whether it is to end."""
    job.tell({"number": 0})
    time.sleep(600)


def failing(place: ProjectFolder, arguments: Mapping[str, Any], job: Telling) -> None:
    """End in one of the ways in which jobs end badly."""
    raise {
        "value": ValueError(SECRET),
        "input": InputError("the table", "must be there"),
        "promise": ConstraintsNotMetError(("k is 2",), ("promise less",)),
        "memory": MemoryError(),
    }[arguments["how"]]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project."""
    return project(tmp_path_factory.mktemp("project"), people=60)


def started(file: Path, function: str, **arguments: Any) -> tuple[Jobs, Job]:
    """A job of one of the functions above, in a process of its own."""
    # A function of a test is found by a process by its file, and conftest.py in the project's root.
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, Path(__file__).parents[2:4]))
    jobs._MAIN = (
        "import sys; from pathlib import Path; from sfumato.server.workbench import jobs; "
        f"jobs.KINDS['test'] = 'server.workbench.test_jobs:{function}'; "
        "from sfumato.server.workbench.job_process import main; main(Path(sys.argv[1]))"
    )
    made = Jobs(file)
    return made, made.start("test", "r", arguments)


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(jobs, "_MAIN", jobs._MAIN)


@pytest.mark.slow
def test_a_job_is_told_line_by_line_and_outlives_who_started_it(file: Path) -> None:
    _, job = started(file, "counting", to=5)
    again = Jobs(file).job(job.id)
    assert again is not None
    wait_until(lambda: again.state is JobState.DONE)
    assert again.lines == [{"number": number} for number in range(5)]
    assert again.revision == "r"


@pytest.mark.slow
def test_a_job_runs_no_file_of_the_folder_that_it_is_started_in(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    _, job = started(file, "counting", to=2)
    wait_until(lambda: job.state is not JobState.RUNNING)
    assert job.state is JobState.DONE


@pytest.mark.slow
def test_a_job_runs_from_the_moment_it_can_be_seen(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[JobState] = []
    write_text = jobs.write_text

    def written(target: Path, text: str) -> None:
        write_text(target, text)
        job = Jobs(file).latest()
        assert job is not None
        seen.append(job.state)

    monkeypatch.setattr(jobs, "write_text", written)
    _, job = started(file, "counting", to=1)
    wait_until(lambda: job.state is JobState.DONE)
    assert seen == [JobState.RUNNING]


@pytest.mark.slow
def test_a_job_that_is_killed_goes_on_where_it_was(file: Path) -> None:
    made, job = started(file, "counting", to=6, each=0.3)
    wait_until(lambda: len(job.lines) >= 2)
    os.killpg(int((job.folder / LOCK).read_text()), signal.SIGKILL)
    wait_until(lambda: job.state is JobState.KILLED)
    told = len(job.lines)
    made.resume(job, "r")
    wait_until(lambda: job.state is JobState.DONE)
    assert [line["number"] for line in job.lines] == list(range(6))
    assert 2 <= told < 6


@pytest.mark.slow
@pytest.mark.parametrize("function", ["counting", "deaf"])
def test_a_job_ends_within_seconds_of_being_asked(file: Path, function: str) -> None:
    made, job = started(file, function, to=1000, each=1.0)
    wait_until(lambda: job.lines)
    begun = time.monotonic()
    made.stop(job)
    assert job.state is JobState.STOPPED
    assert time.monotonic() - begun < 10
    assert job.lines[0] == {"number": 0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("value", "ValueError"),
        ("input", "the table must be there"),
        ("promise", "No release of this file"),
        ("memory", "memory"),
    ],
)
def test_how_a_job_fails_is_said_without_a_value(file: Path, how: str, words: str) -> None:
    _, job = started(file, "failing", how=how)
    wait_until(lambda: job.state is JobState.FAILED)
    assert words in job.ended["said"]
    assert SECRET not in (job.folder / "lines.jsonl").read_text()
    assert job.ended.get("options", []) == (["promise less"] if how == "promise" else [])


@pytest.mark.parametrize(
    ("told", "revision", "why"),
    [
        ({ENDED: "done"}, "r", "it is done"),
        ({ENDED: "failed", "said": "why"}, "r", "it is failed"),
        ({"number": 1}, "another", "the project changed"),
        (None, "r", "it runs"),
    ],
)
def test_only_what_was_ended_of_this_revision_goes_on(
    file: Path,
    told: dict[str, Any] | None,
    revision: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 0.05)
    monkeypatch.setattr(jobs, "_spawned", lambda job, _lock: job)
    made = Jobs(file)
    job = made.start("dots", "r")
    if told is not None:
        (job.folder / jobs.LINES).write_text(json.dumps(told) + "\n")
        with pytest.raises(InputError, match=why):
            made.resume(job, revision)
        return
    with (job.folder / LOCK).open("rb+") as held:
        lock_file(held.fileno())
        assert job.state is JobState.RUNNING
        with pytest.raises(InputError, match=why):
            made.resume(job, revision)
    assert job.state is JobState.KILLED
    assert made.resume(job, revision) is job


def test_who_asks_whether_a_job_runs_does_not_make_it_seem_so(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    with lock.open("rb+") as other:
        fcntl.flock(other, fcntl.LOCK_SH)  # another page that asks at the same moment
        assert not is_held(lock)


def test_a_run_ends_at_the_next_step_of_its_progress(file: Path, tmp_path: Path) -> None:
    job = Telling(tmp_path)
    (tmp_path / jobs.STOP).touch()
    with pytest.raises(job_process.StoppedError):
        run_stages(open_project(file), {"until": "assess"}, job)
    assert not (file.parent / "stages" / "assess").exists()
    (tmp_path / jobs.STOP).unlink()
    run_stages(open_project(file), {"until": "assess"}, job)
    assert (file.parent / "stages" / "assess" / "stage.json").exists()
    assert '"made": "assess"' in (tmp_path / jobs.LINES).read_text()
