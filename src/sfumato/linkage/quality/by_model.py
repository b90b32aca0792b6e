"""Precision and recall of the matches as the model's own probabilities have them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.linkage.values import Floats

BY_MODEL = "model"
_WHY = "sums of the scores as probabilities; as good as the model, and blind to blocking"


def expected_quality(
    probability: Floats, match: npt.NDArray[np.bool_], *, lost: float = 0.0
) -> tuple[Measure, Measure]:
    """Expected precision and recall of the pairs called a match.

    Parameters
    ----------
    probability
        Probability of each candidate pair.
    match
        Whether it is called a match.
    lost
        Expected number of true matches that blocking has lost.
    """
    found, called = float(np.sum(probability[match])), int(np.count_nonzero(match))
    true = float(np.sum(probability)) + lost
    why = _WHY if not lost else "sums of the scores, and what blocking has lost by the prior"
    return (
        Measure("precision", found / called if called else 1.0, estimator=BY_MODEL, why=_WHY),
        Measure("recall", found / true if true > 0 else 1.0, estimator=BY_MODEL, why=why),
    )
