"""Exact matching, free and one to one."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import Candidates, Identification, find_candidates
from sfumato.intruder.guesses.identity_attacks import exact_free, exact_one_to_one, exact_targeted
from sfumato.intruder.knowledge import Knowledge, hold
from sfumato.intruder.reading import ReleasedFile, read_release

SCHEMA = sf.Schema(person="id", quasi_identifiers={"age": "numeric"})
Setting = tuple[ReleasedFile, Knowledge, Candidates]

cells = st.sampled_from(["1-3", "2-4", "4-6", "5", "*", "6 or more", "{1, 5}"])
shown_rows = st.lists(cells, min_size=1, max_size=10)
known_ages = st.lists(st.integers(1, 7), min_size=1, max_size=10)


def _setting(shown: list[str], ages: list[int], counts: list[int] | None = None) -> Setting:
    """Released persons with one record each, and register persons."""
    register = pa.table({"age": ages})
    knowledge = hold(register, SCHEMA)
    if counts is not None:
        knowledge = replace(knowledge, counts=np.array(counts))
    data = pa.table({"id": [f"q{n}" for n in range(len(shown))], "age": shown})
    file = read_release(data, SCHEMA, known=knowledge)
    return file, knowledge, find_candidates(file, knowledge)


def _fits(setting: Setting) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Shape (units, persons)."""
    _, _, found = setting
    return np.asarray(found.fits_kind.toarray()[found.kind][:, found.group], dtype=np.bool_)


@settings(max_examples=60)
@given(shown=shown_rows, ages=known_ages, seed=st.integers(0, 99))
def test_free_guesses_are_among_those_who_fit(shown: list[str], ages: list[int], seed: int) -> None:
    setting = _setting(shown, ages)
    fits = _fits(setting)
    guess = exact_free(*setting, np.random.default_rng(seed))
    assert guess.unit.tolist() == list(range(len(shown)))
    _check(guess, fits, fits.sum(axis=1)[guess.unit])
    targeted = exact_targeted(*setting, np.random.default_rng(seed))
    assert targeted.person.tolist() == list(range(len(ages)))
    _check(targeted, fits, fits.sum(axis=0)[targeted.person])


def _check(guess: Identification, fits: np.ndarray, number: np.ndarray) -> None:  # type: ignore[type-arg]
    named = (guess.unit >= 0) & (guess.person >= 0)
    assert (named == (number > 0)).all()
    assert fits[guess.unit[named], guess.person[named]].all()
    np.testing.assert_allclose(guess.chance[named], 1 / number[named])
    assert (guess.chance[~named] == 0).all()


def test_everybody_who_fits_is_drawn_equally_often() -> None:
    setting = _setting(["1-3", "2-6"], [1, 2, 2, 3, 6, 9])
    rng = np.random.default_rng(1)
    drawn = np.array([exact_free(*setting, rng).person for _ in range(6000)])
    for unit, fitting in enumerate([[0, 1, 2, 3], [1, 2, 3, 4]]):
        counts = np.bincount(drawn[:, unit], minlength=6)
        assert counts.nonzero()[0].tolist() == fitting
        assert np.abs(counts[fitting] - 1500).max() < 5 * np.sqrt(1500)


def test_known_numbers_of_records_narrow_the_guess() -> None:
    data = pa.table({"id": ["a", "a", "b", "c"], "age": ["1-3"] * 4})
    knowledge = replace(
        hold(pa.table({"age": [1, 2, 3, 3]}), SCHEMA), counts=np.array([2, 1, 5, 1])
    )
    file = read_release(data, SCHEMA, known=knowledge)
    setting = (file, knowledge, find_candidates(file, knowledge))
    rng = np.random.default_rng(2)
    free = [exact_free(*setting, rng) for _ in range(40)]
    assert {guess.person[0] for guess in free} == {0}
    assert {guess.person[1] for guess in free} == {1, 3}
    assert free[0].chance.tolist() == [1, 0.5, 0.5]
    targeted = exact_targeted(*setting, rng, targets=[2, 0])
    assert targeted.unit.tolist() == [-1, 0]
    assert targeted.chance.tolist() == [0, 1]
    one = exact_one_to_one(*setting, rng)
    assert one.person[0] == 0
    assert sorted(one.person[1:]) == [1, 3]


@pytest.mark.parametrize("targets", [[5], [-1], [0.5], [[0]], ["a"]])
def test_targets_are_numbers_of_register_persons(targets: list[object]) -> None:
    setting = _setting(["1-3"], [1, 2])
    with pytest.raises(InputError, match="parameter targets must hold numbers"):
        exact_targeted(*setting, np.random.default_rng(0), targets=targets)  # type: ignore[arg-type]


@settings(max_examples=80)
@given(shown=shown_rows, ages=known_ages, seed=st.integers(0, 99))
def test_one_to_one_is_as_complete_as_can_be(shown: list[str], ages: list[int], seed: int) -> None:
    setting = _setting(shown, ages)
    fits = _fits(setting)
    guess = exact_one_to_one(*setting, np.random.default_rng(seed))
    named = guess.person >= 0
    persons = guess.person[named]
    assert len(set(persons.tolist())) == len(persons)
    assert fits[guess.unit[named], persons].all()
    most = maximum_bipartite_matching(sparse.csr_array(fits), perm_type="column")
    assert named.sum() == (most >= 0).sum()
    assert ((guess.chance > 0) == named).all()
    assert (guess.chance <= 1).all()


def test_one_to_one_uses_what_nobody_else_can_be() -> None:
    setting = _setting(["1-3", "2-4", "4"], [1, 4, 3])
    rng = np.random.default_rng(3)
    for _ in range(10):
        guess = exact_one_to_one(*setting, rng)
        assert guess.person.tolist() == [0, 2, 1]
        assert guess.chance.tolist() == pytest.approx([1, 1, 1])


def test_one_to_one_is_a_random_permutation_within_a_class() -> None:
    setting = _setting(["1-3"] * 3 + ["7"], [1, 2, 3, 3, 7, 9])
    rng = np.random.default_rng(4)
    drawn = np.array([exact_one_to_one(*setting, rng).person for _ in range(240)])
    for unit in range(3):
        counts = np.bincount(drawn[:, unit], minlength=6)[:4]
        assert np.abs(counts - 60).max() < 5 * np.sqrt(60)
    assert (drawn[:, 3] == 4).all()
    chance = exact_one_to_one(*setting, rng).chance
    assert chance.tolist() == pytest.approx([0.25, 0.25, 0.25, 1], rel=0.005)


def test_the_chance_is_near_the_share_of_assignments_that_have_the_pair() -> None:
    shown = ["1-3", "2-4", "2-4", "3-6", "5-6"]
    setting = _setting(shown, [1, 2, 3, 4, 5, 6])
    fits = _fits(setting)
    shares = np.zeros(fits.shape)
    total = 0
    for persons in permutations(range(6), 5):
        if fits[np.arange(5), list(persons)].all():
            shares[np.arange(5), list(persons)] += 1
            total += 1
    rng = np.random.default_rng(5)
    for _ in range(20):
        guess = exact_one_to_one(*setting, rng)
        exact = shares[guess.unit, guess.person] / total
        assert np.abs(guess.chance - exact).max() < 0.12
