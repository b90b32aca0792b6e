"""Promises about known events, counted again by naive code that reads the released CSV alone.

``python benchmarks/histories.py k`` makes 500 random releases and counts who shares what;
``informs`` releases the INFORMS patients with each technique alone and with all of them, and looks
for the persons by one, two and three of their diagnoses; ``beside`` holds what all techniques keep
of three files against the best single one, in the same classes; ``frontier`` draws the picture of
docs/EVIDENCE.md; ``dates`` releases visits whose dates are moved, and looks for the
persons by two of these, each known to within 3 days.
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

import altair as alt
import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from oracles.histories import found_by_dates  # type: ignore[import-not-found]

import sfumato as sf
from sfumato.core.atomic import write_text
from sfumato.examples import generate_clinics
from sfumato.reports.pictures import AFTER, BEFORE, LIMIT, picture, values

Row = dict[str, str]
Shares = list[float]
QIS = ("DOBYY", "SEX", "EDUCYEAR", "income", "poverty")
SINGLE = ("widen", "roll-up", "suppress-cells", "split-pseudonyms")
IN_CLASSES = ",".join(SINGLE[1:])
"""What says less of events in classes as they are."""
SUCCESSES = ("found", "learned")
AS_GOOD = 0.002
"""What the best single technique may keep more, as what is searched for is what events say, of
which a label above them is a part."""


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
) -> tuple[int, dict[str, tuple[Shares, Shares]]]:
    """The fewest persons who share up to m events of one, and chances by m events drawn at random.

    The fewest are those of persons with fewer events than ``fewest_of``. The chances are those to
    find a pseudonym of the person, by that part of what is known which serves best, and one that
    shows something else: of all persons, and of those with at least m events.
    """
    fewest = len(new)
    chances: dict[str, tuple[Shares, Shares]] = {each: ([], []) for each in SUCCESSES}
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
            drawn = rng.permutation(some)[:m].tolist()
            told = {"*", *(written[each] for each in drawn)}
            more = {one for one in ids[target] if not set(shown[one]) <= told}
            parts = [part for many in range(1, m + 1) for part in combinations(drawn, many)]
            found = [each for each in map(fit, parts) if each]
            for own, of in zip((ids[target], more), chances.values(), strict=True):
                chance = max((len(each & own) / len(each) for each in found), default=0.0)
                of[0].append(chance)
                if len(some) >= m:
                    of[1].append(chance)
            for many in range(1, m + 1):
                for part in combinations(some, many) if len(some) < fewest_of else ():
                    if ids[target] & (there := fit(part)):
                        fewest = min(fewest, sum(1 for own in ids.values() if own & there))
    return fewest, chances


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


def patients(folder: Path) -> tuple[pd.DataFrame, sf.Schema]:
    """The INFORMS patients with their diagnoses."""
    people = pd.read_parquet(folder / "demographics_2005.parquet", columns=["DUPERSID", *QIS])
    codes = pd.read_parquet(folder / "conditions_2005.parquet", columns=["DUPERSID", "ICD9CODX"])
    data = codes.merge(people, on="DUPERSID")
    data = data[(data["EDUCYEAR"] >= 0) & ~(pd.to_numeric(data["ICD9CODX"], errors="coerce") < 0)]
    schema = sf.Schema(
        person="DUPERSID",
        quasi_identifiers={"DOBYY": "numeric", "SEX": "categorical", "EDUCYEAR": "numeric",
                           "income": "numeric", "poverty": "ordered"},
        sensitive=["ICD9CODX"],
        events={"ICD9CODX": {"kind": "code", "hierarchy": {"lengths": [2, 1]}}},
    )  # fmt: skip
    return data.reset_index(drop=True), schema


def clinics() -> tuple[pd.DataFrame, sf.Schema]:
    """The diagnoses of the demo's visits."""
    columns = ["patient", "age", "sex", "zip", "education", "icd9"]
    schema = sf.Schema(
        person="patient",
        quasi_identifiers={"age": "numeric", "sex": "categorical", "zip": "numeric",
                           "education": "categorical"},
        sensitive=["icd9"],
        events={"icd9": {"kind": "code", "hierarchy": {"lengths": [3, 2]}}},
    )  # fmt: skip
    return generate_clinics(2_000, rng=2020).visits.select(columns).to_pandas(), schema


def generated_purchases() -> tuple[pd.DataFrame, sf.Schema]:
    """What 6,000 persons bought, each of a few kinds of goods above all."""
    rng = np.random.default_rng(7)
    many = rng.geometric(0.2, 6_000)
    person = np.repeat(np.arange(len(many)), many)
    liked = rng.integers(0, 9, (len(many), 2))[person, rng.integers(0, 2, len(person))]
    ranks = np.minimum(rng.zipf(1.4, len(person)), 60) - 1
    goods = [f"{kind}{rank:02d}" for kind, rank in zip(liked, ranks, strict=True)]
    age, town = rng.integers(18, 90, len(many)), rng.integers(0, 12, len(many))
    data = pd.DataFrame(
        {"person": person, "age": age[person], "town": town[person], "goods": goods}
    )
    schema = sf.Schema(
        person="person",
        quasi_identifiers={"age": "numeric", "town": "categorical"},
        insensitive=["goods"],
        events={"goods": {"kind": "code", "hierarchy": {"lengths": [2, 1]}}},
    )
    return data, schema


def _made(
    file: tuple[pd.DataFrame, sf.Schema], promise: sf.KnownEvents, words: str | None, *more: Any
) -> Any:
    """A release; nothing where no way is found that keeps the promise."""
    promises = sf.GBalance(0.9), sf.HAffiliation(0.5), promise, *more
    data, schema = file
    try:
        used = promises if schema.sensitive else (promises[0], *promises[2:])
        return sf.anonymize(data, schema, *used, seed=1, techniques=words)
    except sf.ConstraintsNotMetError:
        return None


def informs(folder: Path) -> bool:
    """What each technique alone keeps of the INFORMS patients, and all of them together."""
    file, kept = patients(folder), True
    ways = (*SINGLE, IN_CLASSES, None, f"widen=0.4,{IN_CLASSES}")
    for of in SUCCESSES:
        for words in ways:
            release = _made(file, sf.KnownEvents(2, 0.09, of=of), words)
            if release is None:
                print(f"{of:8} {words or 'all':24} cannot keep it", flush=True)
                continue
            with tempfile.TemporaryDirectory() as name:
                new, old = _released(release, Path(name), file[0])
            left, known = release.utility.histories, release.risk.known_events
            line = f"{of:8} {words or 'all':24} rows {len(new)} ane {release.utility.ane:.4f} "
            line += f"kept {left.kept:.3f} p95 {known.of(2).p95.value:.3f}"
            for m in (1, 2, 3):
                chances = candidates(new, old, QIS, "DUPERSID", "ICD9CODX", m, 1, fewest_of=0)[1]
                line += f" | m={m}"
                for each, (every, _) in chances.items():
                    predicted = getattr(known.of(m), each).value
                    line += f" {each} {predicted:.3f} attack {np.mean(every):.3f}"
                    kept = kept and abs(predicted - float(np.mean(every))) <= 0.01
                line += f" of those with as many {np.mean(chances[of][1]):.3f}"
                kept = kept and (m > 2 or float(np.mean(chances[of][1])) <= 0.1)
            print(line, flush=True)
    return kept


def beside(folder: Path) -> bool:
    """Whether all techniques keep as much as the best single one, in the same classes."""
    kept = True
    files = {"clinics": clinics(), "goods": generated_purchases(), "patients": patients(folder)}
    for name, file in files.items():
        for of in SUCCESSES:
            for width in (0, 60, 150):
                for risk in (0.05, 0.09, 0.15):
                    more = [sf.PidKAnonymity(width)] if width else []
                    promise = sf.KnownEvents(2, risk, of=of)
                    found = {
                        words: _made(file, promise, words, *more)
                        for words in (*SINGLE[1:], IN_CLASSES)
                    }
                    left = {
                        words: 0.0 if each is None else each.utility.histories.kept
                        for words, each in found.items()
                    }
                    most = max(left[each] for each in SINGLE[1:])
                    good = left[IN_CLASSES] >= most - AS_GOOD
                    kept = kept and good
                    ane = next((f"{e.utility.ane:.4f}" for e in found.values() if e), "none")
                    said = " ".join(f"{100 * each:5.1f}" for each in left.values())
                    print(
                        f"{name:8} {of:7} width {width:3} ane {ane} risk {risk:.2f} kept {said}"
                        f"{'' if good else '  BELOW'}",
                        flush=True,
                    )
    return kept


def frontier(drawn: Path | None) -> bool:
    """What up to two known events find, or tell, of the demo's patients against what is left."""
    file, points = clinics(), []
    ways = {each: each for each in SINGLE} | {"all together": None}
    for of in SUCCESSES:
        for way, words in ways.items():
            for risk in (0.03, 0.06, 0.09, 0.15, 0.25):
                release = _made(file, sf.KnownEvents(2, risk, 1.0, of=of), words)
                if release is None:
                    continue
                told = release.risk.known_events
                known = max(getattr(told.of(m), of).value for m in (1, 2))
                left = release.utility.histories.kept
                points.append(
                    {"of": of, "way": way, "risk": known, "kept": left, "ane": release.utility.ane}
                )
                print(
                    f"{of:8} {way:18} {known:.3f} {left:.3f} {release.utility.ane:.4f}", flush=True
                )
    if drawn is not None:
        said = "What up to two known events find or tell against what is kept, by technique"
        text = str(picture(_panels(points, [*ways]), "frontier", said))
        white = '><rect width="100%" height="100%" fill="white"/>'
        write_text(drawn, text.replace(">", white, 1))
    return True


def _panels(points: list[dict[str, Any]], ways: list[str]) -> alt.VConcatChart:
    """Events and pairs kept, and the loss of the quasi-identifiers, for both successes."""
    colours = [BEFORE, "#8a6d1f", "#dd9a8c", "#78a9c8", AFTER]
    shown = {"kept": "events and pairs kept", "ane": "quasi-identifiers lost (ANE)"}
    titles = {"found": "found by up to two events", "learned": "learned from by up to two"}
    limit = alt.Chart(values([{"risk": 0.09}])).mark_rule(color=LIMIT, strokeDash=[4, 3])
    rows = []
    for y, title in shown.items():
        panels = []
        for of in SUCCESSES:
            base = alt.Chart(values([each for each in points if each["of"] == of])).encode(
                x=alt.X("risk:Q", title=f"share {titles[of]}").axis(format=".0%", tickCount=5),
                y=alt.Y(f"{y}:Q", title=title).axis(format=".0%"),
                color=alt.Color("way:N", sort=ways, title=None)
                .scale(domain=ways, range=colours)
                .legend(columnPadding=40, symbolOpacity=1, labelLimit=200),
            )
            layers = limit.encode(x="risk:Q") + base.mark_line() + base.mark_circle(size=50)
            panels.append(layers.properties(width=300, height=210))
        rows.append(alt.hconcat(*panels, spacing=22))
    return alt.vconcat(*rows, spacing=14)


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
    parser.add_argument("part", choices=["k", "informs", "beside", "frontier", "dates"])
    parser.add_argument("--releases", type=int, default=500)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--picture", type=Path, help="where to draw the frontier, .svg")
    asked = parser.parse_args()
    patients_of = asked.data / "informs"
    parts = {
        "k": lambda: count_k(asked.releases),
        "informs": lambda: informs(patients_of),
        "beside": lambda: beside(patients_of),
        "frontier": lambda: frontier(asked.picture),
        "dates": dates,
    }
    sys.exit(0 if parts[asked.part]() else 1)
