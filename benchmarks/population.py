"""How far each estimator of the marketer risk is off, over populations that are known.

Usage: population.py [--repeats N] [--held-out] [--log-linear] [--json FILE]

Samples of each population of populations.py, or of held_out.py, are drawn without replacement; an
estimator's error is its marketer risk over the realised one, less 1. Besides the estimators there
are two policies: of all estimators, accumulation left out or not, the one with the least mean error
on subsamples of the sample. Prints the tables of docs/population.md. SFUMATO_DATA names the folder
of the public data sets, else ../shared/data; what is not there is left out.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from held_out import held_out
from populations import GENERATED, SEED, Columns, generated, public

from sfumato.risk.population.estimation import ESTIMATORS, EstimationFailedError, SampleClasses
from sfumato.risk.population.population_estimates import estimator_named
from sfumato.risk.population.subsample_validation import check_on_subsamples

FRACTIONS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
SEARCHING = ("log-linear", "log-linear-uniques", "log-linear-all-two-way", "log-linear-count")
FAST = tuple(name for name in ESTIMATORS if name not in ("auto", *SEARCHING))
OLDER = tuple(name for name in FAST if name != "accumulation")
CHOSEN, CHOSEN_OLDER = "least error on subsamples", "the same without accumulation"
SUBSAMPLES = 4
LARGE = 500_000
"""Populations from here on have a quarter of the repetitions."""
SEARCHED = ("census, 5 QIs", "Adult, 4 QIs")
SEARCHED_FRACTIONS, SEARCHED_REPEATS = (0.1, 0.3, 0.5), 3


@dataclass
class Runs:
    """What came out for one population and fraction; ``None`` where an estimator failed."""

    population: str
    fraction: float
    errors: dict[str, list[float | None]] = field(default_factory=dict)
    covered: list[bool] = field(default_factory=list)
    half_widths: list[float] = field(default_factory=list)
    unique_matches: list[float] = field(default_factory=list)
    expected_uniques: list[float] = field(default_factory=list)

    def add(self, name: str, error: float | None) -> None:
        self.errors.setdefault(name, []).append(error)


class Population:
    """The classes of a population, and samples of it."""

    def __init__(self, columns: Columns) -> None:
        codes = np.column_stack([np.unique(each, return_inverse=True)[1] for each in columns])
        self.domains = tuple((codes.max(axis=0) + 1).tolist())
        number = np.zeros(len(codes), dtype=np.int64)
        for column, values in zip(codes.T, self.domains, strict=True):
            number = np.unique(number * values + column, return_inverse=True)[1]
        self.class_of, self.sizes = number, np.bincount(number)
        first = np.zeros(len(self.sizes), dtype=np.int64)
        first[number] = np.arange(len(number))
        self.keys = codes[first].astype(np.int32)
        self.persons = len(number)

    def sample(
        self, fraction: float, rng: np.random.Generator
    ) -> tuple[SampleClasses, npt.NDArray[np.int64]]:
        """A simple random sample, and the classes of the population that it shows."""
        taken = rng.permutation(self.persons)[: round(fraction * self.persons)]
        sizes = np.bincount(self.class_of[taken], minlength=len(self.sizes))
        seen = np.flatnonzero(sizes)
        sample = SampleClasses(sizes[seen], self.persons, self.keys[seen], self.domains)
        return sample, self.sizes[seen]


def simulate(name: str, columns: Columns | None, repeats: int, searching: bool) -> list[Runs]:
    """All fractions of one population."""
    population = Population(generated(name) if columns is None else columns)
    if population.persons >= LARGE:
        repeats = max(2, repeats // 4)
    found = []
    for number, fraction in enumerate(FRACTIONS):
        runs = Runs(name, fraction)
        searched = searching and name in SEARCHED and fraction in SEARCHED_FRACTIONS
        for repeat in range(repeats):
            rng = np.random.default_rng([SEED, len(name), number, repeat])
            _one(population, fraction, runs, rng)
            if searched and repeat < SEARCHED_REPEATS:
                sample, real = population.sample(fraction, rng)
                for slow in SEARCHING:
                    runs.add(slow, _error(slow, sample, _realised(sample, real), rng))
        found.append(runs)
    return found


def _realised(sample: SampleClasses, real: npt.NDArray[np.int64]) -> float:
    return float((sample.sizes / real).sum()) / sample.n


def _one(population: Population, fraction: float, runs: Runs, rng: np.random.Generator) -> None:
    """One sample: every estimator, both policies, and the interval of the default."""
    sample, real = population.sample(fraction, rng)
    realised = _realised(sample, real)
    for name in FAST:
        runs.add(name, _error(name, sample, realised, rng))
    auto = estimator_named("auto").estimate(sample, rng)
    low, high = auto.low or auto.marketer, auto.high or auto.marketer
    runs.covered.append(low <= realised <= high)
    runs.half_widths.append((high - low) / 2 / auto.marketer)
    alone = sample.sizes == 1
    matched, unique = float((1 / real[alone]).sum()), int((real[alone] == 1).sum())
    if matched:
        runs.unique_matches.append((auto.unique_matches or 0.0) / matched - 1)
    if unique:
        runs.expected_uniques.append((auto.expected_uniques or 0.0) / unique - 1)
    least = _least(sample, rng)
    runs.add(CHOSEN, runs.errors[least[0]][-1])
    runs.add(CHOSEN_OLDER, runs.errors[least[1]][-1])


def _error(
    name: str, sample: SampleClasses, realised: float, rng: np.random.Generator
) -> float | None:
    try:
        return estimator_named(name).estimate(sample, rng).marketer / realised - 1
    except EstimationFailedError:
        return None


def _least(sample: SampleClasses, rng: np.random.Generator) -> tuple[str, str]:
    """The estimators with the least mean error on subsamples: of all, and of the older ones."""
    seed = int(rng.integers(2**32))
    errors = {}
    for name in FAST:
        own = np.random.default_rng(seed)
        check = check_on_subsamples(estimator_named(name), sample, own, SUBSAMPLES)
        errors[name] = np.inf if check is None else abs(check.error)
    return min(FAST, key=errors.__getitem__), min(OLDER, key=errors.__getitem__)


def print_estimators(found: list[Runs]) -> None:
    """Mean error, mean absolute error and worst mean error of every estimator, by fraction."""
    print("\nEstimators: mean over populations of |mean error| / of mean |error|, in %;")
    print("the worst population's mean error; samples without a value\n")
    heads = "".join(f"{f'p = {fraction:g}':>24}" for fraction in FRACTIONS)
    print(f"{'':<32}{heads}{'no value':>10}")
    for name in (*FAST, CHOSEN, CHOSEN_OLDER, *SEARCHING):
        parts, failed = [], 0
        for fraction in FRACTIONS:
            here = [runs.errors[name] for runs in found if runs.fraction == fraction
                    and name in runs.errors]  # fmt: skip
            failed += sum(error is None for errors in here for error in errors)
            kept = [[e for e in errors if e is not None] for errors in here]
            means = np.array([100 * np.mean(errors) for errors in kept if errors])
            each = np.array([100 * np.mean(np.abs(errors)) for errors in kept if errors])
            if not len(means):
                parts.append("")
                continue
            worst = means[np.argmax(np.abs(means))]
            parts.append(f"{np.abs(means).mean():.1f} / {each.mean():.1f} ({worst:+.0f})")
        print(f"{name:<32}" + "".join(f"{part:>24}" for part in parts) + f"{failed:>10}")


def print_populations(found: list[Runs]) -> None:
    """What the default does on every population: mean error, coverage, half width."""
    print("\nauto: mean error in % / intervals that hold in % / half width in %\n")
    heads = "".join(f"{f'p = {fraction:g}':>20}" for fraction in FRACTIONS)
    print(f"{'':<40}{heads}")
    for name in dict.fromkeys(runs.population for runs in found):
        parts = []
        for runs in (runs for runs in found if runs.population == name):
            error = 100 * np.mean([e for e in runs.errors["accumulation"] if e is not None])
            parts.append(
                f"{error:+.1f} / {100 * np.mean(runs.covered):.0f} / "
                f"{100 * np.mean(runs.half_widths):.1f}"
            )
        print(f"{name:<40}" + "".join(f"{part:>20}" for part in parts))
    print_summary(found)


def print_summary(found: list[Runs]) -> None:
    """The median absolute error, the coverage, and the errors of the two numbers of uniques."""
    lines: dict[str, list[str]] = {}
    for fraction in FRACTIONS:
        here = [runs for runs in found if runs.fraction == fraction]
        errors = [abs(e) for runs in here for e in runs.errors["accumulation"] if e is not None]
        means = {
            "median |error|": 100 * np.median(errors),
            "intervals that hold": 100 * np.mean([np.mean(runs.covered) for runs in here]),
            "half width": 100 * np.mean([np.mean(runs.half_widths) for runs in here]),
            "matches of uniques, mean |error|": 100 * _mean_error(r.unique_matches for r in here),
            "population uniques, mean |error|": 100 * _mean_error(r.expected_uniques for r in here),
        }
        for name, value in means.items():
            lines.setdefault(name, []).append(f"{value:.1f} %")
    for name, values in lines.items():
        print(f"{name:<40}" + "".join(f"{value:>20}" for value in values))


def _mean_error(errors: object) -> float:
    return float(np.mean([np.mean(np.abs(own)) for own in errors if own]))  # type: ignore[attr-defined]


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description="Errors of the population estimators")
    parser.add_argument("--repeats", type=int, default=4, help="samples of each population")
    parser.add_argument("--log-linear", action="store_true", help="searched models too: slow")
    parser.add_argument("--held-out", action="store_true", help="the populations of held_out.py")
    parser.add_argument("--json", type=Path, help="write every error there")
    asked = parser.parse_args()
    jobs: list[tuple[str, Columns | None]] = list(held_out().items())
    if not asked.held_out:
        data = public(Path(os.environ.get("SFUMATO_DATA", "../shared/data")))
        jobs = [*((name, None) for name in GENERATED), *data.items()]
    with ProcessPoolExecutor() as pool:
        waiting = [
            pool.submit(simulate, name, columns, asked.repeats, asked.log_linear)
            for name, columns in jobs
        ]
        found = [runs for each in waiting for runs in each.result()]
    print_estimators(found)
    print_populations(found)
    if asked.json is not None:
        asked.json.write_text(json.dumps([asdict(runs) for runs in found]), encoding="utf-8")


if __name__ == "__main__":
    main()
