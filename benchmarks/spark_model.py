"""What Spark takes as a function of records, fitted to what was measured, and far beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log2

import numpy as np

RECORDS_PER_PERSON = 4
PLANNED = 10_000_000_000


def levels(records: float, upper: int) -> int:
    """Cuts at the median until no subtree of the visits has more than ``upper`` persons."""
    return max(0, ceil(log2(records / RECORDS_PER_PERSON / upper)))


def terms(records: float, upper: int) -> list[float]:
    """What the cost is a sum of: a start, each level's, each record's, each record's per level."""
    depth = levels(records, upper)
    return [1.0, float(depth), records / 1e6, records / 1e6 * depth]


def fit(
    records: Sequence[int], costs: Sequence[float], upper: int, used: Sequence[int]
) -> dict[int, float]:
    """Non-negative weights of some terms, by least squares of relative errors.

    Parameters
    ----------
    records, costs
        What was measured.
    upper
        Most persons of a subtree.
    used
        Which of `terms` the cost is made of.
    """
    from scipy.optimize import nnls

    matrix = np.array([[terms(size, upper)[place] for place in used] for size in records])
    scale = np.array(costs, dtype=float)
    weights, _ = nnls(matrix / scale[:, None], np.ones(len(costs)))
    return dict(zip(used, weights.tolist(), strict=True))


def predict(weights: Mapping[int, float], records: float, upper: int) -> float:
    """The cost of a file."""
    made_of = terms(records, upper)
    return sum(weight * made_of[place] for place, weight in weights.items())
