"""How far the extrapolated marketer risk may be from the realised one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from sfumato.risk.population.accumulation.extrapolation import EDGE, Extrapolation, Reach
from sfumato.risk.population.accumulation.resampling import resampled
from sfumato.risk.population.intervals import STANDARD_DEVIATIONS
from sfumato.risk.population.sample import SampleClasses

Floats = npt.NDArray[np.float64]

DRIFT = 0.08
"""By how much the logit of the growth may drift off, per factor e of the number of persons."""
PAIRS_MISSED = 3
"""Expected number of pairs, at most, behind a sample that has none (95 %)."""


def interval(
    sample: SampleClasses, probabilities: Floats, reach: Reach, rng: np.random.Generator
) -> tuple[float, float]:
    """Ends of an interval for the realised λ = Σ f_j / (n F_j).

    Three parts of the error of log λ add up as squares: 1.96 standard deviations of estimate
    minus realised λ over samples of a population like the one behind the sample (a parametric
    bootstrap); what the estimate changes when the growth's logit drifts by `DRIFT` per factor e
    between the sample and the population; and the whole of what the trend contributes. The
    last two allow for the extrapolation's bias; the simulation in the documentation shows how
    often the interval holds. The sum is taken on the logarithm upwards, and on the logit downwards,
    as few pairs in the sample leave more room below a λ near 1 than above it. A sample without
    pairs may still come from a population with some.

    Parameters
    ----------
    sample
        The classes; fewer persons than the population.
    probabilities
        The baseline that was drawn.
    reach
        Where the sample leads.
    rng
        Draws the samples of the bootstrap.
    """
    distance = float(np.log(sample.population / sample.n))
    drift = DRIFT * distance * float(reach.leverage[0])
    parts = (STANDARD_DEVIATIONS * _scatter(sample, probabilities, rng), drift)
    width = float(np.sqrt(sum(part * part for part in parts) + reach.trend[0] ** 2))
    marketer = float(reach.classes[0]) / sample.population
    low = min(_below(marketer, width), _with_pairs(sample, probabilities))
    least = sample.classes / sample.population
    most = least + 1 - sample.fraction
    return float(np.clip(low, least, most)), float(np.clip(marketer * np.exp(width), least, most))


def _below(marketer: float, width: float) -> float:
    """λ less ``width`` of its logarithm, in units of the logit."""
    share = min(marketer, 1 - EDGE)
    return float(expit(logit(share) - width / (1 - share)))


def _scatter(sample: SampleClasses, probabilities: Floats, rng: np.random.Generator) -> float:
    """Standard deviation of log(estimate / realised λ) over samples."""
    drawn = resampled(sample, rng)
    if not len(drawn.marketer):
        return 0.0
    extrapolation = Extrapolation(drawn.sizes, sample.n, sample.population, probabilities)
    classes = extrapolation.reach(drawn.counts).classes
    alone, persons = drawn.counts[0], drawn.sizes @ drawn.counts
    growth = alone / drawn.counts.sum(axis=0)
    estimate = classes / sample.population * (sample.n / persons) ** growth
    return float(np.std(np.log(estimate / drawn.marketer)))


def _with_pairs(sample: SampleClasses, probabilities: Floats) -> float:
    """The estimate if a sample of singles had had `PAIRS_MISSED` pairs; else no bound."""
    alone = sample.n - 2 * PAIRS_MISSED
    if sample.classes < sample.n:
        return np.inf
    if alone <= 0:
        return 0.0
    extrapolation = Extrapolation(np.array([1, 2]), sample.n, sample.population, probabilities)
    counts = np.array([[alone], [PAIRS_MISSED]], dtype=float)
    return float(extrapolation.reach(counts).classes[0]) / sample.population
