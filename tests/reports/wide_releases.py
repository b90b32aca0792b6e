"""A release of 28 sensitive columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sfumato as sf

COLUMNS = 28


def wide_release() -> sf.Release:
    """A release of 28 sensitive columns, which are 2 to 10 values dealt unevenly."""
    draw = np.random.default_rng(7)
    people, records = 3_000, 1 + draw.poisson(0.6, 3_000)
    person = np.repeat(np.arange(people), records)
    data = {
        "person": [f"p{each}" for each in person],
        "born": draw.integers(1930, 2010, people)[person],
        "sex": draw.choice(["f", "m"], people)[person],
        "school": draw.integers(1, 9, people)[person],
    }
    for place in range(COLUMNS):
        chances = draw.dirichlet(np.full(2 + place % 9, 1.2))
        data[f"s{place:02}"] = [
            f"v{each}" for each in draw.choice(len(chances), len(person), p=chances)
        ]
    schema = sf.Schema(
        person="person",
        quasi_identifiers={"born": "numeric", "sex": "categorical", "school": "numeric"},
        sensitive=[name for name in data if name.startswith("s") and name[1:].isdigit()],
    )
    return sf.anonymize(pa.table(data), schema, sf.GBalance(0.9), seed=3)
