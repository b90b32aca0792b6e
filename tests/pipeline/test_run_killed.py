"""``kill -9`` and Ctrl-C at random moments: the next run ends in the same release."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import RELEASED
from pipeline.clinics_project import released

PROJECT = """\
[project]
name = "one"
seed = 1

[sources.one]
file = "one.csv"

[schema]
person = "person"
quasi_identifiers = ["age", "zip"]
sensitive = ["disease"]

[release]
g_balance = 0.8
h_affiliation = 0.5

[outputs]
report = "json"
"""
PROGRAM = [sys.executable, "-c", "from sfumato.cli.app import main; main()", "run"]


def run(folder: Path) -> None:
    done = subprocess.run(PROGRAM, cwd=folder, check=False, capture_output=True)
    assert done.returncode in RELEASED


def stopped(folder: Path, moment: float, how: int) -> None:
    running = subprocess.Popen(
        PROGRAM, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        running.wait(moment)
    except subprocess.TimeoutExpired:
        running.send_signal(how)
        running.wait()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A project that was run to its end, and how long that took."""
    folder = tmp_path_factory.mktemp("killed")
    rng = np.random.default_rng(3)
    rows = [
        f"{rng.integers(1000)},{rng.integers(1, 90)},{rng.integers(99999)},{rng.integers(30)}"
        for _ in range(3_000)
    ]
    (folder / "one.csv").write_text("\n".join(["person,age,zip,disease", *rows]) + "\n")
    (folder / "sfumato.toml").write_text(PROJECT)
    start = time.monotonic()
    run(folder)
    return folder, time.monotonic() - start


@pytest.mark.slow
@pytest.mark.parametrize(("how", "share"), [(signal.SIGKILL, 0.7), (signal.SIGINT, 0.8)])
def test_the_next_run_ends_in_the_same_release(
    project: tuple[Path, float], how: int, share: float
) -> None:
    folder, whole = project
    wanted = released(folder)
    for stage in ("assess", "release"):
        (folder / "stages" / stage / "stage.json").unlink()
    (folder / "output" / "release" / "release.csv").unlink()
    stopped(folder, random.uniform(share - 0.2, share + 0.2) * whole, how)
    run(folder)
    assert released(folder) == wanted
    left = {path.name for path in (folder / "stages").iterdir()}
    assert left == {".lock", "assess", "release"}
