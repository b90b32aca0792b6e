"""Hits of one-to-one guessing: no person is named twice."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.risk.population.match_distribution import MatchDistribution, matches

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def one_to_one_hits(pairs: Ints | Floats, larger: Ints | Floats) -> MatchDistribution:
    """The distribution of the right pairs of random one-to-one mappings, class by class.

    The f released units of a class are mapped onto its F persons at random, or the persons onto
    the units where those are more. Of the g right pairs that such a mapping can name (g = f where
    every unit's owner is among the persons), i given ones are all named with probability
    (m - i)! / m!, m = max(f, F). The factorial moments are (g)_i / (m)_i, those of the fixed
    points of g records in a class of m persons (paper 004, Section 2.3), so that the distribution
    over all classes is exact (`sfumato.risk.population.match_distribution`).

    Parameters
    ----------
    pairs
        g, the units of each class whose owner fits it, shape (classes,).
    larger
        m, the larger of the numbers of units and of persons of each class, shape (classes,).

    Raises
    ------
    InputError
        If there are more pairs than persons or units.
    """
    pairs, larger = np.asarray(pairs, np.float64), np.asarray(larger, np.float64)
    some = pairs > 0
    if not np.any(some):
        return MatchDistribution(0.0, 0.0, 0, np.ones(1))
    return matches(pairs[some], larger[some])


def poisson_hits(mean: float) -> MatchDistribution:
    """The hits of one-to-one guesses of which only the mean number is claimed.

    With f of F per class, E (R)_i = (f)_i / (F)_i <= (f/F)^i, so that E z^R <= exp((z - 1) f/F)
    for z >= 1: the factorial moments and every exponential bound of the upper tail are at most
    those of the Poisson distribution with the same mean, which the matches of large classes with
    f = F reach. Of files of equal classes up to 7 persons, the probability above the Poisson's
    97.5 % end passes 2.5 % only for one class of four (4.2 %) and two classes of three (2.8 %;
    tested); `claimed_hits` takes those as they are.

    Parameters
    ----------
    mean
        The expected number of right guesses.

    Raises
    ------
    InputError
        If the mean is negative or infinite.
    """
    if not 0 <= mean < np.inf:
        raise InputError("the mean", "must be a number of at least 0", found="another number")
    from scipy.stats import poisson

    low, high = (int(end) for end in poisson.ppf([1e-18, 1 - 1e-16], mean))
    low = max(low, 0)
    chances = poisson.pmf(np.arange(low, high + 2), mean)
    return MatchDistribution(float(mean), float(mean), low, np.asarray(chances, dtype=np.float64))
