"""Assessments and releases of the visits on Spark beside the embedded engine, and what grows.

Usage: spark.py [--records N ...] [--masters MASTER ...] [--folder DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

import duckdb
from spark_input import write_visits
from spark_job import EMBEDDED
from spark_plan import plan
from spark_watch import Watched, watch
from timing import machine

RECORDS = (1_000_000, 10_000_000)
MASTERS = ("local[2]", "local-cluster[2,1,2048]")
VERBS = ("assess", "anonymize")
DIGITS = 1e-12
OF_ONE_ENGINE = {"manifest", "positions", "ran", "warnings"}
"""What results say that is not a measure: rows by number, hashes, what was run on what."""
HEAD = (
    *("work", "records", "on", "wall s", "CPU s", "jobs", "stages", "reads of the file"),
    *("shuffled, bytes per record", "to the driver, MB", "driver JVM, MB", "driver Python, MB"),
    *("executor JVMs, MB", "Python worker, MB", "same release", "same measures"),
)


@dataclass(frozen=True)
class Case:
    """One run: what was done, on what, with how many records, and what came of it."""

    verb: str
    records: int
    engine: str
    watched: Watched
    measures: Mapping[str, Any]
    rows: str


def main() -> None:
    """Print the table, line by line, then the model and the plan that follow from it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--records", type=int, nargs="+", default=RECORDS)
    asked.add_argument("--masters", nargs="+", default=MASTERS)
    asked.add_argument("--folder", type=Path, help="on a disk that holds 400 bytes per record")
    given = asked.parse_args()
    print(f"{machine()}\n")
    _print(HEAD)
    _print("---" if place in {0, 2, 14, 15} else "---:" for place in range(len(HEAD)))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        cases = measure(Path(folder), given.records, given.masters)
    print()
    plan(cases)


def measure(folder: Path, sizes: Sequence[int], masters: Sequence[str]) -> list[Case]:
    """Run every case in a process of its own and print its line.

    Parameters
    ----------
    folder
        Where files, shuffles and checkpoints go.
    sizes
        Numbers of records.
    masters
        Masters of Spark.
    """
    os.environ["SPARK_HOME"] = str(_home(folder))
    cases = []
    for records in sizes:
        data = folder / f"visits-{records}"
        write_visits(data, records)
        for verb in VERBS:
            alone = None
            for engine in (EMBEDDED, *masters):
                case = _run(verb, records, engine, data, folder / "work")
                alone = alone or case
                _print(_line(case, alone))
                cases.append(case)
        shutil.rmtree(data)
    return cases


def _run(verb: str, records: int, engine: str, data: Path, folder: Path) -> Case:
    job = Path(__file__).with_name("spark_job.py")
    watched = watch([sys.executable, job, engine, verb, data, folder])
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    released = folder / "released.parquet"
    rows = _rows(released) if released.exists() else ""
    shutil.rmtree(folder)
    return Case(verb, records, engine, watched, told["measures"], rows)


def _home(folder: Path) -> Path:
    """PySpark's own Spark by links, so that a local cluster keeps its logs in this folder."""
    import pyspark

    home = folder / "spark"
    home.mkdir()
    for name in ("bin", "jars"):
        (home / name).symlink_to(Path(pyspark.__file__).with_name(name))
    return home


def _rows(released: Path) -> str:
    """A hash of a release's rows that does not depend on their order: pseudonyms are keyed."""
    files = f"{released}/*.parquet" if released.is_dir() else str(released)
    with duckdb.connect() as database:
        table = database.read_parquet(files)
        cells = ", ".join(f'coalesce("{name}"::VARCHAR, chr(0))' for name in sorted(table.columns))
        found = table.aggregate(f"count(*), sum(hash({cells})::HUGEINT)").fetchall()
    return str(found)


def _line(case: Case, alone: Case) -> list[str]:
    watched, spark = case.watched, case.watched.told
    here = case is alone

    def peak(kind: str) -> str:
        found = watched.peak.get(kind)
        return f"{found / 1e6:,.0f}" if found else ""

    def told(name: str, unit: float, digits: int = 0) -> str:
        return "" if here else f"{spark[name] / unit:,.{digits}f}"

    same_rows = "yes" if case.rows == alone.rows else "NO"
    return [
        case.verb,
        f"{case.records:,}",
        case.engine,
        f"{watched.wall:,.1f}",
        f"{watched.cpu:,.1f}",
        told("jobs", 1),
        told("stages", 1),
        told("read_records", case.records, 1),
        told("shuffle_bytes", case.records),
        told("driver_bytes", 1e6, 1),
        peak("driver JVM"),
        peak("driver"),
        peak("executor JVMs"),
        peak("Python worker"),
        "" if here or not case.rows else same_rows,
        "" if here else "yes" if alike(case.measures, alone.measures) else "NO",
    ]


def alike(one: Any, other: Any) -> bool:
    """Whether two results hold the same measures to twelve digits.

    Parameters
    ----------
    one, other
        Plain values.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        keys = (one.keys() | other.keys()) - OF_ONE_ENGINE
        return all(alike(one.get(key), other.get(key)) for key in keys)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return None not in (one, other) and isclose(one, other, rel_tol=DIGITS, abs_tol=DIGITS)
    return bool(one == other)


def _print(cells: Any) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
