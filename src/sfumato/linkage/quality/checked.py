"""Precision and recall from pairs that somebody has checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.linkage.quality.plan import DEVIATIONS, Plan, weights
from sfumato.linkage.values import Floats

BY_CHECKS = "stratified sample"
_WHY = "pairs checked by hand; 95 % interval from Wilson's intervals of the strata"


def checked_quality(
    plan: Plan, score: Floats, match: npt.NDArray[np.bool_], *, lost: float = 0.0
) -> tuple[Measure, Measure]:
    """Precision and recall of the matches, with 95 % intervals, from the checked pairs.

    The value is the stratified estimate, Σ N_h · x_h / n_h over the strata. Its interval puts
    together Wilson's interval of each stratum by their distances from the estimates, as squares
    (Zou and Donner 2008, Statistics in Medicine 27:1693-1702), shrunk by the finite population
    correction; recall by its derivatives. It has a width even where no error was found.

    Parameters
    ----------
    plan
        The strata; the sizes that were really checked may differ from the plan's.
    score
        Score of each checked pair; shape (checked,).
    match
        Whether its two records are one person's.
    lost
        Expected number of true matches that blocking has lost.

    Raises
    ------
    InputError
        If no pair of a stratum was checked, or more than it has.
    """
    stratum = plan.stratum(score)
    size = np.bincount(stratum, minlength=len(plan.pairs))
    if np.any(size == 0):
        raise InputError(
            "the checked pairs",
            "must hold some of every stratum of scores",
            found=f"none of stratum {int(np.argmin(size)) + 1} of {len(size)}",
            advice="check the pairs that the plan draws",
        )
    if np.any(size > plan.pairs):
        raise InputError(
            "the checked pairs", "must each be given once", found="more than there are"
        )
    share = np.bincount(stratum[match], minlength=len(size)) / size
    true = plan.pairs * share
    total = float(true.sum()) + lost
    recall = float(true[plan.match].sum()) / total if total > 0 else 1.0
    called = int(plan.pairs[plan.match].sum())
    precision = float(true[plan.match].sum()) / called if called else 1.0
    by_precision, by_recall = weights(plan.pairs, plan.match, max(total, 1.0), recall)
    below, beyond = _distances(plan, share, size)
    return (
        _measure("precision", precision, by_precision, below, beyond),
        _measure("recall", recall, by_recall, below, beyond),
    )


def _distances(plan: Plan, share: Floats, size: npt.NDArray[np.integer]) -> tuple[Floats, Floats]:
    """How far Wilson's interval of each stratum reaches below and beyond its share."""
    square = DEVIATIONS**2
    middle = (size * share + square / 2) / (size + square)
    reach = DEVIATIONS * np.sqrt(size * share * (1 - share) + square / 4) / (size + square)
    unseen = np.sqrt(1 - size / plan.pairs)
    return (share - middle + reach) * unseen, (middle + reach - share) * unseen


def _measure(name: str, value: float, weight: Floats, below: Floats, beyond: Floats) -> Measure:
    """The value between the ends at which the strata's distances add up as squares."""
    down, up = np.where(weight >= 0, below, beyond), np.where(weight >= 0, beyond, below)
    return Measure(
        name,
        value,
        low=max(0.0, value - float(np.linalg.norm(weight * down))),
        high=min(1.0, value + float(np.linalg.norm(weight * up))),
        estimator=BY_CHECKS,
        why=_WHY,
    )
