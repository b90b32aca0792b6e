"""A worker's state: incremental as from scratch, order-free, never above the bound, kept."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import pytest
from few_cases import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from review.kapr_oracle import TABLE_2, Case, Scratch, cases, clicks, table_2

from sfumato.core.errors import InputError
from sfumato.review.disclosure_account import row_units, units_of
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    Costs,
    Floor,
    Mode,
    NamePart,
    Policy,
    Settings,
)
from sfumato.review.worker_state import Charge, Opening, Reason, Refusal, WorkerState

FREE = {"k": 1, "budget": None, "k_floor": Floor.REPORT}
"""Rules that refuse nothing."""
few = settings(max_examples=examples(40))


def start(case: Case, rows: int | None = None) -> WorkerState:
    return WorkerState(case.review(), range(len(case.pairs)), rows)


def act(worker: WorkerState, asked: Iterable[tuple[int, Opening]]) -> None:
    """Show and open, whatever the answers."""
    for number, opening in asked:
        pair = number % len(worker.pairs)
        if isinstance(worker.show(pair), Charge):
            worker.open(pair, opening)


# ------------------------------------------------------------------------------ what it is worth


@given(cases(), clicks())
def test_incremental_is_from_scratch(case: Case, asked: list) -> None:
    worker, oracle = start(case), Scratch(case)
    act(worker, asked)
    rows = oracle.rows(worker.account.shown)
    found = {(row.pair, row.side): (list(row.shares), row.set_size) for row in worker.disclosed()}
    assert found == rows
    assert worker.units == sum(row_units(sum(p), size) for p, size in rows.values())
    characters = sum((sum(shares) for shares, _ in rows.values()), Fraction(0))
    assert worker.characters == pytest.approx(float(characters / (worker.rows * 3)))


@given(cases(**FREE), clicks(), st.randoms(use_true_random=False))
def test_any_order_gives_the_same_number(case: Case, asked: list, random: object) -> None:
    """Property 4.2."""
    one, two = start(case), start(case)
    act(one, asked)
    shuffled = list(asked)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    act(two, shuffled)
    assert one.account.shown == two.account.shown
    assert one.units == two.units


@given(cases(k_floor=Floor.REFUSE), clicks())
def test_the_score_is_in_range_and_never_falls(case: Case, asked: list) -> None:
    """Properties 4.3 and 4.4; sets never grow, and none of a row that shows is below k."""
    worker = start(case)
    scores = [worker.score]
    for each in asked:
        act(worker, [each])
        scores.append(worker.score)
        assert all(row.set_size >= case.settings.k for row in worker.disclosed() if any(row.shares))
    assert all(0 <= score <= 1 for score in scores)
    assert all(before <= after for before, after in pairwise(scores))
    if case.settings.budget is not None:
        limit = units_of(case.settings.budget, case.settings.k, worker.rows, 3)
        assert worker.units <= limit or case.settings.budget == 1


@given(cases(**FREE, costs=Costs.BOUND), clicks())
def test_the_bound_is_never_below_the_charge(case: Case, asked: list) -> None:
    worker = start(case)
    act(worker, asked)
    for pair in range(len(case.pairs)):
        fresh = worker.account.modes(pair) is None
        account = worker.account
        after = worker.review.start(pair)
        if fresh:
            steps = account.steps(pair, after)
            bound = account.bound(steps)
            assert bound.units >= account.exact(steps).units == worker.show(pair).units  # type: ignore[union-attr]
        for cost in worker.costs(pair):
            copy = WorkerState.restored(worker.review, worker.state())
            charge = copy.open(pair, cost.opening)
            assert isinstance(charge, Charge)
            assert charge.cost <= cost.cost


@few
@given(cases(**FREE, costs=Costs.EXACT), clicks())
def test_an_exact_cost_is_the_charge(case: Case, asked: list) -> None:
    worker = start(case)
    act(worker, asked)
    for pair in worker.account.shown:
        for cost in worker.costs(pair):
            copy = WorkerState.restored(worker.review, worker.state())
            charge = copy.open(pair, cost.opening)
            assert isinstance(charge, Charge)
            assert charge.cost == cost.cost
            assert charge.units == copy.units - worker.units


@few
@given(cases(), clicks())
def test_a_refusal_that_was_told_is_the_answer(case: Case, asked: list) -> None:
    worker = start(case)
    act(worker, asked)
    for pair in worker.account.shown:
        for cost in worker.costs(pair):
            copy = WorkerState.restored(worker.review, worker.state())
            answer = copy.open(pair, cost.opening)
            assert (answer if isinstance(answer, Refusal) else None) == cost.refusal
            if cost.refusal:
                assert copy.units == worker.units
                assert copy.modes(pair) == worker.modes(pair)


@few
@given(cases(costs=Costs.BOUND, mask_width="true", policy=Policy.CONSISTENT, **FREE), clicks())
def test_the_bound_is_reached_by_some_record_of_the_set(case: Case, asked: list) -> None:
    """Of one cell: the dearest over the records that the row could show, and no more."""
    worker, oracle = start(case), Scratch(case)
    act(worker, asked)
    for pair in worker.account.shown:
        for cost in worker.costs(pair):
            if len(cost.opening.attributes) > 1 or cost.opening.mode is not Mode.FULL:
                continue
            (place,) = cost.opening.attributes
            units = 0
            for side, record in enumerate(case.pairs[pair]):
                if oracle.values[record][place] is None:
                    continue
                rows = {row[:2]: row for row in worker.disclosed()}
                members = worker.account.members(record)
                least = min(
                    sum(
                        oracle.values[other][place] == oracle.values[each][place]
                        for other in members
                    )
                    for each in members
                )
                for (its, at), row in rows.items():
                    if case.pairs[its][at] == record:
                        after = list(row.shares)
                        if (its, at) == (pair, side):
                            after[place] = Fraction(1)
                        units += row_units(sum(after), least)
                        units -= row_units(sum(row.shares), row.set_size)
            assert cost.cost == pytest.approx(units / (worker.rows * 3 * 10**9))


# ------------------------------------------------------------------------------ asking


@few
@given(cases(), clicks())
def test_what_is_open_costs_nothing(case: Case, asked: list) -> None:
    worker = start(case)
    act(worker, asked)
    for pair, modes in dict(worker.account.shown).items():
        for place, mode in enumerate(modes):
            assert worker.open(pair, Opening((place,), mode)) == Charge(0, 0.0)
            assert worker.open(pair, Opening((place,), Mode.MASKED)) == Charge(0, 0.0)
        assert worker.show(pair) == Charge(0, 0.0)
        assert worker.modes(pair) == modes


def test_openings_are_cells_the_name_and_everything() -> None:
    names = tuple(
        Attribute(name=part, kind=AttributeKind.VARIABLE, name_part=part) for part in NamePart
    )
    case = Case(
        (*names, TABLE_2[2]),
        (("ann", "anna"), ("smith", "smyth"), ("x", "y")),
        ((0, 1),),
        Settings(budget=None),
    )
    worker = start(case)
    worker.show(0)
    assert tuple(cost.opening for cost in worker.costs(0)) == (
        Opening((0,), Mode.PARTIAL),
        Opening((0,), Mode.FULL),
        Opening((1,), Mode.PARTIAL),
        Opening((1,), Mode.FULL),
        Opening((2,), Mode.FULL),
        Opening((0, 1), Mode.PARTIAL),
        Opening((0, 1), Mode.FULL),
        Opening((0, 1, 2), Mode.FULL),
    )
    worker.open(0, Opening((0, 1, 2), Mode.PARTIAL))
    assert worker.modes(0) == (Mode.PARTIAL, Mode.PARTIAL, Mode.MASKED)
    worker.open(0, Opening((0, 1, 2), Mode.FULL))
    assert worker.costs(0) == ()


def test_a_pair_must_be_mine_and_shown() -> None:
    worker = WorkerState(table_2().review(), [1, 2])
    for pair in (0, 9, -1):
        with pytest.raises(InputError, match="worker's task"):
            worker.show(pair)
    for ask in (worker.modes, worker.costs, worker.render):
        with pytest.raises(InputError, match="shown first"):
            ask(1)
    worker.show(1)
    with pytest.raises(InputError, match="attributes of the review"):
        worker.open(1, Opening((3,), Mode.FULL))


@pytest.mark.parametrize(("pairs", "rows"), [([6], None), ([-1], None), ([0, 1], 3)])
def test_a_task_must_fit(pairs: list[int], rows: int | None) -> None:
    with pytest.raises(InputError):
        WorkerState(table_2().review(), pairs, rows)


def test_a_task_without_pairs_scores_0() -> None:
    worker = WorkerState(table_2().review(), [])
    assert worker.score == worker.characters == 0


# ------------------------------------------------------------------------------ faults of others


def test_one_more_masked_pair_does_not_lower_the_score() -> None:
    worker = WorkerState(table_2().review(), range(6))
    worker.show(0)
    worker.open(0, Opening((0, 1, 2), Mode.FULL))
    before = worker.score
    for pair in range(1, 6):
        worker.show(pair)
        assert worker.score == before > 0


def test_the_starting_state_is_charged() -> None:
    worker = WorkerState(table_2(start=Mode.FULL).review(), range(6))
    charges = [worker.show(pair) for pair in range(6)]
    assert all(isinstance(charge, Charge) and charge.units > 0 for charge in charges)
    assert worker.score == pytest.approx(0.75)


def test_a_starting_state_beyond_the_budget_is_not_shown() -> None:
    worker = WorkerState(table_2(start=Mode.FULL, budget=0.2).review(), range(6))
    assert isinstance(worker.show(0), Charge)
    answer = worker.show(1)
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.BUDGET
    assert worker.account.modes(1) is None
    with pytest.raises(InputError, match="shown first"):
        worker.render(1)


def test_lengths_and_rarity_marks_narrow_the_set() -> None:
    """Masked, they show: the value that is opened later is dearer for it."""
    name = TABLE_2[0]
    columns = (("ann", "bob", "eva", "max", "annabel", "ann"),)
    for attribute, width, size in (
        (name, "true", 5),
        (name, "fixed", 6),
        (name.model_copy(update={"rarity": True}), "fixed", 4),
        (name.model_copy(update={"rarity": True}), "true", 3),
    ):
        rules = Settings(budget=None, mask_width=width, rare_below=2, common_from=9)
        worker = start(Case((attribute,), columns, ((1, 2),), rules))
        worker.show(0)
        assert [row.set_size for row in worker.disclosed()] == [size] * 2


def test_an_identity_mark_narrows_the_set() -> None:
    worker = start(
        Case(TABLE_2[:1], (("ann", "ann", "bob", "eva"),), ((0, 1),), Settings(budget=None))
    )
    worker.show(0)
    assert [row.set_size for row in worker.disclosed()] == [2, 2]


def test_what_was_seen_in_another_pair_counts() -> None:
    """Initials here, the year there: together they name the record."""
    columns = (("ann", "anx", "bob", "box"), ("x", "y", "y", "x"))
    attributes = (TABLE_2[0], TABLE_2[2])
    sizes = {}
    for policy in Policy:
        case = Case(attributes, columns, ((0, 1), (0, 2)), Settings(budget=None, policy=policy))
        worker = start(case)
        for pair in (0, 1):
            worker.show(pair)
        worker.open(0, Opening((0,), Mode.PARTIAL))
        alone = worker.units
        worker.open(1, Opening((1,), Mode.FULL))
        sizes[policy] = [row.set_size for row in worker.disclosed()][::2]
        assert worker.units > alone
    assert sizes == {Policy.PAPER: [1, 2], Policy.CONSISTENT: [1, 1]}


def test_exact_costs_are_told_and_charged_alike() -> None:
    """Hover and click."""
    worker = WorkerState(table_2(costs=Costs.EXACT).review(), range(6))
    worker.show(1)
    for cost in worker.costs(1):
        copy = WorkerState.restored(worker.review, worker.state())
        assert copy.open(1, cost.opening) == Charge(copy.units, copy.score, below_k=False)
        assert copy.score == cost.cost


def test_a_budget_is_not_passed() -> None:
    worker = WorkerState(table_2(budget=0.1, costs=Costs.EXACT).review(), range(6))
    for pair in range(6):
        worker.show(pair)
        for place in range(3):
            worker.open(pair, Opening((place,), Mode.FULL))
    assert 0 < worker.score <= 0.1
    assert worker.left == pytest.approx(0.1 - worker.score)
    assert {cost.refusal.reason for cost in worker.costs(5) if cost.refusal} == {Reason.BUDGET}


def test_a_budget_of_1_holds_everything() -> None:
    """Rounding up to units takes nothing from it: with the floor kept KAPR cannot pass 1."""
    columns = (("ann",) * 3, ("x",) * 3)
    rules = Settings(k=3, budget=1.0)
    worker = start(Case((TABLE_2[0], TABLE_2[2]), columns, ((0, 1), (1, 2)), rules))
    for pair in (0, 1):
        worker.show(pair)
        assert isinstance(worker.open(pair, Opening((0, 1), Mode.FULL)), Charge)
    assert worker.score == 1.0
    assert worker.left is None


# ------------------------------------------------------------------------------ kept and restored


@given(cases(), clicks())
def test_the_state_determines_the_score(case: Case, asked: list) -> None:
    """Restoring recomputes the units from the modes alone, through JSON, and refunds nothing."""
    worker = start(case, rows=20)
    act(worker, asked)
    state = json.loads(json.dumps(worker.state()))
    again = WorkerState.restored(worker.review, state)
    assert (again.units, again.score, again.rows) == (worker.units, worker.score, 20)
    assert again.state() == worker.state()
    assert again.disclosed() == worker.disclosed()
    for pair in worker.account.shown:
        assert again.costs(pair) == worker.costs(pair)
        assert again.render(pair) == worker.render(pair)


@few
@given(cases(), clicks())
def test_a_state_holds_no_value(case: Case, asked: list) -> None:
    worker = start(case)
    act(worker, asked)
    text = json.dumps(worker.state())
    assert not any(
        value in text for column in case.columns for value in column if value and len(value) > 1
    )


@pytest.mark.parametrize(
    "change",
    [
        {"pairs": None},
        {"pairs": ["a"]},
        {"pairs": [7]},
        {"rows": "12"},
        {"rows": 2},
        {"modes": {"0": "3xx"}},
        {"modes": {"0": "00"}},
        {"modes": {"0": "001"}},
        {"modes": {"zero": "000"}},
        {"modes": {"9": "000"}},
        {"modes": {"0": 0}},
    ],
)
def test_a_damaged_state_is_not_restored(change: dict) -> None:
    worker = WorkerState(table_2().review(), range(6))
    worker.show(0)
    with pytest.raises(InputError):
        WorkerState.restored(worker.review, {**worker.state(), **change})


def test_a_state_of_another_task_is_not_restored() -> None:
    worker = WorkerState(table_2().review(), [0, 1])
    worker.show(0)
    with pytest.raises(InputError, match="worker's task"):
        WorkerState.restored(worker.review, {**worker.state(), "pairs": [1]})


@few
@given(cases(), clicks())
def test_reviews_with_the_same_rules_agree(case: Case, asked: list) -> None:
    """Another process restores the same: nothing hangs on what is cached."""
    assume(asked)
    worker = start(case)
    act(worker, asked)
    assert WorkerState.restored(case.review(), worker.state()).units == worker.units
