"""Intervals of the chance behind a realised success."""

from __future__ import annotations

from scipy.special import betaincinv

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.risk.population.match_distribution import MatchDistribution

LEVEL = 0.95
"""Of the intervals; what is allowed is the upper end of such an interval."""
UPPER = 0.5 + LEVEL / 2


def clopper_pearson(right: int, attempts: int, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of the mean chance of independent guesses.

    Clopper & Pearson 1934, Biometrika 26:404-413. With chances that differ, hits vary less than
    the binomial's (Hoeffding 1956), so that it covers the mean chance at least as often as it
    says.

    Parameters
    ----------
    right
        Right guesses.
    attempts
        Guesses; with none, the interval is [0, 1].
    level
        How often it covers.

    Raises
    ------
    InputError
        If more are right than there are.
    """
    if not 0 <= right <= attempts:
        raise InputError("the right guesses", "must be among the guesses", found="another number")
    tail = (1 - level) / 2
    low = 0.0 if right == 0 else float(betaincinv(right, attempts - right + 1, tail))
    high = 1.0 if right == attempts else float(betaincinv(right + 1, attempts - right, 1 - tail))
    return low, high


def by_distribution(
    right: int, attempts: int, hits: MatchDistribution, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of the mean chance when the distribution of the hits is known up to its place.

    For one-to-one guessing, whose hits are not binomial: right - hits' mean lies between the
    distribution's two ends less its mean with the stated probability, and the mean is moved out
    of that inequality (the basic, or pivotal, interval). Guesses that cannot fail give no width.

    Parameters
    ----------
    right
        Right guesses.
    attempts
        Guesses.
    hits
        Distribution of the right ones over the intruder's random choices.
    level
        How often it covers.
    """
    tail = (1 - level) / 2
    low, high = hits.quantiles(tail, 1 - tail)
    ends = (right - (high - hits.mean)) / attempts, (right + (hits.mean - low)) / attempts
    return max(0.0, min(ends[0], right / attempts)), min(1.0, max(ends[1], right / attempts))


def success(right: int, attempts: int, hits: MatchDistribution | None = None) -> Measure:
    """Realised success with the interval that fits.

    Parameters
    ----------
    right
        Right guesses.
    attempts
        Guesses; success is 0 without any.
    hits
        Distribution of the attack's own hits, where it is known; the guesses count as
        independent without.
    """
    value = right / attempts if attempts else 0.0
    if hits is not None and attempts:
        low, high = by_distribution(right, attempts, hits)
        name, why = "matching", "95 % interval from the distribution of the attack's own hits"
    else:
        low, high = clopper_pearson(right, attempts)
        name, why = "Clopper-Pearson", "95 % interval of the mean chance of independent guesses"
    return Measure("success", value, low, high, name, why)


def exact_success(right: int, attempts: int) -> Measure:
    """Realised success of guesses in which nothing is left to chance.

    Parameters
    ----------
    right
        Right guesses.
    attempts
        Guesses; success is 0 without any.
    """
    return Measure("success", right / attempts if attempts else 0.0)
