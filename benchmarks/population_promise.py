"""Whether what is promised of a population from the number of its persons alone is kept.

Usage: population_promise.py [--promise NAME] [--limits L ...] [--repeats N] [--only NAME ...]
                             [--fractions P ...] [--resume FILE]

Draws samples of populations whose every person is known, releases them under a promise about the
population with nothing but N, and counts whom of the population lies in each released class, from
the released cells alone. Prints what is true beside what was stated: the marketer risk, the share
of persons who are alone in the population, or, for k-map, the share of classes that look like
fewer persons, which are kept where it is 5 % at most. With --resume every release is a line of a
file, and is not made again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from populations import ages, birth_month, birth_year, census, hospital, mostly, places, zipf

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.release.promises.promise import Budget, Constraint

Draw = np.random.Generator
SEED = 2026


def _frame(columns: list[npt.NDArray[np.int64]], names: str) -> pd.DataFrame:
    """Columns by name; one whose name begins with a capital holds categories."""
    frame = {}
    for name, column in zip(names.split(), columns, strict=True):
        frame[name] = [f"c{value:04d}" for value in column] if name[0].isupper() else column
    return pd.DataFrame(frame)


def _households(rng: Draw) -> pd.DataFrame:
    """Couples, children, people alone: they share street, origin and the years of a generation."""
    homes = 11_000
    street = rng.choice(600, homes, p=zipf(600, 0.4))
    origin = rng.choice(12, homes, p=zipf(12, 1.5))
    head = np.clip(rng.normal(50, 17, homes), 20, 95)
    size = 1 + rng.binomial(4, 0.35, homes)
    home = np.repeat(np.arange(homes), size)
    place = np.arange(len(home)) - np.repeat(np.cumsum(size) - size, size)
    age = np.where(place == 0, head[home], head[home] + rng.normal(-2, 3, len(home)))
    age = np.where(place > 1, np.clip(head[home] - 29 + rng.normal(0, 4, len(home)), 0, 60), age)
    age = np.clip(age, 0, 99)
    sex = np.where(place < 2, (place + home) % 2, rng.integers(0, 2, len(home)))
    return _frame([age.astype(np.int64), sex, street[home], origin[home]], "age Sex Street Origin")


def _movers(rng: Draw) -> pd.DataFrame:
    """Year of birth, sex, municipality of birth and of residence, the second mostly near."""
    persons = 30_000
    born = places(persons, 300, 0.8, rng)
    near = np.where(rng.random(persons) < 0.6, born, born // 10 * 10 + rng.integers(0, 10, persons))
    lives = np.where(rng.random(persons) < 0.25, places(persons, 300, 1.0, rng), near)
    return _frame([ages(persons, rng), rng.integers(0, 2, persons), born, lives],
                  "age Sex Born Lives")  # fmt: skip


def _commuters(rng: Draw) -> pd.DataFrame:
    persons = 40_000
    home = places(persons, 120, 0.7, rng)
    work = mostly(home, 0.45, 120, 0.9, rng)
    return _frame([home, work, rng.integers(5, 22, persons), ages(persons, rng)],
                  "Home Work hour age")  # fmt: skip


def _postcodes(rng: Draw) -> pd.DataFrame:
    persons = 20_000
    return _frame([ages(persons, rng), places(persons, 2_000, 0.7, rng)], "age Postcode")


def _homes(share: float, houses: int, skew: float, years: int) -> Callable[[Draw], pd.DataFrame]:
    """A share of the persons live in homes, barracks and halls where everybody is alike."""

    def drawn(rng: Draw) -> pd.DataFrame:
        persons = 24_000
        alike = rng.random(persons) < share
        house = rng.choice(houses, persons, p=zipf(houses, skew))
        home_age = 20 + house % 60 + rng.integers(0, years, persons)
        age = np.where(alike, home_age, ages(persons, rng))
        place = np.where(alike, house % 500, rng.integers(0, 500, persons))
        sex = np.where(alike, house % 2, rng.integers(0, 2, persons))
        return _frame([age, place, sex], "age Place Sex")

    return drawn


def _stays(rng: Draw) -> pd.DataFrame:
    return _frame(hospital(rng), "age Sex Region Diagnosis days")


def _euro(folder: Path) -> pd.DataFrame:
    frame = pd.read_parquet(folder / "euro" / "euro_population.parquet")
    born = pd.to_numeric(frame["DOB_YEAR"], errors="coerce").fillna(1950).astype(int)
    return pd.DataFrame({"born": born, "Sex": frame["SEX"], "Postcode": frame["ENUMPC"]})


def _adult(folder: Path, *names: str) -> pd.DataFrame:
    frame = pd.read_csv(folder / "adult" / "adult.csv", sep=";")[list(names)]
    return frame.rename(columns={name: name.title() for name in names if name != "age"})


def populations(folder: Path) -> dict[str, Callable[[Draw], pd.DataFrame]]:
    """Every population by name."""
    return {
        "households": _households,
        "hospital stays": _stays,
        "movers": _movers,
        "commuters": _commuters,
        "age and postcode": _postcodes,
        "institutions": _homes(0.5, 80, 0.5, 3),
        "a fifth in homes": _homes(0.2, 80, 0.5, 3),
        "four fifths in homes": _homes(0.8, 80, 0.5, 3),
        "barracks": _homes(0.3, 6, 0.2, 6),
        "small homes": _homes(0.5, 1_500, 0.3, 1),
        "uneven homes": _homes(0.5, 300, 1.2, 3),
        "municipalities": lambda rng: _frame(
            birth_year(60_000, 800, rng), "age Sex Place Ethnicity"
        ),
        "months": lambda rng: _frame(birth_month(80_000, rng), "month Sex Place Status"),
        "census": lambda rng: _frame(census(30_000, 6, rng), "age Sex Region Education Job Status"),
        "euro": lambda _: _euro(folder),
        "Adult, 4": lambda _: _adult(folder, "age", "education", "race", "sex"),
        "Adult, 7": lambda _: _adult(
            folder,
            "age",
            "education",
            "race",
            "sex",
            "marital-status",
            "workclass",
            "native-country",
        ),
    }


def _inside(values: pd.Series, cell: str, *, number: bool) -> npt.NDArray[np.bool_]:
    """Which values lie in a released cell."""
    if cell == "*":
        return np.ones(len(values), dtype=bool)
    if cell.startswith("{"):
        inside = values.isin(next(csv.reader([cell[1:-1]], skipinitialspace=True)))
    elif number and "-" in cell[1:]:
        low, high = cell.split("-")
        inside = (values >= float(low)) & (values <= float(high))
    else:
        inside = values == (float(cell) if number else cell)
    return np.asarray(inside, dtype=bool)


def class_sizes(
    released: pd.DataFrame, everybody: pd.DataFrame
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """f and F of the released classes, counted from their cells."""
    masks: dict[str, dict[str, npt.NDArray[np.bool_]]] = {}
    for name in everybody:
        number = name[0].islower()
        values, code = np.unique(everybody[name].to_numpy(), return_inverse=True)
        held = {
            cell: _inside(pd.Series(values), cell, number=number)[code]
            for cell in released[name].astype(str).unique()
        }
        masks[name] = held
    sizes = []
    for cells, persons in released.astype(str).value_counts(list(everybody)).items():
        inside = np.ones(len(everybody), dtype=bool)
        for name, cell in zip(everybody, cells, strict=True):
            inside &= masks[name][cell]
        sizes.append((persons, max(int(inside.sum()), persons)))
    own, whole = np.array(sizes).T
    return own, whole


PROMISES: dict[str, tuple[Callable[[float], Budget | Constraint], tuple[float, ...]]] = {
    "marketer": (sf.MarketerRisk, (0.05, 0.2)),
    "population_uniques": (sf.PopulationUniques, (0.01, 0.05)),
    "k_map": (lambda k: sf.KMap(int(k)), (5, 20)),
}
"""Each promise, and the limits that are tried."""
FEWER = 0.05
"""Share of classes that may have fewer than k persons of the population."""


def true_value(
    promise: str, limit: float, own: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]
) -> float:
    """What is promised, counted: λ, the share of persons who are alone, or of classes below k."""
    if promise == "marketer":
        return float((own / whole).sum()) / int(own.sum())
    if promise == "population_uniques":
        return float((whole == 1).sum()) / int(own.sum())
    return float((whole < limit).mean())


def one(
    name: str, fraction: float, promise: str, limit: float, repeat: int
) -> tuple[float, float, float, float]:
    """What is true, what was stated with the end that is held, and the seconds of a release."""
    folder = Path(os.environ.get("SFUMATO_DATA", "../shared/data"))
    everybody = populations(folder)[name](np.random.default_rng([SEED, len(name)]))
    rng = np.random.default_rng([SEED, repeat, round(1000 * fraction)])
    taken = rng.permutation(len(everybody))[: round(fraction * len(everybody))]
    sample = everybody.iloc[taken].reset_index(drop=True)
    kinds = {name: "numeric" if name[0].islower() else "categorical" for name in everybody}
    start = time.process_time()
    try:
        release = sf.anonymize(
            sample,
            sf.Schema(quasi_identifiers=kinds),
            PROMISES[promise][0](limit),
            population=len(everybody),
            seed=repeat,
        )
    except SfumatoError as error:
        print(name, fraction, limit, error, flush=True)
        return np.nan, np.nan, np.nan, np.nan
    seconds = time.process_time() - start
    assert release.population is not None
    stated = getattr(release.population, promise)
    held = stated.low if promise == "k_map" else stated.high
    true = true_value(promise, limit, *class_sizes(release.data, everybody))
    return true, stated.value, held, seconds


def main() -> None:
    """Release and count."""
    parser = argparse.ArgumentParser(description="What is promised of a population, and the truth")
    parser.add_argument("--promise", choices=PROMISES, default="marketer")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--fractions", nargs="*", type=float, default=[0.02, 0.05, 0.1])
    parser.add_argument("--limits", nargs="*", type=float)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--resume", type=Path, help="keep every release as a line of this file")
    asked = parser.parse_args()
    names = asked.only or list(populations(Path()))
    rows: dict[str, list[float]] = {}
    if asked.resume is not None and asked.resume.is_file():
        rows |= map(json.loads, asked.resume.read_text("utf-8").splitlines())
    cases = [
        (name, p, asked.promise, limit)
        for name in names
        for p in asked.fractions
        for limit in asked.limits or PROMISES[asked.promise][1]
    ]
    with ProcessPoolExecutor(asked.processes) as pool:
        waiting = {
            json.dumps((*case, repeat)): pool.submit(one, *case, repeat)
            for repeat in range(asked.repeats)
            for case in cases
            if json.dumps((*case, repeat)) not in rows
        }
        for key, each in waiting.items():
            rows[key] = list(each.result())
            if asked.resume is not None:
                with asked.resume.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps((key, rows[key])) + "\n")
    kept, all_of = 0, 0
    print(f"{'':<20}{'p':>6}{'limit':>6}{'true':>9}{'largest':>9}{'stated':>9}{'held':>9}"
          f"{'kept':>7}{'s':>6}")  # fmt: skip
    for case in cases:
        found = np.array([rows[json.dumps((*case, repeat))] for repeat in range(asked.repeats)])
        true, stated, high, seconds = np.nanmean(found, axis=0)
        most = FEWER if asked.promise == "k_map" else case[3]
        good = int((found[:, 0] <= most * (1 + 1e-9)).sum())
        kept, all_of = kept + good, all_of + len(found)
        line = f"{case[0]:<20}{case[1]:>6g}{case[3]:>6g}{true:>9.4f}{np.nanmax(found[:, 0]):>9.4f}"
        print(f"{line}{stated:>9.4f}{high:>9.4f}{good:>4}/{len(found)}{seconds:>6.1f}")
    print(f"kept {kept} of {all_of}")


if __name__ == "__main__":
    main()
