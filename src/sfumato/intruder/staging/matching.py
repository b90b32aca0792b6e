"""Exact matching of released persons with the register's, staged and judged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from sfumato.intruder.attacks.exact import exact_free, exact_targeted
from sfumato.intruder.attacks.one_to_one import exact_one_to_one
from sfumato.intruder.guesses import Identification
from sfumato.intruder.referee.distributions import (
    MatchDistribution,
    poisson_hits,
    simulated_hits,
)
from sfumato.intruder.referee.judge_identification import judge_identification
from sfumato.intruder.referee.units import owners
from sfumato.intruder.staging.scene import Scene, Staged

ROUNDS = 100
"""Repetitions of one-to-one matching, for the distribution of its hits."""
LARGEST = 2_000
"""Released persons above which the hits of one-to-one matching are taken as Poisson's."""


def exact(scene: Scene) -> Iterator[Staged]:
    """Exact matching: each record on its own, nobody named twice, and the surest of both sides.

    The mean over all is held against marketer risk, the surest guesses against prosecutor risk,
    or journalist risk where the intruder holds a register.

    Parameters
    ----------
    scene
        What to work on.
    """
    knows = "The intruder matches what is known exactly with the released cells"
    parts = scene.file, scene.uncounted, scene.candidates
    judge = partial(
        judge_identification, truth=scene.truth, file=scene.file, threshold=scene.threshold
    )
    free = exact_free(*parts, scene.rng("exact_free"))
    marketer = scene.claim("marketer")
    outcome = judge(
        free,
        attack="exact_free",
        what=f"{knows} and names for everybody in the file one of those who fit.",
        one_to_one=False,
        predicted=marketer,
    )
    yield Staged(outcome, scene.calibrated(free))
    whole, own = _one_to_one(scene)
    outcome = judge(
        whole,
        attack="exact_one_to_one",
        what=f"{knows} so that nobody is named twice.",
        one_to_one=True,
        predicted=marketer,
        own=own,
    )
    yield Staged(outcome)
    surest = "journalist" if scene.against_register else "prosecutor"
    outcome = judge(
        free,
        attack="exact_surest",
        what=f"{knows} and counts only the guesses about records that fewest persons fit.",
        one_to_one=False,
        predicted=scene.claim(surest),
        surest=True,
    )
    yield Staged(outcome)
    inside = np.flatnonzero(scene.truth.released)
    targeted = exact_targeted(*parts, scene.rng("exact_targeted"), targets=inside)
    outcome = judge(
        targeted,
        attack="exact_targeted",
        what="The intruder looks for somebody who is known to be in the file and takes one of the "
        "records that fit; only the targets for whom fewest fit are counted.",
        one_to_one=False,
        predicted=scene.claim("prosecutor"),
        surest=True,
        targeted=True,
    )
    yield Staged(outcome)


def counted(scene: Scene) -> Iterator[Staged]:
    """Exact matching by somebody who knows how many records each person has.

    Parameters
    ----------
    scene
        What to work on.
    """
    guesses = exact_free(scene.file, scene.knowledge, scene.candidates, scene.rng("exact_counts"))
    knows = "The intruder also knows how many records each person has in the file"
    for name, measure, surest, what in (
        ("exact_counts", "avg_count_risk", False, f"{knows} and names somebody for everybody."),
        ("exact_counts_surest", "max_count_risk", True, f"{knows}; only the surest guesses."),
    ):
        outcome = judge_identification(
            guesses,
            scene.truth,
            scene.file,
            attack=name,
            what=what,
            one_to_one=False,
            predicted=scene.claim(measure),
            threshold=scene.threshold,
            surest=surest,
        )
        yield Staged(outcome, () if surest else scene.calibrated(guesses))


def _one_to_one(scene: Scene) -> tuple[Identification, MatchDistribution]:
    """One assignment, and the distribution of the right pairs over others like it.

    In large files it is Poisson's with the mean that the intruder expects.
    """
    rng = scene.rng("exact_one_to_one")
    parts = scene.file, scene.uncounted, scene.candidates
    first = exact_one_to_one(*parts, rng)
    if scene.file.persons > LARGEST:
        return first, poisson_hits(float(first.chance.sum()))
    owner = owners(scene.file, scene.truth)

    def once(again: np.random.Generator) -> int:
        guesses = exact_one_to_one(*parts, again)
        return int(owner.right(guesses.unit, guesses.person).sum())

    return first, simulated_hits(once, rng, ROUNDS)
