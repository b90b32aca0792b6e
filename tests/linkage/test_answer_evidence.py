"""What answers are worth: errors of clerks by double reading and by scores, and what is asked."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, logit
from scipy.stats import beta

from sfumato.linkage import answer_evidence
from sfumato.linkage.answer_evidence import (
    PRIOR,
    SUREST_SCORE,
    Worlds,
    change_by_answer,
    kinds_of_pairs,
    weigh,
)
from sfumato.linkage.link_spec import WantedRates
from sfumato.linkage.match_decisions import DIFFERENT, SAME, Decisions, join_workers, together
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.person_clusters import LABELS, settle

COUNT = 600


def pairs_of(count=COUNT, **levels):
    number, none = np.arange(count), np.zeros(count, np.int16)
    return Pairs(number, number + count, np.full(count, 0.5), levels, none)


def answers(same, worker, number=None):
    number = np.arange(len(same)) if number is None else number
    count = len(same)
    return Decisions(
        number, number + COUNT, np.full(count, worker, dtype=object),
        np.where(same, 3, -3).astype(np.int8), np.arange(count), np.zeros(count, dtype=bool),
    )  # fmt: skip


def weighed(given, before, pairs=None, draws=200):
    pairs = pairs_of() if pairs is None else pairs
    verdicts = join_workers(given, pairs)
    kinds = kinds_of_pairs(verdicts.pair, pairs.levels)
    rng = np.random.default_rng(1)
    odds = np.broadcast_to(before, len(verdicts))
    worlds = Worlds(odds[None] > 0, np.abs(odds), np.arange(len(odds)))
    return weigh(verdicts, worlds, kinds, draws, rng)


def test_the_prior_is_that_of_the_disputed_pairs_of_four_linkages():
    """Gupta et al. 2024, abstract: 1.8 to 13.6 % of the pairs disputed, of which 2e(1 − e) by e."""
    quantiles = beta(*PRIOR).ppf([0.2, 0.8])
    assert 2 * quantiles * (1 - quantiles) == pytest.approx([0.018, 0.136], rel=0.03)


def test_of_a_clerk_of_whom_nothing_is_known_the_prior_is_stated():
    """Even odds before: an answer says nothing of who gave it, and speaks with log((1 − e)/e)."""
    (rate,) = weighed(answers([True], "one"), 0.0, draws=4000).rates
    mean = PRIOR[0] / sum(PRIOR)
    assert rate.value == pytest.approx(mean, abs=0.006)
    assert (rate.answered, rate.twice) == (1, 0)
    assert "unknown" in rate.to_json()["by"]
    assert rate.low < 0.005
    assert rate.high > 0.15


def test_double_reading_says_how_often_each_clerk_errs():
    """Three who err about 1, 10 and 20 % of the same pairs, of which scores say nothing."""
    rng = np.random.default_rng(2)
    truth, errors = rng.random(COUNT) < 0.5, {"one": 0.01, "two": 0.1, "three": 0.2}
    given = [answers(truth ^ (rng.random(COUNT) < e), name) for name, e in errors.items()]
    found = weighed(together(together(given[0], given[1]), given[2]), 0.0)
    for rate in found.rates:
        assert rate.value == pytest.approx(errors[rate.worker], abs=0.03)
        assert rate.low <= errors[rate.worker] <= rate.high
        assert rate.twice == rate.answered == COUNT
    assert [rate.worker for rate in found.rates] == ["three", "two", "one"]
    assert np.mean((found.probability > 0.5) == truth) > 0.97


def test_who_errs_on_twins_is_believed_of_other_pairs():
    """One who takes twins for one person, who differ in the given name, and one who does not."""
    rng = np.random.default_rng(3)
    truth, twins = rng.random(COUNT) < 0.5, np.arange(COUNT) < 60
    truth &= ~twins
    levels = {"given": np.where(twins, 0, 2).astype(np.int8), "sex": np.full(COUNT, 1, np.int8)}
    given = together(answers(truth | twins, "one"), answers(truth, "two"))
    rates = {(r.worker, r.kind): r for r in weighed(given, 0.0, pairs_of(**levels)).rates}
    assert rates["one", ()].high < 0.05
    assert rates["two", ("given",)].value != rates["one", ("given",)].value
    once = together(
        answers(truth | twins, "one"), answers(truth[::2], "two", np.arange(0, COUNT, 2))
    )
    before = np.where(twins, -2.0, 0.0)
    found = weighed(once, before, pairs_of(**levels))
    assert {r.worker: r for r in found.rates if r.kind == ("given",)}["one"].low > 0.2
    assert np.median(found.probability[twins]) < 0.5
    assert np.mean((found.probability > 0.5) == truth)[()] > 0.95


def test_evidence_adds_up_over_clerks_and_not_over_the_answers_of_one():
    """The later answer of a clerk takes the place of the earlier one."""
    number = np.arange(COUNT)
    right = [answers(number % 2 > 0, name) for name in ("one", "two")]
    again = replace(right[0], time=right[0].time + COUNT)
    once, twice = (weighed(each, 0.0) for each in (right[0], together(right[0], again)))
    assert np.array_equal(once.evidence, twice.evidence)
    both = weighed(together(*right), 0.0)
    assert np.all(np.abs(both.evidence) > 1.5 * np.abs(once.evidence))
    assert np.array_equal(both.side, np.where(number % 2, SAME, DIFFERENT))


@pytest.mark.parametrize("odds", [-30.0, 30.0])
def test_no_score_is_so_sure_that_clerks_who_agree_are_not_believed(odds):
    """Beyond seven nats scores count no more; one answer leaves such a pair in doubt."""
    said = np.arange(COUNT) % 2 > 0
    before = np.where(np.arange(COUNT) < 10, odds, np.where(said, 4.0, -4.0))
    said[:10] = odds < 0
    one = weighed(answers(said, "one"), before)
    doubt = np.where(said[:10], one.probability[:10], 1 - one.probability[:10])
    assert np.all((doubt > 0.01) & (doubt < 0.5))
    assert np.allclose(doubt, expit(np.abs(one.evidence[:10]) - SUREST_SCORE), atol=0.2)
    three = together(together(answers(said, "one"), answers(said, "two")), answers(said, "three"))
    assert np.all(weighed(three, before).believed)


def test_answers_that_outweigh_each_other_leave_what_the_scores_say():
    said = np.arange(COUNT) % 2 > 0
    found = weighed(together(answers(said, "one"), answers(~said, "two")), 3.0)
    assert np.median(np.abs(found.evidence)) < 0.5
    assert np.median(found.probability) > 0.9


def test_kinds_are_the_columns_that_enough_pairs_differ_in():
    given, sex = np.full(40, 2, np.int8), np.full(40, 1, np.int8)
    given[:20], sex[15:18] = 0, 0
    kind, names = kinds_of_pairs(np.append(np.arange(40), -1), {"given": given, "sex": sex})
    assert names == (None, (), ("given",))
    assert kind.tolist() == [2] * 15 + [0] * 3 + [2] * 2 + [1] * 20 + [0]


@pytest.mark.parametrize("error", [0.0, 0.05, 0.3, 0.499])
def test_an_answer_lessens_doubt_by_what_bayes_rule_says(error):
    """The mean of P(1 − P) after either answer, less that before."""
    for likely in (0.001, 0.2, 0.5, 0.9):
        after = 0.0
        for right in (1 - error, error):
            said = likely * right + (1 - likely) * (1 - right)
            if said:
                now = likely * right / said
                after += said * now * (1 - now)
        fall = likely * (1 - likely) - after
        assert change_by_answer(np.array(likely), error) == pytest.approx(fall, abs=1e-9)


@pytest.mark.parametrize("count", [1, 10, 40, 200])
def test_answers_of_one_clerk_against_scores_are_worth_the_same_however_many_they_are(count):
    """A score does not tell whether it or the answer is wrong: P is that of one answer alone."""
    found = weighed(answers(np.ones(count, bool), "one"), logit(0.1), draws=40)
    error = beta(*PRIOR).ppf((np.arange(10_000) + 0.5) / 10_000)
    assert found.probability == pytest.approx(np.mean((1 - error) / (1 + 8 * error)), abs=0.01)
    assert np.all(found.believed)
    (rate,) = found.rates
    assert rate.value == found.error == pytest.approx(PRIOR[0] / sum(PRIOR))
    assert (rate.low, rate.high) == pytest.approx(beta(*PRIOR).ppf([0.025, 0.975]))


def test_only_pairs_with_two_answers_teach_how_often_a_clerk_errs():
    """One who errs about 20 %, known by every fifth pair, and by no score."""
    rng = np.random.default_rng(4)
    truth, twice = rng.random(COUNT) < 0.5, np.arange(0, COUNT, 5)
    said = truth ^ (rng.random(COUNT) < 0.2)
    both = together(answers(said, "one"), answers(truth[twice], "two", twice))
    found = {
        rate.worker: rate
        for rate in weighed(both, np.where(np.isin(np.arange(COUNT), twice), 0.0, 9.0)).rates
    }
    assert found["one"].twice == found["two"].twice == len(twice)
    disputed = np.mean(said[twice] != truth[twice])
    assert found["one"].value + found["two"].value == pytest.approx(disputed, abs=0.05)


def test_many_components_are_drawn_as_few_are(monkeypatch):
    """Blocks of one component each leave what is likely as it is."""
    given = together(answers(np.arange(60) % 2 > 0, "one"), answers(np.arange(20) % 3 > 0, "two"))
    whole = weighed(given, 0.5)
    monkeypatch.setattr(answer_evidence, "_AT_ONCE", 1)
    parts = weighed(given, 0.5)
    assert parts.probability == pytest.approx(whole.probability, abs=0.05)
    assert parts.same.mean(axis=0) == pytest.approx(parts.probability, abs=0.2)


def test_worlds_speak_of_several_pairs_together():
    """Two pairs that are one person's in the same worlds: an answer to one tells the other."""
    given = answers(np.array([True, True]), "one")
    verdicts = join_workers(given, pairs_of())
    worlds = Worlds(np.repeat([[True] * 2, [False] * 2], 2, axis=0), np.full(2, 7.0), np.zeros(2))
    found = weigh(verdicts, worlds, (np.zeros(2, int), (None,)), 400, np.random.default_rng(1))
    alone = weighed(given, 0.0, draws=400)
    assert np.all(found.probability > alone.probability)
    assert np.mean(found.same[:, 0] == found.same[:, 1]) > 0.97
    assert found.same.mean(axis=0) == pytest.approx(found.probability, abs=0.05)


def by_enumeration(worlds, said, error):
    """P(one person) of each verdict, and of each two, by all worlds of its component."""
    count = len(worlds.odds)
    likely, both = np.zeros(count), np.zeros((count, count))
    right = np.ones(count)
    for verdict, side in said:
        right[verdict] *= ((1 - error) / error) ** side
    for part in np.unique(worlds.component):
        own = np.flatnonzero(worlds.component == part)
        total = 0.0
        for world in worlds.together[:, own]:
            yes = expit(np.where(world, 1, -1) * worlds.odds[own])
            each = yes * right[own] + 1 - yes
            of_world, true = np.prod(each), yes * right[own] / each
            total += of_world
            likely[own] += of_world * true
            both[np.ix_(own, own)] += of_world * np.outer(true, true)
        likely[own] /= total
        both[np.ix_(own, own)] /= total
    return likely, both


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_worlds_are_as_likely_as_all_of_them_one_by_one(seed, monkeypatch):
    """Components of one to six verdicts, with one answer or two, and many worlds that are alike."""
    monkeypatch.setattr(answer_evidence, "PRIOR", (1e7, 9e7))
    rng = np.random.default_rng(seed)
    component = rng.permutation(np.repeat(np.arange(6), np.arange(1, 7)))
    count = len(component)
    together_ = (rng.random((12, 3)) < 0.5)[:, rng.integers(0, 3, count)]
    worlds = Worlds(together_, rng.uniform(0, 3, count), component)
    sides = np.where(rng.random((2, count)) < 0.5, 1, -1)
    twice = np.flatnonzero(rng.random(count) < 0.5)
    given = together(answers(sides[0] > 0, "one"), answers(sides[1, twice] > 0, "two", twice))
    kinds = np.zeros(count, int), (None,)
    found = weigh(join_workers(given, pairs_of()), worlds, kinds, 4000, np.random.default_rng(1))
    said = [*enumerate(sides[0]), *((n, sides[1, n]) for n in twice)]
    likely, both = by_enumeration(worlds, said, 0.1)
    assert found.probability == pytest.approx(likely, abs=0.002)
    same = found.same.astype(float)
    alike = (component[:, None] == component) & ~np.eye(count, dtype=bool)
    assert (same.T @ same / len(same))[alike] == pytest.approx(both[alike], abs=0.05)


def settled(count, said, score, *, inferred=False, pairs=None, rates=None):
    """Two records for each pair, each person one of two sources, with what each worker answered."""
    ids = pa.array([str(each) for each in range(count)])
    number = np.arange(count if pairs is None else pairs)
    candidates = Pairs(
        number, number + count, np.broadcast_to(score, len(number)),
        {"name": np.zeros(len(number), np.int8)}, np.zeros(len(number), np.int16),
    )  # fmt: skip
    workers = [(worker, each) for worker, each in enumerate(said)]
    left = np.concatenate([np.arange(len(each)) for _, each in workers])
    given = Decisions(
        left, left + count,
        np.concatenate([np.full(len(each), str(worker), object) for worker, each in workers]),
        np.concatenate(said).astype(np.int8), np.arange(len(left)), np.zeros(len(left), bool),
    )  # fmt: skip
    spec = SimpleNamespace(thresholds=None, rates=rates, one_per_source=())
    records = Records(("x", "y"), (ids, ids))
    return settle(records, candidates, spec, given, inferred=inferred)


@pytest.mark.parametrize("inferred", [False, True])
@pytest.mark.parametrize("side", [SAME, DIFFERENT])
def test_persons_are_what_the_answers_say_together_with_the_scores(side, inferred):
    """One very sure answer against two less sure ones and the score: three speak for one side."""
    said = [np.array([each]) * side for each in (-3, 1, 1)]
    found = settled(1, said, 0.95 if side == SAME else 0.05, inferred=inferred)
    person = found.persons.person
    assert (person[0] == person[1]) == (side == SAME)
    assert found.verdicts.result.tolist() == found.weighed.side.tolist() == [side]
    assert not len(found.persons.unmet)


@pytest.mark.parametrize("sure", [(1, 2, 3), (3, 2, 1), (2, 3, 1), (3, 1, 2)])
def test_a_stated_confidence_weighs_nothing(sure):
    """Three answers that contradict each other: the same gives way, whoever was surer of what."""
    ends = np.array([[0, 1], [1, 2], [0, 2]])
    given = Decisions(
        ends[:, 0], ends[:, 1], np.full(3, "one", object),
        np.array([sure[0], sure[1], -sure[2]], np.int8), np.arange(3), np.zeros(3, bool),
    )  # fmt: skip
    none = np.zeros(0, np.int64)
    pairs = Pairs(none, none, none.astype(float), {}, none.astype(np.int16))
    spec = SimpleNamespace(thresholds=None, rates=None, one_per_source=())
    records = Records(("x",), (pa.array(["1", "2", "3"]),))
    found = settle(records, pairs, spec, given)
    assert (
        found.persons.person.tolist()
        == settle(
            records, pairs, spec, replace(given, answer=np.sign(given.answer) * np.int8(3))
        ).persons.person.tolist()
    )


@pytest.mark.parametrize(("score", "answer"), [(0.3, 3), (0.7, -3), (0.5, 3), (0.7, 3)])
def test_draws_join_a_pair_as_often_as_score_and_answers_say(score, answer):
    """Of pairs that nothing else speaks for: the score counts once."""
    found = settled(200, [np.full(200, answer)], score, inferred=True)
    draws = found.persons.inferred.draws
    share = np.mean(draws[:, :200] == draws[:, 200:])
    assert share == pytest.approx(found.weighed.probability.mean(), abs=0.015)


@pytest.mark.parametrize("inferred", [False, True])
def test_earlier_answers_are_kept_where_no_pairs_are_left(inferred):
    found = settled(3, [np.array([3])], 0.5, inferred=inferred, pairs=0)
    assert found.verdicts.pair.tolist() == [-1]
    assert np.all((found.weighed.probability > 0) & (found.weighed.probability < 1))


def test_scores_are_corrected_by_answers_as_far_as_these_are_right():
    """One who errs about a fifth, told by a second reader of every other pair: scores are true."""
    rng = np.random.default_rng(5)
    score = expit(rng.normal(0, 4, COUNT))
    truth = rng.random(COUNT) < score
    one = np.where(truth ^ (rng.random(COUNT) < 0.2), 3, -3)
    two = np.where(truth, 3, -3)[: COUNT // 2]
    found = settled(
        COUNT, [one, two], score, rates=WantedRates(false_match_rate=0.01, missed_match_rate=0.1)
    )
    assert found.calibrated >= LABELS
    assert np.abs(found.probability - score).mean() < 0.05
    sure = score > 0.999
    assert found.probability[sure].mean() > 0.98
