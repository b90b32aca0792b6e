"""Quality with truth against counting pair by pair; by checks, intervals that hold the truth."""

import itertools

import numpy as np
import pytest
from few_cases import fast_first
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.linkage.linkage_quality import (
    LEAST,
    checked_quality,
    draw_checks,
    plan_checks,
    quality_of_pairs,
    weights,
)
from sfumato.linkage.linkage_result import unless_contradicted
from sfumato.linkage.person_clusters import expected_quality


@st.composite
def labellings(draw):
    size = draw(st.integers(1, 10))
    columns = [draw(st.lists(st.integers(low, 3), min_size=size, max_size=size)) for low in (0, -1)]
    source = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    return (*(np.array(each) for each in columns), np.array(source))


@given(labellings(), st.booleans())
def test_pairs_agree_with_counting_them(labels, across):
    person, truth, source = labels
    counted = [0, 0, 0]
    for i, j in itertools.combinations(np.flatnonzero(truth >= 0), 2):
        if not across or source[i] != source[j]:
            found, true = person[i] == person[j], truth[i] == truth[j]
            counted = [a + b for a, b in zip(counted, (found & true, found, true), strict=True)]
    quality = quality_of_pairs(person, truth, source if across else None)
    assert [quality.right, quality.found, quality.true] == counted
    right, found, true = counted
    assert quality.rates.precision == (right / found if found else 1)
    assert quality.rates.recall == (right / true if true else 1)


def test_quality_by_the_model():
    precision, recall = expected_quality(
        np.array([0.9, 0.7, 0.2]), np.array([True, True, False]), lost=0.2
    )
    assert (precision.value, recall.value) == (pytest.approx(0.8), pytest.approx(0.8))
    assert (precision.estimator, recall.estimator) == ("model", "model")
    assert "blocking has lost" in recall.why
    nothing = expected_quality(np.zeros(2), np.zeros(2, dtype=bool))
    assert [each.value for each in nothing] == [1, 1]


EXPECTED = {"precision": 0.99, "recall": 0.9, "false_matches": 3.0, "pairs_to_review": 7}


@pytest.mark.parametrize(
    ("precision", "recall", "names"),
    [
        ((0.98, 1.0), (0.9, 0.95), []),
        ((0.2, 0.989), (0.8, 0.95), ["precision"]),
        ((0.98, 1.0), (0.91, 0.95), ["recall"]),
        ((0.991, 1.0), (0.1, 0.2), ["precision", "recall"]),
    ],
)
def test_what_checks_contradict_is_not_said(precision, recall, names):
    ends = {"precision": precision, "recall": recall}
    checks = {name: {"value": 0.5, "low": low, "high": high} for name, (low, high) in ends.items()}
    found = unless_contradicted(EXPECTED, {"drawn": 9, **checks})
    assert found.get("contradicted", []) == names
    if not names:
        assert found == EXPECTED
        return
    assert found["precision"] is found["recall"] is found["false_matches"] is None
    assert found["pairs_to_review"] == 7
    assert unless_contradicted(found, checks) == found
    assert unless_contradicted(EXPECTED, {"drawn": 9}) == unless_contradicted(EXPECTED, None)


def candidates(rng, pairs=20_000):
    """Scores as a linkage has them: most near 0 or 1."""
    return np.where(rng.random(pairs) < 0.3, rng.beta(12, 0.4, pairs), rng.beta(0.1, 6, pairs))


def test_a_plan_promises_the_width_with_few_pairs():
    score = candidates(np.random.default_rng(1))
    wide, narrow = (plan_checks(score, 0.9, width) for width in (0.05, 0.02))
    for plan, width in ((wide, 0.05), (narrow, 0.02)):
        assert plan.precision_half_width <= width
        assert plan.recall_half_width <= width
        assert plan.pairs.sum() == len(score)
        assert np.all(plan.size <= plan.pairs)
        assert np.all(plan.size >= np.minimum(plan.pairs, LEAST))
        assert np.all(plan.match == (plan.low >= 0.9))
        inside = (score[:, None] >= plan.low) & (score[:, None] < plan.high)
        assert np.all(inside.argmax(axis=1) == plan.stratum(score))
    assert wide.size.sum() < narrow.size.sum() < 0.2 * len(score)


def test_weights_are_the_derivatives_of_precision_and_recall():
    pairs, match = np.array([900, 80, 20]), np.array([False, False, True])

    def quality(share):
        true = pairs * share
        return np.array([share[2], true[2] / true.sum()])

    share, step = np.array([0.01, 0.2, 0.9]), 1e-6
    true = pairs @ share
    found = np.array(weights(pairs, match, true, quality(share)[1]))
    slopes = [(quality(share + step * unit) - quality(share)) / step for unit in np.eye(3)]
    assert found == pytest.approx(np.transpose(slopes), rel=1e-3)


def test_pairs_are_drawn_as_planned():
    score = candidates(np.random.default_rng(2))
    plan = plan_checks(score, 0.9, 0.03)
    drawn = draw_checks(plan, score, np.random.default_rng(3))
    assert len(set(drawn.tolist())) == len(drawn)
    assert np.bincount(plan.stratum(score[drawn])).tolist() == plan.size.tolist()
    again = draw_checks(plan, score, np.random.default_rng(4))
    assert drawn.tolist() != again.tolist()


@pytest.mark.parametrize("bent", fast_first(1, [1.0, 1.5]))
def test_intervals_hold_the_truth_as_often_as_they_say(bent):
    """Also where the model is too sure of itself: its scores only make the strata."""
    rng = np.random.default_rng(8)
    score = candidates(rng)
    truth = rng.random(len(score)) < score**bent
    called = score >= 0.9
    expected = (truth[called].mean(), truth[called].sum() / truth.sum())
    plan = plan_checks(score, 0.9, 0.03)
    held, widths, values = np.zeros(2), np.zeros(2), np.zeros(2)
    runs = 300
    for _ in range(runs):
        drawn = draw_checks(plan, score, rng)
        found = checked_quality(plan, score[drawn], truth[drawn])
        for i, (measure, true) in enumerate(zip(found, expected, strict=True)):
            assert measure.low <= measure.value <= measure.high
            held[i] += measure.low <= true <= measure.high
            widths[i] += (measure.high - measure.low) / 2 / runs
            values[i] += measure.value / runs
    assert np.all(held >= 0.92 * runs)
    assert np.all(widths <= 0.03 * 1.35)
    assert np.all(np.abs(values - expected) < 0.01)


def test_checking_every_pair_leaves_no_doubt():
    rng = np.random.default_rng(9)
    score = candidates(rng, 300)
    truth = rng.random(len(score)) < score
    plan = plan_checks(score, 0.5, 0.1)
    precision, recall = checked_quality(plan, score, truth)
    called = score >= 0.5
    assert precision.value == precision.low == precision.high == truth[called].mean()
    assert recall.low == recall.high == pytest.approx(truth[called].sum() / truth.sum())


def test_no_error_found_is_not_no_error():
    score = np.full(5_000, 0.99995)
    plan = plan_checks(score, 0.9, 0.02)
    seen = score[: plan.size[0]]
    precision, _ = checked_quality(plan, seen, np.ones(len(seen), dtype=bool))
    assert precision.value == 1
    assert 0.9 < precision.low < 0.999


def test_checks_that_cannot_be_used():
    score = np.array([0.2] * 20 + [0.95] * 20)
    plan = plan_checks(score, 0.9, 0.2)
    with pytest.raises(InputError, match="none of stratum 1 of 2"):
        checked_quality(plan, np.array([0.95]), np.array([True]))
    with pytest.raises(InputError, match="each be given once"):
        checked_quality(plan, np.append(score, 0.95), np.ones(41, dtype=bool))
    with pytest.raises(InputError, match="half_width"):
        plan_checks(score, 0.9, 0)
    with pytest.raises(InputError, match="one at least"):
        plan_checks(np.array([]), 0.9, 0.1)
