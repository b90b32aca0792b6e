"""Limits of what is compared, learned and listed: each is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sfumato.core.phrases import Phrase
from sfumato.risk import known_events, learned_values, special_uniques, verdict
from sfumato.risk.risk_thresholds import Held


@pytest.mark.parametrize("bound", ["at most", "at least"])
def test_a_limit_is_kept_but_for_a_thousand_millionth_of_it(bound):
    held = SimpleNamespace(limit=0.2, bound=bound)
    off = 1 if bound == "at most" else -1
    assert Held._keeps(held, 0.2 * (1 + off * 0.9e-9))
    assert not Held._keeps(held, 0.2 * (1 + off * 1.1e-9))


@pytest.mark.parametrize(("values", "parts"), [(24, 24), (25, 12)])
def test_more_than_24_values_are_cut_into_12_parts(values, parts):
    assert len(np.unique(learned_values._parts(np.arange(values)))) == parts


@pytest.mark.parametrize(("people", "told"), [(124, False), (132, True)])
def test_a_tree_learns_from_four_fifths_of_the_people(people, told):
    """Of 124 they are 99: a half has fewer than the 50 whom a side of a split must have."""
    codes = np.arange(people) % 2
    found = learned_values.foretold([codes], np.arange(people), codes)
    assert (found > 0.9) is told


def test_shares_of_people_have_twelve_decimals():
    assert known_events._mean(np.array([1.0, 0, 0])) == 0.333333333333


def test_the_ten_people_of_highest_score_are_shown():
    rows = special_uniques._highest(np.arange(30), np.arange(30))
    assert rows.tolist() == [*range(29, 19, -1)]


def test_three_acceptances_are_told_and_the_others_counted():
    accepted = [(name, SimpleNamespace(term=f"accepted by {name}")) for name in "abcde"]
    *told, more = verdict._accepted(accepted)
    assert [each.startswith(f"{name}, ") for each, name in zip(told, "abc", strict=True)] == [
        True
    ] * 3
    assert more.split()[0] == "2"


def test_five_columns_are_named_and_the_others_counted():
    assert not isinstance(verdict._listed("abcde"), Phrase)
    assert verdict._listed("abcdef").filled["more"] == 1
