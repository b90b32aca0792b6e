"""Whose each record is, and which guesses are right."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from intruder.made_files import made

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.candidates import Identification
from sfumato.intruder.referee.attack_odds import calibration
from sfumato.intruder.referee.judgements import (
    Truth,
    judge_identification,
    owned,
    owned_by_id,
    owned_by_row,
    owners,
    person_values,
    unit_kinds,
)


def test_ways_to_know_the_truth_agree() -> None:
    by_row = owned_by_row(np.array([3, 0, 1]), np.array([0, 0, 1, 2]), 4)
    by_id = owned_by_id(["c", "a", "a"], ["a", "b", "c", "d"])
    assert by_row.owner.tolist() == by_id.owner.tolist() == [2, 0, 0]
    assert by_row.released.tolist() == by_id.released.tolist() == [True, False, True, False]
    assert owned_by_id([None, "z", "b"], ["a", "b"]).owner.tolist() == [-1, -1, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: owned(np.array([2]), 2),
        lambda: owned(np.array([-2]), 2),
        lambda: owned_by_row(np.array([4]), np.array([0, 1]), 2),
        lambda: owned_by_id(["a"], ["secret", "secret"]),
    ],
)
def test_an_impossible_truth_is_refused_without_a_value(wrong: Callable[[], Truth]) -> None:
    with pytest.raises(InputError) as caught:
        wrong()
    assert "secret" not in str(caught.value)


def test_values_of_persons() -> None:
    values = person_values(np.array([0, 0, 1, -1, 2]), ["x", "y", "x", "z", None])
    told = [(p, values.texts[c]) for p, c in zip(values.person, values.codes, strict=True)]
    assert told == [(0, "x"), (0, "y"), (1, "x")]


def test_a_pseudonym_of_two_persons_is_found_by_either() -> None:
    """A linkage erred: the first pseudonym has records of persons 0 and 1."""
    file = made(["a"] * 3, [0, 0, 2], [0] * 3, pseudonyms=True).file
    owner = owners(file, owned(np.array([0, 1, 2]), 3))
    unit, person = np.array([0, 0, 0, 1, -1, 0]), np.array([0, 1, 2, 2, 0, -1])
    assert owner.right(unit, person).tolist() == [True, True, False, True, False, False]
    assert owner.chance(np.array([0, 1])) == pytest.approx([2 / 3, 1 / 3])


def test_units_that_show_the_same_classes_are_one_kind() -> None:
    file = made(["a", "b", "a", "b", "a"], [0, 0, 1, 2, 3], [0] * 4, pseudonyms=True).file
    kinds = unit_kinds(file)
    assert kinds[1] == kinds[3]
    assert len({kinds[0], kinds[1], kinds[2]}) == 3


def guessed(unit: list[int], person: list[int], chance: list[float]) -> Identification:
    return Identification(np.array(unit), np.array(person), np.array(chance))


def test_an_outcome_by_hand() -> None:
    """Four records, the last of somebody who is not in the register of ten persons."""
    scene = made(list("aabb"), [0, 1, 2, -1], [0] * 3 + [1] * 7)
    guesses = guessed([0, 1, 2, 3, 3], [0, 2, 2, 5, -1], [0.5, 0.5, 0.1, 0.1, 0.0])
    outcome = judge_identification(
        guesses,
        scene.truth,
        scene.file,
        attack="exact_free",
        what="Made up.",
        one_to_one=False,
        predicted=Measure("marketer", 0.4),
    )
    assert (outcome.attempts, outcome.right) == (4, 2)
    assert outcome.success.value == 0.5
    assert outcome.baseline.value == pytest.approx((3 / 10) / 4)
    assert outcome.control is not None
    assert outcome.control.value == 0.25
    assert (outcome.allowed, outcome.broken) == (1.0, False)
    told = json.loads(json.dumps(outcome.to_json()))
    assert told["predicted"]["measure"] == "marketer"
    assert told["success"]["estimator"] == "Clopper-Pearson"


def test_only_the_surest_guesses_count_against_a_maximum() -> None:
    scene = made(list("aabb"), [0, 1, 2, 3], [0, 0, 1, 1])
    guesses = guessed([0, 1, 2, 3], [0, 1, 3, 2], [0.9, 0.9, 0.5, 0.5])
    outcome = judge_identification(
        guesses, scene.truth, scene.file, attack="", what="", one_to_one=False, surest=True
    )
    assert (outcome.attempts, outcome.right) == (2, 2)
    assert outcome.predicted is None
    assert outcome.control is None


def test_without_a_guess_nothing_is_broken() -> None:
    scene = made(list("ab"), [0, 1], [0, 1])
    outcome = judge_identification(
        guessed([0], [-1], [0.0]),
        scene.truth,
        scene.file,
        attack="",
        what="",
        one_to_one=True,
        predicted=Measure("marketer", 0.1),
        surest=True,
    )
    assert (outcome.attempts, outcome.broken, outcome.success.value) == (0, False, 0.0)


def test_a_truth_of_another_file_is_refused() -> None:
    scene = made(list("ab"), [0, 1], [0, 1])
    with pytest.raises(InputError, match="3 records"):
        owners(scene.file, owned(np.array([0, 1, 1]), 2))


def test_calibration_groups_by_chance() -> None:
    chance = np.array([0.0, 0.01, 0.04, 0.5, 1.0, 1.0])
    right = np.array([False, False, True, True, True, False])
    bins = calibration(chance, right)
    assert [(b.low, b.high, b.attempts, b.right) for b in bins] == [
        (0.0, 0.01, 2, 0),
        (0.01, 0.05, 1, 1),
        (0.2, 0.5, 1, 1),
        (0.99, 1.0, 2, 1),
    ]
    assert bins[-1].success == 0.5
    assert bins[-1].success_low < 0.5 < bins[-1].success_high
