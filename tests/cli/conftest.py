"""The command line, run in this process or as one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from patience import PATIENCE

from sfumato.cli.app import main
from sfumato.pipeline import report_stage
from sfumato.release import cures


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]
RELEASED = {None, 0, 2, 4}
"""How a command ends that made a release: below its limits, above them, or not measured."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process, in ``tmp_path``; an error that is no exit fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)

    def call(*words: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capfd.readouterr()
        code = end.value.code
        assert code is None or isinstance(code, int)
        return Result(code or 0, out, err)

    return call


def lines_on_a_screen(result: Result) -> int:
    """How many lines of 100 signs it printed."""
    lines = (result.out.rstrip() + "\n" + result.err.rstrip()).strip().splitlines()
    return sum(max(1, -(-len(line) // 100)) for line in lines)


def done_in(folder: Path, *words: str | Path) -> None:
    """Run a command line in this process, in a folder that several tests share; it must succeed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "excepthook", sys.excepthook)
        patch.setattr(sys, "argv", ["sfumato", *map(str, words)])
        patch.setattr(cures, "SECONDS", 0)
        with pytest.raises(SystemExit) as end:
            main()
    # Above the limit it is released all the same: the fewest tests are about how much is found.
    assert end.value.code in RELEASED


@pytest.fixture(scope="package", autouse=True)
def no_pdf() -> Iterator[None]:
    """No report as PDF, which takes seconds; those of reports and of the README draw some."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(report_stage, "find_spec", lambda _name: None)
        yield


@pytest.fixture(autouse=True)
def no_cures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is tried for what is above its limit, which takes as long as several releases."""
    monkeypatch.setattr(cures, "SECONDS", 0)


PROGRAM = "import sys; from sfumato.cli.start import main; sys.argv[0] = 'sfumato'; main()"


def command(*words: str | Path) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-c", PROGRAM, *map(str, words)]


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a command line as a process of its own, in ``tmp_path``."""

    def call(*words: str | Path, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command(*words),
            cwd=tmp_path,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return call


@pytest.fixture
def run_process(start: Callable[..., subprocess.Popen[str]]) -> Run:
    """Run a command line as a process of its own, in ``tmp_path``."""

    def call(*words: str | Path, **environment: str) -> Result:
        process = start(*words, **environment)
        out, err = process.communicate(timeout=PATIENCE)
        return Result(process.returncode, out, err)

    return call
