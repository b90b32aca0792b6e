"""What columns foretell together: found where no single one tells it, and only there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.intruder.attack import attack
from sfumato.table.combinations import Target, foretold_together

pytest.importorskip("sklearn")


def made(seed: int, *, leaks: bool) -> tuple[pd.DataFrame, sf.Schema]:
    """Persons whose age is the sum of two columns, or whose two columns are a stranger's."""
    rng = np.random.default_rng(seed)
    n = 800
    age = np.clip(rng.normal(50, 18, n), 18, 95).astype(int)
    route = rng.integers(0, 80, n)
    stop = (age if leaks else rng.permutation(age)) + 80 - route
    data = pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], n),
            "icd": rng.choice([f"{a}{b}" for a in "ABC" for b in range(10, 25)], n),
            "route": [f"R{each}" for each in route],
            "stop": [f"S{each}" for each in stop],
        }
    )
    schema = sf.Schema(
        quasi_identifiers={"age": "numeric", "sex": "categorical"},
        sensitive=["icd"],
        insensitive=["route", "stop"],
    )
    return data, schema


@pytest.mark.parametrize("leaks", fast_first(1, [True, False]))
def test_a_sum_of_two_columns_is_found_in_no_single_one(leaks: bool) -> None:
    data, schema = made(1, leaks=leaks)
    assessed = sf.assess(data, schema, columns=True)
    *alone, together = assessed.columns
    assert {each.column for each in alone if each.leak} == ({"route", "stop"} if leaks else set())
    assert together.leak.startswith("foretells 'age' from 'route', 'stop' (") is leaks
    assert ("foretells 'age' from" in str(assessed)) is leaks
    if leaks:
        with pytest.raises(sf.InputError, match="route"):
            sf.anonymize(data, schema, sf.KAnonymity(5), seed=1)
    # Made elsewhere, as this file stops a release of ours.
    order = np.random.default_rng(1).permutation(len(data))
    bands = [f"{each}-{each + 19}" for each in data["age"] // 20 * 20]
    found = attack(
        data.assign(age=bands, sex="*").iloc[order],
        schema=schema, original=data, truth=(order + 1).tolist(), seed=1,
        attacks=["columns", "combinations"],
    )  # fmt: skip
    named = [each for each in found.warnings if "'route', 'stop'" in each and "'age'" in each]
    assert bool(named) is leaks
    # What is made of both by the door's own check is named of each.
    assert any(each.startswith("Column '") for each in found.warnings) is leaks


def test_parity_of_two_digits_and_what_nothing_tells() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.integers(0, 10, (2, 1500))
    columns = {"one": [f"{each}" for each in one], "other": [f"x{each}" for each in other]}
    columns["noise"] = [f"{each:.2f}" for each in rng.gamma(2, 100, 1500)]
    targets = {
        "parity": Target((one + other) % 2, ordered=False),
        "free": Target(rng.integers(0, 5, 1500), ordered=False),
        "place": Target(rng.permutation(1500), ordered=True),
        "few": Target(np.where(np.arange(1500) < 50, one, -1), ordered=False),
    }
    found = foretold_together(columns, targets, rng)
    assert found.keys() == {"parity", "free", "place"}
    assert found["parity"].share > 0.9
    assert found["parity"].columns == ("one", "other")
    assert found["free"].share < 0.1
    assert found["place"].share < 0.1
    assert found["place"].chance == pytest.approx(0.1, abs=0.01)
