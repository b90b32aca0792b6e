"""What a claim allows an attack, and whether it got more."""

from __future__ import annotations

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.referee.distributions.free import binomial_hits
from sfumato.intruder.referee.distributions.one_to_one import one_to_one_hits, poisson_hits
from sfumato.intruder.referee.intervals import UPPER
from sfumato.risk.population.match_distribution import MatchDistribution

_FEW = 3
"""Right guesses that are expected in files so small that the Poisson's tail can be too light."""


def claimed_rate(predicted: Measure) -> float:
    """The largest chance that a claim leaves open: the upper end of its interval where it has one.

    Parameters
    ----------
    predicted
        The claim.
    """
    rate = predicted.value if predicted.high is None else predicted.high
    return min(max(float(rate), 0.0), 1.0)


def claimed_hits(predicted: Measure, attempts: int, *, one_to_one: bool) -> MatchDistribution:
    """The distribution of the hits if the claim were true, by its mean alone.

    One-to-one, the Poisson's; where no more than 3 right ones are expected, that of as many
    equal classes, all of whose persons are released, if its 97.5 % end is farther.

    Parameters
    ----------
    predicted
        The claimed mean chance of a guess.
    attempts
        Number of guesses.
    one_to_one
        Whether no person was named twice.
    """
    rate = claimed_rate(predicted)
    if not one_to_one:
        return binomial_hits(attempts, rate)
    spread = poisson_hits(attempts * rate)
    classes = round(attempts * rate)
    if not 1 <= classes <= _FEW:
        return spread
    equal = one_to_one_hits(*2 * (np.full(classes, attempts // classes),))
    return max(spread, equal, key=lambda hits: hits.quantile(UPPER))


def verdict(
    right: int, attempts: int, claimed: MatchDistribution, *, tries: int = 1
) -> tuple[float, bool, float]:
    """Largest success in keeping with a claim, whether it was exceeded, and the p-value.

    A true claim is exceeded with probability at most 2.5 %, and the p-value, the probability of
    so many right guesses or more if the claim were true, is then at most that.

    Parameters
    ----------
    right
        Right guesses.
    attempts
        Guesses, at least 1.
    claimed
        Distribution of the right guesses if the claim were true.
    tries
        Of how many attacks this is the one that came out best: 2.5 % is divided by it, the p-value
        multiplied (Bonferroni).
    """
    most = claimed.quantile(1 - (1 - UPPER) / tries)
    return min(1.0, most / attempts), right > most, min(1.0, tries * claimed.at_least(right))
