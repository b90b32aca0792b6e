"""Scores from match weights."""

from __future__ import annotations

import numpy as np

from sfumato.linkage.values import Floats

SATURATED = 40.0
"""Weight, in bits, from which scores only keep the order of the weights."""
_CLOSEST = 2.0**-SATURATED
_WIDTH = 100.0


def scores(weight: Floats) -> Floats:
    """The probability of a match of each weight: 2^w / (1 + 2^w).

    Where that would round to 1 the score is not quite as near to 1, by less than 10⁻¹², so that
    a greater weight still has the greater score and ties are rare.

    Parameters
    ----------
    weight
        Match weights with the prior, in bits: log₂ of the odds.
    """
    kept = np.clip(weight, -1000.0, SATURATED)
    beyond = np.maximum(weight - SATURATED, 0.0)
    apart = np.where(beyond > 0, _CLOSEST / (1 + beyond / _WIDTH), 0.0)
    score = 1 / (1 + np.exp2(-kept))
    return np.where(beyond > 0, 1 - apart, score)
