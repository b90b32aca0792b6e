"""Thresholds that keep to a wanted false-match rate and missed-match rate."""

from __future__ import annotations

import math

import numpy as np

from sfumato.core.errors import InputError
from sfumato.linkage.outcomes.expected import curve
from sfumato.linkage.outcomes.thresholds import Thresholds
from sfumato.linkage.values import Floats

_SLACK = 1e-12
"""Relative slack of a rate that is met exactly, for the rounding of sums."""


def thresholds_for_rates(
    score: Floats,
    *,
    false_match_rate: float,
    missed_match_rate: float,
    probability: Floats | None = None,
) -> Thresholds:
    """The thresholds with the fewest pairs for review whose expected rates are as wanted.

    The false-match rate is the expected share of false ones among the pairs called a match
    (Belin and Rubin 1995, JASA 90:694-707); the missed-match rate the expected share of the
    candidate pairs' true matches that are called a non-match. The upper threshold is the least
    that keeps to the first, the lower one the greatest that keeps to the second. Where they
    would cross, nobody has to look at a pair: both are the score nearest to 0.5 between them.

    Parameters
    ----------
    score
        Score of each candidate pair.
    false_match_rate, missed_match_rate
        The wanted rates, in [0, 1].
    probability
        Probability of each pair, where labels have corrected it (see `calibrate`).

    Raises
    ------
    InputError
        If a rate is no share, or there is no pair.
    """
    for name, rate in (
        ("false_match_rate", false_match_rate),
        ("missed_match_rate", missed_match_rate),
    ):
        if not 0 <= rate <= 1:
            raise InputError(f"parameter {name}", "must be a share", accepted="0 to 1")
    if not len(score):
        raise InputError("the candidate pairs", "must be one at least", found="none")
    at = curve(score, probability)
    clean = at.false <= false_match_rate * at.above * (1 + _SLACK)
    upper = float(at.score[np.argmax(clean)]) if np.any(clean) else math.inf
    above_all = min(float(np.nextafter(at.score[-1], 2.0)), 1.0)
    edges, missed = np.append(at.score, above_all), np.append(at.missed, at.true)
    kept = missed <= missed_match_rate * at.true * (1 + _SLACK)  # true for the lowest score
    lower = float(edges[np.flatnonzero(kept)[-1]])
    if lower <= upper:
        return Thresholds(lower, upper)
    between = edges[(edges >= upper) & (edges <= lower)]
    best = float(between[np.argmin(np.abs(between - 0.5))])
    return Thresholds(best, best)
