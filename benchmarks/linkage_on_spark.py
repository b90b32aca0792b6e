"""The same linkage with DuckDB and on Spark: pairs, scores, persons, and how long each took.

FEBRL 3, deduplicated, and FEBRL 4, linked, as DataFrames of a Spark on this machine.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

import sfumato as sf
from sfumato.linkage.linkage_result import Links

DATA = Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[2] / "shared" / "data"))
_SETS = {
    "FEBRL 3": ("dataset3.csv",),
    "FEBRL 4": ("dataset4a.csv", "dataset4b.csv"),
}
_OPTIONS = {
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def report() -> None:
    """Print one line per data set."""
    builder: Any = SparkSession.builder.master("local[2]").appName("sfumato")
    for name, value in _OPTIONS.items():
        builder = builder.config(name, value)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = builder.getOrCreate()
    print(f"{'':8} {'pairs':>7} {'apart':>6} {'score':>8} {'persons':>8} {'apart':>6}", end="")
    print(f" {'jobs':>5} {'DuckDB s':>9} {'Spark s':>8}   (apart: in one only)")
    try:
        for name, files in _SETS.items():
            print(_compared(name, [DATA / "febrl" / file for file in files], session), flush=True)
    finally:
        session.stop()


def _compared(name: str, paths: list[Path], session: Any) -> str:
    start = time.perf_counter()
    here = sf.link({path.stem: path for path in paths}, seed=1)
    between = time.perf_counter()
    before = _jobs(session)
    frames = {
        path.stem: session.read.csv(str(path), header=True, ignoreLeadingWhiteSpace=True)
        for path in paths
    }
    there = sf.link(frames, here.spec, seed=1)
    seconds = (between - start, time.perf_counter() - between)
    one, other = _scores(here), _scores(there)
    both = one.keys() & other.keys()
    score = max(abs(one[pair] - other[pair]) for pair in both)
    persons = here.settled.persons.person
    apart = np.count_nonzero(persons != there.settled.persons.person)
    return (
        f"{name:8} {len(one):>7,} {len(one.keys() ^ other.keys()):>6,} {score:>8.0e} "
        f"{len(np.unique(persons)):>8,} {apart:>6,} {_jobs(session) - before:>5,} "
        f"{seconds[0]:>9.1f} {seconds[1]:>8.1f}"
    )


def _scores(links: Links) -> dict[tuple[int, int], float]:
    pairs = links.pairs
    keys = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    return dict(zip(keys, pairs.score.tolist(), strict=True))


def _jobs(session: Any) -> int:
    """Jobs of Spark so far."""
    return int(session.sparkContext._jsc.sc().dagScheduler().nextJobId())  # noqa: SLF001


if __name__ == "__main__":
    report()
