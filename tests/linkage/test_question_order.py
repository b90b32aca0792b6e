"""Which pairs people are asked about next."""

from types import SimpleNamespace

import numpy as np
import pytest

from sfumato.linkage.answer_evidence import PRIOR
from sfumato.linkage.match_thresholds import Pairs
from sfumato.linkage.question_order import (
    ENOUGH,
    Questions,
    covariance,
    in_turn,
    questions,
)
from sfumato.linkage.question_order import _shift as shift_of

ERROR = 0.1


def lessened(worlds: np.ndarray, asked: int, error: float) -> float:
    """By how much one answer lessens the sum of P(1 - P), counted world by world.

    The two things that a clerk may say, each with how likely every world is then.
    """
    count, left = len(worlds), 0.0
    for said in (0, 1):
        weight = [(1 - error if world[asked] == said else error) / count for world in worlds]
        chance = sum(weight)
        for member in range(worlds.shape[1]):
            share = sum(w for w, world in zip(weight, worlds, strict=True) if world[member])
            left += chance * (share / chance) * (1 - share / chance)
    means = worlds.mean(axis=0)
    return float(sum(p * (1 - p) for p in means) - left)


def mended(worlds: np.ndarray, asked: int, joined: int, error: float) -> float:
    """By how much an answer lessens what is wrong about its pair, counted world by world."""
    true = worlds[:, asked]
    after = 0.0
    for said in (0, 1):
        weight = np.where(true == said, 1 - error, error) / len(worlds)
        after += min(weight[true == 0].sum(), weight[true == 1].sum())
    return float(np.mean(true != joined) - after)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_answer_lessens_what_is_counted_world_by_world(seed):
    rng = np.random.default_rng(seed)
    worlds = (rng.random((12, 4)) < 0.5).astype(float)
    worlds[:, 1] = worlds[:, 0]
    off = worlds - worlds.mean(axis=0)
    spread = off.T @ off / len(worlds)
    for member in range(4):
        own = lessened(worlds[:, [member]], 0, ERROR)
        _, gain = in_turn(spread, (np.array([member]), np.array([own])), ERROR, np.ones(1))
        assert gain[0] == pytest.approx(lessened(worlds, member, ERROR))


@pytest.mark.parametrize("seed", range(10))
def test_what_an_answer_mends_is_counted_world_by_world(seed):
    """Two records that the draws join in some worlds, which the persons join or part."""
    draws = np.zeros((12, 2), dtype=np.int32)
    draws[:, 1] = np.random.default_rng(seed).permutation(12) < 3 + seed % 7
    worlds = (draws[:, [0]] == draws[:, [1]]).astype(float)
    for person, joined in (([0, 0], 1), ([0, 1], 0)):
        found = questions(settled_of(draws, person), pairs_of((0, 1)), np.ones(1, bool))
        rate = PRIOR[0] / sum(PRIOR)
        assert found.worth[0] == pytest.approx(mended(worlds, 0, joined, rate))
        assert found.open == pytest.approx(np.mean(worlds != joined))


def test_what_an_answer_has_told_is_not_worth_asking():
    """Two pairs that are always together or apart: the second tells little behind the first."""
    one = np.array([0.0, 1.0] * 10)
    other = np.array([0.0, 0.0, 1.0, 1.0] * 5)
    spread = np.cov(np.stack([one, one, other, other]), bias=True)
    order, gain = in_turn(spread, (np.arange(4), np.zeros(4)), 0.01, np.ones(4))
    assert {order[0], order[1]} in ({0, 2}, {0, 3}, {1, 2}, {1, 3})
    assert gain[2] < 0.1 * gain[0]
    assert len(in_turn(spread, (np.arange(4), np.zeros(4)), 0.01, np.ones(4), most=3)[0]) == 3


def test_pairs_of_a_score_that_answers_confirm_are_joined_in_the_ranking():
    """Parted pairs of one score, some of them answered: "same" makes the others worth asking."""
    count = 30
    number = np.arange(count)
    pairs = Pairs(
        2 * number, 2 * number + 1, np.full(count, 0.2), {}, np.zeros(count, dtype=np.int16)
    )
    draws = np.repeat(2 * number, 2)[None].repeat(10, axis=0)
    draws[:8, 1::2] += 1
    worth = {}
    for says in (-4.0, 4.0):
        settled = settled_of(draws, list(range(2 * count)))
        settled.weighed = SimpleNamespace(error=0.045, evidence=np.full(10, says))
        settled.verdicts = SimpleNamespace(pair=np.arange(10))
        found = questions(settled, pairs, number >= 10)
        assert set(found.pair.tolist()) == set(range(10, count))
        worth[says] = found.worth.mean()
    assert worth[4.0] > 0.6
    assert worth[-4.0] < 0.1


def test_what_few_draws_share_by_chance_is_no_covariance():
    rng = np.random.default_rng(1)
    worlds = (rng.random((40, 200)) < 0.5).astype(float)
    kept = covariance(worlds)
    plain = np.cov(worlds.T, bias=True)
    off = ~np.eye(200, dtype=bool)
    assert np.allclose(np.diag(kept), np.diag(plain))
    # Of a normal variable t, E (t - 1/t)^2 over |t| > 1 is .30, where t^2 has 1 on average.
    assert np.square(kept[off]).sum() < 0.4 * np.square(plain[off]).sum()
    same = covariance(np.repeat(worlds[:, :1], 2, axis=1))
    assert same[0, 1] == pytest.approx((1 - 1 / 40) * same[0, 0])


def settled_of(draws: np.ndarray, person: list[int]) -> SimpleNamespace:
    """People who were drawn so."""
    persons = SimpleNamespace(
        person=np.array(person, np.int32), inferred=SimpleNamespace(draws=draws.astype(np.int32))
    )
    return SimpleNamespace(weighed=None, persons=persons)


def pairs_of(*ends: tuple[int, int]) -> Pairs:
    """Candidate pairs."""
    left, right = np.array(ends, dtype=np.int64).T
    return Pairs(left, right, np.full(len(ends), 0.5), {}, np.zeros(len(ends), np.int16))


DRAWS = np.array([[0, 0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 2, 3, 3], [0, 1, 1, 2, 3, 4, 4]] * 4)
"""Of seven records 0 joins 1 and 2 in two draws of three, 3 and 4 none, 5 and 6 each other."""
PAIRS = pairs_of((0, 1), (0, 2), (1, 2), (3, 4), (5, 6))


def test_a_pair_that_decides_a_cluster_comes_first_and_sure_ones_never():
    found = questions(settled_of(DRAWS, [0, 0, 0, 1, 2, 3, 3]), PAIRS, np.ones(5, bool))
    assert set(found.pair.tolist()) == {0, 1}  # what is the same in every draw is not asked
    assert len(set(found.cluster.tolist())) == 1
    assert found.worth[0] > found.worth[1]
    assert found.within == 4
    assert found.open == pytest.approx(2 / 3)


def test_only_what_may_be_asked_is_and_a_dear_one_comes_later():
    settled = settled_of(DRAWS, [0, 0, 0, 1, 2, 3, 3])
    only = questions(settled, PAIRS, np.array([False, True, True, True, True]))
    assert only.pair.tolist() == [1]
    dear = questions(settled, PAIRS, np.ones(5, bool), np.array([4.0, 1.0, 9, 9, 9]).take)
    assert dear.pair.tolist()[0] == 1
    assert dear.worth[0] == pytest.approx(only.worth[0])
    free = questions(settled, PAIRS, np.ones(5, bool), np.array([4.0, 0.0, 9, 9, 9]).take)
    assert free.worth[0] == pytest.approx(only.worth[0] / 4)
    none = questions(settled, PAIRS, np.zeros(5, bool))
    assert len(none.pair) == 0
    assert none.enough


def test_without_draws_a_pair_counts_by_the_records_that_it_moves():
    settled = SimpleNamespace(
        weighed=None,
        verdicts=None,
        probability=np.array([0.5, 0.5, 1.0, 0.2, 0.0]),
        persons=SimpleNamespace(person=np.array([0, 0, 0, 1, 2, 3, 4]), inferred=None),
    )
    found = questions(settled, PAIRS, np.ones(5, bool))
    assert found.pair.tolist() == [0, 1, 3]
    assert found.worth[0] > 2 * found.worth[2]
    assert found.open == pytest.approx(2 * 0.5 + 2 * 0.5 + 0.2)


def test_each_of_its_own_cluster_is_worth_what_it_mends_for_its_cost():
    draws = np.array([[0, 1, 2, 3]] * 2 + [[0, 0, 2, 2]])
    pairs, cost = pairs_of((0, 1), (2, 3)), np.array([3.0, 5.0])
    plain = questions(settled_of(draws, [0, 1, 2, 3]), pairs, np.ones(2, bool))
    found = questions(settled_of(draws, [0, 1, 2, 3]), pairs, np.ones(2, bool), cost.take)
    alike = dict(zip(plain.pair.tolist(), plain.worth.tolist(), strict=True))
    for pair, worth in zip(found.pair.tolist(), found.worth.tolist(), strict=True):
        assert worth == pytest.approx(alike[pair] / cost[pair])
    assert found.pair.tolist() == [0, 1]


def test_it_is_enough_at_a_thousandth_of_the_pairs():
    none = np.empty(0, np.int64)
    for open_, enough in ((0.9, True), (1.1, False)):
        assert Questions(none, np.empty(0), none, open_, 1000).enough is enough
    assert ENOUGH == 0.001


def test_ten_pairs_of_a_cluster_are_asked_before_all_are_ranked_again():
    order, _ = in_turn(np.eye(15), (np.arange(15), np.ones(15)), ERROR, np.ones(15))
    assert len(set(order.tolist())) == len(order) == 10


def test_a_score_of_0_is_a_chance_of_one_in_a_million_millions():
    known = SimpleNamespace(
        weighed=SimpleNamespace(evidence=np.array([50.0])),
        verdicts=SimpleNamespace(pair=np.array([0])),
    )
    number = np.arange(2)
    pairs = Pairs(2 * number, 2 * number + 1, np.zeros(2), {}, np.zeros(2, dtype=np.int16))
    # One that is "yes" beside two of the score: odds of 1 to 2 in place of 1e-12.
    assert shift_of(known, pairs)[1] == pytest.approx(np.log(0.5) + 12 * np.log(10))


def test_answers_about_a_score_weigh_beside_two_of_its_own():
    known = SimpleNamespace(
        weighed=SimpleNamespace(evidence=np.array([50.0, 50.0])),
        verdicts=SimpleNamespace(pair=np.array([0, 1])),
    )
    number = np.arange(3)
    pairs = Pairs(2 * number, 2 * number + 1, np.full(3, 0.5), {}, np.zeros(3, dtype=np.int16))
    # Two that are "yes", and two as the score has it: three of four.
    assert shift_of(known, pairs).tolist() == pytest.approx([0.0, 0.0, np.log(3)])
