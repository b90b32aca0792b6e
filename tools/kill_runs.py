"""Kill ``sfumato run`` at random moments, and see whether the next run ends in the same release.

    python tools/kill_runs.py --times 50

Two made-up clinics, linked, reviewed by made-up answers, and released. Prints one line
per kill, and leaves with 1 where a release differs.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.examples import generate_clinics, generate_registrations, write_registrations

PROJECT = """\
[project]
name = "killed"
seed = 11

[sources.hospital]
file = "patients_hospital.csv"
id = "patient"
attach = "visits_hospital.csv"

[sources.practice]
file = "patients_practice.csv"
id = "patient"
attach = "visits_practice.csv"

[schema]
file = "schema.toml"

[link]
dedupe = true

[link.specification]
blocking = ["surname:2", "date_of_birth:year", "zip"]
columns.given_name = "given name"
columns.surname = "surname"
columns.date_of_birth = "date"
columns.zip = "postcode"
thresholds = { lower = 0.001, upper = 0.9 }

[review]
by = "application"
unanswered = "apart"

[release]
g_balance = 0.8
h_affiliation = 0.6

[ledger]
remember = false

[outputs]
report = "json"
"""
PROGRAM = [sys.executable, "-c", "from sfumato.cli.start import main; main()", "run"]


def main() -> None:
    """Kill and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--persons", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--later", action="store_true", help="keep the linkage: kill what follows")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        draws = random.Random(given.seed)  # noqa: S311
        differing = _kill_all(folder, given.persons, given.times, draws, later=given.later)
    print(f"{given.times - differing} of {given.times} ended in the same release")
    sys.exit(1 if differing else 0)


def _kill_all(folder: Path, persons: int, times: int, draws: random.Random, *, later: bool) -> int:
    write_registrations(generate_registrations(generate_clinics(persons, rng=3)), folder)
    (folder / "sfumato.toml").write_text(PROJECT)
    _answer(folder)
    if not later:
        shutil.rmtree(folder / "stages")
    started = time.monotonic()
    _run(folder)
    whole = time.monotonic() - started
    wanted = _released(folder)
    differing = 0
    where: Counter[str] = Counter()
    for number in range(1, times + 1):
        for made in (*(folder / "stages").iterdir(), folder / "output"):
            if made.is_dir() and not (later and made.name == "link"):
                shutil.rmtree(made)
        moment = draws.uniform(0, whole)
        killed = _killed(folder, moment)
        done = _made(folder)
        _run(folder)
        same = _released(folder) == wanted
        differing += not same
        where[done] += 1
        print(
            f"{number:3}  at {moment:5.2f} s  {'killed' if killed else 'had ended'}  "
            f"last made: {done or 'nothing':8} {'same' if same else 'DIFFERENT'}",
            flush=True,
        )
    print(", ".join(f"{count} after {name or 'nothing'}" for name, count in where.items()))
    return differing


def _answer(folder: Path) -> None:
    """Made-up answers about all possible matches, as the web application exports them."""
    _run(folder, "--until", "link")
    pairs = pq.read_table(folder / "stages" / "link" / "review.parquet", columns=["pair"])
    ids = pairs["pair"].to_pylist()
    answers = pa.table(
        {
            "pair": ids,
            "worker": ["w"] * len(ids),
            "answer": pa.array([3 if each % 2 else -3 for each in range(len(ids))], pa.int8()),
            "time": pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * len(ids), pa.timestamp("us")),
            "withdrawn": [False] * len(ids),
        }
    )
    (folder / "review").mkdir()
    pq.write_table(answers, folder / "review" / "decisions.parquet")
    print(f"{len(ids)} possible matches answered")


def _run(folder: Path, *options: str) -> None:
    subprocess.run([*PROGRAM, *options], cwd=folder, check=True, capture_output=True)  # noqa: S603


def _killed(folder: Path, moment: float) -> bool:
    """Whether it was still running when it was killed."""
    running = subprocess.Popen(  # noqa: S603
        PROGRAM, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        running.wait(moment)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGKILL)
        running.wait()
        return True
    return False


def _made(folder: Path) -> str:
    """The last stage that was made."""
    stages = ("link", "review", "linked", "assess", "release")
    made = [name for name in stages if (folder / "stages" / name / "stage.json").is_file()]
    (folder / "output").mkdir(exist_ok=True)
    return made[-1] if made else ""


def _released(folder: Path) -> str:
    return hashlib.sha256((folder / "output" / "release" / "release.csv").read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
