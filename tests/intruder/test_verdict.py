"""How a release stands to what is promised and to what is tolerable."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first

from sfumato.intruder.attack import attack
from sfumato.intruder.attack_result import Attack
from sfumato.intruder.guesses.inference_attacks import ChanceValues
from sfumato.intruder.referee.criteria import (
    CONTRACT,
    Criterion,
    Standing,
    Tolerance,
    persons_found,
    tolerated,
)
from sfumato.risk.risk_thresholds import Preset, Threshold, thresholds
from sfumato.schema import Schema

SCHEMA = Schema(
    quasi_identifiers={"age": "numeric", "sex": "categorical"},
    sensitive=["disease"],
    insensitive=["ward"],
    direct_identifiers=["name"],
)
DISEASES = [f"{letter}{number}" for letter in "ABCD" for number in range(10)]


def persons(seed: int, number: int = 600) -> pd.DataFrame:
    """Persons of whom a disease says nothing but itself."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"P{each}" for each in range(number)],
            "age": rng.integers(18, 90, number),
            "sex": rng.choice(["F", "M"], number),
            "disease": rng.choice(DISEASES, number),
            "ward": rng.choice(list("uvwx"), number),
        }
    )


def recoded(data: pd.DataFrame, years: int = 2) -> pd.DataFrame:
    """A release of another tool: ages by some years, small classes left out, in another order."""
    low = data["age"] // years * years
    shown = data.drop(columns=["name"]).assign(age=[f"[{each}, {each + years})" for each in low])
    size = shown.groupby(["age", "sex"])["disease"].transform("size")
    return shown[size >= 5].sample(frac=1, random_state=1)


def attacked(data: pd.DataFrame, shown: pd.DataFrame, **options: object) -> Attack:
    """The shown file, whose rows are numbered as the data's, attacked."""
    truth = [str(each + 1) for each in shown.index]
    return attack(shown, original=data, truth=truth, schema=SCHEMA, seed=1, **options)  # type: ignore[arg-type]


def standing(found: Attack) -> dict[str, str]:
    """The verdict by criterion."""
    return {name.value: each.verdict.value for name, each in found.verdict.items()}


WITHIN = dict.fromkeys(("promises", "singling_out", "linkability", "inference"), "within")


@pytest.mark.parametrize("seed", fast_first(1, range(4)))
def test_an_honest_file_of_another_tool_is_within(seed: int) -> None:
    data = persons(seed)
    found = attacked(data, recoded(data))
    assert standing(found) == WITHIN
    assert not found.caught
    told = found.to_json()["verdict"]["linkability"]
    assert told["attempts"]
    assert 0 < told["low"] <= told["number"] <= told["high"]
    assert told["tolerance"] == CONTRACT


@pytest.mark.slow
def test_what_nobody_is_taken_to_know_stands_beside_within() -> None:
    data = persons(1)
    found = attacked(data, recoded(data))
    by_disease = next(each for each in found.outcomes if each.attack == "column:disease")
    assert by_disease.success.value > CONTRACT
    single = found.verdict[Criterion.SINGLING_OUT]
    [told] = [each for each in single.assuming if "'disease'" in each]
    assert f"{by_disease.success.value:.1%}" in told
    assert "singling out as far as is assumed" in found.sentence


def test_homogeneous_classes_give_values_away() -> None:
    """Each class has one disease, and no class shows who somebody is."""
    data = persons(7)
    data["disease"] = [DISEASES[age // 2 % 40] for age in data["age"]]
    found = attacked(data, recoded(data))
    assert standing(found) == WITHIN | {"inference": "exceeded"}
    inference = found.verdict[Criterion.INFERENCE]
    assert inference.attack == "inference:disease"
    assert inference.number == 1.0
    assert found.caught


@pytest.mark.slow
def test_a_common_value_gives_nothing_away() -> None:
    """Nine in ten have the same, so that most classes do."""
    data = persons(8)
    data["disease"] = np.where(np.arange(600) % 10, "none", data["disease"])
    assert standing(attacked(data, recoded(data))) == WITHIN


def test_two_people_alone_are_too_many() -> None:
    """What is known without drawing needs no luck: two of 600 stand alone."""
    data = persons(9)
    shown = recoded(data)
    alone = shown.index[:2]
    shown.loc[alone, "age"] = [f"{age}" for age in data.loc[alone, "age"]]
    data.loc[alone, "age"] = [91, 93]
    shown.loc[alone, "age"] = ["91", "93"]
    found = attacked(data, shown)
    single = found.verdict[Criterion.SINGLING_OUT]
    assert (single.verdict, single.number, single.right) == (Standing.EXCEEDED, 1.0, 2)
    assert found.verdict[Criterion.LINKABILITY].verdict is Standing.EXCEEDED


@pytest.mark.slow
def test_a_column_that_foretells_is_inference_and_may_be_accepted() -> None:
    data = persons(10)
    data["ward"] = 2026 - data["age"]
    shown = recoded(data)
    found = attacked(data, shown)
    inference = found.verdict[Criterion.INFERENCE]
    assert (inference.verdict, inference.attack) == (Standing.EXCEEDED, "column:ward")
    accepting = SCHEMA.model_copy(update={"accepted": {"ward": "nobody outside has the wards"}})
    truth = [str(each + 1) for each in shown.index]
    again = attack(shown, original=data, truth=truth, schema=accepting, seed=1)
    inference = again.verdict[Criterion.INFERENCE]
    assert (inference.verdict, inference.accepted) == (Standing.WITHIN, ("column:ward",))


def test_what_was_not_run_is_untested() -> None:
    data = persons(11)
    found = attacked(data, recoded(data), attacks=["exact"])
    assert standing(found) == dict.fromkeys(WITHIN, "untested")
    assert "row_order" in found.verdict[Criterion.LINKABILITY].untried
    alone = attack(recoded(data), schema=SCHEMA, seed=1)
    assert standing(alone)["singling_out"] == standing(alone)["linkability"] == "untested"
    assert not alone.caught


@pytest.mark.slow
def test_a_preset_says_what_is_tolerable() -> None:
    """Classes of five are within 0.2 and beyond 0.09, with a number that is known."""
    data = persons(12)
    found = attacked(data, recoded(data), attacks=["exact"], presets=("ema-policy-0070",))
    link = found.verdict[Criterion.LINKABILITY]
    assert (link.verdict, link.number, link.tolerance) == (Standing.EXCEEDED, 0.2, 0.09)
    coarse = attacked(data, recoded(data, 24), presets=("ema-policy-0070",))
    assert standing(coarse) == WITHIN


def test_tolerance_is_the_strictest_that_is_stated() -> None:
    assert tolerated(None, ()) == Tolerance(0.2, 0.2, "usual under contract")
    assert tolerated(0.3, thresholds("ema-policy-0070")).person == 0.3
    both = tolerated(None, thresholds("ema-policy-0070", "cell-size-20"))
    assert (both.person, both.value, both.source) == (0.05, 0.05, "cell-size-20")
    own = Preset("own", (Threshold("max_gsar", 0.4),))
    assert tolerated(None, [own]) == Tolerance(0.2, 0.4, "own")
    assert tolerated(None, (), 3).person == pytest.approx(1 / 3)


def test_guesses_that_are_surer_than_tolerable_count_by_themselves() -> None:
    """Ten of ten sure guesses are right among 500 that are as often right as tolerable."""
    right = np.r_[np.ones(10, bool), np.arange(490) % 5 == 0]
    chance = np.r_[np.full(10, 0.9), np.full(490, 0.2)]
    found = persons_found(Criterion.LINKABILITY, "a", right, chance, 0.2)
    assert (found.right, found.attempts, found.expected) == (10, 10, 2.0)
    assert found.p_value == pytest.approx(2 * 0.2**10)


def test_a_guess_is_sure_beyond_how_common_the_value_is() -> None:
    chances = ChanceValues(0.0, 0.0, np.array([0.6, 0.3, 0.1]))
    sure = chances.is_sure(np.array([0, 1, 1, 2, -1]), np.array([1.0, 0.4, 0.5, 0.3, 0.0]), 0.2)
    assert sure.tolist() == [False, False, True, True, False]
