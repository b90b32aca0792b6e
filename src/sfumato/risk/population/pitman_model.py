"""The Ewens-Pitman model of class sizes: its fit, and the classes and uniques that it expects."""

from __future__ import annotations

from math import ceil, exp, expm1, log, log1p

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import digamma

from sfumato.risk.population.estimation import EstimationFailedError

Counts = npt.NDArray[np.int64] | npt.NDArray[np.float64]

NEEDS_TWO = "Pitman's model needs a sample of two persons or more"
SMALLEST_SIGMA = 1e-6
LARGEST_SIGMA = 1 - 1e-9
_SERIES_FROM = 300.0


def digamma_gap(start: float, steps: float) -> float:
    """ψ(a + m) − ψ(a) to about 12 digits, where both are large and near each other too."""
    if start < _SERIES_FROM:
        return float(digamma(start + steps) - digamma(start))
    low, high = start - 0.5, start + steps - 0.5
    bend = (1 / high**2 - 1 / low**2) / 24 - 7 / 960 * (1 / high**4 - 1 / low**4)
    return log1p(steps / low) + bend


def log_gamma_step(start: float, step: float) -> float:
    """The step ln Γ(z + s) − ln Γ(z) for 0 ≤ s ≤ 1, to about 12 digits of itself.

    Tricomi & Erdélyi's expansion of the ratio about w = z + (s − 1) / 2, z being raised to
    300 by Γ(z + 1) = z Γ(z) where it is below.
    """
    lift = max(0, ceil(_SERIES_FROM - start))
    raised = float(np.log1p(step / (start + np.arange(lift))).sum()) if lift else 0.0
    middle = start + lift + (step - 1) / 2
    bend = step * (1 - step * step) / 24
    return step * log(middle) + bend / middle**2 - raised


def fit_pitman(sizes: Counts, classes: Counts) -> tuple[float, float]:
    """θ and σ, 0 ≤ σ < 1, of the largest likelihood; σ = 0 is Ewens' model.

    The logarithm of the likelihood is
    Σ_{k<d} ln(θ + kσ) − ln[Γ(θ+n) / Γ(θ+1)] + Σ_j ln[Γ(f_j − σ) / Γ(1 − σ)]
    (Hoshino 2001, Journal of Official Statistics 17:499-520). For each σ the best θ > −σ is the
    root of the derivative by θ; σ is the root of the derivative by σ along it, or 0 where the
    likelihood falls from there on.

    Parameters
    ----------
    sizes
        The class sizes i that occur in the sample, ascending; shape (k,).
    classes
        f_i, the number of classes of each size; shape (k,). More than one class, and at least
        one of two persons or more.

    Raises
    ------
    EstimationFailedError
        If the likelihood has no maximum in the model's range.
    """
    persons, count = float(sizes @ classes), float(classes.sum())
    several = sizes > 1
    size, of_size = sizes[several].astype(np.float64), classes[several]

    def slope(sigma: float) -> float:
        theta = _best_theta(sigma, count, persons)
        joined = float((digamma(size - sigma) - digamma(1 - sigma)) @ of_size)
        return _sum_of_shares(theta, sigma, count) - joined

    if slope(SMALLEST_SIGMA) <= 0:
        return _best_theta(0.0, count, persons), 0.0
    if slope(LARGEST_SIGMA) >= 0:
        raise EstimationFailedError("Pitman's model has no maximum of its likelihood here")
    sigma = float(brentq(slope, SMALLEST_SIGMA, LARGEST_SIGMA, xtol=1e-13, rtol=1e-12))
    return _best_theta(sigma, count, persons), sigma


def _best_theta(sigma: float, count: float, persons: float) -> float:
    """θ > −σ at which the derivative of the likelihood by θ is 0.

    Σ_{k<d} 1 / (θ + kσ) = ψ(θ + n) − ψ(θ + 1), solved for ln(θ + σ) after multiplication by
    θ + σ: the difference falls from 1 at −∞ to d − n at ∞.

    Raises
    ------
    EstimationFailedError
        If there is no such θ.
    """

    def excess(log_distance: float) -> float:
        distance = exp(log_distance)
        theta = distance - sigma
        if sigma == 0:
            others = (count - 2) / theta
        else:
            others = digamma_gap(distance / sigma + 1, count - 2) / sigma
        return 1 + distance * (others - digamma_gap(theta + 1, persons - 1))

    low, high = -60.0, 2 * log(persons) + 10
    if not excess(low) > 0 > excess(high):
        raise EstimationFailedError("Pitman's model has no maximum of its likelihood here")
    return exp(float(brentq(excess, low, high, xtol=1e-13, rtol=1e-14))) - sigma


def _sum_of_shares(theta: float, sigma: float, count: float) -> float:
    """Σ_{k<d} k / (θ + kσ), the derivative by σ of Σ_{k<d} ln(θ + kσ)."""
    last = count - 1
    if theta > 1e3 * count * sigma:
        first, second, third, fourth = (
            last * count / 2,
            last * count * (2 * last + 1) / 6,
            (last * count / 2) ** 2,
            last * count * (2 * last + 1) * (3 * last * (last + 1) - 1) / 30,
        )
        ratio = sigma / theta
        return (first - ratio * (second - ratio * (third - ratio * fourth))) / theta
    distance = theta + sigma
    others = digamma_gap(theta / sigma + 2, count - 2)
    return (last - theta / distance - theta * others / sigma) / sigma


def pitman(sizes: Counts, classes: Counts, population: float) -> float:
    """The expected number of classes once the other N − n persons have come.

    d + (d + θ/σ) [Γ(θ+N+σ) Γ(θ+n) / (Γ(θ+n+σ) Γ(θ+N)) − 1] at the fitted θ and σ, and
    d + θ [ψ(θ+N) − ψ(θ+n)] for σ = 0. A sample of one class stays one; with every person
    alone in a class each further one is too (the limits of the fit).

    Raises
    ------
    EstimationFailedError
        If the sample is one person, or the fit finds no maximum.
    """
    d, n = float(classes.sum()), float(sizes @ classes)
    if n / population >= 1:
        return d
    if n <= 1:
        raise EstimationFailedError(NEEDS_TWO)
    if d <= 1:
        return d
    if sizes[-1] == 1:
        return float(population)
    theta, sigma = fit_pitman(sizes, classes)
    if sigma == 0:
        return d + theta * digamma_gap(theta + n, population - n)
    growth = log_gamma_step(theta + population, sigma) - log_gamma_step(theta + n, sigma)
    return d + (d + theta / sigma) * expm1(growth)


def expected_uniques(theta: float, sigma: float, population: float) -> float:
    """E[S_1] of N persons under the Ewens-Pitman model.

    By exchangeability N times the chance that each of N − 1 others stays out of a given
    person's class: N Π_{i=1}^{N−1} (θ + i − 1 + σ) / (θ + i)
    = N Γ(θ + N − 1 + σ) Γ(θ + 1) / [Γ(θ + σ) Γ(θ + N)]. Its limit for large N,
    N^σ Γ(θ + 1) / Γ(θ + σ), is the form of Hoshino 2001 that other tools use.
    """
    if sigma == 0:
        return population * theta / (theta + population - 1)
    ahead = theta + population - 1
    # The ratio is [Γ(θ+σ+1) / Γ(θ+1)]⁻¹ (θ + σ) Γ(ahead + σ) / Γ(ahead) / ahead.
    growth = log_gamma_step(ahead, sigma) - log_gamma_step(theta + 1, sigma)
    return population * (theta + sigma) * exp(growth) / ahead
