"""How many pairs are true matches, and what that says about random pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from sfumato.linkage.model.saved import LevelWeight
from sfumato.linkage.values import Floats, Ints

_STEPS = 60
_CLOSE = 1e-10
_MOST = 0.5
_LN_2 = float(np.log(2))
_KEPT = 0.1
"""Share of an estimated u that is kept at least."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """A prior and values of u that fit the scored pairs.

    Attributes
    ----------
    prior
        Probability that two records compared at random are one person's.
    weight
        Match weight of each pair with them, in bits, the prior included.
    u
        By comparison and level: u among pairs that are no matches.
    """

    prior: float
    weight: Floats
    u: dict[tuple[str, int], float]


def first_prior(comparisons: int, sizes: Sequence[int]) -> float:
    """A prior to start from: every second record of the smallest source has a match."""
    return min(0.1, max(min(sizes) / 2, 1.0) / max(comparisons, 1))


def fit_prior(
    evidence: Floats,
    levels: Mapping[str, npt.NDArray[np.int8]],
    weights: Sequence[LevelWeight],
    comparisons: int,
    *,
    correct_u: bool,
    lost: float = 0.0,
    pattern: Ints | None = None,
) -> Adjusted:
    """The prior under which the pairs' probabilities add up to the matches that it says.

    Starting from the pairs' evidence, it is the fixed point of prior = (Σ p + lost) / comparisons:
    expectation maximisation of the prior alone, over the candidate pairs.

    Where ``correct_u``, u is taken for what it was estimated from: random pairs, of which the
    share ``prior`` are matches. In a small file that share is not small beside the u of equal
    values. Among pairs that are no matches, u' = (u − prior · m) / (1 − prior), though not less
    than a tenth of u. A level whose weight is adjusted by the value's frequency keeps its weight.

    Parameters
    ----------
    evidence
        Match weight of each pair without the prior, in bits.
    levels
        By comparison, the level of each pair.
    weights
        What the levels say.
    comparisons
        Number of pairs of records without blocking.
    correct_u
        Whether u was estimated from random pairs of these records.
    lost
        Expected number of true matches that are no candidate pairs.
    pattern
        Where the levels are those of distinct patterns: which of them each pair has.
    """
    prior, u = min(_MOST, max(len(evidence), 1) / max(comparisons, 1)), {}
    weight = evidence
    for _ in range(_STEPS):
        u = {(w.comparison, w.level): _u(w, prior, correct_u=correct_u) for w in weights}
        weight = evidence + np.log2(prior / (1 - prior))
        if correct_u:
            change = _change(levels, weights, u)
            weight += change if pattern is None else change[pattern]
        matches = float(np.sum(expit(weight * _LN_2))) + lost
        new = float(np.clip(matches / max(comparisons, 1), 0.01 / max(comparisons, 1), _MOST))
        done = abs(new - prior) <= _CLOSE * prior
        prior = new
        if done:
            break
    return Adjusted(float(f"{prior:.9g}"), weight, u)


def distinct_patterns(
    levels: Mapping[str, npt.NDArray[np.int8]],
) -> tuple[dict[str, npt.NDArray[np.int8]], Ints]:
    """The distinct patterns of levels, and which of them each pair has.

    Parameters
    ----------
    levels
        By comparison, the level of each pair.
    """
    code = np.zeros(max((len(level) for level in levels.values()), default=0), np.int64)
    width = 1
    for level in levels.values():
        most = int(level.max(initial=0)) + 2
        if width > np.iinfo(np.int64).max // most:
            code = np.unique(code, return_inverse=True)[1]
            width = int(code.max(initial=0)) + 1
        code, width = code * most + level + 1, width * most
    _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
    return {name: level[first] for name, level in levels.items()}, pattern


def _u(level: LevelWeight, prior: float, *, correct_u: bool) -> float:
    if not correct_u or level.m == level.u:
        return level.u
    corrected = (level.u - prior * level.m) / (1 - prior)
    return float(f"{max(corrected, _KEPT * level.u):.9g}")


def _change(
    levels: Mapping[str, npt.NDArray[np.int8]],
    weights: Sequence[LevelWeight],
    u: Mapping[tuple[str, int], float],
) -> Floats:
    """How the weight of each pair, or pattern, changes with u."""
    change = np.zeros(max((len(level) for level in levels.values()), default=1))
    for comparison, level in levels.items():
        of_level = np.zeros(int(level.max(initial=0)) + 2)
        for w in weights:
            own = w.comparison == comparison and w.level + 1 < len(of_level)
            if own and not w.by_frequency:
                of_level[w.level + 1] = np.log2(w.u / u[comparison, w.level])
        change += of_level[level + 1]
    return change
