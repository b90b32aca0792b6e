"""Workers who tell each other everything: the combined state, and the project's budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review.kapr_oracle import TABLE_2, Case, Scratch, cases, clicks, table_2

from sfumato.core.errors import InputError
from sfumato.review.disclosure_account import UNITS, row_units
from sfumato.review.review_settings import Costs, Floor, Mode, Settings
from sfumato.review.worker_state import Charge, CombinedState, Opening, Reason, Refusal, WorkerState

FREE = {"k": 1, "budget": None, "k_floor": Floor.REPORT}


def team(case: Case, *asked: list) -> tuple[CombinedState, list[WorkerState]]:
    """Workers with the same pairs, who did what they were asked, in turns."""
    review = case.review()
    combined = CombinedState(review)
    workers = [WorkerState(review, range(len(case.pairs)), combined=combined) for _ in asked]
    for worker, clicks_of in zip(workers, asked, strict=True):
        for number, opening in clicks_of:
            pair = number % len(case.pairs)
            if isinstance(worker.show(pair), Charge):
                worker.open(pair, opening)
    return combined, workers


@given(cases(), clicks(), clicks())
def test_together_they_know_at_least_what_each_knows(case: Case, first: list, second: list) -> None:
    combined, workers = team(case, first, second)
    for worker in workers:
        assert combined.units >= worker.units
    most: dict[int, tuple[Mode, ...]] = {}
    for worker in workers:
        for pair, modes in worker.account.shown.items():
            most[pair] = tuple(map(max, modes, most.get(pair, modes)))
    rows = Scratch(case).rows(most)
    assert combined.units == sum(row_units(sum(p), size) for p, size in rows.values())


@given(cases(**FREE), clicks())
def test_one_who_did_everything_is_the_combined_state(case: Case, asked: list) -> None:
    combined, (worker, _) = team(case, asked, [])
    assert combined.units == worker.units
    assert combined.score == worker.score


def test_two_halves_are_more_than_their_sum() -> None:
    """One opened the name of a record, one its race: each has a set of two, together one."""
    columns = (("ann", "ann", "bob", "bob"), ("x", "y", "y", "x"))
    case = Case((TABLE_2[0], TABLE_2[2]), columns, ((0, 2), (1, 3)), Settings(budget=None))
    combined, workers = team(case, [(0, Opening((0,), Mode.FULL))], [(0, Opening((1,), Mode.FULL))])
    assert [worker.units for worker in workers] == [UNITS, UNITS]
    assert combined.units == 4 * UNITS


@given(cases(project_budget=0.5, k_floor=Floor.REPORT), clicks(), clicks())
def test_the_projects_budget_is_not_passed(case: Case, first: list, second: list) -> None:
    combined, workers = team(case, first, second)
    assert combined.score <= 0.5 + 1e-12
    for worker in workers:
        for pair in worker.account.shown:
            for cost in worker.costs(pair):
                again = CombinedState(worker.review)
                copies = [
                    WorkerState.restored(worker.review, each.state(), again) for each in workers
                ]
                assert again.units == combined.units
                answer = copies[workers.index(worker)].open(pair, cost.opening)
                assert (answer if isinstance(answer, Refusal) else None) == cost.refusal


@given(cases(**FREE, costs=Costs.BOUND, project_budget=1.0), clicks(), clicks(), st.integers(0, 1))
def test_the_projects_bound_is_never_below_the_increase(
    case: Case, first: list, second: list, who: int
) -> None:
    combined, workers = team(case, first, second)
    worker = workers[who]
    for pair in range(len(case.pairs)):
        shown = worker.account.modes(pair)
        asked = [worker.review.start(pair)]
        if shown is not None:
            asked = [
                tuple(
                    max(mode, each) if each in offered else mode
                    for mode, offered in zip(shown, worker.review.facts(pair).offered, strict=True)
                )
                for each in (Mode.PARTIAL, Mode.FULL)
            ]
        for after in asked:
            if after == shown:
                continue
            steps = worker.account.steps(pair, after)
            bound = combined.bound(worker.account, steps, pair, after)
            assert bound >= combined.exact(pair, after) >= 0


def test_a_refusal_of_the_project() -> None:
    review = table_2(project_budget=0.1, costs=Costs.EXACT).review()
    combined = CombinedState(review)
    one, two = (WorkerState(review, range(6), combined=combined) for _ in range(2))
    one.show(0)
    two.show(1)
    assert isinstance(one.open(0, Opening((1,), Mode.FULL)), Charge)
    answer = two.open(1, Opening((0, 1, 2), Mode.FULL))
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.PROJECT_BUDGET
    two.show(0)
    assert two.open(0, Opening((1,), Mode.FULL)) == Charge(one.units, one.score)


def test_a_project_budget_needs_the_combined_state() -> None:
    with pytest.raises(InputError, match="project_budget"):
        WorkerState(table_2(project_budget=0.1).review(), range(6))


def test_the_rows_of_a_project_must_fit() -> None:
    with pytest.raises(InputError, match="rows of a project"):
        CombinedState(table_2().review(), rows=11)


@given(cases(), clicks(), clicks())
def test_restoring_counts_once(case: Case, first: list, second: list) -> None:
    combined, workers = team(case, first, second)
    before = combined.units
    for worker in workers:
        WorkerState.restored(worker.review, worker.state(), combined)
    assert combined.units == before
