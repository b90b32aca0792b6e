"""Correct the scores' probabilities by labelled pairs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit

from sfumato.core.errors import InputError
from sfumato.linkage.values import Floats

ISOTONIC_FROM = 1000
"""Labels from which isotonic regression is taken: with fewer it follows their noise."""
_EDGE = 1e-15
"""Scores nearer than this to 0 or 1 count as this near, so that their logits are finite."""
_STEPS = 100


class Method(StrEnum):
    """How probabilities were made from scores."""

    PLATT = "Platt scaling"
    ISOTONIC = "isotonic regression"


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map from scores to probabilities that never falls.

    Attributes
    ----------
    method
        How it was found.
    labels
        Number of labelled pairs behind it.
    slope, intercept
        Platt: the logit of the probability is slope · logit(score) + intercept.
    score, probability
        Isotonic: the probability at some scores, ascending; between them linear in the score.
    """

    method: Method
    labels: int
    slope: float = 1.0
    intercept: float = 0.0
    score: tuple[float, ...] = ()
    probability: tuple[float, ...] = ()

    def __call__(self, score: Floats) -> Floats:
        """Probability of each score."""
        if self.method is Method.PLATT:
            return np.asarray(expit(self.slope * _logit(score) + self.intercept))
        return np.interp(score, self.score, self.probability)


def calibrate(
    score: Floats, match: npt.NDArray[np.bool_], method: Method | None = None
) -> Calibration:
    """Fit the probabilities to labelled pairs, drawn by their scores or at random.

    Platt scaling (Platt 1999) moves and stretches the match weights; isotonic regression takes
    any rising shape and needs more labels (Niculescu-Mizil and Caruana 2005, ICML). Both take
    Platt's targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) for n₊ matches and n₋ others, so that labels
    which the scores separate make no certainty of them. Labels that fall as the score rises
    give a constant.

    Parameters
    ----------
    score
        Score of each labelled pair.
    match
        Whether the two records are one person's.
    method
        How; by default Platt scaling below 1,000 labels.

    Raises
    ------
    InputError
        If there is no label, or all are alike.
    """
    if not np.any(match) or np.all(match):
        raise InputError(
            "the labelled pairs",
            "must hold matches and non-matches",
            found="one kind only" if len(match) else "none",
        )
    if method is None:
        method = Method.ISOTONIC if len(match) >= ISOTONIC_FROM else Method.PLATT
    if method is Method.PLATT:
        slope, intercept = _platt(_logit(score), match)
        return Calibration(method, len(match), slope, intercept)
    knots, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    share = np.bincount(inverse, _targets(match)) / counts
    fitted = isotonic_regression(share, weights=counts).x
    return Calibration(
        method, len(match), score=tuple(knots.tolist()), probability=tuple(fitted.tolist())
    )


def _logit(score: Floats) -> Floats:
    return np.asarray(logit(np.clip(score, _EDGE, 1 - _EDGE)))


def _targets(match: npt.NDArray[np.bool_]) -> Floats:
    """What a label says of the probability: not 0 or 1, as other labels would not all agree."""
    matches = int(np.count_nonzero(match))
    others = len(match) - matches
    return np.where(match, (matches + 1) / (matches + 2), 1 / (others + 2))


def _platt(weight: Floats, match: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and intercept of greatest likelihood, the slope 0 at least, by Newton steps.

    With Platt's targets the likelihood has one maximum; steps are halved until they raise it.
    """
    target = _targets(match)
    odds = (np.count_nonzero(match) + 1) / (np.count_nonzero(~match) + 1)
    design = np.column_stack([weight, np.ones(len(weight))])
    at = np.array([0.0, np.log(odds)])

    def loss(place: Floats) -> float:
        margin = design @ place
        return float(np.sum(np.logaddexp(0, margin) - target * margin))

    for _ in range(_STEPS):
        fitted = expit(design @ at)
        gradient = design.T @ (fitted - target)
        curvature = (design * (fitted * (1 - fitted))[:, None]).T @ design + 1e-12 * np.eye(2)
        step, size = np.linalg.solve(curvature, gradient), 1.0
        while loss(at - size * step) > loss(at) and size > 1e-10:
            size /= 2
        at = at - size * step
        if np.max(np.abs(size * step)) < 1e-10:
            break
    if at[0] < 0:
        share = float(target.mean())
        return 0.0, float(np.log(share / (1 - share)))
    return float(at[0]), float(at[1])
