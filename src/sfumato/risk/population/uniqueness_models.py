"""How many persons are alone in their class of the population, by the models of ARX's users.

They stand beside the estimate that is taken by default (`accumulation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, exp, expm1, log, log1p
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, expit

from sfumato.core.arrays import Floats, Ints
from sfumato.risk.population.estimator_protocol import EstimationFailedError, SampleClasses

Counts = Ints | Floats
"""Class sizes i that occur, ascending, or numbers f_i of classes of each; shape (sizes,)."""
NEEDS_TWO = "Pitman's model needs a sample of two people or more"
# Up to it the model is Ewens' to some 6 digits; at 1 Γ(1 − σ) has its pole.
SMALLEST_SIGMA = 1e-6
LARGEST_SIGMA = 1 - 1e-9
# From 300 on the next term of the series is below 1e-12 of the sum.
_SERIES_FROM = 300.0
SMALL_FRACTION = 0.1
"""The sampling fraction up to which Dankar's rule takes Pitman's model."""
_LEAST_LOGIT, _MOST_LOGIT = -600.0, 30.0
"""ln(β / (1 − β)) between which β is sought: β from 1e-260 to 1 − 1e-13."""


def population_uniques(model: str, sample: SampleClasses) -> float:
    """Persons of the population who are alone in their class; by a model, where it needs one.

    A population unique is in an equal-probability sample with probability n / N, and is a sample
    unique then: f_1 N / n are the most.

    Parameters
    ----------
    model
        One of `UNIQUES_MODELS`.

    Raises
    ------
    EstimationFailedError
        If the model has no value for this sample.
    """
    if sample.n == sample.population or not sample.alone:
        return float(sample.alone)
    return min(UNIQUES_MODELS[model](sample), sample.alone / sample.fraction)


def digamma_gap(start: float, steps: float) -> float:
    """ψ(a + m) − ψ(a) to about 12 digits, where both are large and near each other too."""
    if start < _SERIES_FROM:
        return float(digamma(start + steps) - digamma(start))
    # ψ(x + 1/2) = ln x + 1 / (24 x²) − 7 / (960 x⁴) + ...: about a half there is no term 1 / x.
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
        # −d/dσ Σ_j ln[Γ(f_j − σ) / Γ(1 − σ)]; classes of one person add 0.
        joined = float((digamma(size - sigma) - digamma(1 - sigma)) @ of_size)
        return _sum_of_shares(theta, sigma, count) - joined

    # The likelihood falls from σ = 0 on: the maximum is at Ewens' model.
    if slope(SMALLEST_SIGMA) <= 0:
        return _best_theta(0.0, count, persons), 0.0
    if slope(LARGEST_SIGMA) >= 0:
        raise EstimationFailedError("Pitman's model has no maximum of its likelihood here")
    sigma = float(brentq(slope, SMALLEST_SIGMA, LARGEST_SIGMA, xtol=1e-13, rtol=1e-12))
    return _best_theta(sigma, count, persons), sigma


def _best_theta(sigma: float, count: float, persons: float) -> float:
    """θ > −σ at which the derivative of the likelihood by θ is 0.

    EstimationFailedError where there is none. Σ_{k<d} 1 / (θ + kσ) = ψ(θ + n) − ψ(θ + 1), solved
    for ln(θ + σ) after multiplication by θ + σ: the difference falls from 1 at −∞ to d − n at ∞.
    """

    def excess(log_distance: float) -> float:
        # θ + σ > 0 spans many decades: its logarithm does not.
        distance = exp(log_distance)
        theta = distance - sigma
        if sigma == 0:
            # k = 1 is the 1 below, as its term is 1 / (θ + σ). At σ = 0 each of the d − 2 others is
            # 1 / θ.
            others = (count - 2) / theta
        else:
            others = digamma_gap(distance / sigma + 1, count - 2) / sigma
        return 1 + distance * (others - digamma_gap(theta + 1, persons - 1))

    # At θ + σ = e^−60 the first term is all, and far above
    # n² every class is its own: the root is between.
    low, high = -60.0, 2 * log(persons) + 10
    if not excess(low) > 0 > excess(high):
        raise EstimationFailedError("Pitman's model has no maximum of its likelihood here")
    return exp(float(brentq(excess, low, high, xtol=1e-13, rtol=1e-14))) - sigma


def _sum_of_shares(theta: float, sigma: float, count: float) -> float:
    """Σ_{k<d} k / (θ + kσ), the derivative by σ of Σ_{k<d} ln(θ + kσ)."""
    last = count - 1
    # A geometric series in kσ/θ < 1e-3, as the form below would subtract near equals.
    if theta > 1e3 * count * sigma:
        # Σ k, Σ k², Σ k³ and Σ k⁴ for k < d.
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


def expected_uniques(theta: float, sigma: float, population: float) -> float:
    """E[S_1] of N persons under the Ewens-Pitman model.

    By exchangeability N times the chance that each of N − 1 others stays out of a given
    person's class: N Π_{i=1}^{N−1} (θ + i − 1 + σ) / (θ + i)
    = N Γ(θ + N − 1 + σ) Γ(θ + 1) / [Γ(θ + σ) Γ(θ + N)]. Its limit for large N,
    N^σ Γ(θ + 1) / Γ(θ + σ), is the form of Hoshino 2001 that other tools use.
    """
    # Ewens: E[S_1] = N θ / (θ + N − 1).
    if sigma == 0:
        return population * theta / (theta + population - 1)
    ahead = theta + population - 1
    # The ratio is [Γ(θ+σ+1) / Γ(θ+1)]⁻¹ (θ + σ) Γ(ahead + σ) / Γ(ahead) / ahead.
    growth = log_gamma_step(ahead, sigma) - log_gamma_step(theta + 1, sigma)
    return population * (theta + sigma) * exp(growth) / ahead


def pitman_classes(sizes: Counts, classes: Counts, population: int) -> float:
    """E[D(N) | D(n) = d], the classes of the population behind a sample, at the fitted θ and σ.

    (d + θ/σ) [(θ + N) / (θ + n)]^σ − θ/σ for large n (Pitman 2006, Combinatorial Stochastic
    Processes, ch. 3), and d + θ ln[(θ + N) / (θ + n)] where σ is 0.

    Parameters
    ----------
    sizes, classes
        As in `fit_pitman`.
    population
        N.

    Raises
    ------
    EstimationFailedError
        If there is no pair in the sample, or the fit finds no maximum.
    """
    if sizes[-1] == 1 or classes.sum() < 2:
        raise EstimationFailedError("Pitman's model needs two classes, one of them a pair")
    theta, sigma = fit_pitman(sizes, classes)
    ahead = log((theta + population) / (theta + float(sizes @ classes)))
    # The limit σ → 0, where θ/σ (e^(σx) − 1) is θ x.
    if sigma * ahead < SMALLEST_SIGMA:
        return float(classes.sum()) + theta * ahead
    return float(classes.sum()) * exp(sigma * ahead) + theta / sigma * expm1(sigma * ahead)


class Totals(NamedTuple):
    """What the formulas ask of a sample of n of N persons.

    Attributes
    ----------
    persons
        n, the number of persons of the sample.
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
    # (1 − q²)^i − (1 − q)^i = −(1 − q²)^i ((1 + q)^−i − 1), which cannot overflow.
    log_miss = np.log1p(-q * q)
    seen_once = sizes * np.exp((sizes - 1) * log_miss) * q * q
    gained = -np.exp(sizes * log_miss) * np.expm1(-sizes * np.log1p(q))
    ratio = float(seen_once @ classes) / float(gained @ classes)
    return total.classes + total.ones * ratio * unseen_by_ones(sizes, classes, q) ** 2


def unseen_by_ones(sizes: Counts, classes: Counts, fraction: float) -> float:
    """Σ (1 − q)^i f_i / Σ i q (1 − q)^(i − 1) f_i, for q < 1 and f_1 > 0."""
    log_miss = np.log1p(-fraction)
    unseen = np.exp(sizes * log_miss)
    seen_once = sizes * np.exp((sizes - 1) * log_miss) * fraction
    return float(unseen @ classes) / float(seen_once @ classes)


def _pitman(sample: SampleClasses) -> float:
    """The expected number of uniques of N persons at the fitted θ and σ (Hoshino 2001).

    Where nobody of the sample shares a class nobody of the population does: the limit of the fit.

    Raises
    ------
    EstimationFailedError
        If the sample is one person, or the fit finds no maximum.
    """
    # One person has no second one to tell θ by.
    if sample.n == 1:
        raise EstimationFailedError(NEEDS_TWO)
    if sample.classes == sample.n:
        return float(sample.population)
    theta, sigma = fit_pitman(*sample.counts_of_sizes)
    return expected_uniques(theta, sigma, sample.population)


def chance_of_one(sizes: Counts, persons: int, population: int) -> Floats:
    """P(f = 1 | F = j), the chance that n of N persons hold one of a class of j.

    The hypergeometric j C(N − j, n − 1) / C(N, n) = (j n / N) Π_{k=1}^{j−1} (N − n + 1 − k) /
    (N − k); 0 for j above N − n + 1.

    Parameters
    ----------
    sizes
        The class sizes j, ascending, at least 1; shape (k,).
    persons
        n, the number of persons of the sample.
    population
        N, the number of persons of the population.
    """
    # Each factor is at most 1 − (n − 1) / (N − 1): beyond `reach` the product is below 1e-320.
    reach = 740 * population // max(1, persons - 1) + 1
    longest = int(min(sizes[-1], population - persons + 1, reach))
    # Sums of logarithms instead of products, of which the later ones would underflow.
    steps = np.arange(1, longest, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log1p((1.0 - persons) / (population - steps)))])
    within = sizes <= longest
    chances = np.zeros(len(sizes))
    kept = sizes[within].astype(np.int64)
    chances[within] = kept * (persons / population) * np.exp(logs[kept - 1])
    return chances


def _zayatz(sample: SampleClasses) -> float:
    """f_1 (N / n) times the chance that a sample unique is a population unique, by Bayes' rule.

    P(F = 1 | f = 1) = p_1 P(f = 1 | F = 1) / Σ_j p_j P(f = 1 | F = j), with the shares p_j of
    the population's classes that have j persons taken from the sample (Zayatz 1991; Dankar et
    al. 2012, Appendix A). f_1 times it is τ1, and τ1 N / n the uniques of the population.
    """
    sizes, classes = sample.counts_of_sizes
    once = classes * chance_of_one(sizes, sample.n, sample.population)
    chance = float(once[0] / once.sum())
    return sample.alone * chance / sample.fraction


def shape_of(logit: Floats, twos_per_one: float, fraction: float) -> Floats:
    """α at which the model's E[f_2] / E[f_1] is the sample's, for each β = expit(``logit``).

    With x = (1 − p)(1 − β) and D = 1 − x that is the positive root of
    x α² + (2 − x − c x) α − c D = 0, c = 2 D f_2 / (p (1 − β) f_1).
    """
    beta, rest = expit(logit), expit(-logit)
    x = (1 - fraction) * rest
    seen = beta + fraction * rest
    c = 2 * seen * twos_per_one / (fraction * rest)
    # Half of the linear coefficient, as α = −h/x ± √(h² + x c D) / x.
    half = (2 - x - c * x) / 2
    root = np.sqrt(half * half + x * c * seen)
    # The form of the root that does not subtract what is nearly equal.
    shape: Floats = np.where(half > 0, c * seen / (half + root), (root - half) / x)
    return shape


def log_expected_ones(logit: Floats, shape: Floats, count: float, fraction: float) -> Floats:
    """The logarithm of E[f_1] = K p (β / D)^α (1 + α x / D)."""
    beta, rest = expit(logit), expit(-logit)
    x = (1 - fraction) * rest
    seen = beta + fraction * rest
    # β / D = 1 / (1 + p (1 − β) / β), and (1 − β) / β = e^(−logit).
    falling = shape * np.log1p(fraction * np.exp(-logit))
    expected: Floats = log(count * fraction) - falling + np.log1p(shape * x / seen)
    return expected


def fit_snb(ones: float, twos: float, count: float, fraction: float) -> tuple[float, float] | None:
    """α and logit β that give f_1 and f_2 as their expectations; ``None`` where none do.

    A class of the population has 1 + F' persons, F' negative binomial with shape α and success
    probability β; each person is in the sample with probability p. Then
    E[f_1] = K p (β/D)^α (1 + αx/D) and
    E[f_2] = K p² α (1−β) β^α (2 − (1−α) x) / (2 D^(α+2)), x = (1−p)(1−β), D = 1 − x
    (Chen & Keller-McNulty 1998, Journal of Official Statistics 14:79-95). With α from the ratio
    of the two, E[f_1] rises with β, so there is one solution at most.

    Parameters
    ----------
    ones, twos
        f_1 and f_2, the classes of one and of two persons of the sample; above 0.
    count
        K, the number of classes of the population.
    fraction
        p = n / N, below 1.
    """

    def excess(logit: float) -> float:
        at = np.array([logit])
        shape = shape_of(at, twos / ones, fraction)
        return float(log_expected_ones(at, shape, count, fraction)[0]) - log(ones)

    # E[f_1] rises with β: without a change of sign there is no root at all.
    if not excess(_LEAST_LOGIT) < 0 < excess(_MOST_LOGIT):
        return None
    root = float(brentq(excess, _LEAST_LOGIT, _MOST_LOGIT, xtol=1e-12))
    return float(shape_of(np.array([root]), twos / ones, fraction)[0]), root


def _snb(sample: SampleClasses) -> float:
    """K β^α of the slide negative binomial model, with K classes by Sh3.

    K is estimated first (Haas & Stokes 1998); α and β then follow from f_1 and f_2, see
    `fit_snb`.

    Raises
    ------
    EstimationFailedError
        If the sample has no class of two persons, or no α and β give f_1 and f_2.
    """
    sizes, classes = sample.counts_of_sizes
    twos = float(classes[sizes == 2].sum())
    if not twos:
        raise EstimationFailedError("the SNB model needs a class of two people in the sample")
    # K ≤ d + N − n. Sh3 is no estimate that keeps to bounds by itself.
    most = sample.classes + sample.population - sample.n
    count = float(np.clip(sh3(sizes, classes, sample.population), sample.classes, most))
    fit = fit_snb(float(classes[0]), twos, count, sample.fraction)
    if fit is None:
        raise EstimationFailedError(
            "no SNB model expects the sample's numbers of classes of one and of two people"
        )
    shape, logit = fit
    # β = 1 / (1 + e^(−logit)), so that β^α = e^(−α log(1 + e^(−logit))).
    return count * exp(-shape * log1p(exp(-logit)))


def _dankar(sample: SampleClasses) -> float:
    """Pitman's model up to a sampling fraction of 0.1, above it the lower of Zayatz and SNB.

    Dankar, El Emam, Neisa, Roffey 2012, BMC Medical Informatics and Decision Making 12:66: at
    n / N ≤ 0.1 Pitman's estimate, and Zayatz' where Pitman's model cannot be fitted; above 0.1
    Zayatz' estimate where it is below SNB's or where SNB has no solution, else SNB's.

    ARX has the same rule (`RiskModelPopulationUniqueness`) and other numbers, because two of its
    models differ: its SNB multiplies E[f_2] by D^(α+2) where it must divide, and the -1 of its
    Sh3 stands outside of the product; its Pitman is the limit for a large population. On Adult
    at n / N = 0.2 it gives Zayatz' 0.357710, which is 0.319459 by SNB.
    """
    small = sample.fraction <= SMALL_FRACTION
    zayatz = population_uniques("zayatz", sample)
    try:
        uniques = population_uniques("pitman" if small else "snb", sample)
    except EstimationFailedError:
        return zayatz
    # Zayatz' where it is below SNB's (Dankar et al. 2012).
    return uniques if small else min(zayatz, uniques)


UNIQUES_MODELS: Mapping[str, Callable[[SampleClasses], float]] = {
    "pitman": _pitman,
    "zayatz": _zayatz,
    "snb": _snb,
    "dankar": _dankar,
}
"""Every model of population uniqueness, by its name on the command line and in the report."""
