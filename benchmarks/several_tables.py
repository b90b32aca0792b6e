"""What a database of people keeps of its codes under one promise about events of all its tables.

``python benchmarks/several_tables.py [PEOPLE] [PID_K ...]`` makes a database as those of OMOP are:
people, visits, conditions, drugs and measurements, twelve rows a person, codes that fall as those
of diagnoses do. For each size of classes it prints what is lost of quasi-identifiers (ANE), the
share of rows of events that show their code as it was, and what a foreign program finds by two
codes known of each person, in the files that are written.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from release.database_intruder import (  # type: ignore[import-not-found]
    broken,
    found_by_two,
    read,
)

from sfumato.release.database_release import ReleasedTables

PROMISED = sf.KnownEvents(2, 0.09)
CODES = {"condition": 120, "drug": 100, "measurement": 60}
"""Different codes of each table; visits have eight."""
ROWS = {"condition": 1.2, "drug": 1.0, "measurement": 1.6}
"""Rows of each visit, on average."""
SHOWN = 150
"""People whom the foreign program looks for."""


def database(people: int, seed: int) -> tuple[dict[str, pd.DataFrame], sf.Schema]:
    """The tables, and what each column is."""
    rng = np.random.default_rng(seed)
    person = pd.DataFrame({
        "person_id": rng.permutation(people) + 1,
        "year_of_birth": np.clip(rng.normal(1965, 18, people), 1930, 2010).astype(int),
        "gender": rng.choice(["8507", "8532"], people),
        "race": rng.choice(["8527", "8516", "8515", "0"], people, p=[0.7, 0.15, 0.1, 0.05]),
        "location_id": rng.choice(25, people, p=_falling(25)) + 1,
    })  # fmt: skip
    owner = np.repeat(person["person_id"].to_numpy(), 1 + rng.poisson(1.5, people))
    visit = pd.DataFrame({
        "visit_id": rng.permutation(len(owner)) + 1, "person_id": owner,
        "kind": _codes("9", 8, len(owner), rng),
    })  # fmt: skip
    frames = {"person": person, "visit": visit}
    tables: dict[str, Any] = {
        "person": {
            "persons": True,
            "key": "person_id",
            "quasi_identifiers": {
                "year_of_birth": "numeric", "gender": "categorical", "race": "categorical",
                "location_id": "categorical",
            },
        },
        "visit": {"key": "visit_id", "of": {"person_id": "person"}, "events": ["kind"]},
    }  # fmt: skip
    for name, codes in CODES.items():
        at = np.repeat(np.arange(len(owner)), rng.poisson(ROWS[name], len(owner)))
        frames[name] = pd.DataFrame({
            "visit_id": visit["visit_id"].to_numpy()[at],
            "concept": _codes(name[0], codes, len(at), rng),
        })  # fmt: skip
        tables[name] = {"of": {"visit_id": "visit"}, "events": ["concept"]}
    return frames, sf.Schema(tables=tables)


def _codes(letter: str, codes: int, rows: int, rng: np.random.Generator) -> list[str]:
    return [f"{letter}{code}" for code in rng.choice(codes, rows, p=_falling(codes))]


def _falling(count: int) -> np.ndarray[Any, Any]:
    shares = 1 / np.arange(1, count + 1)
    found: np.ndarray[Any, Any] = shares / shares.sum()
    return found


def measured(people: int, pid_k: int, seed: int) -> str:
    """One release, as a row of a table."""
    frames, schema = database(people, seed)
    began = time.perf_counter()
    release = sf.anonymize(sf.Tables(frames, schema), PROMISED, sf.PidKAnonymity(pid_k), seed=seed)
    seconds = time.perf_counter() - began
    rows, exact = 0, 0.0
    assert isinstance(release.content, ReleasedTables)
    for loss in release.content.losses:
        for share, *_ in loss.shares.values():
            rows, exact = rows + loss.after, exact + share * loss.after
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in frames.items():
            (Path(folder) / "before").mkdir(exist_ok=True)
            frame.to_csv(Path(folder) / "before" / f"{name}.csv", index=False)
        release.write(Path(folder) / "out")
        before, after = read(Path(folder) / "before"), read(Path(folder) / "out")
    references = {(n, c): to for n, own in schema.tables.items() for c, to in own.of.items()}
    keys = {name: own.key for name, own in schema.tables.items() if own.key}
    names = {"people": "person", "stays": "visit", "person": "person_id", "stay": "visit_id"}
    codes = {"visit": "kind", **dict.fromkeys(CODES, "concept")}
    quasi = [*schema.tables["person"].quasi_identifiers]
    found = found_by_two(before, after, names, codes, quasi, seed=seed, people=SHOWN)
    assert not broken(after, references, keys)
    assert all(len(after[name]) == len(before[name]) for name in frames)
    return (
        f"| {people:,} | {rows:,} | {pid_k} | {release.risk.classes:,} | "
        f"{release.utility.ane:.3f} | {exact / rows:.2f} | {found:.3f} | {seconds:.0f} |"
    )


if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else 2000
    print("| people | rows of events | pid_k | classes | ANE | codes exact | found by two | s |")
    for k in map(int, sys.argv[2:] or ["20", "40", "80"]):
        print(measured(size, k, seed=1), flush=True)
