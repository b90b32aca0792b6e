"""How much certainty an opening is expected to bring: mutual information, in bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.review.hints.evidence import Level

Floats = npt.NDArray[np.float64]


def entropy(probability: Floats | float) -> Floats:
    """Uncertainty of yes or no, in bits: -p·log2(p) - (1-p)·log2(1-p).

    Parameters
    ----------
    probability
        Probability of yes.
    """
    p = np.asarray(probability, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = p * np.log2(p) + (1 - p) * np.log2(1 - p)
    return np.where((p <= 0) | (p >= 1), 0.0, -terms)


def information(match: Floats, other: Floats, belief: float) -> float:
    """Expected fall of the uncertainty whether a pair is one person's, in bits.

    The mutual information of the answer and the outcome, never negative:
    H(q) - Σ_o P(o)·H(P(match | o)), P(o) = q·P(o | match) + (1 - q)·P(o | non-match).

    Parameters
    ----------
    match, other
        Probability of each outcome for a pair of one person, and of two; shape (outcomes,), each
        of sum 1.
    belief
        q, the probability that the pair is one person's, before.
    """
    both = belief * match + (1 - belief) * other
    seen = both > 0
    after = belief * match[seen] / both[seen]
    return max(0.0, float(entropy(belief) - np.sum(both[seen] * entropy(after))))


def gain_of_value(counts: npt.NDArray[np.int64], belief: float) -> float:
    """What the value of two equal cells is expected to tell, in bits: a rare one tells more.

    A value that a share f of the consistent records has is agreed on with probability f by one
    person's records, and in proportion to f² by those of two persons.

    Parameters
    ----------
    counts
        Number of consistent records per value; shape (values,).
    belief
        Probability that the pair is one person's, before.
    """
    counts = counts[counts > 0]
    if len(counts) < 2:
        return 0.0
    share = counts / counts.sum()
    square = share**2
    return information(share, square / square.sum(), belief)


def gain_of_levels(levels: Sequence[Level], belief: float) -> float:
    """What two different cells are expected to tell, in bits: which of the levels they are in.

    Parameters
    ----------
    levels
        The levels that are consistent with what shows.
    belief
        Probability that the pair is one person's, before.
    """
    if len(levels) < 2:
        return 0.0
    match = np.array([each.m for each in levels])
    other = np.array([each.u for each in levels])
    if not match.sum() or not other.sum():
        return 0.0
    return information(match / match.sum(), other / other.sum(), belief)
