"""What rules would do to pairs: against what a worker meets who opens everything by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from review.kapr_oracle import Case, cases, table_2

from sfumato.review import review_forecast as module
from sfumato.review.review_forecast import Outlook, expected_units, outlook
from sfumato.review.review_settings import Floor, Mode, Policy
from sfumato.review.worker_state import Opening, Reason, Refusal, WorkerState

few = settings(max_examples=examples(40))


def outlook_of(case: Case) -> Outlook:
    return outlook(case.review(), np.random.default_rng(1))


@few
@given(cases(k=1, budget=None, start=Mode.MASKED, k_floor=Floor.REFUSE))
def test_without_limits_everything_is_opened(case: Case) -> None:
    found, worker = outlook_of(case), WorkerState(case.review(), range(len(case.pairs)))
    for pair in worker.pairs:
        worker.show(pair)
        worker.open(pair, Opening((0, 1, 2), Mode.FULL))
    assert found.spent == worker.score
    assert found.cells == found.openable == found.opened
    assert found.pairs == found.shown == found.workable == len(case.pairs)
    held = [any(row[place] is not None for row in rows(case, pair)) for pair in worker.pairs
            for place in range(3)]  # fmt: skip
    assert found.cells == sum(held)


def rows(case: Case, pair: int) -> list[list[str | None]]:
    """The two rows of a pair."""
    return [[column[record] for column in case.columns] for record in case.pairs[pair]]


@few
@given(cases(budget=None, policy=Policy.PAPER, k_floor=Floor.REFUSE))
def test_the_floor_is_what_a_worker_meets_at_each_pair(case: Case) -> None:
    """Under the paper's policy no pair bears on another: each worker begins anew."""
    openable, shown, costs = [0] * 3, 0, [0.0] * 3
    for pair in range(len(case.pairs)):
        worker = WorkerState(case.review(), [pair], 2 * len(case.pairs))
        if isinstance(worker.show(pair), Refusal):
            continue
        shown += 1
        for each in worker.costs(pair):
            if len(each.opening.attributes) == 1 and each.opening.mode is Mode.FULL:
                openable[each.opening.attributes[0]] += each.refusal is None
                costs[each.opening.attributes[0]] += 0 if each.refusal else each.cost
                assert each.refusal is None or each.refusal.reason is Reason.FLOOR
    found = outlook_of(case)
    assert found.shown == shown
    for mine, alone, cost in zip(found.attributes, openable, costs, strict=True):
        assert alone <= mine.openable
        assert mine.opened <= mine.openable
        if alone == mine.openable:
            assert mine.cost == pytest.approx(cost)


def test_a_cell_that_others_make_openable_counts() -> None:
    """One race is one person's; both who were born on that day have the other."""
    day = "08/09/1964"
    columns = ((None,) * 5, (day, None, day, None, None), ("y", None, "y", None, "x"))
    rules = table_2(k=2, k_floor=Floor.REFUSE, start=Mode.MASKED)
    found = outlook_of(replace(rules, columns=columns, pairs=((0, 1),)))
    _, born, race = found.attributes
    assert (born.openable, born.opened) == (race.openable, race.opened) == (1, 1)
    assert born.cost == race.cost == pytest.approx(1 / 6)


def test_cells_of_pairs_that_are_not_shown_count_as_closed() -> None:
    found = outlook_of(table_2(start=Mode.PARTIAL, k=5))
    assert found.shown < found.pairs
    assert found.cells > 3 * found.shown
    assert found.workable <= found.shown


@few
@given(cases(budget=0.3, k_floor=Floor.REFUSE))
def test_no_budget_is_exceeded(case: Case) -> None:
    found = outlook_of(case)
    assert found.spent <= 0.3
    assert found.opened <= found.cells
    assert found.workable <= found.shown <= found.pairs


@pytest.mark.parametrize(("budget", "project_budget"), [(0.3, None), (None, 0.3), (0.3, 0.9)])
def test_the_smaller_budget_is_spread_over_all_pairs(
    budget: float | None, project_budget: float | None
) -> None:
    case = table_2(budget=budget, project_budget=project_budget)
    found = outlook_of(case)
    free = outlook_of(table_2())
    assert free.opened == free.cells
    assert 0 < found.opened < free.opened
    assert found.workable == 6
    assert found.spent <= 0.3


def test_of_many_pairs_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PAIRS", 4)
    found = outlook_of(table_2())
    assert found.pairs == found.shown == 4
    assert found.cells == 4 * 3
    assert found.spent == pytest.approx(0.75, abs=0.25), "the same share of a smaller task"


def test_what_is_open_at_first_needs_no_opening() -> None:
    found = outlook_of(table_2(start=Mode.FULL))
    assert (found.cells, found.opened) == (0, 0)
    assert found.workable == found.shown == 6


def opened_by(case: Case, pair: int, chance: dict[tuple[int, Mode], float], curious: float) -> int:
    """What a reader is charged who opens all cells that at least such a share of them open."""
    reader = WorkerState(case.review().with_budgets(None, None), [pair])
    if isinstance(reader.show(pair), Refusal):
        return 0
    for place, mode in sorted(chance, key=lambda cell: -chance[cell]):
        if chance[place, mode] >= curious:
            reader.open(pair, Opening((place,), mode))
    return reader.units


@few
@given(cases(), st.randoms(use_true_random=False))
def test_a_pair_costs_what_readers_who_open_as_much_as_others_pay(case: Case, random: Any) -> None:
    review = case.review()
    readings = [
        (pair, tuple(random.choice([Mode.MASKED, *each]) for each in review.facts(pair).offered))
        for pair in (random.randrange(review.pairs) for _ in range(7))
    ]
    found = expected_units(review, range(review.pairs), readings)
    for pair in range(review.pairs):
        facts, chance = review.facts(pair), {}
        for place, modes in enumerate(facts.offered):
            alike = [
                own[place]
                for other, own in readings
                if review.facts(other).comparisons[place].status is facts.comparisons[place].status
            ]
            for mode in modes:
                chance[place, mode] = (sum(each >= mode for each in alike) + 1) / (len(alike) + 1)
        ends = [0.0, *sorted(set(chance.values())), 1.0]
        mean = sum(
            (high - low) * opened_by(case, pair, chance, high) for low, high in pairwise(ends)
        )
        assert found[pair] == pytest.approx(mean)


def test_what_nobody_opens_makes_a_pair_cheap() -> None:
    review = table_2(start=Mode.MASKED, budget=None, project_budget=None).review()
    everything = expected_units(review, range(review.pairs), ())
    seldom = expected_units(review, range(review.pairs), [(0, (Mode.MASKED,) * 3)] * 9)
    often = expected_units(review, range(review.pairs), [(0, (Mode.FULL,) * 3)] * 9)
    assert seldom[0] == pytest.approx(everything[0] / 10)
    assert often.tolist() == everything.tolist()
