"""Which Dice similarity tells matches from non-matches, without labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError

Floats = npt.NDArray[np.float64]
FEWEST = 30
"""Scores of each kind that a fit needs."""
_ROUNDS = 500
_LARGEST = 0.999
_GRID = 2_000


@dataclass(frozen=True, slots=True)
class ScoreMixture:
    """The best score of a record as a mixture of matches and best non-matches.

    Attributes
    ----------
    matched
        Share of the records that have a match.
    location, scale
        Of the Gumbel distribution of the best of many non-matches.
    a, b
        Of the Beta distribution of the matches.
    lowest
        No score at or below it is taken for a match's.
    one_to_one
        Whether it speaks of each record's best pair; else of any pair, where all the pairs that
        chance makes count, exp(-(x - location) / scale) of them above x for each record.
    """

    matched: float
    location: float
    scale: float
    a: float
    b: float
    lowest: float
    one_to_one: bool = True

    def probability(self, scores: Floats) -> Floats:
        """Probability that a pair is a match, never falling with its score."""
        grid = np.linspace(0.0, _LARGEST, _GRID)
        odds = _posterior(grid, self)
        odds[grid <= self.lowest] = 0.0
        return np.interp(np.minimum(scores, _LARGEST), grid, np.maximum.accumulate(odds))

    def threshold(self, probability: float = 0.5) -> float:
        """The score from which a pair is a match with at least this probability."""
        grid = np.linspace(0.0, 1.0, _GRID)
        enough = np.flatnonzero(self.probability(grid) >= probability)
        return float(grid[enough[0]]) if len(enough) else 1.0


def fit_scores(best: Floats, runner_up: Floats) -> ScoreMixture:
    """Fit the mixture by EM, with the non-matches' part known from the runners-up.

    If every record has one match at most, a record's second best pair is a non-match, and the
    best of many: an extreme value, so its distribution is taken as Gumbel and fitted by
    quartiles (those with a second match do not move it). The matches are Beta distributed; their
    share and moments come by EM from the best scores.

    Parameters
    ----------
    best
        Score of each record's own pair, after one-to-one assignment.
    runner_up
        Score of each record's best other pair, where there is one.

    Raises
    ------
    InputError
        If there are fewer than 30 of either.
    """
    if min(len(best), len(runner_up)) < FEWEST:
        raise InputError(
            "the similarities",
            f"must be at least {FEWEST} best ones and {FEWEST} second best ones",
            advice="give a similarity",
        )
    low, middle, high = np.quantile(runner_up, [0.25, 0.5, 0.75])
    spread = np.log(np.log(4)) - np.log(np.log(4 / 3))
    scale = max(float((high - low) / spread), 1e-4)
    location = float(middle + scale * np.log(np.log(2)))
    scores = np.minimum(best, _LARGEST)
    chance = _gumbel(scores, location, scale)
    weights = (scores > np.quantile(runner_up, 0.99)).astype(np.float64)
    model = _model(scores, weights, location, scale, float(middle))
    for _ in range(_ROUNDS):
        match = model.matched * _beta(scores, model.a, model.b)
        new = match / (match + (1 - model.matched) * chance)
        new[scores <= middle] = 0.0
        moved = float(np.max(np.abs(new - weights)))
        weights = new
        model = _model(scores, weights, location, scale, float(middle))
        if moved < 1e-6:
            break
    return model


def _model(
    scores: Floats, weights: Floats, location: float, scale: float, lowest: float
) -> ScoreMixture:
    """Share and moments of the matches, each score counted by its weight."""
    weights = weights + 1e-9
    mean = float(np.average(scores, weights=weights))
    variance = max(float(np.average((scores - mean) ** 2, weights=weights)), 1e-6)
    size = max(mean * (1 - mean) / variance - 1, 2.0)
    matched = min(max(float(weights.mean()), 1e-6), 1 - 1e-6)
    return ScoreMixture(matched, location, scale, mean * size, (1 - mean) * size, lowest)


def _posterior(scores: Floats, model: ScoreMixture) -> Floats:
    match = model.matched * _beta(scores, model.a, model.b)
    if model.one_to_one:
        other = (1 - model.matched) * _gumbel(scores, model.location, model.scale)
    else:
        z = np.clip((scores - model.location) / model.scale, -30.0, 600.0)
        other = np.exp(-z) / model.scale
    return np.asarray(match / np.maximum(match + other, 1e-300))


def _gumbel(scores: Floats, location: float, scale: float) -> Floats:
    z = np.clip((scores - location) / scale, -30.0, 600.0)
    return np.asarray(np.exp(-z - np.exp(-z)) / scale)


def _beta(scores: Floats, a: float, b: float) -> Floats:
    from scipy.special import betaln

    inside = np.clip(scores, 1e-6, _LARGEST)
    return np.asarray(np.exp((a - 1) * np.log(inside) + (b - 1) * np.log1p(-inside) - betaln(a, b)))
