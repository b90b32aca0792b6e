"""Conflicts, resolutions, kappa, alpha and gold pairs, against numbers worked out otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from sfumato.core.errors import InputError
from sfumato.review.review_decisions import (
    Answer,
    Confidence,
    Decisions,
    History,
    accuracy,
    drifts,
    find_conflicts,
    gold_needed,
)
from sfumato.review.reviewer_agreement import (
    agreement_of_all,
    agreement_of_each_two,
    agreement_of_two,
)

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def decided(*rows: tuple[str, str, int]) -> Decisions:
    """Answers: pair, worker, answer."""
    return Decisions.of(History(p, w).decide(Answer(a), NOON) for p, w, a in rows)


def two_workers(pairs: Sequence[tuple[int, int]]) -> Decisions:
    """Answers of ann and bob about each pair."""
    rows = [
        (f"p{n}", w, a) for n, both in enumerate(pairs) for w, a in zip("ab", both, strict=True)
    ]
    return decided(*rows)


def test_conflicts_are_answers_of_both_sides() -> None:
    """Far confidences of one side are none; the widest apart comes first; resolved ones last."""
    decisions = decided(
        *(("p1", "ann", 1), ("p1", "bob", 3)),
        *(("p2", "ann", 1), ("p2", "bob", -1)),
        *(("p3", "ann", 3), ("p3", "bob", -3), ("p3", "cyd", 1)),
        *(("p4", "ann", 3), ("p4", "bob", -3)),
        ("p5", "ann", 3),
    )
    resolved = History("p4", "eve").resolve(Answer.SAME_LOW, NOON)
    decisions = Decisions((*decisions.events, *resolved.events))
    found = find_conflicts(decisions)
    assert [each.pair for each in found] == ["p3", "p2", "p4"]
    assert [each.distance for each in found] == [5, 1, 5]
    assert [each.resolution for each in found] == [None, None, Answer.SAME_LOW]
    assert dict(found[1].answers) == {"ann": Answer.SAME_LOW, "bob": Answer.DIFFERENT_LOW}


def test_a_withdrawn_answer_is_in_no_conflict() -> None:
    """Nor does a reopened resolution hold; of two managers the later one does."""
    ann = History("p1", "ann").decide(Answer.SAME_HIGH, NOON)
    bob = History("p1", "bob").decide(Answer.DIFFERENT_HIGH, NOON)
    assert len(find_conflicts(Decisions.of([ann, bob]))) == 1
    assert not find_conflicts(Decisions.of([ann, bob.withdraw(NOON)]))
    eve = History("p1", "eve").resolve(Answer.SAME_LOW, NOON)
    fay = History("p1", "fay").resolve(Answer.DIFFERENT_LOW, NOON + timedelta(minutes=1))
    both = Decisions.of([ann, bob, eve, fay])
    assert both.resolutions == {"p1": ("fay", Answer.DIFFERENT_LOW)}
    reopened = fay.reopen(NOON + timedelta(minutes=2))
    assert Decisions.of([ann, bob, eve, reopened]).resolutions == {"p1": ("eve", Answer.SAME_LOW)}
    assert Decisions.of([ann, bob, eve.reopen(NOON)]).resolutions == {}


def _kappa(pairs: Sequence[tuple[int, int]], weight: str) -> Fraction | None:
    """Cohen's kappa from its definition, in fractions."""
    points, n = [-3, -2, -1, 1, 2, 3], len(pairs)
    if weight == "sides":
        points = [-1, 1]
        pairs = [(1 if a > 0 else -1, 1 if b > 0 else -1) for a, b in pairs]

    def off(i: int, j: int) -> int:
        return {"linear": abs(i - j), "quadratic": (i - j) ** 2}.get(weight, int(i != j))

    observed = Fraction(sum(off(points.index(a), points.index(b)) for a, b in pairs), n)
    expected = Fraction(
        sum(off(points.index(a), points.index(b)) for a, _ in pairs for _, b in pairs), n * n
    )
    return 1 - observed / expected if expected else None


@given(st.lists(st.tuples(*[st.sampled_from(list(map(int, Answer)))] * 2), min_size=1, max_size=15))
def test_kappa_is_cohens(pairs: list[tuple[int, int]]) -> None:
    """Plain, on sides, and with both weights, from the definition."""
    found = agreement_of_two(two_workers(pairs), "a", "b")
    assert found.pairs == len(pairs)
    assert found.same_side == sum((a > 0) == (b > 0) for a, b in pairs)
    assert found.equal == sum(a == b for a, b in pairs)
    for measure, weight in (
        (found.sides, "sides"),
        (found.points, "points"),
        (found.linear, "linear"),
        (found.quadratic, "quadratic"),
    ):
        expected = _kappa(pairs, weight)
        if expected is None:
            assert measure is None
        else:
            assert measure is not None
            assert measure.value == pytest.approx(float(expected))
            assert measure.low is None


def test_krippendorffs_own_example() -> None:
    """Krippendorff 2011, example C (four observers): nominal 0.743, ordinal 0.815; 5 levels."""
    answers = {1: -3, 2: -2, 3: -1, 4: 1, 5: 2}
    observers = {
        "a": "1 2 3 3 2 1 4 1 2 . . .",
        "b": "1 2 3 3 2 2 4 1 2 5 . 3",
        "c": ". 3 3 3 2 3 4 2 2 5 1 .",
        "d": "1 2 3 3 2 4 4 1 2 5 1 .",
    }
    rows = [
        (f"p{unit}", worker, answers[int(value)])
        for worker, values in observers.items()
        for unit, value in enumerate(values.split())
        if value != "."
    ]
    found = agreement_of_all(decided(*rows), np.random.default_rng(1))
    assert found.points is not None
    assert found.ordinal is not None
    assert round(found.points.value, 3) == 0.743
    assert round(found.ordinal.value, 3) == 0.815
    assert (found.pairs, found.answers) == (11, 40)
    assert found.ordinal.estimator == "bootstrap over pairs"
    assert found.ordinal.low is not None
    assert found.ordinal.high is not None
    assert found.ordinal.low < found.ordinal.value < found.ordinal.high


@pytest.mark.slow
def test_intervals_repeat_with_the_generator_and_narrow_with_pairs() -> None:
    """They are drawn over pairs."""
    rng = np.random.default_rng(3)
    many = [(int(a), int(a) if rng.random() < 0.7 else -int(a)) for a in rng.choice(Answer, 200)]
    one = agreement_of_all(two_workers(many), np.random.default_rng(1)).sides
    again = agreement_of_all(two_workers(many), np.random.default_rng(1)).sides
    few = agreement_of_all(two_workers(many[:40]), np.random.default_rng(1)).sides
    assert one is not None
    assert few is not None
    assert one == again
    assert one.high is not None
    assert one.low is not None
    assert few.high is not None
    assert few.low is not None
    assert one.high - one.low < few.high - few.low
    kappa = agreement_of_two(two_workers(many[:40]), "a", "b", np.random.default_rng(1)).sides
    assert kappa is not None
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < kappa.value < kappa.high


def test_where_nothing_can_be_said() -> None:
    """No pair in common, no answer at all, one answer throughout: no number, no warning."""
    assert agreement_of_each_two(decided(("p1", "ann", 1), ("p2", "bob", 1))) == ()
    none = agreement_of_all(Decisions(), np.random.default_rng(1))
    assert (none.pairs, none.sides, none.points, none.ordinal) == (0, None, None, None)
    alike = two_workers([(3, 3), (3, 3)])
    (found,) = agreement_of_each_two(alike, np.random.default_rng(1))
    assert (found.pairs, found.equal, found.sides, found.points) == (2, 2, None, None)
    assert agreement_of_all(alike).ordinal is None


def test_gold_pairs_make_up_the_share() -> None:
    """20 of 200 are 10 %; too few are refused."""
    assert gold_needed(180, 0.1, 100) == 20
    assert gold_needed(180, 0, 0) == 0
    with pytest.raises(InputError, match=r"must be 101 .* found 100"):
        gold_needed(101, 0.5, 100)
    with pytest.raises(InputError, match="below 1"):
        gold_needed(1, 1.0, 100)


def test_accuracy_with_wilsons_interval() -> None:
    """8 of 10: Wilson's interval is (0.490, 0.943) (Newcombe 1998 gives the formula)."""
    truth = {f"p{n}": n % 2 == 0 for n in range(10)}
    right = {n: 3 if same else -1 for n, same in enumerate(truth.values())}
    rows = [(f"p{n}", "ann", -right[n] if n in (0, 1) else right[n]) for n in range(10)]
    decisions = decided(*rows, ("q1", "ann", 3), ("q1", "bob", 3))
    found = accuracy(decisions, truth)
    ann = found["ann"]
    assert (ann.answered, ann.right, ann.false_same, ann.false_different) == (10, 8, 1, 1)
    assert ann.share is not None
    assert ann.share.low is not None
    assert ann.share.high is not None
    assert ann.share.value == 0.8
    z = 1.959963984540054
    middle, half = (0.8 + z * z / 20) / (1 + z * z / 10), z * (0.016 + z * z / 400) ** 0.5
    assert ann.share.low == pytest.approx(middle - half / (1 + z * z / 10))
    assert ann.share.high == pytest.approx(middle + half / (1 + z * z / 10))
    high = ann.by_confidence[Confidence.HIGH]
    assert high is not None
    assert high.value == 0.8
    assert ann.by_confidence[Confidence.MEDIUM] is None
    assert found["bob"].answered == 0
    assert found["bob"].share is None


@pytest.mark.parametrize("wrong", range(21))
@pytest.mark.parametrize("earlier", [0, 1, 3])
def test_an_alarm_is_fishers_exact_test(wrong: int, earlier: int) -> None:
    before = [True] * earlier + [False] * (20 - earlier)
    recent = [False] * (20 - wrong) + [True] * wrong
    counts = [[wrong, 20 - wrong], [earlier, 20 - earlier]]
    chance = fisher_exact(counts, alternative="greater").pvalue
    for place in (1, 3):
        level = 0.025 / (place * (place + 1))
        assert drifts(before + recent, place) == (40 if chance <= level else None)


def test_six_wrong_after_none_raise_an_alarm_for_the_first_reader() -> None:
    answers = [False] * 34 + [True] * 6  # C(20, 6) / C(40, 6) = .0101, and .0236 of five
    assert drifts(answers, 1) == 40
    assert drifts(answers, 2) is None
    assert drifts(answers[:-1], 1) is None
    assert drifts([False, *answers[:-1]], 1) is None
    assert drifts([True] * 20 + answers[:20], 1) is None  # better than before


def test_readers_who_stay_as_they_are_seldom_raise_an_alarm_and_tired_ones_do() -> None:
    rng, projects, readers = np.random.default_rng(7), 200, 100
    false = found = 0
    for _ in range(projects):
        # They come one after the other. Errors in half come nearest to the test's levels.
        wrong = rng.random((readers, 120)) < 0.5
        false += any(drifts(each.tolist(), n) is not None for n, each in enumerate(wrong, 1))
        tired = rng.random(80) < np.where(np.arange(80) < 40, 0.05, 0.5)
        found += drifts(tired.tolist(), 1) is not None
    assert false <= 0.05 * projects
    assert found >= 0.8 * projects
