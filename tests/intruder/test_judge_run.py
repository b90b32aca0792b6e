"""All attacks of a run are judged together."""

from __future__ import annotations

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.referee.attack_odds import Outcome, binomial_hits, verdict
from sfumato.intruder.referee.weighed_evidence import LEVEL, Trial, beyond_chance, weighed

ATTEMPTS, RATE = 28, 0.36


def judge_run(outcomes: list[Outcome]) -> tuple[Outcome, ...]:
    """The predictions of a run, of which no row is known."""
    return weighed([Trial(each, "") for each in outcomes], None, own=True)[0]


def outcome(right: int, attempts: int = ATTEMPTS) -> Outcome:
    """An attack as judged alone."""
    allowed, broken, p_value = verdict(right, attempts, binomial_hits(attempts, RATE))
    success = Measure("success", right / attempts)
    return Outcome(
        "a", "", attempts, right, success, success,
        predicted=Measure("marketer", RATE), allowed=allowed, broken=broken, p_value=p_value,
    )  # fmt: skip


def by_definition(p_values: list[float]) -> list[bool]:
    """Holm's procedure by its definition: reject while the k-th smallest is at most a/(m-k+1)."""
    rejected = [False] * len(p_values)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[place] > LEVEL / (len(p_values) - rank):
            break
        rejected[place] = True
    return rejected


def test_an_attack_that_is_above_alone_is_not_among_many() -> None:
    """17 of 28 where 15 are allowed, beside eleven that found what was predicted."""
    narrow, usual = outcome(17), outcome(10)
    assert (narrow.broken, narrow.above) == (True, True)
    (alone,) = judge_run([narrow])
    assert alone == narrow
    first, *others = judge_run([narrow, *[usual] * 11])
    assert (first.broken, first.above) == (False, True)
    assert first.allowed == narrow.allowed
    assert not any(each.broken or each.above for each in others)


def test_a_clear_excess_is_broken_among_many() -> None:
    usual = [outcome(10)] * 11
    assert [each.broken for each in judge_run([*usual, outcome(24)])] == [False] * 11 + [True]
    assert all(each.broken for each in judge_run([outcome(24)] * 40))


def test_it_is_holms_procedure() -> None:
    rng = np.random.default_rng(3)
    several = 0
    for _ in range(100):
        run = [outcome(int(right)) for right in rng.integers(8, 24, rng.integers(1, 14))]
        found = [each.broken for each in judge_run(run)]
        assert found == by_definition([float(each.p_value or 0) for each in run])
        several += sum(found) > 1
    assert several > 3


def test_one_run_in_a_hundred_is_beyond_chance() -> None:
    assert beyond_chance([0.004, None, 0.009]) == [True, False, True]
    assert beyond_chance([0.006, None, 0.006]) == [False, False, False]
    assert beyond_chance([0.0099]) == [True]
    assert beyond_chance([0.0101]) == [False]


def test_attacks_without_a_prediction_are_none_of_them() -> None:
    nothing = Outcome("n", "", 0, 0, Measure("success", 0.0), Measure("baseline", 0.0))
    found = judge_run([nothing] * 30 + [outcome(17)])
    assert [each.broken for each in found] == [False] * 30 + [True]
    assert not nothing.above


def test_an_honest_run_is_caught_no_more_often_than_stated() -> None:
    rng = np.random.default_rng(5)
    runs = rng.binomial(ATTEMPTS, RATE, (2_000, 12))
    table = {right: outcome(right) for right in range(ATTEMPTS + 1)}
    alone = sum(any(table[int(each)].broken for each in run) for run in runs)
    caught = sum(
        any(each.broken for each in judge_run([table[int(n)] for n in run])) for run in runs
    )
    assert caught <= 0.025 * len(runs) + 3 * (0.025 * len(runs)) ** 0.5
    assert alone > 3 * caught
