"""Intervals by drawing the pairs again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

RESAMPLES = 500
LEVEL = 0.95
LEAST_DEFINED = 0.9
"""Share of the samples in which a statistic must be defined for an interval."""


def bootstrap(
    statistic: Callable[[npt.NDArray[np.int64]], float | None],
    counts: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    """The 95 % percentile interval of a statistic over pairs drawn with replacement.

    Pairs with the same answers are drawn together: how often each kind is drawn is multinomial.

    Parameters
    ----------
    statistic
        Its value for a number of pairs of each kind; ``None`` where it is not defined.
    counts
        Number of pairs of each kind.
    rng
        Source of randomness.
    """
    drawn = rng.multinomial(int(counts.sum()), counts / counts.sum(), RESAMPLES)
    values = [value for value in map(statistic, drawn) if value is not None]
    if len(values) < LEAST_DEFINED * RESAMPLES:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
