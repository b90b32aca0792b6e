"""Hits of free guessing: every guess is made on its own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.risk.population.match_distribution import MatchDistribution, matches

Floats = npt.NDArray[np.float64]
_DIGITS = 12
"""Chances that agree to so many digits are one; their sum moves by less than 1e-12 a guess."""


def free_hits(chances: Floats) -> MatchDistribution:
    """The distribution of the number of right guesses, each right with a chance of its own.

    The Poisson-binomial distribution: a guess of chance p is a class with one record and 1 / p
    persons (paper 004, Section 2.3), so that its generating function 1 + p (z - 1) is inverted
    by the same Fourier transform, exact to 1e-10 at any number of guesses. O(distinct chances
    times the standard deviation of the hits).

    Parameters
    ----------
    chances
        The chance that each guess is right, shape (guesses,).

    Raises
    ------
    InputError
        If a chance is outside [0, 1].
    """
    chances = np.asarray(chances, dtype=np.float64)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise InputError("the chances", "must be between 0 and 1", found="another number")
    rounded = np.round(chances[chances > 0], _DIGITS)
    likely = np.maximum(rounded, 10.0**-_DIGITS)
    if not likely.size:
        return MatchDistribution(0.0, 0.0, 0, np.ones(1))
    return matches(np.ones(likely.size), 1 / likely)


def binomial_hits(attempts: int, rate: float) -> MatchDistribution:
    """The hits of free guesses of which only the mean chance is claimed.

    Of all independent guesses with that mean, those of equal chance have the heaviest tails: for
    c at least 1 above the mean, P(hits >= c) is at most the binomial's (Hoeffding 1956, Annals
    of Mathematical Statistics 27:713-721, Theorem 5). What the claim allows is thus not too
    little whatever the single chances are.

    Parameters
    ----------
    attempts
        Number of guesses.
    rate
        The mean chance.

    Raises
    ------
    InputError
        If the rate is outside [0, 1].
    """
    return free_hits(np.full(attempts, rate))
