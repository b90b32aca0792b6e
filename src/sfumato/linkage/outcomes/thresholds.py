"""Two thresholds on the score, and the three outcomes that they give."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.linkage.values import Floats, Ints, Outcome

OUTCOMES = (Outcome.NON_MATCH, Outcome.POSSIBLE_MATCH, Outcome.MATCH)
"""The outcomes by their codes 0, 1, 2."""
NON_MATCH, POSSIBLE_MATCH, MATCH = 0, 1, 2

Codes = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Pairs from ``upper`` on are matches, those below ``lower`` are non-matches.

    Attributes
    ----------
    lower
        Least score of a possible match, in [0, 1], or that of a match if the two are equal.
    upper
        Least score of a match, at least ``lower``; infinite where no pair is a match before
        somebody has looked at it.

    Raises
    ------
    InputError
        If they are no probabilities, or the lower one is above the upper one.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        """Check the order."""
        for name, value in (("lower", self.lower), ("upper", self.upper)):
            if not (0 <= value <= 1 or (name == "upper" and value == math.inf)):
                raise InputError(f"threshold {name}", "must be a score", accepted="0 to 1")
        if self.lower > self.upper:
            raise InputError("threshold lower", "must not be above the upper threshold")


def classify(score: Floats, thresholds: Thresholds) -> Codes:
    """Code of each pair's outcome: 0 non-match, 1 possible match, 2 match."""
    edges = np.array([thresholds.lower, thresholds.upper])
    return np.searchsorted(edges, score, side="right").astype(np.int8)


def after_review(outcome: Codes, pair: Ints, result: npt.NDArray[np.int8]) -> Codes:
    """Outcomes with what people decided: a pair left undecided is a possible match.

    Parameters
    ----------
    outcome
        Codes by the score; shape (pairs,).
    pair
        Numbers of the pairs that somebody answered about, -1 for none of these.
    result
        What was decided about each: 1 same person, -1 different persons, 0 undecided.
    """
    decided = outcome.copy()
    decided[pair[pair >= 0]] = result[pair >= 0] + 1
    return decided
