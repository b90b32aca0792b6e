"""Goodness of fit for the risk of classes of one size (Skinner and Shlomo 2008, generalised)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from sfumato.risk.population.expected_inverse import confluent
from sfumato.risk.population.log_linear.cells import Floats, Ints


class Coefficients(NamedTuple):
    """How the estimated risk of a cell moves with the error of its fitted mean.

    With μ the mean that is fitted and f a count of mean μ*, a (f - μ) estimates the linear term
    of the error's expansion about μ*, and b [(f - μ)² - f] the quadratic one.

    Attributes
    ----------
    a
        Of the linear term, per cell.
    b
        Of the quadratic term, per cell.
    """

    a: Floats
    b: Floats


class Misfit(NamedTuple):
    """B of Skinner and Shlomo (2008, JASA 103:989-1001, Section 4), and its variance.

    A large |B| / √variance shows lack of fit; the sign of B is not the direction of the error.

    Attributes
    ----------
    bias
        B.
    variance
        Of B where the model holds.
    """

    bias: float
    variance: float


def of_size(size: int, means: Floats, fraction: float) -> Coefficients:
    """The coefficients for the classes with ``size`` persons in the sample.

    Their risk is Σ over cells of P(f = k) R_k, with P the Poisson probability at μ, held fixed,
    and R_k = k E[1/F | f = k]; for k = 0 R is P(F > 0 | f = 0), whose sum over the empty cells is
    the number of classes that the sample missed. For k = 1 this is the criterion for τ2.

    Parameters
    ----------
    size
        k, at least 0.
    means
        μ, the fitted mean of each cell in the sample, above 0.
    fraction
        π, the sampling fraction, in (0, 1).
    """
    odds = (1 - fraction) / fraction
    unseen = odds * means
    present = np.exp(size * np.log(means) - means - gammaln(size + 1))
    if size == 0:
        moves = odds * present * np.exp(-unseen)
        return Coefficients(-moves, -odds * moves / 2)
    linear = confluent(2, size, unseen) / (size + 1)
    square = confluent(3, size, unseen) / ((size + 1) * (size + 2))
    return Coefficients(odds * present * linear, odds * odds * present * square)


def of_population_uniques(means: Floats, fraction: float) -> Coefficients:
    """The coefficients for τ1, the sample uniques that are population uniques.

    Parameters
    ----------
    means
        μ, the fitted mean of each cell in the sample.
    fraction
        π, the sampling fraction.
    """
    population = means / fraction
    at_one = (1 - fraction) * population * np.exp(-population)
    return Coefficients(at_one, at_one * (1 - fraction) / (2 * fraction))


def of_direction(size: int, means: Floats, fraction: float) -> Coefficients:
    """The coefficients whose B has the sign of the estimate's error under lack of fit.

    P(f = k) moves with the mean too: b* = (k / μ - 1) a - b in the place of b.

    Parameters
    ----------
    size
        k, at least 0.
    means
        μ, the fitted mean of each cell in the sample, above 0.
    fraction
        π, the sampling fraction, in (0, 1).
    """
    a, b = of_size(size, means, fraction)
    return Coefficients(a, (size / means - 1) * a - b)


def misfit(
    coefficients: Coefficients, sizes: Ints | Floats, means: Floats, weights: Floats | float = 1.0
) -> Misfit:
    """B, and its variance where the model holds.

    Parameters
    ----------
    coefficients
        Per cell.
    sizes
        f, the persons of each cell, 0 for empty cells.
    means
        μ, the fitted mean of each cell.
    weights
        Number of cells of the full table that each one stands for.
    """
    a, b = coefficients
    apart = sizes - means
    bias = weights * (a * apart + b * (apart * apart - sizes))
    variance = weights * (a * a * means + 2 * b * b * means * means)
    return Misfit(float(np.sum(bias)), float(np.sum(variance)))
