"""The test of tests: honest claims about persons are seldom broken, false ones are caught."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from intruder.made_files import Made, sampled

from sfumato.core.measure import Measure
from sfumato.intruder.guesses.identity_attacks import exact_free, exact_one_to_one, exact_targeted
from sfumato.intruder.referee.attack_odds import one_to_one_hits
from sfumato.intruder.referee.judgements import judge_identification

RUNS = 60


def drawn(seed: int) -> tuple[Made, np.ndarray, np.ndarray, np.random.Generator]:
    """A release of 2 to 5 persons of each class, of a register that holds more in half the runs."""
    rng = np.random.default_rng(seed)
    classes = int(rng.choice([1, 3, 10, 30]))
    released = rng.integers(2, 6, classes)
    register = released + (seed % 2) * rng.integers(0, 8, classes)
    return sampled(rng, released, register), released, register, rng


def test_claims_about_persons() -> None:
    """Marketer, journalist and prosecutor risk as paper 004 defines them, and a third of each."""
    broken: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    covered: Counter[str] = Counter()
    for seed in range(RUNS):
        scene, released, register, rng = drawn(seed)
        parts = scene.file, scene.knowledge, scene.candidates, rng
        mean = float(np.sum(released / register) / released.sum())
        own = one_to_one_hits(released, register)
        free, single = exact_free(*parts), exact_one_to_one(*parts)
        inside = np.flatnonzero(scene.truth.released)
        target = exact_targeted(*parts, targets=inside)
        journalist, prosecutor = 1 / register.min(), 1 / released.min()
        for name, guesses, claim, alone, surest in (
            ("free", free, mean, False, False),
            ("one_to_one", single, mean, True, False),
            ("free_journalist", free, journalist, False, True),
            ("one_to_one_journalist", single, journalist, True, True),
            ("targeted", target, prosecutor, False, True),
        ):
            for share, tally in ((1.0, broken), (1 / 3, caught)):
                outcome = judge_identification(
                    guesses,
                    scene.truth,
                    scene.file,
                    attack=name,
                    what="",
                    one_to_one=alone,
                    predicted=Measure("claim", claim * share),
                    surest=surest,
                    own=own if name == "one_to_one" else None,
                )
                tally[name] += outcome.broken
                if share == 1:
                    low, high = outcome.success.low, outcome.success.high
                    assert low is not None
                    assert high is not None
                    covered[name] += low - 1e-9 <= claim <= high + 1e-9
    for name in ("free", "one_to_one", "free_journalist", "one_to_one_journalist", "targeted"):
        assert broken[name] <= 0.025 * RUNS + 4, name
        assert covered[name] >= 0.95 * RUNS - 5, name
    assert min(caught["free"], caught["one_to_one"]) >= 0.4 * RUNS


@pytest.mark.parametrize("seed", range(3))
def test_everybody_alone_is_caught_against_a_claim_of_five(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = sampled(rng, np.ones(30, int), np.ones(30, int))
    guesses = exact_free(scene.file, scene.knowledge, scene.candidates, rng)
    outcome = judge_identification(
        guesses,
        scene.truth,
        scene.file,
        attack="exact_free",
        what="",
        one_to_one=False,
        predicted=Measure("prosecutor", 1 / 5),
        surest=True,
    )
    assert outcome.broken
    assert outcome.right == 30


def test_persons_outside_take_part_of_the_guesses() -> None:
    """A tenth of the register is released: nine of ten guesses pin a record on an outsider."""
    rng = np.random.default_rng(8)
    scene = sampled(rng, np.full(100, 3), np.full(100, 30))
    guesses = exact_free(scene.file, scene.knowledge, scene.candidates, rng)
    outcome = judge_identification(
        guesses, scene.truth, scene.file, attack="", what="", one_to_one=False
    )
    assert outcome.control is not None
    assert outcome.control.value == pytest.approx(0.9, abs=0.06)
    assert outcome.baseline.value == pytest.approx(1 / 3000)
