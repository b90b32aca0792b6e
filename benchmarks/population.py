"""How far what is said of a population is off, over populations that are known: the gate.

Usage: population.py [--samples N] [--fractions P ...] [--only NAME ...] [--peers] [--searched]
                     [--held-out] [--resume FILE]

Draws samples of populations whose every person is known, of persons one by one or of clusters of
them, and holds estimates, intervals and the chances of single records against the truth. Published
estimators by their formulas stand beside with --peers, log-linear models that are searched for with
--searched. With --resume every sample is a line of a file, and is not drawn again: the whole gate,
30 samples each, takes hours. SFUMATO_DATA names the folder of the public data sets, else
../shared/data; what is not there is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from held_out import HELD_OUT, held_out
from population_promise import populations as framed
from populations import CLUSTERED, GENERATED, SEED, Column, Columns, generated, public

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from studies.dankar_el_emam.peer_estimators import PEERS

from sfumato.risk.population.estimator_protocol import EstimationFailedError, SampleClasses
from sfumato.risk.population.population_estimates import estimated_population, estimator_named
from sfumato.risk.population.population_risk import PopulationRisk
from sfumato.risk.population.sampled_clusters import clusters_of

FRACTIONS = (0.01, 0.05, 0.1, 0.3, 0.5)
FRAMED = ("households", "movers", "commuters", "age and postcode", "institutions", "euro")
SEARCHED = tuple(name for name in PEERS if name in ("log-linear", "log-linear-uniques"))
QUICK = ("argus", "negative-binomial", "log-linear-independence", "sh3", "shlosser", "pitman")
STATED = ("marketer", "expected_uniques", "population_records_at_risk")
PART = ("households", "institutions", "census, 5 QIs", "hospital discharges", "copula", "areas")
"""What `make bench` runs."""
AT_RISK = 0.2
DECILE = 200
"""Records of a tenth, from which on its calibration counts."""
Row = dict[str, Any]


class Population:
    """The classes of a population, and samples of it.

    Parameters
    ----------
    columns
        The quasi-identifiers of its persons.
    cluster
        The cluster of each, where clusters are drawn.
    within
        Share of the persons of a drawn cluster who are.
    """

    def __init__(
        self, columns: Columns, cluster: Column | None = None, within: float = 1.0
    ) -> None:
        codes = np.column_stack([np.unique(each, return_inverse=True)[1] for each in columns])
        self.domains = tuple((codes.max(axis=0) + 1).tolist())
        self.keys, number, self.sizes = np.unique(
            codes.astype(np.int32), axis=0, return_inverse=True, return_counts=True
        )
        self.class_of = number.ravel()
        self.persons, self.cluster, self.within = len(codes), cluster, within

    def sample(
        self, fraction: float, rng: np.random.Generator
    ) -> tuple[SampleClasses, npt.NDArray[np.int64]]:
        """A sample, and the classes of the population that it shows."""
        if self.cluster is None:
            taken = rng.permutation(self.persons)[: round(fraction * self.persons)]
        else:
            names = np.unique(self.cluster)
            drawn = rng.permutation(names)[: max(round(fraction / self.within * len(names)), 5)]
            inside = np.isin(self.cluster, drawn) & (rng.random(self.persons) < self.within)
            taken = np.flatnonzero(inside)
        sizes = np.bincount(self.class_of[taken], minlength=len(self.sizes))
        seen = np.flatnonzero(sizes)
        sample = SampleClasses(sizes[seen], self.persons, self.keys[seen], self.domains)
        if self.cluster is not None:
            whole = len(names) if self.within < 1 else None
            in_class = np.searchsorted(seen, self.class_of[taken])
            of = clusters_of(in_class, self.cluster[taken], sample.fraction, whole)
            sample = replace(sample, clusters=of)
        return sample, self.sizes[seen]


def population_named(name: str) -> Population:
    """One of `names`."""
    folder = Path(os.environ.get("SFUMATO_DATA", "../shared/data"))
    if name in CLUSTERED:
        rng = np.random.default_rng([SEED, list(CLUSTERED).index(name)])
        return Population(*CLUSTERED[name](rng))
    if name in GENERATED:
        return Population(generated(name))
    if name in HELD_OUT:
        return Population(held_out()[name])
    if name in FRAMED:
        frame = framed(folder)[name](np.random.default_rng([SEED, len(name)]))
        return Population([np.unique(frame[each], return_inverse=True)[1] for each in frame])
    return Population(public(folder)[name])


def names(*, of_held_out: bool) -> list[str]:
    """The populations that are at hand."""
    if of_held_out:
        return list(HELD_OUT)
    folder = Path(os.environ.get("SFUMATO_DATA", "../shared/data"))
    there = [name for name in FRAMED if name != "euro" or (folder / "euro").is_dir()]
    return [*GENERATED, *there, *CLUSTERED, *public(folder)]


def one(name: str, fraction: float, repeat: int, peers: tuple[str, ...]) -> Row:
    """One sample: what is off, and which intervals hold."""
    rng = np.random.default_rng([SEED, *name.encode(), round(1000 * fraction), repeat])
    sample, real = population_named(name).sample(fraction, rng)
    found = estimated_population(
        sample.sizes, sample, sample.population, estimator_named("auto"), AT_RISK, repeat, auto=True
    )
    share = sample.sizes / sample.n
    true = {
        "marketer": float(share @ (1 / real)),
        "expected_uniques": float(((sample.sizes == 1) & (real == 1)).sum()),
        "population_records_at_risk": float(share[1 / real > AT_RISK].sum()),
    }
    row: Row = {"population": name, "fraction": fraction, "repeat": repeat, "errors": {}}
    row["held"] = {}
    for measure in STATED:
        stated: Any = getattr(found, measure)
        row["held"][measure] = bool(stated.low <= true[measure] <= stated.high)
        if true[measure]:
            row["errors"][measure] = stated.value / true[measure] - 1
    risk: Any = found.marketer
    row["half"] = (risk.high - risk.low) / 2 / risk.value
    row["records"] = of_records(sample, real, found)
    if sample.clusters is not None:
        peers = ("persons drawn one by one", *peers)
    for peer in peers:
        row["errors"][peer] = _peer(peer, sample, true["marketer"], rng)
    return row


def _peer(name: str, sample: SampleClasses, true: float, rng: np.random.Generator) -> float | None:
    estimator = estimator_named("auto") if name not in PEERS else PEERS[name]
    try:
        return estimator.estimate(replace(sample, clusters=None), rng).marketer / true - 1
    except EstimationFailedError:
        return None


def of_records(
    sample: SampleClasses, real: npt.NDArray[np.int64], found: PopulationRisk
) -> dict[str, float | None]:
    """How single sample uniques are ranked, and how far tenths of them are from what they are."""
    single = sample.sizes == 1
    chance, unique = found.class_intervals["unique"][single], real[single] == 1
    error = float(np.mean((found.inverse_sizes[single] - 1 / real[single]) ** 2))
    ranked: dict[str, float | None] = {"squared": error, "decile": None}
    ranked["auc"] = area_under_curve(chance, unique)
    if len(chance) >= 10 * DECILE:
        parts = np.array_split(np.argsort(chance, kind="stable"), 10)
        ranked["decile"] = max(abs(float(chance[p].mean() - unique[p].mean())) for p in parts)
    return ranked


def area_under_curve(chance: npt.NDArray[np.float64], true: npt.NDArray[np.bool_]) -> float | None:
    """How often one of those that are true has the larger chance, of those that are and are not."""
    if not 0 < true.sum() < len(true):
        return None
    rank = np.unique(chance, return_inverse=True)[1]
    others = np.bincount(rank, ~true)
    return float((others.cumsum() - others / 2)[rank[true]].mean() / (~true).sum())


def mean(values: Iterable[float | None]) -> float:
    """Of those that there are."""
    some = [each for each in values if each is not None]
    return float(np.mean(some)) if some else float("nan")


def print_tables(rows: list[Row]) -> None:
    """By population and fraction, and over all populations."""
    fractions = sorted({row["fraction"] for row in rows})
    grouped: dict[str, dict[float, list[Row]]] = {}
    for row in rows:
        grouped.setdefault(row["population"], {}).setdefault(row["fraction"], []).append(row)
    print("λ: mean error ± half the interval in %; held: λ, uniques, records at risk, in %;")
    print("records: AUC, worst tenth in points\n")
    for name, by_fraction in grouped.items():
        for fraction, own in sorted(by_fraction.items()):
            error = 100 * mean(row["errors"].get("marketer") for row in own)
            half = 100 * mean(row["half"] for row in own)
            held = "/".join(f"{100 * mean(r['held'][each] for r in own):.0f}" for each in STATED)
            auc = mean(row["records"]["auc"] for row in own)
            decile = 100 * mean(row["records"]["decile"] for row in own)
            print(f"{name:<40}{fraction:>6g}{error:>+8.1f} ±{half:>5.1f}{held:>14}"
                  f"{auc:>7.2f}{decile:>6.0f}{len(own):>5}")  # fmt: skip
    print("\nover the populations: mean |mean error| in % (the worst)")
    every = dict.fromkeys(name for row in rows for name in row["errors"])
    for name in every:
        line = f"{name:<40}"
        for fraction in fractions:
            errors = [
                100 * mean(row["errors"].get(name) for row in own[fraction])
                for own in grouped.values()
                if fraction in own
            ]
            errors = [each for each in errors if not np.isnan(each)]
            worst = max(errors, key=abs, default=float("nan"))
            line += f"{np.mean(np.abs(errors)) if errors else np.nan:>9.1f} ({worst:+.0f})"
        print(line)
    for each in STATED:
        line = f"{'intervals that hold: ' + each:<48}"
        for fraction in fractions:
            shares = [mean(r["held"][each] for r in own[fraction])
                      for own in grouped.values() if fraction in own]  # fmt: skip
            line += f"{100 * np.mean(shares):>9.0f} ({100 * min(shares):.0f})"
        print(line)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description="What is said of populations, and the truth")
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--fractions", nargs="*", type=float)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--part", action="store_true", help="the populations of make bench")
    parser.add_argument("--peers", action="store_true", help="published estimators by formulas")
    parser.add_argument("--searched", action="store_true", help="searched log-linear models: slow")
    parser.add_argument("--held-out", action="store_true", help="the populations of held_out.py")
    parser.add_argument("--resume", type=Path, help="keep every sample as a line of this file")
    parser.add_argument("--processes", type=int)
    asked = parser.parse_args()
    chosen = asked.only or (list(PART) if asked.part else names(of_held_out=asked.held_out))
    peers = (QUICK if asked.peers else ()) + (SEARCHED if asked.searched else ())
    kept: list[Row] = []
    if asked.resume is not None and asked.resume.is_file():
        kept = [json.loads(line) for line in asked.resume.read_text("utf-8").splitlines()]
    done = {(row["population"], row["fraction"], row["repeat"]) for row in kept}
    jobs = [
        (name, fraction, repeat, peers)
        for name in chosen
        for fraction in asked.fractions or (FRACTIONS[:3] if asked.part else FRACTIONS)
        for repeat in range(asked.samples)
    ]
    with ProcessPoolExecutor(asked.processes) as pool:
        waiting = [pool.submit(one, *job) for job in jobs if job[:3] not in done]
        for each in waiting:
            kept.append(each.result())
            if asked.resume is not None:
                with asked.resume.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(kept[-1]) + "\n")
    wanted = {job[:3] for job in jobs}
    print_tables([r for r in kept if (r["population"], r["fraction"], r["repeat"]) in wanted])


if __name__ == "__main__":
    main()
