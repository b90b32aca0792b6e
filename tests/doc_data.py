"""What pages of the documentation take for given: files in a folder, names in the code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from semantics import ledgers, requests

from sfumato.examples import generate_clinics
from sfumato.hierarchies import Hierarchy
from sfumato.hierarchies.skos import write_skos

Names = dict[str, object]


def clinics(folder: Path) -> Names:
    """visits and schema; everybody, and df, which is a third of it."""
    made = generate_clinics(150, rng=1)
    everybody = made.visits.to_pandas()
    drawn = everybody["patient"].unique()[:50]
    df = everybody[everybody["patient"].isin(drawn)]
    return {"schema": made.schema, "visits": made.visits, "df": df, "everybody": everybody}


def register(folder: Path) -> Names:
    """The same, but df has weights, and everybody is in a file."""
    names = clinics(folder)
    names["df"] = pd.DataFrame(names["df"]).assign(weight=3.0)
    pd.DataFrame(names["everybody"]).to_parquet(folder / "register.parquet", index=False)
    return names


def noted_release(folder: Path) -> Names:
    """A release to be noted in the ledger, and its members."""
    _, tuple_of = ledgers.shown_tuples(ledgers.HIERARCHIES, ledgers.CODES, ledgers.LEVELS)
    return {"entry": ledgers.entry(), "persons": ledgers.PERSONS, "tuple_of": tuple_of}


def request(folder: Path) -> Names:
    """The running example of a release on request."""
    (requests.write_example(folder) / "two.toml").rename(folder / "policy.toml")
    return {}


def classified(folder: Path) -> Names:
    """A hospital, its patients with glucose, and two classifications."""
    leaves = ["6101 Chinese", "6102 Taiwanese", "2301 Irish", "2100 English"]
    groups = ["61 Asian", "61 Asian", "23 European", "21 European"]
    lines = [f"{leaf};{group};*" for leaf, group in zip(leaves, groups, strict=True)]
    (folder / "ascceg.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    spoken = ["7104 Mandarin", "7101 Cantonese", "1201 English"]
    tree = Hierarchy.from_columns([spoken, ["71 Chinese", "71 Chinese", "12 English"]], "ascl")
    write_skos(tree, folder / "ascl.ttl")
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {
            "patient": range(200),
            "name": [f"name {number}" for number in range(200)],
            "birth_year": rng.integers(1940, 2000, 200),
            "sex": rng.choice(["F", "M"], 200),
            "ethnicity": rng.choice(leaves, 200),
            "language": rng.choice(spoken, 200),
        }
    )
    people.to_csv(folder / "hospital.csv", index=False)
    linked = people.sample(40, random_state=1)
    linked.assign(glucose=rng.integers(70, 200, 40)).to_csv(folder / "linked.csv", index=False)
    return {}


def nothing(folder: Path) -> Names:
    """No file, no name."""
    return {}


PREPARED: dict[str, Callable[[Path], Names]] = {
    "attack": nothing,
    "counting_intruder": clinics,
    "ledger": noted_release,
    "linkage_anonymity": classified,
    "linkage_privacy": nothing,
    "policy_release": request,
    "population": register,
    "population_release": clinics,
}
"""Pages by name, and what makes what they take for given."""
