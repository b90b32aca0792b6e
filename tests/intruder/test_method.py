"""What knowing the method adds: to planted classes much, to honest ones no more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.intruder.attack import attack

SCHEMA = sf.Schema(quasi_identifiers={"age": "numeric", "height": "numeric"}, sensitive=["illness"])


def people(seed: int) -> pd.DataFrame:
    """Ten persons in each of 150 places, of whom the old have the common illness."""
    rng = np.random.default_rng(seed)
    age = rng.permuted(np.tile(np.arange(10, 60, 5), (150, 1)), axis=1).ravel()
    common = rng.random(1500) < np.where(age >= 35, 0.7, 0.05)
    others = rng.choice([f"illness {each}" for each in range(200)], 1500)
    return pd.DataFrame(
        {
            "place": np.repeat(np.arange(150), 10),
            "age": age,
            "illness": np.where(common, "gout", others),
        }
    )


def cut(rows: list[int], age: Sequence[int], illness: Sequence[str], k: int) -> list[list[int]]:
    """Naive classes: cut anywhere while both sides have k persons, half of them alike at most."""
    for value in sorted({age[row] for row in rows})[:-1]:
        sides = [[row for row in rows if (age[row] <= value) is low] for low in (True, False)]
        if all(
            len(each) >= k and max(Counter(illness[r] for r in each).values()) <= len(each) / 2
            for each in sides
        ):
            return [part for each in sides for part in cut(each, age, illness, k)]
    return [rows]


@pytest.mark.parametrize("dealt", fast_first(1, [False, True]))
def test_that_a_class_was_not_cut_tells_who_has_what(dealt: bool) -> None:
    schema = sf.Schema(
        quasi_identifiers={"place": "categorical", "age": "numeric"}, sensitive=["illness"]
    )
    right, attempts, chance = 0, 0, 0.0
    for seed in (1, 2, 3):
        data = people(seed)
        age, illness = data["age"].tolist(), data["illness"].tolist()
        classes = [
            each
            for own in data.groupby("place").groups.values()
            for each in cut(own.tolist(), age, illness, 3)
        ]
        kept = [
            each for each in classes
            if max(Counter(illness[row] for row in each).values()) <= len(each) / 2
        ]  # fmt: skip
        shown = pd.concat(
            data.loc[each].assign(age=f"{min(age[r] for r in each)}-{max(age[r] for r in each)}")
            for each in kept
        )
        if dealt:
            # Whose each value is was drawn after the classes were made.
            order = np.random.default_rng(seed)
            values = [order.permutation([illness[row] for row in own]) for own in kept]
            shown["illness"] = np.concatenate(values)
            data.loc[shown.index, "illness"] = shown["illness"]
        truth = [f"{row + 1}" for row in shown.index]
        (found,) = attack(
            shown, schema=schema, original=data, truth=truth, seed=1, attacks=["minimality"]
        ).outcomes
        right, attempts = right + found.right, attempts + found.attempts
        chance += found.baseline.value * found.attempts
    assert attempts > 200
    deviation = (right - chance) / np.sqrt(chance * (1 - chance / attempts))
    assert deviation > 2.5 if not dealt else abs(deviation) < 2.5


@pytest.mark.parametrize("k", [5, 20])
def test_where_ends_are_as_near_as_can_be_somebody_is_beside_them(k: int) -> None:
    rng = np.random.default_rng(k)
    data = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 1200),
            "height": rng.normal(170, 10, 1200).round(2),
            "illness": rng.choice(["flu", "gout"], 1200),
        }
    )
    release = sf.anonymize(data, SCHEMA, sf.KAnonymity(k), seed=1, ends="tight")
    found = attack(release, seed=1, attacks=["downcoding"])
    (outcome,) = found.outcomes
    assert outcome.success.value > 0.9
    assert outcome.baseline.value < 0.1
    assert [(each.intruder, each.raised) for each in found.evidence] == [("recipient", False)]


def test_cells_that_no_value_has_chosen_are_at_chance() -> None:
    rng = np.random.default_rng(3)
    n = 1500
    data = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "height": rng.integers(150, 200, n),
            "illness": rng.choice(["flu", "gout"], n),
        }
    )
    low = {"age": data["age"] // 10 * 10, "height": data["height"] // 10 * 10}
    shown = {name: [f"{each}-{each + 9}" for each in low[name]] for name in ("age", "height")}
    found = attack(
        data.assign(**shown), schema=SCHEMA, original=data, truth="same-order", seed=1,
        attacks=["downcoding"],
    )  # fmt: skip
    (outcome,) = found.outcomes
    low_end, high_end = outcome.success.low, outcome.success.high
    assert low_end is not None
    assert high_end is not None
    if outcome.attempts:
        assert low_end <= max(outcome.baseline.value, np.exp(-1))


def test_a_rare_value_below_a_label_is_there_where_the_label_was_needed() -> None:
    rng = np.random.default_rng(4)
    n = 2000
    data = pd.DataFrame(
        {
            "sex": np.where(rng.random(n) < 0.05, "x", "f"),
            "age": rng.integers(20, 30, n),
            "illness": rng.choice(["flu", "gout"], n),
        }
    )
    # Classes of five of one age, in the order of the file.
    place = data.groupby("age").cumcount() // 5
    whole = data.groupby(["age", place])["sex"].transform("nunique")
    shown = data.assign(sex=np.where(whole > 1, "*", data["sex"]))
    schema = sf.Schema(
        quasi_identifiers={"sex": "categorical", "age": "numeric"}, sensitive=["illness"]
    )
    # A class is told by its cells; an age more makes them many.
    data["block"] = [f"{age}/{each}" for age, each in zip(data["age"], place, strict=True)]
    schema = schema.model_copy(
        update={
            "quasi_identifiers": {
                **schema.quasi_identifiers,
                "block": sf.Schema(quasi_identifiers={"block": "categorical"}).quasi_identifiers[
                    "block"
                ],
            }
        }
    )
    found = attack(
        shown.assign(block=data["block"]), schema=schema, original=data, truth="same-order",
        seed=1, attacks=["downcoding"],
    )  # fmt: skip
    (outcome,) = found.outcomes
    assert outcome.attempts > 50
    assert outcome.success.value > 0.8
    assert outcome.baseline.value < 0.3
