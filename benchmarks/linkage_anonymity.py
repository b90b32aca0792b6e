"""Linkage k-anonymity: 100,000 local and 50,000 linked individuals with 5 quasi-identifiers.

Usage: linkage_anonymity.py [LOCAL]    (100,000 where nothing is said; half of them are linked)
"""

from __future__ import annotations

import sys
import time

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from timing import PeakMemory

import sfumato as sf
from sfumato.core.arrays import Levels
from sfumato.schema import IntervalHierarchy, Kind, PrefixHierarchy, QuasiIdentifier
from sfumato.semantics.linkage_anonymity import LinkageAnonymity, LinkageRelease, link_up
from sfumato.semantics.local_data import Linked, normalised_weights, penalty_table

LOCAL = 100_000
KS = (3, 10, 50)
YEARS = 95
POSTCODES = 700
GROUPS = 300
LANGUAGES = 500


def people(count: int, seed: int = 2017) -> pa.Table:
    """Persons whose language depends on their ethnic group, four of five times."""
    rng = np.random.default_rng(seed)
    group = rng.choice(GROUPS, count, p=_shares(rng, GROUPS, 1.5))
    language = np.where(
        rng.random(count) < 0.8,
        group * 3 % LANGUAGES,
        rng.choice(LANGUAGES, count, p=_shares(rng, LANGUAGES, 1.3)),
    )
    return pa.table(
        {
            "id": [f"p{number}" for number in range(count)],
            "born": 1920 + rng.integers(0, YEARS, count),
            "sex": np.array(["F", "M"])[rng.integers(0, 2, count)],
            "group": _codes(1000 + 27 * group),
            "postcode": _codes(3000 + rng.choice(POSTCODES, count, p=_shares(rng, POSTCODES, 0.6))),
            "language": _codes(1000 + 17 * language),
            "glucose": rng.normal(6.0, 1.5, count).round(1),
        }
    )


def _shares(rng: np.random.Generator, values: int, slope: float) -> npt.NDArray[np.float64]:
    weights = 1 / np.arange(1, values + 1) ** slope
    mixed: npt.NDArray[np.float64] = rng.permutation(weights / weights.sum())
    return mixed


def _codes(numbers: npt.NDArray[np.int64]) -> list[str]:
    return [f"{number:04d}" for number in numbers.tolist()]


def schema() -> sf.Schema:
    """Five quasi-identifiers with 4 x 2 x 4 x 5 x 4 levels."""

    def codes(*lengths: int) -> QuasiIdentifier:
        return QuasiIdentifier(kind=Kind.CATEGORICAL, hierarchy=PrefixHierarchy(lengths=lengths))

    return sf.Schema(
        person="id",
        sensitive=["glucose"],
        quasi_identifiers={
            "born": QuasiIdentifier(hierarchy=IntervalHierarchy(widths=(5, 10, 20))),
            "sex": codes(),
            "group": codes(2, 1),
            "postcode": codes(3, 2, 1),
            "language": codes(2, 1),
        },
    )


def loss_on_linked(linked: Linked, levels: Levels) -> float:
    """NCP per record over the values of the linked set, as a release measures it."""
    records = np.bincount(linked.tuple_of, minlength=len(linked.codes))
    total = 0.0
    shares = normalised_weights(linked.weights, len(linked.weights))
    for place, (hierarchy, share) in enumerate(zip(linked.hierarchies, shares, strict=True)):
        codes = linked.codes[:, place]
        used, own = np.unique(codes[codes >= 0], return_inverse=True)
        moved = np.full(len(codes), -1, dtype=np.int32)
        moved[codes >= 0] = own
        kept = hierarchy.restricted([hierarchy.leaves[each] for each in used], "")
        penalty = penalty_table(kept)[levels[:, place], moved]
        total += float(share * (penalty @ records)) / len(linked.tuple_of)
    return total


def report(local: int = LOCAL) -> None:
    """Print time, memory, risk and loss for each k, and classic k-anonymity beside them."""
    everybody = people(local)
    linked = everybody.take(np.random.default_rng(1).permutation(local)[: local // 2])
    asked = [LinkageAnonymity(everybody, k, name="hospital") for k in KS]
    held = link_up(linked, schema(), asked[:1])
    (own,) = held.locals_
    vectors = int(np.prod([hierarchy.height + 1 for hierarchy in held.hierarchies]))
    print(f"{local:,} local individuals ({len(own.codes):,} distinct tuples), {local // 2:,}")
    print(f"linked ({len(held.codes):,} distinct), {vectors} vectors of levels; the search alone,")
    print("and all from Arrow tables to the release and its measures; NCP over the linked values\n")
    print(
        f"{'k':>4}{'search s':>10}{'CPU s':>8}{'MiB':>7}{'all s':>8}{'MiB':>7}{'risk %':>8}"
        f"{'SSE/SST %':>11}{'NCP':>8}{'classic':>9}"
    )
    held.least_levels()
    most = 0
    for each in asked:
        with_k = link_up(linked, schema(), [each])
        cpu, wall = time.process_time(), time.perf_counter()
        with PeakMemory() as memory:
            with_k.least_levels()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        start = time.perf_counter()
        with PeakMemory() as whole:
            release: LinkageRelease = each.apply(linked, schema(), seed=1)
        took, most = time.perf_counter() - start, max(most, whole.most)
        own_loss = loss_on_linked(release.linked, release.levels)
        # Classic k-anonymity of the linked set alone asks for k of its persons in each class.
        classic = sf.anonymize(
            linked, schema(), sf.PidKAnonymity(each.k), values="hierarchy", seed=0
        )
        print(
            f"{each.k:>4}{wall:>10.2f}{cpu:>8.2f}{memory.growth / 2**20:>7.0f}{took:>8.2f}"
            f"{whole.growth / 2**20:>7.0f}{100 * float(release.measured.risk):>8.2f}"
            f"{100 * release.measured.squared_error:>11.1f}{own_loss:>8.4f}"
            f"{classic.utility.ncp:>9.4f}",
            flush=True,
        )
    print(f"\nthe process held at most {most / 2**30:.2f} GiB on the way from tables to release")


if __name__ == "__main__":
    report(*(int(each) for each in sys.argv[1:]))
