"""Naming one person for every record of a class: paper 003's Table 3b, and honest releases."""

from __future__ import annotations

import numpy as np
import pytest
from intruder.made_files import Made, made, sampled

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.guesses.identity_attacks import exact_free
from sfumato.intruder.guesses.inference_attacks import any_person, most_records
from sfumato.intruder.referee.judgements import judge_class_guesses, judge_identification

NAMES = ["Ashley", "Bob", "Charlie", "Diana", "Edward", "Fred", "Greg", "Harry"]
HOME = np.array([1, 1, 2, 3, 3, 4, 4, 4])
COUNTS = np.array([2, 1, 5, 2, 2, 1, 1, 5])
THIRD = Measure("k", 1 / 3)


def table_3b(*, pseudonyms: bool = False) -> Made:
    """Paper 003, Table 3b: 19 records, 3-anonymous by records."""
    owner = np.repeat(np.arange(8), COUNTS)
    return made(HOME[owner], owner, HOME, pseudonyms=pseudonyms)


def test_table_3b_is_caught_by_somebody_who_counts() -> None:
    """Ashley 2/3, Charlie 5/5, one of Diana and Edward 2/4, Harry 5/7 (paper 003, Section 2)."""
    scene = table_3b()
    rng = np.random.default_rng(1)
    guesses = most_records(scene.file, scene.candidates, scene.told(COUNTS), rng)
    assert [NAMES[p] for p in guesses.person[[0, 1, 3]]] == ["Ashley", "Charlie", "Harry"]
    assert NAMES[guesses.person[2]] in {"Diana", "Edward"}
    assert guesses.chance == pytest.approx([2 / 3, 1, 2 / 4, 5 / 7])
    parts = guesses, scene.truth, scene.file, rng
    every = judge_class_guesses(*parts, what="", predicted=THIRD)
    assert (every.attack, every.right, every.attempts) == ("multi_record_counts", 14, 19)
    assert every.broken
    assert every.allowed == pytest.approx((1 + 1 + 1 + 2) / 19)
    best = judge_class_guesses(*parts, what="", predicted=THIRD, records="surest")
    assert (best.right, best.attempts) == (5, 5)
    assert best.broken
    assert best.success.estimator is None
    drawn = [
        judge_class_guesses(*parts, what="", predicted=THIRD, records="one_per_class")
        for _ in range(60)
    ]
    assert {outcome.attempts for outcome in drawn} == {4}
    expected = 2 / 3 + 1 + 1 / 2 + 5 / 7
    assert np.mean([outcome.right for outcome in drawn]) == pytest.approx(expected, abs=0.35)
    assert {outcome.right for outcome in drawn} >= {2, 3, 4}


def test_table_3b_is_caught_by_somebody_who_does_not_count() -> None:
    """Charlie is alone in his class whatever the intruder knows."""
    scene = table_3b()
    rng = np.random.default_rng(2)
    guesses = any_person(scene.file, scene.candidates, rng)
    assert guesses.chance == pytest.approx([1 / 2, 1, 1 / 2, 1 / 3])
    best = judge_class_guesses(
        guesses, scene.truth, scene.file, rng, what="", predicted=THIRD, records="surest"
    )
    assert (best.attack, best.right, best.attempts, best.broken) == ("multi_record", 5, 5, True)


def test_table_3b_does_not_exceed_its_own_gidr() -> None:
    """MaxGIDR 1 and AvgGIDR (2/3 + 1 + 1/2 + 5/7) / 4 are what an honest release would state."""
    scene = table_3b()
    average = Measure("avg_gidr", (2 / 3 + 1 + 1 / 2 + 5 / 7) / 4)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        guesses = most_records(scene.file, scene.candidates, scene.told(COUNTS), rng)
        for claim, records in ((Measure("max_gidr", 1.0), "surest"), (average, "one_per_class")):
            outcome = judge_class_guesses(
                guesses, scene.truth, scene.file, rng, what="", predicted=claim, records=records
            )
            assert not outcome.broken


def test_pseudonyms_and_counts_leave_the_persons_of_one_class_and_number() -> None:
    """Ashley, Bob, Charlie and Harry are alone with their numbers, the others are two."""
    scene = table_3b(pseudonyms=True)
    guesses = exact_free(scene.file, scene.told(COUNTS), scene.candidates, np.random.default_rng(3))
    assert guesses.chance == pytest.approx([1, 1, 1, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 1])
    outcome = judge_identification(
        guesses,
        scene.truth,
        scene.file,
        attack="multi_record_counts",
        what="",
        one_to_one=False,
        predicted=THIRD,
        surest=True,
    )
    assert (outcome.right, outcome.attempts, outcome.broken) == (4, 4, True)


def test_nobody_with_more_records_than_the_class_is_named() -> None:
    scene = made([0, 0, 0, 1], [0, 0, 1, 2], [0, 0, 1, 0])
    told = scene.told(np.array([2, 1, 1, 9]))
    guesses = most_records(scene.file, scene.candidates, told, np.random.default_rng(4))
    fits = scene.candidates.persons_of(0).tolist()
    assert guesses.person[0] in fits
    assert guesses.person[0] != 3


def test_counts_that_nobody_told_are_refused() -> None:
    scene = table_3b()
    with pytest.raises(InputError, match="how many records"):
        most_records(scene.file, scene.candidates, scene.knowledge, np.random.default_rng(5))


def naive_best(scene: Made, counts: np.ndarray) -> list[int]:
    """Largest number of records of somebody who fits each class and is not too many for it."""
    found = []
    for number in range(scene.file.classes):
        records = int((scene.file.class_of == number).sum())
        fitting = [int(c) for c in counts[scene.candidates.persons_of(number)] if c <= records]
        found.append(max(fitting, default=0))
    return found


def test_the_named_person_has_most_records_and_ties_are_drawn() -> None:
    rng = np.random.default_rng(6)
    released, register = rng.integers(1, 6, 12), rng.integers(6, 9, 12)
    scene = sampled(rng, released, register, records=rng.integers(1, 4, int(released.sum())))
    counts = np.bincount(scene.truth.owner, minlength=scene.knowledge.persons)
    named = set()
    for seed in range(20):
        guesses = most_records(
            scene.file, scene.candidates, scene.told(counts), np.random.default_rng(seed)
        )
        assert counts[guesses.person].tolist() == naive_best(scene, counts)
        assert all(
            person in scene.candidates.persons_of(place)
            for place, person in enumerate(guesses.person)
        )
        named.add(tuple(guesses.person))
    assert len(named) > 1


def test_somebody_who_does_not_count_names_all_who_fit_alike() -> None:
    scene = made([0, 0, 1], [0, 1, 2], [0, 0, 1, 0])
    rng = np.random.default_rng(7)
    named = [any_person(scene.file, scene.candidates, rng).person[0] for _ in range(600)]
    times = np.bincount(named, minlength=4)
    assert times[2] == 0
    assert times[[0, 1, 3]].min() > 150


def test_honest_claims_are_seldom_broken_and_false_ones_are() -> None:
    """One record of each of 40 classes against AvgGIDR, and against half of it."""
    broken, caught = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        released = rng.integers(2, 6, 40)
        records = rng.geometric(0.4, int(released.sum()))
        scene = sampled(rng, released, released, records=records)
        counts = np.bincount(scene.truth.owner, minlength=scene.knowledge.persons)
        shares = []
        for number in range(scene.file.classes):
            own = np.bincount(scene.truth.owner[scene.file.class_of == number])
            shares.append(own.max() / own.sum())
        guesses = most_records(scene.file, scene.candidates, scene.told(counts), rng)
        for claim in (np.mean(shares), np.mean(shares) / 2):
            outcome = judge_class_guesses(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what="",
                records="one_per_class",
                predicted=Measure("avg_gidr", float(claim)),
            )
            broken += outcome.broken and claim == np.mean(shares)
            caught += outcome.broken and claim < np.mean(shares)
    assert broken <= 0.025 * 60 + 3
    assert caught >= 44
