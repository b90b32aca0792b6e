"""Where rules of an intruder, and of the referee, begin and end: each on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.intruder.guesses import (
    field_agreement,
    identity_attacks,
    intersection_attack,
    model_attack,
    probabilistic_attack,
    pseudonym_attack,
)
from sfumato.intruder.guesses.bounds_attack import step_of
from sfumato.intruder.reading import TextColumn
from sfumato.intruder.referee.attack_odds import largest_number, surest


@pytest.mark.parametrize(
    ("number", "step"), [(0.12, 1e-2), (0.123456789, 1e-9), (0.123456789123, 1e-9)]
)
def test_ends_are_read_to_nine_decimal_places(number, step):
    assert step_of(np.array([number])) == pytest.approx(step, rel=1e-3)


@pytest.mark.parametrize(("off", "whole"), [(0.9e-6, True), (1.9e-6, False)])
def test_a_number_may_be_off_by_a_millionth_of_its_step(off, whole):
    assert (step_of(np.array([5.0, 7.0 + off])) == 1) is whole


@pytest.mark.parametrize(("length", "slips"), [(60, 61), (61, 1)])
def test_texts_of_up_to_60_characters_are_compared_with_a_slip(length, slips):
    text = "".join(chr(0x100 + n) for n in range(length))
    assert len(field_agreement._left(text)) == slips


def test_a_twentieth_of_the_spread_beyond_a_range_is_near_it():
    assert field_agreement._neighbourhood(np.linspace(0, 100, 1_001)) == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("own", "both", "joined"), [(10, 5, True), (10, 4, False), (20, 10, True), (20, 9, False)]
)
def test_columns_of_two_names_have_five_texts_and_half_of_them_in_common(own, both, joined):
    column = SimpleNamespace(texts=[f"{n}" for n in range(own)])
    other = SimpleNamespace(texts=[f"{n}" for n in range(own - both, 2 * own)])
    assert identity_attacks._coincide(column, other) is joined


@pytest.mark.parametrize(("fitting", "same"), [(5, True), (4, False)])
def test_pseudonyms_are_the_same_where_half_of_them_fit_a_common_person(fitting, same):
    shared = np.column_stack([np.arange(10)] * 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intersection_attack, "pseudonyms", lambda _: [f"p{n}" for n in range(10)])
        patch.setattr(intersection_attack, "_kinds", lambda *_: shared)
        fits = np.arange(10)[:, None] < fitting
        patch.setattr(intersection_attack, "_both", lambda *_: fits)
        here = SimpleNamespace(file=None)
        assert intersection_attack.are_the_same(here, here, shared, shared) is same


@pytest.mark.parametrize(("numbers", "groups"), [(40, 40), (41, 20), (1_000, 20)])
def test_more_than_40_sensitive_numbers_are_put_in_20_groups(numbers, groups):
    texts = (*(str(n) for n in range(numbers)), None)
    near = model_attack.near_as_one(TextColumn("a", texts, np.arange(numbers)))
    assert len(np.unique(near.codes)) == groups


def test_one_in_a_million_is_never_ruled_out_to_be_outside_of_the_register():
    assert probabilistic_attack.outside_odds(1.0, 1) == pytest.approx(1e-6, rel=1e-5)
    assert probabilistic_attack.outside_odds(0.5, 8) == pytest.approx(8)


def test_a_first_guess_counts_for_ten_released_persons():
    """As many were seen, so that the mean of both is found."""
    near = len(probabilistic_attack.Near)
    first = np.eye(near)[:1]
    found = probabilistic_attack._maximised(
        np.array([10.0]), np.array([[near - 1]], dtype=np.int8), first
    )
    assert found[0].tolist() == [0.5, *[0.0] * (near - 2), 0.5]


def test_numbers_are_drawn_within_six_standard_errors_of_their_places():
    """Beyond lies 1 in 500 million."""
    assert 1 / (2 * norm.sf(pseudonym_attack.SIGMAS)) == pytest.approx(5e8, rel=0.05)


@pytest.mark.parametrize(("off", "members"), [(0.9e-9, 3), (2e-9, 2)])
def test_what_a_share_allows_is_not_less_by_rounding(off, members):
    assert largest_number(np.array([5]), 0.6 - off / 5).tolist() == [members]


def test_guesses_that_are_as_sure_but_for_rounding_are_the_surest():
    assert surest(np.array([0.5, 0.5 * (1 - 0.9e-9), 0.5 * (1 - 2e-9)])).tolist() == [
        True, True, False
    ]  # fmt: skip
