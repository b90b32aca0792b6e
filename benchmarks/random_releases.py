"""Random releases, re-measured from their cells alone by plain code: no promise may be broken.

Usage: random_releases.py [RELEASES]    (1,500 unless stated)

Files, kinds of columns, hierarchies, missing values, promises and forms are drawn; the code that
measures shares nothing with sfumato. A summary follows of how much NCP and ANE were gained.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.promises.t_closeness import TCloseness

FORMS = ("range", "set", "hierarchy", "bounds", "mean")
Row = dict[str, Any]
NEAR = 1e-6


def drawn_file(rng: np.random.Generator) -> pa.Table:
    """Persons with one record or several, and values of all kinds, some of them missing."""
    persons = int(rng.integers(8, 150))
    most = int(rng.choice([1, 1, 4]))
    person = np.repeat(np.arange(persons), rng.integers(1, most + 1, persons))
    total, missing = len(person), float(rng.choice([0.0, 0.0, 0.1]))

    def column(values: Iterable[Any]) -> list[Any]:
        return [None if rng.random() < missing else each for each in values]

    return pa.table(
        {
            "who": person,
            "age": column(rng.integers(18, 90, persons)[person].tolist()),
            "income": column(rng.lognormal(8, 1, total).round(-2).tolist()),
            "code": column(f"{value:03d}" for value in rng.integers(0, 200, total).tolist()),
            "sex": rng.choice(["f", "m"], persons)[person],
            "illness": rng.choice(list("uvwxyz"), total, p=(0.3, 0.3, 0.2, 0.1, 0.05, 0.05)),
        }
    )


def drawn_promises(rng: np.random.Generator) -> list[Constraint | Budget]:
    """One to three promises of different kinds."""
    every: list[Constraint | Budget] = [
        sf.KAnonymity(int(rng.integers(2, 8))),
        sf.PidKAnonymity(int(rng.integers(2, 6))),
        sf.GBalance(float(rng.uniform(0.3, 0.8))),
        sf.HAffiliation(float(rng.uniform(0.5, 0.95))),
        sf.LDiversity(int(rng.integers(2, 4))),
        sf.SharedCounts(2),
        TCloseness(float(rng.uniform(0.3, 0.8))),
        sf.MarketerRisk(float(rng.uniform(0.05, 0.4))),
    ]
    chosen = rng.choice(len(every), int(rng.integers(1, 4)), replace=False)
    return [every[each] for each in chosen.tolist()]


def kept(promise: Any, rows: Sequence[Row], classes: Sequence[Sequence[Row]]) -> bool:
    """Whether a promise is kept, counted class by class."""
    if promise.name == "marketer":
        return len(classes) <= float(promise.tau) * len({row["who"] for row in rows}) + NEAR
    return all(kept_by(promise, own, rows) for own in classes)


def kept_by(promise: Any, own: Sequence[Row], rows: Sequence[Row]) -> bool:
    """Whether one class keeps a promise."""
    counts = Counter(row["who"] for row in own)
    ill = {row["illness"]: set[Any]() for row in own}
    for row in own:
        ill[row["illness"]].add(row["who"])
    if promise.name in ("k", "pid_k"):
        reached = len(own) if promise.name == "k" else len(counts)
        return reached >= int(promise.k)
    if promise.name == "g_balance":
        reached_g = 1 - sum((each / len(own)) ** 2 for each in counts.values())
        return reached_g >= float(promise.g) - NEAR
    if promise.name == "h_affiliation":
        return max(map(len, ill.values())) <= float(promise.h) * len(counts) + NEAR
    if promise.name == "l":
        return len(ill) >= int(promise.l)
    if promise.name == "shared_counts":
        return min(Counter(counts.values()).values()) >= int(promise.m)
    whole, here = (Counter(row["illness"] for row in some) for some in (rows, own))
    apart = sum(abs(here[each] / len(own) - whole[each] / len(rows)) for each in whole) / 2
    return apart <= float(promise.t) + NEAR


def report(releases: int) -> int:
    """Make them and look; gives the number that break a promise."""
    broken, made, ratios = 0, 0, list[float]()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "codes.csv")
        lines = [f"{each:03d};{each // 10:02d};{each // 100};*" for each in range(200)]
        tree.write_text("\n".join(lines), encoding="utf-8")
        schema = sf.Schema(
            person="who",
            quasi_identifiers={
                "age": "numeric", "income": "numeric", "sex": "categorical",
                "code": {"kind": "categorical", "hierarchy": tree},
            },
            sensitive=["illness"],
        )  # fmt: skip
        for seed in range(releases):
            rng = np.random.default_rng(seed)
            table, promises = drawn_file(rng), drawn_promises(rng)
            form = str(rng.choice(FORMS))
            try:
                release = sf.anonymize(table, schema, *promises, values=form, seed=1)
                before = sf.anonymize(table, schema, *promises, values=form, seed=1, effort=0)
            except ConstraintsNotMetError:
                continue
            made += 1
            rows = release.data.to_pylist()
            classes = defaultdict(list)
            for row in rows:
                cells = (row[each] for each in row if each not in ("who", "illness"))
                classes[tuple(map(str, cells))].append(row)
            owners = Counter(who for own in classes.values() for who in {row["who"] for row in own})
            whole = len(rows) == table.num_rows and max(owners.values()) == 1
            if not whole or not all(kept(each, rows, list(classes.values())) for each in promises):
                broken += 1
                print(f"seed {seed}: broken")
            after, first = (each.utility.ane + each.utility.ncp for each in (release, before))
            if first > 0:
                ratios.append(after / first)
    gained = exp(sum(log(max(each, 1e-6)) for each in ratios) / max(len(ratios), 1))
    print(f"{made:,} releases, {broken} break a promise; ANE + NCP {gained:.3f} of the tree's,")
    print(f"at most {max(ratios, default=1.0):.3f}")
    return broken


if __name__ == "__main__":
    sys.exit(report(int(sys.argv[1]) if len(sys.argv) > 1 else 1_500) > 0)
