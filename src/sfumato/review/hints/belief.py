"""How likely a pair is one person's, by what its rendering shows."""

from __future__ import annotations

import math

from sfumato.review.hints.evidence import Evidence
from sfumato.review.hints.reading import read
from sfumato.review.values import RenderedPair


def belief(rendered: RenderedPair, evidence: Evidence) -> float:
    """Probability that a pair is one person's, from its rendering and the model's weights alone.

    It is not the linkage's score: frequencies of values that do not show are not in it.

    Parameters
    ----------
    rendered
        The pair as it is shown.
    evidence
        What agreement on each attribute says.
    """
    odds = math.log(evidence.prior / (1 - evidence.prior))
    for each, attribute in zip(evidence.attributes, rendered, strict=True):
        if each is not None:
            odds += each.log_odds(read(attribute))
    return probability(odds)


def probability(log_odds: float) -> float:
    """The probability of some log-odds (natural logarithm)."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    power = math.exp(log_odds)
    return power / (1 + power)
