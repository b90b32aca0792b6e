"""Tune against a grid of 200 releases: is the point that the search finds at least as good?

Runs on INFORMS (95,140 records of 23,968 persons) and on generated clinics with several sets of
thresholds, and prints the table of docs/EVIDENCE.md: the least loss that meets the thresholds, and
CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pyarrow as pa
from studies.kartal_li.data_sets import PATIENT_SCHEMA as SCHEMA
from studies.kartal_li.data_sets import patient_records

import sfumato as sf
from sfumato.examples import generate_clinics
from sfumato.kernels.loop_calls import in_threads
from sfumato.pipeline.tune import Tuned, tune
from sfumato.pipeline.tune.trials import losses
from sfumato.release.preset_promises import held_against
from sfumato.schema import Schema
from sfumato.table.door import open_table
from sfumato.table.table import Table

SEED = 2026
PATIENTS, CLINICS_SEED = 1_500, 2020
GRID = 200
POPULATION = 50_000
BALANCES = (0.8, 0.85, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97)
SIZES = (None, 5, 10, 20, 40)
MAKE = {
    "g": sf.GBalance,
    "h": sf.HAffiliation,
    "k": sf.KAnonymity,
    "pid_k": sf.PidKAnonymity,
    "marketer": sf.MarketerRisk,
}


@dataclass(frozen=True)
class Case:
    """Thresholds, and a grid over the constraints that bear on them.

    Attributes
    ----------
    name
        What is asked, in words.
    thresholds
        The thresholds.
    fixed
        Limits that every point of the grid has.
    axes
        Values of the others; ``None`` where one is not asked.
    loss
        What is to be least.
    population
        Persons of the population.
    clinics
        Whether it is about generated clinics, not INFORMS.
    """

    name: str
    thresholds: dict[str, float]
    fixed: dict[str, float]
    axes: dict[str, tuple[float | None, ...]]
    loss: str = "ane"
    population: int | None = None
    clinics: bool = False

    def grid(self) -> Iterator[dict[str, float]]:
        """The points, 200 of them."""
        for values in product(*self.axes.values()):
            given = dict(zip(self.axes, values, strict=True))
            yield self.fixed | {name: value for name, value in given.items() if value is not None}


CASES = (
    Case(
        "max_gidr 0.2, max_gsar 0.3",
        {"max_gidr": 0.2, "max_gsar": 0.3},
        {"h": 0.3},
        {"g": BALANCES, "pid_k": SIZES, "cap": (None, 50, 30, 20)},
    ),
    Case(
        "avg_gidr 0.08",
        {"avg_gidr": 0.08},
        {},
        {"g": (0.5, *BALANCES[2:9]), "pid_k": SIZES, "marketer": (None, 0.04, 0.03, 0.02, 0.01)},
    ),
    Case(
        f"marketer 0.05 of {POPULATION:,} persons, max_gidr 0.4",
        {"marketer": 0.05, "max_gidr": 0.4},
        {"marketer": 0.05},
        {
            "g": (0.6, 0.7, 0.75, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.92),
            "pid_k": SIZES,
            "k": (None, 10, 20, 40),
        },
        population=POPULATION,
    ),
    Case(
        "records_at_risk 0.05, max_gsar 0.5, least NCP",
        {"records_at_risk": 0.05, "max_gsar": 0.5},
        {"h": 0.5},
        {
            "pid_k": (None, 2, 3, 4, 5),
            "g": (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85),
            "k": (None, 5, 10, 20, 40),
        },
        loss="ncp",
    ),
    Case(
        "clinics: max_gidr 0.3, max_gsar 0.6",
        {"max_gidr": 0.3, "max_gsar": 0.6},
        {"h": 0.6},
        {
            "g": (0.7, 0.75, 0.8, 0.82, 0.84, 0.85, 0.86, 0.88, 0.9, 0.91),
            "pid_k": (None, 4, 6, 8, 10),
            "cap": (None, 25, 15, 10),
        },
        clinics=True,
    ),
    Case(
        "clinics: avg_gidr 0.12",
        {"avg_gidr": 0.12},
        {},
        {
            "g": (0.5, 0.8, 0.85, 0.88, 0.9, 0.91, 0.92, 0.93),
            "pid_k": (None, 5, 10, 15, 20),
            "marketer": (None, 0.08, 0.06, 0.04, 0.02),
        },
        clinics=True,
    ),
)


@dataclass(frozen=True)
class Found:
    """The best point of one way, and what it took."""

    loss: float | None
    point: str
    releases: int
    met: int
    cpu: float
    wall: float


def by_grid(table: Table, case: Case) -> Found:
    """Release every point of the grid."""
    points = list(case.grid())
    started, spent = time.perf_counter(), time.process_time()
    found = in_threads([partial(_released, table, case, each) for each in points])
    cpu, wall = time.process_time() - spent, time.perf_counter() - started
    meeting = [(loss, at) for at, loss in enumerate(found) if loss is not None]
    least, at = min(meeting, default=(None, 0))
    point = ", ".join(f"{name} {value:g}" for name, value in points[at].items())
    return Found(least, point, len(points), len(meeting), cpu, wall)


def _released(table: Table, case: Case, point: dict[str, float]) -> float | None:
    """Loss of a release that meets the thresholds."""
    given = dict(point)
    cap, suppress = given.pop("cap", None), given.pop("suppress", 0.0)
    options: dict[str, Any] = {"cap_records": None if cap is None else int(cap)}
    try:
        release = sf.anonymize(
            table,
            table.schema,
            *(MAKE[name](value) for name, value in given.items()),
            suppress=suppress,
            population=case.population,
            seed=SEED,
            **options,
        )
    except sf.ConstraintsNotMetError:
        return None
    asked = sf.Preset("asked", tuple(sf.Threshold(*each) for each in case.thresholds.items()))
    held = held_against(release, [asked]).risk.held
    if not all(each.met and each.met_over_interval is not False for each in held):
        return None
    ane, ncp = losses(table, release)
    return ane if case.loss == "ane" else ncp


def by_search(records: Any, schema: Schema, case: Case, trials: int) -> tuple[Tuned, Found]:
    """Search with fewer releases than the grid."""
    started, spent = time.perf_counter(), time.process_time()
    tuned = tune(
        records,
        schema,
        case.thresholds,
        loss=case.loss,
        population=case.population,
        trials=trials,
        seed=SEED,
        suppress=0.05,
    )
    cpu, wall = time.process_time() - spent, time.perf_counter() - started
    loss, point = None, ""
    if tuned.best is not None:
        loss, point = tuned.best.loss, tuned.best.point.words()
    met = sum(each.met for each in tuned.trials)
    return tuned, Found(loss, point, len(tuned.trials), met, cpu, wall)


def drawn(records: pa.Table, people: int | None) -> pa.Table:
    """The records of so many people; of all without a number."""
    if people is None:
        return records
    ids = records.column(SCHEMA.person).to_numpy(zero_copy_only=False)
    chosen = np.random.default_rng(1).choice(np.unique(ids), people, replace=False)
    return records.filter(pa.array(np.isin(ids, chosen)))


def main() -> None:
    """Print one row per set of thresholds, as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the INFORMS files")
    parser.add_argument("--people", type=int, help="so many people of INFORMS, drawn")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--case", type=int, action="append", help="number of a case, from 1")
    parser.add_argument("--search-only", action="store_true", help="no grid")
    parser.add_argument("--json", type=Path, help="write everything there")
    asked = parser.parse_args()
    clinics = generate_clinics(PATIENTS, rng=CLINICS_SEED)
    patients = drawn(patient_records(asked.data), asked.people)
    given = {False: (patients, SCHEMA), True: (clinics.visits, clinics.schema)}
    _released(open_table(*given[False]), CASES[0], {"g": 0.9, "h": 0.3})  # compiles
    kept = []
    print("| thresholds | way | releases | that meet | least loss | CPU s | point |")
    print("|---|---|---|---|---|---|---|")
    for number, case in enumerate(CASES, 1):
        if asked.case and number not in asked.case:
            continue
        records, schema = given[case.clinics]
        tuned, searched = by_search(records, schema, case, asked.trials)
        grid = None if asked.search_only else by_grid(open_table(records, schema), case)
        for way, each in (("tune", searched), ("grid", grid)):
            if each is None:
                continue
            loss = "none" if each.loss is None else f"{each.loss:.5f}"
            print(
                f"| {case.name} | {way} | {each.releases} | {each.met} | {loss} | "
                f"{each.cpu:.0f} | {each.point} |",
                flush=True,
            )
        kept.append({"case": case.name, "tune": tuned.to_json(), "grid": grid and vars(grid)})
    if asked.json is not None:
        asked.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
