"""A plan for clerical checks: how many pairs of which scores somebody should look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.linkage.values import Floats, Ints

EDGES = (0.0, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, np.inf)
"""Ends of the strata of scores; the threshold of a match is one more."""
DEVIATIONS = 1.959964
"""Standard deviations to either side of an interval of 95 %."""
LEAST = 5
"""Pairs of each stratum that are looked at, where it has as many."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Strata of candidate pairs by score; arrays of shape (strata,), by ascending score.

    Attributes
    ----------
    low, high
        A stratum holds the scores from ``low`` up to, but without, ``high``.
    match
        Whether its pairs are called a match.
    pairs
        Number of pairs.
    expected
        Mean probability of its pairs.
    size
        Number of pairs to look at.
    precision_half_width, recall_half_width
        Half widths of the intervals that are to be expected.
    """

    low: Floats
    high: Floats
    match: npt.NDArray[np.bool_]
    pairs: Ints
    expected: Floats
    size: Ints
    precision_half_width: float
    recall_half_width: float

    def stratum(self, score: Floats) -> Ints:
        """Stratum of each score."""
        return np.maximum(np.searchsorted(self.low, score, side="right") - 1, 0)


def plan_checks(
    score: Floats, upper: float, half_width: float, *, probability: Floats | None = None
) -> Plan:
    """Fewest pairs to look at for precision and recall with intervals as narrow as wanted.

    Strata by score; sizes by Neyman's allocation (Cochran 1977, Sampling Techniques, Section
    5.5) for the linearised ratio, with the finite population correction. The spread of a
    stratum is what Wilson's interval has at the model's mean probability: so many pairs that the
    model calls non-matches need checks, although it expects none to be a match. Where the model
    is wrong about the strata, the intervals come out wider than planned.

    Parameters
    ----------
    score
        Score of each candidate pair.
    upper
        Least score of a match.
    half_width
        Wanted half width of both 95 % intervals, in (0, 0.5).
    probability
        Probability of each pair, where labels have corrected it.

    Raises
    ------
    InputError
        If the half width is out of range, or there is no pair.
    """
    if not 0 < half_width < 0.5:
        raise InputError("parameter half_width", "must be a share", accepted="above 0, below 0.5")
    if not len(score):
        raise InputError("the candidate pairs", "must be one at least", found="none")
    low, high, stratum = _strata(score, upper)
    pairs = np.bincount(stratum, minlength=len(low)).astype(np.int64)
    mean = np.bincount(stratum, score if probability is None else probability, len(low)) / pairs
    match = low >= upper
    size = np.minimum(pairs, LEAST)
    true = max(float(pairs @ mean), 1.0)
    moves = weights(pairs, match, true, float(pairs[match] @ mean[match]) / true)
    for weight in moves:
        size = np.maximum(size, _allocated(pairs, mean, weight, half_width))
    widths = [_half_width(pairs, mean, weight, size) for weight in moves]
    return Plan(low, high, match, pairs, mean, size, widths[0], widths[1])


def draw_checks(plan: Plan, score: Floats, rng: np.random.Generator) -> Ints:
    """Draw the pairs to look at, at random within each stratum; their numbers, ascending.

    Parameters
    ----------
    plan
        The plan.
    score
        Score of each candidate pair.
    rng
        Source of randomness.
    """
    order = rng.permutation(len(score))
    order = order[np.argsort(plan.stratum(score[order]), kind="stable")]
    starts = np.cumsum(plan.pairs) - plan.pairs
    drawn = [
        order[start : start + size]
        for start, size in zip(starts.tolist(), plan.size.tolist(), strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def _strata(score: Floats, upper: float) -> tuple[Floats, Floats, Ints]:
    """Ends of the strata that hold a pair, and the stratum of each pair."""
    edges = np.unique(np.append(EDGES, upper))
    stratum = np.searchsorted(edges, score, side="right") - 1
    there, stratum = np.unique(stratum, return_inverse=True)
    ends = np.array(list(pairwise(edges)))[there]
    return ends[:, 0], ends[:, 1], stratum.astype(np.int64)


def weights(
    pairs: Ints, match: npt.NDArray[np.bool_], true: float, recall: float
) -> tuple[Floats, Floats]:
    """What the share of true matches in each stratum moves in precision, and in recall.

    With T true matches called a match and L others, R = T/(T + L) has the derivatives
    (1 − R)/(T + L) in T and −R/(T + L) in L.

    Parameters
    ----------
    pairs
        Number of pairs of each stratum.
    match
        Whether they are called a match.
    true
        Number of true matches.
    recall
        Share of those that are called a match.
    """
    called = max(int(pairs[match].sum()), 1)
    return (
        np.where(match, pairs / called, 0.0),
        np.where(match, 1 - recall, -recall) * pairs / true,
    )


def _spread(mean: Floats, size: Ints) -> Floats:
    """Standard deviation of a pair of each stratum, as wide as Wilson's interval has it."""
    square = DEVIATIONS**2
    return np.asarray(np.sqrt(size * (size * mean * (1 - mean) + square / 4)) / (size + square))


def _half_width(pairs: Ints, mean: Floats, weight: Floats, size: Ints) -> float:
    reach = weight * _spread(mean, size) * np.sqrt(1 / size - 1 / pairs)
    return float(DEVIATIONS * np.linalg.norm(reach))


def _allocated(pairs: Ints, mean: Floats, weight: Floats, half_width: float) -> Ints:
    """Sizes of the smallest total that gives the half width, by bisection on the total."""
    fewest, most = 0, int(pairs.sum())
    while fewest < most:
        total = (fewest + most) // 2
        if _half_width(pairs, mean, weight, _sizes(pairs, mean, weight, total)) <= half_width:
            most = total
        else:
            fewest = total + 1
    return _sizes(pairs, mean, weight, most)


def _sizes(pairs: Ints, mean: Floats, weight: Floats, total: int) -> Ints:
    """Neyman's allocation; the spread depends on the size, so a few rounds."""
    size = np.minimum(pairs, LEAST)
    for _ in range(8):
        use = np.abs(weight) * _spread(mean, size)
        size = np.minimum(pairs, np.ceil(total * use / max(float(use.sum()), 1e-300)))
        size = np.maximum(size, np.minimum(pairs, LEAST)).astype(np.int64)
    return size
