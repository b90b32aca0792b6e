"""Thresholds, the outcomes they give, what they cost, and probabilities corrected by labels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit

from sfumato.core.errors import InputError
from sfumato.linkage.match_thresholds import (
    ISOTONIC_FROM,
    OUTCOMES,
    Method,
    Outcome,
    Thresholds,
    after_review,
    calibrate,
    calibrated_by_answers,
    classify,
    curve,
    threshold_table,
    thresholds_for_rates,
    workload,
)

scores = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=1, max_size=25).map(np.array)
rates = st.sampled_from([0.0, 0.01, 0.05, 0.2, 0.5, 1.0])


def test_outcomes():
    score = np.array([0.0, 0.2, 0.5, 0.89, 0.9, 1.0])
    outcome = classify(score, Thresholds(0.2, 0.9))
    assert outcome.dtype == np.int8
    assert [OUTCOMES[code] for code in outcome] == [
        Outcome.NON_MATCH,
        *[Outcome.POSSIBLE_MATCH] * 3,
        *[Outcome.MATCH] * 2,
    ]
    assert classify(score, Thresholds(0.5, 0.5)).tolist() == [0, 0, 2, 2, 2, 2]
    assert classify(score, Thresholds(0.5, math.inf)).tolist() == [0, 0, 1, 1, 1, 1]


def test_outcomes_after_review():
    outcome = np.array([0, 1, 2, 1], dtype=np.int8)
    pair, result = np.array([0, 2, -1, 3]), np.array([1, 0, 1, -1], dtype=np.int8)
    assert after_review(outcome, pair, result).tolist() == [2, 1, 1, 0]
    assert outcome.tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("ends", [(0.9, 0.1), (-0.1, 0.5), (0.5, 1.1), (math.nan, 0.5)])
def test_thresholds_that_are_none(ends):
    with pytest.raises(InputError, match="threshold"):
        Thresholds(*ends)


@given(scores, st.integers(0, 20), st.integers(0, 20))
def test_the_workload_is_what_it_sums_up(score, one, other):
    lower, upper = sorted([one / 20, other / 20])
    work = workload(score, Thresholds(lower, upper))
    match = [p for p in score if p >= upper]
    dropped = [p for p in score if p < lower]
    between = [p for p in score if lower <= p < upper]
    counts = (work.matches, work.possible_matches, work.non_matches)
    assert counts == (len(match), len(between), len(dropped))
    assert work.false_matches == pytest.approx(sum(1 - p for p in match))
    assert work.missed_matches == pytest.approx(sum(dropped))
    assert work.found_in_review == pytest.approx(sum(between))
    if match:
        assert work.false_match_rate == pytest.approx(sum(1 - p for p in match) / len(match))
    if score.sum():
        assert work.missed_match_rate == pytest.approx(sum(dropped) / score.sum())


@given(scores, rates, rates)
def test_chosen_thresholds_keep_to_the_rates_with_the_least_review(score, false, missed):
    chosen = thresholds_for_rates(score, false_match_rate=false, missed_match_rate=missed)
    work = workload(score, chosen)
    assert work.false_match_rate <= false + 1e-9
    assert work.missed_match_rate <= missed + 1e-9
    ends = [*(n / 20 for n in range(21)), math.inf]
    for lower in ends[:-1]:
        for upper in ends:
            if lower <= upper:
                other = workload(score, Thresholds(lower, upper))
                if other.false_match_rate <= false and other.missed_match_rate <= missed:
                    assert work.possible_matches <= other.possible_matches


def test_rates_that_one_threshold_keeps_to_leave_nothing_to_review():
    score = np.array([0.001] * 50 + [0.4, 0.6] + [0.999] * 50)
    chosen = thresholds_for_rates(score, false_match_rate=0.1, missed_match_rate=0.1)
    assert chosen.lower == chosen.upper
    assert chosen.lower in {0.4, 0.6}
    assert workload(score, chosen).possible_matches == 0


def test_rates_that_no_threshold_keeps_to_leave_everything_to_people():
    score = np.full(10, 0.5)
    chosen = thresholds_for_rates(score, false_match_rate=0.01, missed_match_rate=0)
    assert chosen == Thresholds(0.5, math.inf)
    assert workload(score, chosen).possible_matches == 10


def test_wanted_rates_that_are_none():
    with pytest.raises(InputError, match="missed_match_rate must be a share"):
        thresholds_for_rates(np.array([0.5]), false_match_rate=0.1, missed_match_rate=1.5)
    with pytest.raises(InputError, match="one at least"):
        thresholds_for_rates(np.array([]), false_match_rate=0.1, missed_match_rate=0.1)


@given(scores)
def test_the_curve(score):
    found = curve(score)
    assert_array_equal(found.score, sorted(set(score)))
    for at, threshold in enumerate(found.score):
        above = score[score >= threshold]
        assert found.above[at] == len(above)
        assert found.precision[at] == pytest.approx(above.mean())
        if score.sum():
            assert found.recall[at] == pytest.approx(above.sum() / score.sum())


def test_the_table_of_thresholds():
    score = np.array([0.1, 0.3, 0.6, 0.9, 0.9])
    low, mid, none = threshold_table(score, thresholds=[0.95, 0.2, 0.6], lower=0.3, lost=1.2)
    assert (low.threshold, low.matches, low.review) == (0.2, 4, 0)
    assert low.precision == pytest.approx(2.7 / 4)
    assert (mid.matches, mid.review) == (3, 1)
    assert mid.recall == pytest.approx(2.4 / 2.8)
    assert mid.recall_of_all == pytest.approx(2.4 / 4)
    assert (none.matches, none.precision, none.recall, none.review) == (0, None, 0, 4)


@given(scores, st.integers(0, 20), st.integers(0, 20))
def test_the_table_agrees_with_the_workload(score, one, other):
    lower, upper = sorted([one / 20, other / 20])
    (row,) = threshold_table(score, thresholds=[upper], lower=lower)
    work = workload(score, Thresholds(lower, upper))
    assert (row.matches, row.review) == (work.matches, work.possible_matches)


def test_platt_scaling_finds_the_stretch_it_was_drawn_with():
    rng = np.random.default_rng(5)
    score = expit(rng.normal(0, 4, 40_000))
    match = rng.random(len(score)) < expit(0.6 * logit(score) - 1)
    found = calibrate(score, match, Method.PLATT)
    assert_allclose([found.slope, found.intercept], [0.6, -1], atol=0.05)
    assert found(score).sum() == pytest.approx(match.sum(), rel=0.001)


@pytest.mark.parametrize("count", [900, 40_000])
def test_wrong_answers_leave_the_stretch_as_it_is(count):
    """A fifth wrong, a number that the evidence knows: by both methods, as by right labels."""
    rng = np.random.default_rng(8)
    score = expit(rng.normal(0, 3, count))
    match = rng.random(count) < expit(0.8 * logit(score) - 0.5)
    said = match ^ (rng.random(count) < 0.2)
    found = calibrated_by_answers(score, np.where(said, 1, -1) * logit(0.8))
    assert found.method is (Method.PLATT if count < ISOTONIC_FROM else Method.ISOTONIC)
    true = expit(0.8 * logit(score) - 0.5)
    assert np.abs(found(score) - true).mean() < 0.03
    assert np.abs(calibrate(score, said)(score) - true).mean() > 0.06


def test_the_method_follows_the_number_of_labels():
    rng = np.random.default_rng(6)
    score = rng.random(ISOTONIC_FROM)
    match = rng.random(len(score)) < score**2
    assert calibrate(score[:-1], match[:-1]).method is Method.PLATT
    found = calibrate(score, match)
    assert (found.method, found.labels) == (Method.ISOTONIC, ISOTONIC_FROM)
    assert np.abs(found(score) - score**2).mean() < 0.05


def test_isotonic_regression_counts_every_label():
    score = np.repeat([0.3, 0.6], [98, 2])
    match = np.repeat([True, False, True, False], [49, 49, 0, 2])
    found = calibrate(score, match, Method.ISOTONIC)(np.array([0.3, 0.6]))
    assert_allclose(found, (49 * 50 / 51 + 51 / 53) / 100)  # one pool: the later share is lower


@pytest.mark.parametrize("method", Method)
def test_probabilities_never_fall_and_are_never_certain(method):
    rng = np.random.default_rng(7)
    score = np.append(rng.random(200), [0.0, 1.0])
    for match in (score > 0.5, score < 0.5, rng.random(len(score)) < 0.3):
        found = calibrate(score, match, method)(np.linspace(0.05, 0.95, 101))
        assert np.all(np.diff(found) >= -1e-12)
        assert np.all((found > 0) & (found < 1))


def test_labels_of_one_kind_are_refused():
    for match in (np.ones(3, dtype=bool), np.zeros(3, dtype=bool)):
        with pytest.raises(InputError, match="matches and non-matches"):
            calibrate(np.array([0.1, 0.5, 0.9]), match)
    with pytest.raises(InputError, match="matches and non-matches"):
        calibrate(np.array([]), np.array([], dtype=bool))


def test_thresholds_by_corrected_probabilities():
    score = np.linspace(0.01, 0.99, 99)
    chosen = thresholds_for_rates(
        score, false_match_rate=0.05, missed_match_rate=0.05, probability=score**3
    )
    plain = thresholds_for_rates(score, false_match_rate=0.05, missed_match_rate=0.05)
    assert chosen.upper > plain.upper
    work = workload(score, chosen, score**3)
    assert work.false_match_rate <= 0.05
    assert work.missed_match_rate <= 0.05
