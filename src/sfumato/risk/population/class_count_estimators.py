"""How many classes the population has, from how often classes of each size are sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, exp, expm1, log, log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import betaln, chdtri, digamma, xlog1py

from sfumato.risk.population.estimation import Estimate, EstimationFailedError, SampleClasses

Counts = npt.NDArray[np.int64] | npt.NDArray[np.float64]
"""Class sizes i that occur, ascending, or numbers f_i of classes of each; shape (sizes,)."""

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


ALONE = "nobody of the sample shares a class, so it does not tell how many of the population do"
RAISED = "the formula gave fewer classes than the sample has; raised to the sample's"
LOWERED = "the formula gave more classes than one for each unseen person; lowered to that"

LARGE_CLASS = 50
"""The size c above which Duj2a takes a class of the sample out of the estimate."""

LITTLE_VARIATION, MUCH_VARIATION = 0.9, 30.0
"""γ² below the first takes Duj2, below the second Duj2a."""

REJECTION = 0.025
"""The chance that the test of uniformity rejects equal classes."""


class Totals(NamedTuple):
    """What the formulas ask of a sample of n of N persons.

    Attributes
    ----------
    persons
        n, the number of persons of the sample.
    classes
        d, the number of classes of the sample.
    ones
        f_1, the number of classes that one person of the sample is in.
    fraction
        q = n / N, in (0, 1].
    """

    persons: float
    classes: float
    ones: float
    fraction: float


def totals(sizes: Counts, classes: Counts, population: float) -> Totals:
    """The persons, classes, classes of one person, and sampling fraction of a sample.

    Parameters
    ----------
    sizes
        The class sizes i that occur, ascending, at least 1; shape (k,).
    classes
        f_i, the number of classes of each size; shape (k,).
    population
        N, the number of persons of the population.
    """
    persons = float(sizes @ classes)
    ones = float(classes[0]) if sizes[0] == 1 else 0.0
    return Totals(persons, float(classes.sum()), ones, persons / population)


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


def unseen_chance(size: float, persons: float, population: float) -> float:
    """h_n(x), the chance that nobody of a class of x persons is among n of N.

    Γ(N − x + 1) Γ(N − n + 1) / [Γ(N − n − x + 1) Γ(N + 1)]; x need not be whole.
    """
    left = population - persons - size + 1
    if left <= 0:
        return 0.0
    return float(np.exp(betaln(left + persons, size) - betaln(left, size)))


def _falling(size: float, persons: float, population: float) -> float:
    """g_n(x) = −h_n'(x) / h_n(x) = Σ_{k=1..n} 1 / (N − x − n + k)."""
    left = population - persons - size + 1
    return float(digamma(left + persons) - digamma(left))


def smoothed_jackknife(sizes: Counts, classes: Counts, population: float) -> float:
    """The jackknife whose weight is the bias that random sampling of N persons causes.

    A generalised jackknife adds K f_1 / n to d. It is unbiased with
    K = Σ_j h_n(F_j) / Σ_j [h_{n−1}(F_j) − h_n(F_j)]. To first order around the mean class
    size F̄ = N / D, K = (N − n + 1 − F̄) / F̄; with K f_1 / n = D − d this gives
    D_0 = (d − f_1 / n) / (1 − (N − n + 1) f_1 / (n N)). The next term of Taylor's expansion
    multiplies K by 1 + F̄ γ² g_{n−1}(F̄); there E[f_1] / n = N h_{n−1} / (N − n + 1) and
    h_n = h_{n−1} (N − n + 1 − F̄) / (N − n + 1) turn its product with f_1 / n into
    N h_n g_{n−1} γ². With F̄ = N / D_0:
    D = [d + N h_n(F̄) g_{n−1}(F̄) γ²(D_0)] / (1 − (N − n + 1 − F̄) f_1 / (n N)), where
    γ²(D_0) = max(0, (N − 1) D_0 / (N n (n − 1)) Σ i (i − 1) f_i + D_0 / N − 1).
    Haas et al., VLDB 1995, Section 4.3.

    Raises
    ------
    EstimationFailedError
        If the sample is one person.
    """
    total = totals(sizes, classes, population)
    n = total.persons
    if total.fraction >= 1:
        return total.classes
    if n <= 1:
        raise EstimationFailedError("the smoothed jackknife needs a sample of two persons or more")
    once = total.ones / n
    ahead = (population - n + 1) / population
    first = (total.classes - once) / (1 - ahead * once)
    mean = population / first
    pairs = (population - 1) * pairs_within(sizes, classes) / (population * n * (n - 1))
    skew = max(0.0, first * pairs + first / population - 1)
    chance = unseen_chance(mean, n, population)
    second = population * chance * _falling(mean, n - 1, population) * skew if chance else 0.0
    return (total.classes + second) / (1 - (ahead - mean / population) * once)


def shlosser(sizes: Counts, classes: Counts, population: float) -> float:
    """Shlosser's class count, right where class sizes vary a lot.

    d + f_1 Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i; Shlosser 1981; Haas et al., VLDB 1995,
    Section 3.2.
    """
    total = totals(sizes, classes, population)
    if not total.ones or total.fraction >= 1:
        return total.classes
    return total.classes + total.ones * _unseen_by_ones(sizes, classes, total.fraction)


def sh3(sizes: Counts, classes: Counts, population: float) -> float:
    """Shlosser's estimator with the bias correction that keeps it from erratic values.

    d + f_1 [Σ i q² (1 − q²)^(i − 1) f_i / Σ ((1 − q²)^i − (1 − q)^i) f_i] s², s being
    Shlosser's Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i; Haas & Stokes 1998, where the
    denominator is Σ (1 − q)^i ((1 + q)^i − 1) f_i, of which (1 + q)^i overflows.
    """
    total = totals(sizes, classes, population)
    q = total.fraction
    if not total.ones or q >= 1:
        return total.classes
    log_miss = np.log1p(-q * q)
    seen_once = sizes * np.exp((sizes - 1) * log_miss) * q * q
    gained = -np.exp(sizes * log_miss) * np.expm1(-sizes * np.log1p(q))
    ratio = float(seen_once @ classes) / float(gained @ classes)
    return total.classes + total.ones * ratio * _unseen_by_ones(sizes, classes, q) ** 2


def _unseen_by_ones(sizes: Counts, classes: Counts, fraction: float) -> float:
    """Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i, for q < 1 and f_1 > 0."""
    log_miss = np.log1p(-fraction)
    unseen = np.exp(sizes * log_miss)
    seen_once = sizes * np.exp((sizes - 1) * log_miss) * fraction
    return float(unseen @ classes) / float(seen_once @ classes)


def uniformity_statistic(sizes: Counts, classes: Counts) -> float:
    """Σ_j (f_j − f̄)² / f̄ over the d classes of the sample, f̄ = n / d."""
    mean = float(sizes @ classes) / float(classes.sum())
    return float(np.square(sizes - mean) @ classes) / mean


def _by_variation(sizes: Counts, classes: Counts, population: float) -> str:
    """Haas & Stokes' rule: γ²(Duj1) below 0.9 takes Duj2, below 30 Duj2a, else Sh3.

    Haas & Stokes 1998.
    """
    skew = squared_variation(sizes, classes, population, duj1(sizes, classes, population))
    if skew < LITTLE_VARIATION:
        return "duj2"
    return "duj2a" if skew < MUCH_VARIATION else "sh3"


def _by_uniformity(sizes: Counts, classes: Counts, _population: float) -> str:
    """The smoothed jackknife where classes may be equal, else Shlosser's estimator.

    Equal classes are rejected where `uniformity_statistic` exceeds the 97.5 % quantile of χ²
    with n − 1 degrees of freedom, as published (Haas et al., VLDB 1995, Section 5.2).
    """
    freedom = max(1.0, float(sizes @ classes) - 1)
    equal = uniformity_statistic(sizes, classes) <= chdtri(freedom, REJECTION)
    return "jackknife" if equal else "shlosser"


FORMULAS: dict[str, Callable[[Counts, Counts, float], float]] = {
    "duj1": duj1,
    "duj2": duj2,
    "duj2a": duj2a,
    "shlosser": shlosser,
    "sh3": sh3,
    "jackknife": smoothed_jackknife,
    "pitman": pitman,
}
"""J̃ of sizes, classes and N; it can lie outside what is possible."""
RULES: dict[str, Callable[[Counts, Counts, float], str]] = {
    "hybrid-vldb": _by_uniformity,
    "hybrid": _by_variation,
}
"""The published rules that choose one of the formulas by how much sizes vary."""


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

    def class_count(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃, at least the sample's d classes and at most d + (N − n).

        Raises
        ------
        EstimationFailedError
            If the formula has no value for this sample.
        """
        return self._within(self._formula(sizes, classes, population), sizes, classes, population)[
            0
        ]

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
