"""Estimate m once more, from all candidate pairs and with everything that is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.linkage.model.saved import LevelWeight
from sfumato.linkage.model.score import scores
from sfumato.linkage.model.train import BELIEF, LEAST
from sfumato.linkage.values import Floats

Levels = Mapping[str, npt.NDArray[np.int8]]

MOST_PAIRS = 300_000
"""Candidate pairs that m is estimated from, about; of more every second, third, ... is taken."""
_STEPS = 50
_CLOSE = 1e-5


def refit_m(
    evidence: Floats,
    levels: Levels,
    weights: Sequence[LevelWeight],
    comparisons: int,
    *,
    prior: float,
    lost: float = 0.0,
) -> tuple[LevelWeight, ...]:
    """The levels with m as all candidate pairs say it, by expectation maximisation of m and prior.

    A training rule fixes some comparisons and tells its matches by the others. Where values of
    different persons go together, as given names and years of birth do, it takes many of its
    pairs for matches, and m comes to look like u. With all comparisons matches are told apart
    better. The m before counts for 20 pairs; u, and a level that counts neither way, stay.

    Parameters
    ----------
    evidence
        Match weight of each candidate pair without the prior, in bits.
    levels
        By comparison, the level of each pair.
    weights
        What the levels say.
    comparisons
        Number of pairs of records without blocking.
    prior
        Probability of a match to start from.
    lost
        Expected number of true matches that are no candidate pairs.
    """
    step = max(1, len(evidence) // MOST_PAIRS)
    evidence, levels = evidence[::step], {name: each[::step] for name, each in levels.items()}
    fitted = tuple(weights)
    for _ in range(_STEPS):
        odds = np.log2(prior / (1 - prior))
        probability = scores(evidence + weight_change(levels, weights, fitted) + odds) * step
        matches = float(probability.sum()) + lost
        prior = float(np.clip(matches / comparisons, 0.01 / comparisons, 0.5))
        before, fitted = fitted, _refitted(weights, levels, probability)
        if max(abs(a.m - b.m) for a, b in zip(before, fitted, strict=True)) < _CLOSE:
            break
    return fitted


def weight_change(
    levels: Levels, before: Sequence[LevelWeight], after: Sequence[LevelWeight]
) -> Floats:
    """How the match weight of each pair changes with m, in bits.

    Parameters
    ----------
    levels
        By comparison, the level of each pair.
    before, after
        What the levels said, and what they say.
    """
    change = np.zeros(len(next(iter(levels.values()))))
    for name, level in levels.items():
        of_level = np.zeros(int(level.max(initial=0)) + 2)
        for one, other in zip(before, after, strict=True):
            if one.comparison == name and one.level + 1 < len(of_level):
                of_level[one.level + 1] = np.log2(other.m / one.m)
        change += of_level[level + 1]
    return change


def _refitted(
    weights: Sequence[LevelWeight], levels: Levels, probability: Floats
) -> tuple[LevelWeight, ...]:
    """The levels with the shares of likely matches that are in them."""
    m: dict[tuple[str, int], float] = {}
    for name, level in levels.items():
        own = [w for w in weights if w.comparison == name and w.m != w.u]
        most = max(w.level for w in weights if w.comparison == name)
        seen = np.bincount(level.astype(np.int64) + 1, probability, most + 2)[1:]
        mixed = {w.level: max(float(seen[w.level]) + BELIEF * w.m, LEAST) for w in own}
        whole = sum(mixed.values())
        m |= {(name, number): max(value / whole, LEAST) for number, value in mixed.items()}
    return tuple(replace(w, m=float(f"{m.get((w.comparison, w.level), w.m):.9g}")) for w in weights)
