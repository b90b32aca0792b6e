"""How many classes the population has, from how often classes of each size are sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import expm1

import numpy as np
from scipy.special import xlog1py

from sfumato.core.arrays import Floats
from sfumato.risk.population.estimator_protocol import (
    Estimate,
    EstimationFailedError,
    SampleClasses,
)
from sfumato.risk.population.uniqueness_models import (
    NEEDS_TWO,
    Counts,
    digamma_gap,
    fit_pitman,
    log_gamma_step,
    sh3,
    totals,
    unseen_by_ones,
)

ALONE = "nobody of the sample shares a class, so it does not tell how many of the population do"


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


RAISED = "the formula gave fewer classes than the sample has; raised to the sample's"
LOWERED = "the formula gave more classes than one for each unseen person; lowered to that"

LARGE_CLASS = 50
"""The size c above which Duj2a takes a class of the sample out of the estimate."""

LITTLE_VARIATION, MUCH_VARIATION = 0.9, 30.0
"""γ² below the first takes Duj2, below the second Duj2a."""


def pairs_within(sizes: Counts, classes: Counts) -> float:
    """Σ i (i − 1) f_i, the number of ordered pairs of persons who share a class."""
    size = sizes.astype(np.float64)
    return float((size * (size - 1)) @ classes)


def squared_variation(sizes: Counts, classes: Counts, population: float, count: float) -> float:
    """γ², the squared coefficient of variation of the population's class sizes.

    γ²(D) = max(0, (D / n²) Σ i (i − 1) f_i + D / N − 1) for D classes (Haas & Stokes 1998,
    JASA 93:1475-1487).
    """
    persons = float(sizes @ classes)
    pairs = pairs_within(sizes, classes) / persons**2
    return max(0.0, count * pairs + count / population - 1)


def duj1(sizes: Counts, classes: Counts, population: float) -> float:
    """First-order jackknife class count, right where all classes are of one size.

    d / (1 − (1 − q) f_1 / n); Haas & Stokes 1998.
    """
    total = totals(sizes, classes, population)
    return total.classes / (1 - (1 - total.fraction) * total.ones / total.persons)


def duj2(sizes: Counts, classes: Counts, population: float) -> float:
    """Duj1, corrected for the variation of class sizes.

    [d − f_1 (1 − q) ln(1 − q) γ²(Duj1) / q] / (1 − (1 − q) f_1 / n); Haas & Stokes
    1998.
    """
    total = totals(sizes, classes, population)
    q = total.fraction
    first = duj1(sizes, classes, population)
    skew = squared_variation(sizes, classes, population, first)
    correction = total.ones * float(xlog1py(1 - q, -q)) * skew / q
    return (total.classes - correction) / (1 - (1 - q) * total.ones / total.persons)


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
    total = totals(sizes, classes, population)
    dropped = float(classes[large].sum())
    if large.all():
        return dropped
    of_large = _population_sizes(sizes[large].astype(np.float64), total.fraction)
    kept = float(sizes[~large] @ classes[~large])
    rest = max(kept, population - float(of_large @ classes[large]))
    return dropped + duj2(sizes[~large], classes[~large], rest)


def _population_sizes(sizes: Floats, fraction: float) -> Floats:
    """N̂ of q N̂ / (1 − (1 − q)^N̂) = n_j for each n_j, by its contracting fixed point."""
    if fraction >= 1:
        return sizes
    log_miss = np.log1p(-fraction)
    found: Floats = sizes / fraction
    for _ in range(1000):
        following: Floats = -sizes * np.expm1(found * log_miss) / fraction
        if np.all(np.abs(following - found) <= 1e-14 * found):
            return following
        found = following
    return found


def shlosser(sizes: Counts, classes: Counts, population: float) -> float:
    """Shlosser's class count, right where class sizes vary a lot.

    d + f_1 Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i; Shlosser 1981; Haas et al., VLDB 1995,
    Section 3.2.
    """
    total = totals(sizes, classes, population)
    if not total.ones or total.fraction >= 1:
        return total.classes
    return total.classes + total.ones * unseen_by_ones(sizes, classes, total.fraction)


def _by_variation(sizes: Counts, classes: Counts, population: float) -> str:
    """Haas & Stokes' rule: γ²(Duj1) below 0.9 takes Duj2, below 30 Duj2a, else Sh3.

    Haas & Stokes 1998.
    """
    skew = squared_variation(sizes, classes, population, duj1(sizes, classes, population))
    if skew < LITTLE_VARIATION:
        return "duj2"
    return "duj2a" if skew < MUCH_VARIATION else "sh3"


FORMULAS: dict[str, Callable[[Counts, Counts, float], float]] = {
    "duj1": duj1,
    "duj2": duj2,
    "duj2a": duj2a,
    "shlosser": shlosser,
    "sh3": sh3,
    "pitman": pitman,
}
"""J̃ of sizes, classes and N; it can lie outside what is possible."""
RULES: dict[str, Callable[[Counts, Counts, float], str]] = {"hybrid": _by_variation}
"""The published rule that chooses one of the formulas by how much sizes vary."""


@dataclass(frozen=True)
class ClassCountEstimator:
    """An estimator of the number of classes of the population, and through it of λ.

    Σ_j f_j / (n F_j) over the classes of an equal-probability sample has the expectation
    J̃ / N, J̃ being the number of classes of the population: each class adds
    E[f_j] / (n F_j) = 1 / N. So an estimate of J̃ is one of λ (paper 004, Theorem 1).

    Attributes
    ----------
    name
        One of `FORMULAS` or of `RULES`.
    """

    name: str

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """λ and J̃ of the population behind an equal-probability sample.

        Raises
        ------
        EstimationFailedError
            If the formula has no value for this sample.
        """
        sizes, classes = sample.counts_of_sizes
        formula = self._formula(sizes, classes, sample.population)
        taken = () if formula == self.name else (f"took {formula}",)
        alone = (ALONE,) if sample.classes == sample.n < sample.population else ()
        count, clipped = self._within(formula, sizes, classes, sample.population)
        return Estimate(
            estimator=self.name,
            marketer=count / sample.population,
            class_count=count,
            path=(*taken, *alone, *clipped),
        )

    def _formula(self, sizes: Counts, classes: Counts, population: int) -> str:
        rule = RULES.get(self.name)
        return self.name if rule is None else rule(sizes, classes, population)

    def _within(
        self, formula: str, sizes: Counts, classes: Counts, population: int
    ) -> tuple[float, tuple[str, ...]]:
        """What the formula gives, kept within what is possible, and whether it had to be."""
        total = totals(sizes, classes, population)
        most = total.classes + population - total.persons
        if most <= total.classes:
            return total.classes, ()
        count = FORMULAS[formula](sizes, classes, population)
        if not np.isfinite(count):
            raise EstimationFailedError(f"estimator {self.name} has no finite value here")
        if count < total.classes:
            return total.classes, (RAISED,)
        if count > most:
            return most, (LOWERED,) if count > most * (1 + 1e-12) else ()
        return count, ()


CLASS_COUNTS: Mapping[str, ClassCountEstimator] = {
    name: ClassCountEstimator(name) for name in (*FORMULAS, *RULES)
}
"""Every class-count estimator, by its name on the command line and in the report."""
