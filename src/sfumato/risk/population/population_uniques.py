"""How many persons are alone in their class of the population, by the models of ARX's users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import exp, log, log1p

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

from sfumato.risk.population import class_count_estimators
from sfumato.risk.population.estimation import EstimationFailedError, Floats, SampleClasses

NO_SAMPLE_UNIQUES = "nobody is alone in a class of the sample, so the estimate is 0"
CENSUS = "the sample is the population, so its uniques are counted and not estimated"
LOWERED = "the model gave more uniques than if each sample unique were one; lowered to that"
SMALL_FRACTION = 0.1
"""The sampling fraction up to which Dankar's rule takes Pitman's model."""
_LEAST_LOGIT, _MOST_LOGIT = -600.0, 30.0
"""ln(β / (1 − β)) between which β is sought: β from 1e-260 to 1 − 1e-13."""


@dataclass(frozen=True)
class PopulationUniques:
    """An estimate of the persons who are alone in their class of the population.

    Attributes
    ----------
    model
        Its name on the command line and in the report.
    uniques
        The expected number of population uniques, in persons of the population.
    share
        ``uniques`` as a share of the population, in [0, 1].
    among_sample_uniques
        τ1, the expected number of sample uniques that are population uniques: (n / N) of
        ``uniques``, since a population unique is in an equal-probability sample with
        probability n / N, and then is a sample unique.
    why
        What led to the estimate (a rule's choice, a correction), in publishable words.
    """

    model: str
    uniques: float
    share: float
    among_sample_uniques: float
    why: tuple[str, ...] = field(default=())


def possible_uniques(
    model: str, sample: SampleClasses, uniques: float, why: tuple[str, ...] = ()
) -> PopulationUniques:
    """A model's number of population uniques, with its share and τ1.

    τ1 = (n / N) · uniques cannot exceed the f_1 sample uniques: a model that gives more is
    lowered to f_1 N / n, and ``why`` says so.
    """
    most = sample.alone / sample.fraction
    if uniques > most:
        uniques, why = most, (*why, LOWERED)
    return PopulationUniques(
        model, uniques, uniques / sample.population, uniques * sample.fraction, why
    )


@dataclass(frozen=True)
class UniquesModel:
    """A model of the population's uniques, where it needs one.

    Attributes
    ----------
    name
        Its name on the command line and in the report.
    expected
        The model's number of population uniques, and what led to it, of a sample with uniques
        that is not the whole population.
    """

    name: str
    expected: Callable[[SampleClasses], tuple[float, tuple[str, ...]]]

    def uniques(self, sample: SampleClasses) -> PopulationUniques:
        """What it says of the population behind the sample.

        Raises
        ------
        EstimationFailedError
            If it has no value for this sample.
        """
        ones = sample.alone
        if sample.n == sample.population:
            return PopulationUniques(self.name, ones, ones / sample.n, ones, (CENSUS,))
        if not ones:
            return PopulationUniques(self.name, 0.0, 0.0, 0.0, (NO_SAMPLE_UNIQUES,))
        return possible_uniques(self.name, sample, *self.expected(sample))


def _pitman(sample: SampleClasses) -> tuple[float, tuple[str, ...]]:
    """The expected number of uniques of N persons at the fitted θ and σ (Hoshino 2001).

    Where nobody of the sample shares a class nobody of the population does (the limit of the
    fit), and the reason says so.

    Raises
    ------
    EstimationFailedError
        If the sample is one person, or the fit finds no maximum.
    """
    if sample.n == 1:
        raise EstimationFailedError(class_count_estimators.NEEDS_TWO)
    if sample.classes == sample.n:
        return float(sample.population), (class_count_estimators.ALONE,)
    theta, sigma = class_count_estimators.fit_pitman(*sample.counts_of_sizes)
    return class_count_estimators.expected_uniques(theta, sigma, sample.population), ()


def chance_of_one(
    sizes: class_count_estimators.Counts, persons: int, population: int
) -> npt.NDArray[np.float64]:
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
    steps = np.arange(1, longest, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log1p((1.0 - persons) / (population - steps)))])
    within = sizes <= longest
    chances = np.zeros(len(sizes))
    kept = sizes[within].astype(np.int64)
    chances[within] = kept * (persons / population) * np.exp(logs[kept - 1])
    return chances


def _zayatz(sample: SampleClasses) -> tuple[float, tuple[str, ...]]:
    """f_1 (N / n) times the chance that a sample unique is a population unique, by Bayes' rule.

    P(F = 1 | f = 1) = p_1 P(f = 1 | F = 1) / Σ_j p_j P(f = 1 | F = j), with the shares p_j of
    the population's classes that have j persons taken from the sample (Zayatz 1991; Dankar et
    al. 2012, Appendix A). f_1 times it is τ1, and τ1 N / n the uniques of the population.
    """
    sizes, classes = sample.counts_of_sizes
    once = classes * chance_of_one(sizes, sample.n, sample.population)
    chance = float(once[0] / once.sum())
    return sample.alone * chance / sample.fraction, ()


def shape_of(logit: Floats, twos_per_one: float, fraction: float) -> Floats:
    """α at which the model's E[f_2] / E[f_1] is the sample's, for each β = expit(``logit``).

    With x = (1 − p)(1 − β) and D = 1 − x that is the positive root of
    x α² + (2 − x − c x) α − c D = 0, c = 2 D f_2 / (p (1 − β) f_1).
    """
    beta, rest = expit(logit), expit(-logit)
    x = (1 - fraction) * rest
    seen = beta + fraction * rest
    c = 2 * seen * twos_per_one / (fraction * rest)
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

    if not excess(_LEAST_LOGIT) < 0 < excess(_MOST_LOGIT):
        return None
    root = float(brentq(excess, _LEAST_LOGIT, _MOST_LOGIT, xtol=1e-12))
    return float(shape_of(np.array([root]), twos / ones, fraction)[0]), root


def _snb(sample: SampleClasses) -> tuple[float, tuple[str, ...]]:
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
        raise EstimationFailedError("the SNB model needs a class of two persons in the sample")
    count = class_count_estimators.CLASS_COUNTS["sh3"].class_count(
        sizes, classes, sample.population
    )
    fit = fit_snb(float(classes[0]), twos, count, sample.fraction)
    if fit is None:
        raise EstimationFailedError(
            "no SNB model expects the sample's numbers of classes of one and of two persons"
        )
    shape, logit = fit
    return count * exp(-shape * log1p(exp(-logit))), ()


def _dankar(sample: SampleClasses) -> tuple[float, tuple[str, ...]]:
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
    taken = UNIQUES_MODELS["zayatz"].uniques(sample)
    try:
        other = UNIQUES_MODELS["pitman" if small else "snb"].uniques(sample)
    except EstimationFailedError as failure:
        reason = f"took zayatz, as {str(failure).rstrip('.')}"
    else:
        if small:
            taken, reason = other, "took pitman: the sampling fraction is at most 0.1"
        else:
            taken = min(taken, other, key=lambda estimate: estimate.uniques)
            reason = f"took {taken.model}, the lower of zayatz and snb"
    return taken.uniques, (reason, *taken.why)


UNIQUES_MODELS: Mapping[str, UniquesModel] = {
    name: UniquesModel(name, expected)
    for name, expected in (
        ("pitman", _pitman),
        ("zayatz", _zayatz),
        ("snb", _snb),
        ("dankar", _dankar),
    )
}
"""Every model of population uniqueness, by its name on the command line and in the report."""
