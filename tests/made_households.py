"""Made-up households: singles, couples and families, with regions and diseases."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.schema import Schema

SCHEMA = Schema(
    person="id",
    household="home",
    quasi_identifiers={"age": "numeric", "sex": "categorical", "region": "categorical"},
    sensitive=["disease"],
)


def households(number: int, seed: int, *, visits: int = 1, housed: float = 1.0) -> pa.Table:
    """So many households of one to five persons, each with up to ``visits`` records.

    A share of the persons who live alone has no household in the file.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for home in range(number):
        size = int(rng.choice([1, 2, 3, 4, 5], p=[0.3, 0.35, 0.15, 0.15, 0.05]))
        ages = [int(rng.integers(20, 85))]
        ages += [int(np.clip(ages[0] + rng.normal(0, 4), 18, 95)) for _ in range(size > 1)]
        ages += [int(np.clip(ages[0] - rng.integers(20, 40), 0, 60)) for _ in range(size - 2)]
        first = int(rng.integers(2))
        sexes = [
            "mf"[(first + place) % 2 if place < 2 else rng.integers(2)] for place in range(size)
        ]
        region = f"r{rng.integers(6)}"
        name = None if size == 1 and rng.random() > housed else f"h{home}"
        for place, (age, sex) in enumerate(zip(ages, sexes, strict=True)):
            for _ in range(int(rng.integers(1, visits + 1))):
                disease = str(rng.choice(["flu", "gout", "asthma", "none"]))
                rows.append((f"p{home}.{place}", name, age, sex, region, disease))
    mixed = [rows[place] for place in rng.permutation(len(rows))]
    names = ("id", "home", "age", "sex", "region", "disease")
    return pa.table(
        {name: list(column) for name, column in zip(names, zip(*mixed, strict=True), strict=True)}
    )
