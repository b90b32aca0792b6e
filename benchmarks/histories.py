"""Promises about known events, counted again by naive code that reads the released CSV alone.

``python benchmarks/histories.py k`` makes 500 random releases and counts who shares what;
``informs`` releases the INFORMS patients with each technique alone and with all of them, and looks
for the persons by one, two and three of their diagnoses; ``dates`` releases visits whose dates are
moved, and looks for the persons by two of these, each known to within 3 days.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from oracles.histories import found_by_dates  # type: ignore[import-not-found]

import sfumato as sf
from sfumato.examples import generate_clinics

Row = dict[str, str]
QIS = ("DOBYY", "SEX", "EDUCYEAR", "income", "poverty")


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _classes(rows: list[Row], names: tuple[str, ...]) -> dict[tuple[str, ...], list[int]]:
    found = defaultdict(list)
    for at, row in enumerate(rows):
        found[tuple(row[name] for name in names)].append(at)
    return found


def candidates(
    new: list[Row],
    old: list[Row],
    names: tuple[str, ...],
    person: str,
    code: str,
    m: int,
    seed: int,
    *,
    fewest_of: int = 12,
) -> tuple[int, list[float], list[float]]:
    """The fewest persons who share up to m events of one, and chances by m events drawn at random.

    The fewest are those of persons with fewer events than ``fewest_of``; the second list has the
    persons with at least m events.
    """
    fewest, every, several = len(new), [], []
    rng = np.random.default_rng(seed)
    for rows in _classes(new, names).values():
        shown: dict[str, Counter[str]] = defaultdict(Counter)
        ids, events = defaultdict(set), defaultdict(set)
        written: dict[str, str] = {}
        for at in rows:
            shown[new[at][person]][new[at][code]] += 1
            ids[old[at][person]].add(new[at][person])
            events[old[at][person]].add(old[at][code])
            if written.setdefault(old[at][code], new[at][code]) != new[at][code]:
                raise RuntimeError("one event of a class is written in two ways")

        def fit(known: tuple[str, ...]) -> set[str]:
            asked = Counter(written[each] for each in known)  # noqa: B023
            return {p for p, has in shown.items() if all(has[a] >= n for a, n in asked.items())}  # noqa: B023

        for target, known in events.items():
            some = sorted(known)
            drawn = tuple(rng.permutation(some)[:m].tolist())
            found = fit(drawn)
            chance = len(found & ids[target]) / len(found) if found else 0.0
            every.append(chance)
            if len(some) >= m:
                several.append(chance)
            for many in range(1, m + 1):
                for each in combinations(some, many) if len(some) < fewest_of else ():
                    if ids[target] & (there := fit(each)):
                        fewest = min(fewest, sum(1 for own in ids.values() if own & there))
    return fewest, every, several


def _released(release: Any, folder: Path, data: pd.DataFrame) -> tuple[list[Row], list[Row]]:
    release.write(folder / "r.csv")
    old = data.iloc[release.source_rows].astype(str).to_dict("records")
    (folder / "release.toml").unlink()
    return _read(folder / "r.csv"), old


def random_file(rng: np.random.Generator) -> pd.DataFrame:
    """Visits with codes, of persons with two quasi-identifiers."""
    persons = int(rng.integers(20, 90))
    person = np.repeat(np.arange(persons), rng.integers(1, int(rng.integers(3, 7)), persons))
    codes = np.array([f"{a}{b}{c}" for a in "12" for b in "0123" for c in "05"])
    weights = 1 / (1 + rng.permutation(len(codes))) ** rng.uniform(0, 2)
    drawn = rng.choice(codes, len(person), p=weights / weights.sum())
    age, sex = rng.integers(20, 80, persons), rng.choice(["f", "m"], persons)
    return pd.DataFrame({"person": person, "age": age[person], "sex": sex[person], "code": drawn})


def count_k(releases: int) -> bool:
    """Whether all random releases keep k, counted one by one."""
    rng = np.random.default_rng(1)
    event = {"kind": "code", "hierarchy": {"lengths": [2, 1]}}
    schema = sf.Schema(
        person="person",
        quasi_identifiers=["age", "sex"],
        sensitive=["code"],
        events={"code": event},
    )
    broken = 0
    with tempfile.TemporaryDirectory() as name:
        for at in range(releases):
            data, k, m = random_file(rng), int(rng.integers(2, 6)), int(rng.integers(1, 4))
            release = sf.anonymize(
                data, schema, sf.PidKAnonymity(k), sf.KnownEvents(m, k=k), seed=at
            )
            new, old = _released(release, Path(name), data)
            broken += candidates(new, old, ("age", "sex"), "person", "code", m, at)[0] < k
    print(f"k: {releases} random releases, {broken} exceptions")
    return broken == 0


def informs(folder: Path) -> bool:
    """What each technique alone keeps of the INFORMS patients, and all of them together."""
    people = pd.read_parquet(folder / "demographics_2005.parquet", columns=["DUPERSID", *QIS])
    codes = pd.read_parquet(folder / "conditions_2005.parquet", columns=["DUPERSID", "ICD9CODX"])
    data = codes.merge(people, on="DUPERSID")
    data = data[(data["EDUCYEAR"] >= 0) & ~(pd.to_numeric(data["ICD9CODX"], errors="coerce") < 0)]
    data = data.reset_index(drop=True)
    schema = sf.Schema(
        person="DUPERSID",
        quasi_identifiers={"DOBYY": "numeric", "SEX": "categorical", "EDUCYEAR": "numeric",
                           "income": "numeric", "poverty": "ordered"},
        sensitive=["ICD9CODX"],
        events={"ICD9CODX": {"kind": "code", "hierarchy": {"lengths": [2, 1]}}},
    )  # fmt: skip
    kept = True
    for of in ("found", "learned"):
        for words in ("widen", "suppress-cells", "roll-up,suppress-cells", None):
            promise = sf.KnownEvents(2, 0.09, of=of)
            try:
                release = sf.anonymize(
                    data, schema, sf.GBalance(0.9), sf.HAffiliation(0.5), promise,
                    seed=1, techniques=words,
                )  # fmt: skip
            except sf.ConstraintsNotMetError:
                print(f"{of:8} {words or 'all':24} cannot keep it")
                continue
            with tempfile.TemporaryDirectory() as name:
                new, old = _released(release, Path(name), data)
            left, known = release.utility.histories, release.risk.known_events
            assert left is not None
            assert known is not None
            line = f"{of:8} {words or 'all':24} rows {len(new)} ane {release.utility.ane:.4f} "
            line += f"kept {left.kept:.3f} p95 {known.of(2).p95.value:.3f}"
            for m in (1, 2, 3):
                predicted = known.of(m).found.value
                _, every, several = candidates(
                    new, old, QIS, "DUPERSID", "ICD9CODX", m, 1, fewest_of=0
                )
                line += f" | m={m} predicted {predicted:.3f} found {np.mean(every):.3f}"
                line += f" of those with as many {np.mean(several):.3f}"
                kept = kept and (of == "learned" or m > 2 or float(np.mean(several)) <= 0.1)
            print(line, flush=True)
    return kept


def generated_visits() -> pd.DataFrame:
    """Five visits within four years of each of 10,000 persons."""
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(10_000), 5)
    age, sex = rng.integers(18, 90, 10_000), rng.choice(["f", "m"], 10_000)
    day = np.datetime64("2016-01-01") + rng.integers(0, 1461, len(person))
    return pd.DataFrame({"person": person, "age": age[person], "sex": sex[person], "day": day})


def demo_visits() -> pd.DataFrame:
    """The visits of the demo, with its quasi-identifiers."""
    visits = generate_clinics(2_000, rng=2020).visits.to_pandas()
    names = {"patient": "person", "visit_date": "day"}
    return visits.rename(columns=names)[["person", "day", "age", "sex", "zip", "education"]]


def dates() -> bool:
    """Whether intervals stay and nobody is found by two of them, in both files of visits."""
    kept = True
    event = {"kind": "date", "known": "3 days"}
    for name, data in (("generated", generated_visits()), ("demo", demo_visits())):
        names = tuple(each for each in data.columns if each not in ("person", "day"))
        schema = sf.Schema(
            person="person", quasi_identifiers=[*names], insensitive=["day"], events={"day": event}
        )
        release = sf.anonymize(
            data, schema, sf.GBalance(0.9), sf.KnownEvents(2, 0.09), seed=1,
            techniques="widen,shift-dates",
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            new, old = _released(release, Path(folder), data)
        left, risk = release.utility.histories, release.risk.known_events
        assert left is not None
        assert risk is not None
        print(
            f"{name}: rows {len(new)} classes {release.risk.classes} ane {release.utility.ane:.4f} "
            f"intervals exact {left.intervals_exact} near {left.intervals_near}"
        )
        kept = kept and left.intervals_near is not None and left.intervals_near >= 0.9
        for m in (1, 2):
            either = found_by_dates(new, old, names, "person", "day", 3, m)
            line = f"  m={m} predicted {risk.of(m).found.value:.4f}"
            for words, each in zip(("fits", "best"), either, strict=True):
                line += f" {words} {np.mean(each):.4f}"
                kept = kept and float(np.mean(each)) <= 0.09
            print(line, f"p95 of fits {np.quantile(either[0], 0.95):.3f}", flush=True)
    return kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["k", "informs", "dates"])
    parser.add_argument("--releases", type=int, default=500)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    asked = parser.parse_args()
    if asked.part == "k":
        done = count_k(asked.releases)
    else:
        done = dates() if asked.part == "dates" else informs(asked.data / "informs")
    sys.exit(0 if done else 1)
