"""How many pairs would be called wrongly, by the probabilities alone: sums over the sorted scores.

A score is the probability that two records are one person's. So of the pairs from a threshold
on, Σ(1 − p) are expected to be false matches; of those below it, Σ p to be missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.linkage.outcomes.thresholds import Thresholds
from sfumato.linkage.values import Floats, Ints


@dataclass(frozen=True, eq=False)
class Curve:
    """What is expected at every threshold that makes a difference; shape (distinct scores,).

    Attributes
    ----------
    score
        The distinct scores, ascending: each as a threshold.
    above
        Number of pairs from it on.
    false
        Expected number of false ones among them.
    missed
        Expected number of true matches among the pairs below it.
    pairs
        Number of all pairs.
    true
        Expected number of true matches among all pairs.
    """

    score: Floats
    above: Ints
    false: Floats
    missed: Floats
    pairs: int
    true: float

    @property
    def precision(self) -> Floats:
        """Expected share of true matches from each threshold on."""
        return 1 - self.false / self.above

    @property
    def recall(self) -> Floats:
        """Expected share of the candidate pairs' true matches that lie from each threshold on."""
        return 1 - self.missed / self.true if self.true > 0 else np.ones(len(self.score))


def curve(score: Floats, probability: Floats | None = None) -> Curve:
    """Expected errors at every threshold: O(P log P).

    Parameters
    ----------
    score
        Score of each pair.
    probability
        Probability that each pair is a match, not falling as the score rises, where it is
        known better than the score says (see `calibrate`).
    """
    probability = score if probability is None else probability
    distinct, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    true: Floats = np.bincount(inverse, probability, len(distinct)).astype(np.float64)
    false: Floats = np.bincount(inverse, 1 - probability, len(distinct)).astype(np.float64)
    return Curve(
        score=distinct,
        above=np.cumsum(counts[::-1])[::-1],
        false=np.cumsum(false[::-1])[::-1],
        missed=np.cumsum(true) - true,
        pairs=len(score),
        true=float(true.sum()),
    )


@dataclass(frozen=True, slots=True)
class Workload:
    """What two thresholds do to the pairs, before anybody has looked at one.

    Attributes
    ----------
    matches, possible_matches, non_matches
        Number of pairs of each outcome; the possible matches are what people have to look at.
    false_matches
        Expected number of pairs called a match that are none.
    missed_matches
        Expected number of true matches called a non-match.
    found_in_review
        Expected number of true matches among the possible matches.
    false_match_rate
        Expected share of false ones among the pairs called a match; 0 where there is none.
    missed_match_rate
        Expected share of the candidate pairs' true matches that are called a non-match.
    """

    matches: int
    possible_matches: int
    non_matches: int
    false_matches: float
    missed_matches: float
    found_in_review: float
    false_match_rate: float
    missed_match_rate: float


def workload(score: Floats, thresholds: Thresholds, probability: Floats | None = None) -> Workload:
    """How many pairs people will have to look at, and how many errors are expected beside.

    Parameters
    ----------
    score
        Score of each pair.
    thresholds
        The thresholds.
    probability
        As for `curve`.
    """
    probability = score if probability is None else probability
    match, non_match = score >= thresholds.upper, score < thresholds.lower
    matches, non_matches = int(np.count_nonzero(match)), int(np.count_nonzero(non_match))
    false = float(np.sum(1 - probability[match]))
    missed, true = float(np.sum(probability[non_match])), float(np.sum(probability))
    return Workload(
        matches=matches,
        possible_matches=len(score) - matches - non_matches,
        non_matches=non_matches,
        false_matches=false,
        missed_matches=missed,
        found_in_review=float(np.sum(probability[~match & ~non_match])),
        false_match_rate=false / matches if matches else 0.0,
        missed_match_rate=missed / true if true > 0 else 0.0,
    )
