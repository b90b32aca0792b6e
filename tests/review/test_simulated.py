"""A simulated worker: accuracy against disclosure, from renderings alone."""

from __future__ import annotations

import math

import pytest
from review.kapr_oracle import KINDS, Case, table_2
from review.test_hints import evidence

from sfumato.core.errors import InputError
from sfumato.review.anonymity_database import Database
from sfumato.review.review_forecast import SimulatedWorker, frequencies_of, trade_off
from sfumato.review.worker_state import WorkerState

NAMES = ("ann", "ann", "ann", "ann", "eva", "eva", "bob", "bub", "zoey", "max")
SEXES = ("x", "x", "y", "y", "x", "x", "y", "y", "x", "y")
PAIRS = ((0, 1), (0, 2), (4, 5), (6, 7), (8, 9))


def example(**rules: object) -> Case:
    case = table_2(policy="consistent", costs="bound", **rules)
    return Case((KINDS[0][0], KINDS[2][0]), (NAMES, SEXES), PAIRS, case.settings)


def test_frequencies_are_those_of_the_values() -> None:
    """Of ten names four are ann, two eva: chance is the sum of the squared shares."""
    case = example()
    found = frequencies_of(Database.of(case.attributes, case.columns))
    chance = (16 + 4 + 4 * 1) / 100
    assert found.of_value[0]["ann"] == pytest.approx(math.log(chance / 0.4))
    assert found.of_value[0]["eva"] == pytest.approx(math.log(chance / 0.2))
    assert set(found.of_value[1]) == {"x", "y"}


def test_with_certainty_a_half_nothing_is_opened() -> None:
    review = example().review()
    truth = {0: True, 1: False, 2: True, 3: True, 4: False}
    points = trade_off(review, range(5), evidence(2), truth, (0.5, 1.0))
    assert [point.certainty for point in points] == [0.5, 1.0, None]
    masked, careful, full = points
    assert (masked.kapr, masked.characters, masked.judged) == (0, 0, 5)
    assert 0 < careful.kapr < full.kapr <= 1
    assert full.same_as_full == 1
    worker = WorkerState(review, range(5))
    judge = SimulatedWorker(evidence(2), frequencies_of(review.index.database), 0.5)
    right = [((judge.judge(worker, pair) or 0) >= 0.5) == truth[pair] for pair in range(5)]
    assert masked.accuracy == sum(right) / 5


def test_the_budget_holds_for_it_too() -> None:
    points = trade_off(example(budget=0.05).review(), range(5), evidence(2), None, (1.0,))
    assert points[0].kapr <= 0.05
    assert points[0].accuracy is None


@pytest.mark.parametrize("budget", [0.3, 0.4])
def test_where_not_all_may_be_shown_as_much_is_shown_as_may_be(budget: float) -> None:
    """One pair would be opened whole for more than is left: its cells are opened one by one."""
    careful, full = trade_off(example(budget=budget).review(), [0], evidence(2), None, (1.0,))
    assert 0 < full.characters < 1
    assert careful.characters <= full.characters
    assert full.kapr <= budget


def test_it_is_told_nothing_but_renderings() -> None:
    """The records behind the rows are other ones that look alike: the same answers."""
    case = example()
    order = [1, 0, 3, 2, 5, 4, 6, 7, 8, 9]
    answers = []
    for each in (case, case.permuted(order)):
        review = each.review()
        worker = WorkerState(review, range(5))
        judge = SimulatedWorker(evidence(2), frequencies_of(review.index.database), 0.9)
        answers.append([judge.judge(worker, pair) for pair in range(5)])
    assert answers[0] == answers[1]


def test_certainties_are_checked() -> None:
    with pytest.raises(InputError, match=r"certainties in \[0.5, 1\]"):
        trade_off(example().review(), range(5), evidence(2), None, (0.2,))
    with pytest.raises(InputError, match="must have pairs"):
        trade_off(example().review(), [], evidence(2))
