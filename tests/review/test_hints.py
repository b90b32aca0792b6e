"""Which cell to open next: expectations over consistent values, never of the hidden one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from review.kapr_oracle import KINDS, Case, cases, clicks, table_2

from sfumato.review.hints import (
    Agreement,
    AttributeEvidence,
    Evidence,
    Level,
    belief,
    entropy,
    gain_of_levels,
    gain_of_value,
    hints,
    information,
    probability,
    read,
)
from sfumato.review.pair_rendering import compare_pair, render_pair, shown
from sfumato.review.review_settings import Costs, MaskWidth, Mode, RenderedPair
from sfumato.review.worker_state import Charge, WorkerState

NAME = AttributeEvidence(Level(0.8, 0.01), (Level(0.1, 0.02), Level(0.05, 0.1)), Level(0.05, 0.87))


def evidence(count: int) -> Evidence:
    """The same evidence for every attribute."""
    return Evidence(0.1, (NAME,) * count)


def rendered(one: str | None, two: str | None, mode: Mode = Mode.MASKED) -> RenderedPair:
    """A pair of names."""
    attribute = KINDS[0][0]
    comparisons = compare_pair([attribute], [shown(attribute, one)], [shown(attribute, two)])
    return render_pair([attribute], comparisons, [mode], MaskWidth.TRUE, [(None, None)])


@pytest.mark.parametrize(
    ("one", "two", "agreement", "similarity"),
    [
        ("mary", "mary", Agreement.SAME, 1.0),
        ("mary", "mark", Agreement.NEAR, 0.75),
        ("mary", "zoe", Agreement.OTHER, 0.0),
        ("mary", None, Agreement.UNKNOWN, None),
    ],
)
def test_what_a_masked_pair_says(
    one: str, two: str | None, agreement: Agreement, similarity: float | None
) -> None:
    for mode in Mode:
        reading = read(rendered(one, two, mode)[0])
        assert (reading.agreement, reading.similarity) == (agreement, similarity)
        assert reading.value == (one if one == two and mode is Mode.FULL else None)


def test_belief_adds_up_the_weights_of_the_levels() -> None:
    prior = math.log(0.1 / 0.9)
    for two, level in (("mary", NAME.same), ("mark", NAME.near[1]), ("zoe", NAME.other)):
        expected = probability(prior + math.log(level.m / level.u))
        assert belief(rendered("mary", two), evidence(1)) == pytest.approx(expected)
    assert belief(rendered("mary", None), evidence(1)) == pytest.approx(0.1)


shares = st.lists(st.floats(0, 1), min_size=1, max_size=6).filter(lambda each: sum(each) > 0.01)


@given(shares, shares, st.floats(0, 1))
def test_information_is_mutual_information(one: list, two: list, q: float) -> None:
    """H(outcome) - H(outcome | answer), the other way to write it."""
    size = min(len(one), len(two))
    p, r = np.array(one[:size]), np.array(two[:size])
    assume(p.sum() > 0.01 and r.sum() > 0.01)
    p, r = p / p.sum(), r / r.sum()

    def bits(share: np.ndarray) -> float:
        return -sum(each * math.log2(each) for each in share if each > 0)

    expected = bits(q * p + (1 - q) * r) - q * bits(p) - (1 - q) * bits(r)
    found = information(p, r, q)
    assert found == pytest.approx(expected, abs=1e-9)
    assert -1e-12 <= found <= float(entropy(q)) + 1e-12


def test_a_value_that_all_have_tells_nothing_a_rare_one_may() -> None:
    assert gain_of_value(np.array([7]), 0.5) == 0
    assert gain_of_value(np.array([5, 5, 5]), 0.5) == pytest.approx(0, abs=1e-12)
    assert gain_of_value(np.array([90, 1, 1]), 0.5) > 0
    assert gain_of_levels([Level(0.5, 0.5)], 0.5) == 0
    assert gain_of_levels(NAME.near, 0.5) > 0
    assert gain_of_levels(NAME.near, 1.0) == 0


def test_the_cell_that_tells_most_for_its_cost_comes_first() -> None:
    """Identical sex of two halves tells nothing; identical names of one frequent, six rare do."""
    names = ["ann"] * 4 + ["eva", "ida", "zoe", "amy", "kim", "lea"] * 2
    sexes = ["x", "y"] * 8
    case = table_2(policy="consistent", costs=Costs.BOUND)
    case = Case((KINDS[0][0], KINDS[2][0]), (tuple(names), tuple(sexes)), ((0, 2),), case.settings)
    worker = WorkerState(case.review(), [0])
    worker.show(0)
    found = hints(worker, 0, evidence(2))
    assert [each.opening.attributes for each in found] == [(0,)]
    assert found[0].gain > 0
    assert found[0].worth == found[0].gain / found[0].cost


@given(cases(costs=Costs.BOUND), clicks(), st.data())
def test_hints_do_not_interfere(case: Case, asked: list, data: st.DataObject) -> None:
    """Reviews that look alike give the same hints, whatever is behind the masks."""
    order = data.draw(st.permutations(range(len(case.columns[0]))))
    pairs = range(len(case.pairs))
    workers = [WorkerState(each.review(), pairs) for each in (case, case.permuted(order))]
    model = evidence(len(case.attributes))
    for number, opening in asked:
        pair = number % len(case.pairs)
        for worker in workers:
            if isinstance(worker.show(pair), Charge):
                worker.open(pair, opening)
        one, two = (
            {each: worker.render(each) for each in worker.account.shown} for worker in workers
        )
        if one != two:
            return
        for each in one:
            assert hints(workers[0], each, model) == hints(workers[1], each, model)
