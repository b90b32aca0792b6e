"""Databases that differ only in what is not disclosed look alike, cost alike, refuse alike."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review.kapr_oracle import KINDS, Case, cases, clicks, table_2

from sfumato.review.review_settings import Costs, Floor, Mode
from sfumato.review.worker_state import Charge, CombinedState, Opening, Refusal, WorkerState

HIDDEN = {"costs": Costs.BOUND}


def looks(worker: WorkerState) -> dict[int, Any]:
    """What the worker sees of the values."""
    return {pair: worker.render(pair) for pair in worker.account.shown}


def told(worker: WorkerState) -> Any:
    """What else the worker is told: costs, refusals, what is spent and left."""
    costs = {pair: worker.costs(pair) for pair in worker.account.shown}
    return costs, worker.score, worker.left, worker.characters


def answered(answer: Charge | Refusal) -> Refusal | None:
    """A refusal and its number; of a charge nothing, as it belongs to what is then seen."""
    return answer if isinstance(answer, Refusal) else None


def compare(one: WorkerState, two: WorkerState, asked: list) -> int:
    """Do the same in both as long as they look alike; return the number of steps."""
    for step, (number, opening) in enumerate(asked):
        pair = number % len(one.pairs)
        acts: tuple[Callable[[WorkerState], Charge | Refusal], ...] = (
            lambda worker, pair=pair: worker.show(pair),  # type: ignore[misc]
            lambda worker, pair=pair, opening=opening: worker.open(pair, opening),  # type: ignore[misc]
        )
        for act in acts:
            if act is acts[1] and one.account.modes(pair) is None:
                continue
            answers = act(one), act(two)
            assert answered(answers[0]) == answered(answers[1])
            if looks(one) != looks(two):
                return step
            assert answers[0] == answers[1]
            assert told(one) == told(two)
    return len(asked)


@given(cases(**HIDDEN), clicks(), st.data())
def test_records_exchanged(case: Case, asked: list, data: st.DataObject) -> None:
    """The records behind the rows are other ones of the database."""
    order = data.draw(st.permutations(range(len(case.columns[0]))))
    pairs = range(len(case.pairs))
    one = WorkerState(case.review(), pairs)
    two = WorkerState(case.permuted(order).review(), pairs)
    compare(one, two, asked)


OTHERS = (
    {"x": "y", "y": "z", "z": "x"},
    {"ann": "bob", "bob": "ann", "anna": "zoey", "ANN": "BOB"},
)


@given(cases(**HIDDEN), clicks(), st.sampled_from(OTHERS))
def test_values_renamed(case: Case, asked: list, names: dict[str, str]) -> None:
    """Values are others of the same length, one to one."""
    columns = tuple(
        tuple(None if value is None else names.get(value, value) for value in column)
        for column in case.columns
    )
    pairs = range(len(case.pairs))
    one = WorkerState(case.review(), pairs)
    two = WorkerState(case.with_columns(columns).review(), pairs)
    compare(one, two, asked)


def test_the_comparison_is_not_empty() -> None:
    """Records 1 and 2 of the example look alike masked and partly, in another order."""
    case = table_2(policy="consistent", costs=Costs.BOUND)
    asked = [(0, Opening((1,), Mode.PARTIAL)), (0, Opening((2,), Mode.FULL))]
    one = WorkerState(case.review(), range(6))
    two = WorkerState(case.permuted([1, 0, 2, 3]).review(), range(6))
    assert compare(one, two, asked) == 2


def test_exact_costs_do_interfere() -> None:
    """The same comparison finds the leak: a name of one record costs more than one of three."""
    columns = (("ann", "bob", "ann", "ann", "bob", "eva"),)
    rules = {"policy": "consistent", "k_floor": Floor.REPORT}
    found = {}
    for costs in Costs:
        case = table_2(costs=costs, **rules)
        case = Case(KINDS[0][0:1], columns, ((0, 1),), case.settings)
        workers = [
            WorkerState(each.review(), [0]) for each in (case, case.permuted([0, 5, 2, 3, 4, 1]))
        ]
        for worker in workers:
            worker.show(0)
        one, two = workers
        found[costs] = [a.cost - b.cost for a, b in zip_longest(one.costs(0), two.costs(0))]
    assert found[Costs.BOUND] == [0.0]
    assert found[Costs.EXACT] != [0.0]


@given(cases(**HIDDEN, project_budget=0.4), clicks(), clicks(), st.data())
def test_what_others_saw_is_not_told(
    case: Case, mine: list, others: list, data: st.DataObject
) -> None:
    """Where the project has spent as much, a worker is told the same, whatever others saw."""
    order = data.draw(st.permutations(range(len(case.columns[0]))))
    sides = []
    for each in (case, case.permuted(order)):
        review = each.review()
        combined = CombinedState(review)
        pairs = range(len(case.pairs))
        workers = [WorkerState(review, pairs, combined=combined) for _ in range(2)]
        for worker, asked in zip(workers, (mine, others), strict=True):
            for number, opening in asked:
                pair = number % len(case.pairs)
                if isinstance(worker.show(pair), Charge):
                    worker.open(pair, opening)
        sides.append((workers, combined))
    ((one, other), spent), ((two, another), spent_too) = sides
    same = (
        looks(one) == looks(two)
        and spent.units == spent_too.units
        and other.account.shown == another.account.shown
    )
    if same:
        assert told(one) == told(two)


def test_a_fixed_mask_hides_how_much_differs() -> None:
    """One of three characters or one of five: the cost of disclosing it is told alike."""
    columns = (("ann", "anx", "bobby", "bobbi"),)
    case = table_2(policy="consistent", mask_width="fixed")
    case = Case(KINDS[0][0:1], columns, ((0, 1),), case.settings)
    one, two = (WorkerState(each.review(), [0]) for each in (case, case.permuted([2, 3, 0, 1])))
    for worker in (one, two):
        worker.show(0)
    assert looks(one) == looks(two)
    assert len(one.costs(0)) == 2
    assert told(one) == told(two)


def test_a_refusal_of_the_project_tells_nothing_of_what_others_saw() -> None:
    """Another worker knows the races, which would make the names cheap or dear."""
    columns = (("ann", "ann", "ann", "bob", "bob", "bob"), ("x", "y", "y", "x", "x", "y"))
    attributes = (KINDS[0][0], KINDS[2][0])
    rules = table_2(policy="consistent", project_budget=0.6).settings
    case, refusals, increases = Case(attributes, columns, ((0, 5),), rules), [], []
    for each in (case, case.permuted([1, 0, 2, 5, 4, 3])):
        review = each.review()
        combined = CombinedState(review)
        one, other = (WorkerState(review, [0], combined=combined) for _ in range(2))
        for worker in (one, other):
            worker.show(0)
        assert isinstance(other.open(0, Opening((1,), Mode.FULL)), Charge)
        name = Opening((0,), Mode.FULL)
        increases.append(combined.exact(0, (Mode.FULL, Mode.MASKED)) / 1e9)
        refusals.append((one.render(0), one.costs(0), one.open(0, name)))
    assert increases == pytest.approx([10 / 3, 4 / 3])
    assert refusals[0] == refusals[1]
    assert isinstance(refusals[0][2], Refusal)
