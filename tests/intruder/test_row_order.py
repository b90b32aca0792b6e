"""Guesses by place: caught where an order was kept, silent where rows were shuffled."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from few_cases import fast_first
from intruder.made_files import Made, made, sampled

from sfumato.intruder.candidates import find_candidates
from sfumato.intruder.guesses.identity_attacks import by_place, same_place_in_class
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.referee.attack_odds import Outcome, verdict
from sfumato.intruder.referee.judgements import judge_row_order


def judged(scene: Made, seed: int = 0) -> Outcome:
    guesses = by_place(scene.file, scene.candidates, scene.knowledge)
    return judge_row_order(
        guesses, scene.truth, scene.file, np.random.default_rng(seed), what="By place."
    )


def kept(seed: int, share: float, *, sort: bool = False, pseudonyms: bool = False) -> Made:
    """A sample of 400 persons in 40 classes in the register's order, by class where asked."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 40, 400)
    owner = np.flatnonzero(rng.random(400) < share)
    owner = np.repeat(owner, rng.integers(1, 4, len(owner))) if pseudonyms else owner
    if sort:
        owner = owner[np.argsort(home[owner], kind="stable")]
    return made(home[owner], owner, home, pseudonyms=pseudonyms)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("pseudonyms", [False, True])
def test_the_whole_register_in_its_order_is_named(sort: bool, pseudonyms: bool) -> None:
    outcome = judged(kept(1, 1.1, sort=sort, pseudonyms=pseudonyms))
    assert outcome.attack == "row_order"
    assert outcome.success.value == 1
    assert outcome.broken


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("pseudonyms", [False, True])
def test_visits_in_the_order_of_the_registers_rows_are_caught(sort: bool, pseudonyms: bool) -> None:
    """Persons appear again and again: rows, not persons, are in the same order."""
    rng = np.random.default_rng(3)
    home = rng.integers(0, 20, 200)
    rows = np.concatenate([np.arange(200), rng.permutation(np.repeat(np.arange(200), 3))])
    owner = rows[np.argsort(home[rows], kind="stable")] if sort else rows
    scene = made(home[owner], owner, home, pseudonyms=pseudonyms)
    places = tuple(scene.knowledge.quasi_identifiers[0].texts)
    column = KnownColumn("place", places, np.full(len(places), np.nan), home[rows])
    told = Knowledge(200, rows, (column,), ())
    scene = replace(scene, knowledge=told, candidates=find_candidates(scene.file, told))
    outcome = judged(scene)
    assert outcome.success.value == 1
    assert outcome.broken


@pytest.mark.parametrize("sort", [False, True])
def test_a_sample_that_keeps_the_order_is_caught(sort: bool) -> None:
    assert judged(kept(2, 0.5, sort=sort)).broken


def test_the_best_of_several_ways_is_allowed_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(*given: Any, tries: int = 1) -> tuple[float, bool, float]:
        asked.append(tries)
        return verdict(*given, tries=tries)

    monkeypatch.setattr("sfumato.intruder.referee.judgements.verdict", noted)
    scene = kept(1, 1.0)
    judged(scene)
    assert asked == [len(by_place(scene.file, scene.candidates, scene.knowledge))]
    assert asked[0] > 1


def test_guesses_fit_and_are_none_where_nobody_does() -> None:
    scene = made([0, 1, 0, 2, 0], [0, 1, 2, -1, -1], [0, 1, 0, 0, 1])
    near, inside = by_place(scene.file, scene.candidates, scene.knowledge)
    assert near.person.tolist() == [0, 1, 2, -1, 3]
    assert inside.person.tolist() == [0, 4, 2, -1, 3]
    assert near.chance == pytest.approx([1 / 3, 1 / 2, 1 / 3, 0, 1 / 3])


def test_what_chance_wins_by_enumeration() -> None:
    """A class of four units, three of whom are guessed to be somebody who is in it."""
    scene = made([0] * 4, [2, 0, 1, 4], [0] * 5)
    guesses = same_place_in_class(scene.file, scene.candidates, np.arange(5))
    assert guesses.person.tolist() == [0, 1, 3, 4]
    hits = [
        sum(a == b for a, b in zip(way, guesses.person, strict=True))
        for way in permutations(scene.truth.owner.tolist())
    ]
    outcome = judge_row_order([guesses], scene.truth, scene.file, np.random.default_rng(0), what="")
    assert outcome.predicted is not None
    assert outcome.predicted.value == pytest.approx(np.mean(hits) / 4)
    assert outcome.allowed == pytest.approx(np.quantile(hits, 0.975, method="higher") / 4)


@pytest.mark.parametrize("pseudonyms", fast_first(1, [True, False]))
def test_shuffled_rows_are_seldom_called_ordered(pseudonyms: bool) -> None:
    """Records of one person without pseudonyms make units with the same owner."""
    runs, broken = 80, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        released = rng.integers(2, 5, 20)
        records = rng.integers(1, 3, int(released.sum())) if seed % 8 == 0 or pseudonyms else None
        scene = sampled(
            rng,
            released,
            released + rng.integers(0, 3, 20),
            records=records,
            pseudonyms=pseudonyms,
        )
        broken += judged(scene, seed).broken
    assert broken <= 0.025 * runs + 3


def test_persons_with_many_records_appear_early_without_any_order_kept() -> None:
    """Register and release are shuffled, each numbers persons as they appear in it."""
    runs, broken = 60, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        visits = rng.geometric(0.2, 80)
        rows = rng.permutation(np.repeat(np.arange(80), visits))
        number = np.empty(80, dtype=np.int64)
        number[rows[np.sort(np.unique(rows, return_index=True)[1])]] = np.arange(80)
        home = rng.integers(0, 8, 80)
        owner = number[rng.permutation(rows)]
        broken += judged(made(home[owner], owner, home, pseudonyms=True), seed).broken
    assert broken <= 0.025 * runs + 3
