"""A model of what was tried near the best point: which one to try next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.pipeline.tune.trial import Trial, ratio

Floats = npt.NDArray[np.float64]
RIDGE = 1e-3
LEAST_RATIO = 1e-3


class Surrogate:
    """Linear models of the logarithms of loss and measures, near one point.

    Parameters
    ----------
    positions
        Positions of the knobs of each trial, shape (trials, knobs).
    trials
        The trials, each with a release.
    centre
        The point near which the models are to hold, shape (knobs,).
    width
        How near: trials weigh exp(-(distance/width)²).
    """

    def __init__(
        self, positions: Floats, trials: Sequence[Trial], centre: Floats, width: float
    ) -> None:
        self.centre = centre
        self._ratios = np.log([_ratios(each) for each in trials])
        losses = np.log(np.maximum([each.loss for each in trials], 1e-9))
        apart = positions - centre
        near = np.exp(-((apart**2).sum(axis=1) / width**2)) + 1e-6
        features = np.column_stack([np.ones(len(trials)), apart])
        weighted = features * near[:, None]
        square = features.T @ weighted + RIDGE * np.diag([1e-9, *np.ones(apart.shape[1])])
        wanted = np.column_stack([losses, self._ratios])
        self._slopes = np.linalg.solve(square, weighted.T @ wanted)
        left = wanted - features @ self._slopes
        self.spread = np.sqrt((near[:, None] * left**2).sum(axis=0) / near.sum())

    def best(self, candidates: Floats, margin: float) -> int:
        """The candidate that loses least of those that should meet every threshold.

        Where none should, the one that is nearest to it.

        Parameters
        ----------
        candidates
            Positions, shape (candidates, knobs).
        margin
            By how many spreads the measures must lie below their limits.
        """
        features = np.column_stack([np.ones(len(candidates)), candidates - self.centre])
        found = features @ self._slopes
        over = (found[:, 1:] + margin * self.spread[1:]).max(axis=1, initial=-np.inf)
        return int(np.lexsort((found[:, 0], np.maximum(over, 0.0)))[0])


def _ratios(trial: Trial) -> list[float]:
    return [max(min(ratio(each), 1e3), LEAST_RATIO) for each in trial.held]
