"""Random files and what is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError
from sfumato.release.release_options import Coarsening, KnownCounts

OTHERS = ("code", "place", "note")


def people_and_records(rng: np.random.Generator) -> pd.DataFrame:
    """A random file of 20 to 60 people, of up to five records each, with blanks."""
    persons = int(rng.integers(20, 60))
    each = (
        np.ones(persons, int) if rng.random() < 0.3 else np.minimum(rng.geometric(0.5, persons), 5)
    )
    of = np.repeat(np.arange(persons), each)
    data = pd.DataFrame({"person": [f"p{one}" for one in of]})
    data["age"] = rng.integers(20, 60, persons)[of]
    data["sex"] = rng.choice(["F", "M"], persons)[of]
    data["code"] = rng.choice([f"C{n}" for n in range(rng.integers(2, 6))], len(of))
    data["place"] = rng.choice(["north", "south", "west"], len(of))
    data["note"] = rng.choice(["a", "b"], len(of))
    data.loc[rng.random(len(of)) < 0.1, "place"] = None
    return data


def asked(rng: np.random.Generator, several: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Random promises and options."""
    k = int(rng.integers(2, 6))
    options: dict[str, Any] = {"effort": int(rng.integers(0, 2)), "suppress": 0.2}
    ways: list[tuple[Any, dict[str, Any]]] = [
        (sf.PidKAnonymity(k), {}),
        (sf.HAffiliation(0.9), {"withhold": ("note",)}),
        (sf.KnownEvents(2 if several else 1, 0.3), {"known_columns": ("code", "place")}),
    ]
    if several:
        ways += [
            (sf.GBalance(0.6), {}),
            (sf.SharedCounts(2), {"coarsen_counts": Coarsening.SPLIT}),
            (sf.PidKAnonymity(k), {"known_counts": KnownCounts.BANDS}),
        ]
    promise, more = ways[rng.integers(len(ways))]
    return (sf.PidKAnonymity(2), promise), options | more


SCHEMA = sf.Schema(
    person="person",
    quasi_identifiers={"age": "numeric", "sex": "categorical"},
    sensitive=("code",),
    insensitive=("place", "note"),
    accepted={"place": "of a test", "note": "of a test"},
)


def random_release(seed: int) -> tuple[sf.Release | None, pd.DataFrame]:
    """A release under random limits, and its file; ``None`` where what was asked cannot be kept."""
    rng = np.random.default_rng(seed)
    data = people_and_records(rng)
    promises, options = asked(rng, data["person"].nunique() < len(data))
    limits = sf.Limits(found=float(rng.uniform(0.05, 0.6)), person=float(rng.uniform(0.1, 1)))
    try:
        release = sf.anonymize(data, SCHEMA, *promises, seed=seed, **options)
    except ConstraintsNotMetError:
        return None, data
    return release.judged(limits), data
