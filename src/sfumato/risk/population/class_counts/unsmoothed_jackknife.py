"""The unsmoothed jackknife estimators Duj1, Duj2 and Duj2a."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import xlog1py

from sfumato.risk.population.class_counts.estimator import ClassCountEstimator
from sfumato.risk.population.class_counts.totals import Counts, squared_variation, totals

LARGE_CLASS = 50
"""The size c above which Duj2a takes a class of the sample out of the estimate."""


def duj1(sizes: Counts, classes: Counts, population: float) -> float:
    """First-order jackknife class count, right where all classes are of one size.

    d / (1 − (1 − q) f_1 / n); Haas & Stokes 1998.
    """
    known = totals(sizes, classes, population)
    return known.classes / (1 - (1 - known.fraction) * known.ones / known.persons)


def duj2(sizes: Counts, classes: Counts, population: float) -> float:
    """Duj1, corrected for the variation of class sizes.

    [d − f_1 (1 − q) ln(1 − q) γ²(Duj1) / q] / (1 − (1 − q) f_1 / n); Haas & Stokes
    1998.
    """
    known = totals(sizes, classes, population)
    q = known.fraction
    first = duj1(sizes, classes, population)
    skew = squared_variation(sizes, classes, population, first)
    correction = known.ones * float(xlog1py(1 - q, -q)) * skew / q
    return (known.classes - correction) / (1 - (1 - q) * known.ones / known.persons)


def duj2a(
    sizes: Counts, classes: Counts, population: float, large_class: int = LARGE_CLASS
) -> float:
    """Duj2 without the classes that are seen more than c times, which are added as they are.

    The persons of the population in a large class are N̂ of q N̂ / (1 − (1 − q)^N̂) = n_j; the
    rest is a sample of n' of N' = N − Σ N̂ persons. Haas & Stokes 1998.

    Parameters
    ----------
    sizes
        The class sizes i that occur in the sample, ascending; shape (k,).
    classes
        f_i, the number of classes of each size; shape (k,).
    population
        N, the number of persons of the population.
    large_class
        c.
    """
    large = sizes > large_class
    if not large.any():
        return duj2(sizes, classes, population)
    known = totals(sizes, classes, population)
    dropped = float(classes[large].sum())
    if large.all():
        return dropped
    of_large = _population_sizes(sizes[large].astype(np.float64), known.fraction)
    kept = float(sizes[~large] @ classes[~large])
    rest = max(kept, population - float(of_large @ classes[large]))
    return dropped + duj2(sizes[~large], classes[~large], rest)


def _population_sizes(sizes: npt.NDArray[np.float64], fraction: float) -> npt.NDArray[np.float64]:
    """N̂ of q N̂ / (1 − (1 − q)^N̂) = n_j for each n_j, by its contracting fixed point."""
    if fraction >= 1:
        return sizes
    log_miss = np.log1p(-fraction)
    found: npt.NDArray[np.float64] = sizes / fraction
    for _ in range(1000):
        following: npt.NDArray[np.float64] = -sizes * np.expm1(found * log_miss) / fraction
        if np.all(np.abs(following - found) <= 1e-14 * found):
            return following
        found = following
    return found


@dataclass(frozen=True)
class Duj1(ClassCountEstimator):
    """The first-order unsmoothed jackknife."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "duj1"

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula gives it; see `duj1`."""
        return duj1(sizes, classes, population)


@dataclass(frozen=True)
class Duj2(ClassCountEstimator):
    """The second-order unsmoothed jackknife."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "duj2"

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula gives it; see `duj2`."""
        return duj2(sizes, classes, population)


@dataclass(frozen=True)
class Duj2a(ClassCountEstimator):
    """The stabilised second-order unsmoothed jackknife.

    Attributes
    ----------
    large_class
        The size c above which a class of the sample is taken out of the estimate.
    """

    large_class: int = LARGE_CLASS

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "duj2a"

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula gives it; see `duj2a`."""
        return duj2a(sizes, classes, population, self.large_class)
