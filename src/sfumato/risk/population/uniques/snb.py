"""Population uniques by the slide negative binomial model."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, log1p

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

from sfumato.risk.population.class_counts.shlosser import Sh3
from sfumato.risk.population.estimate import EstimationFailedError
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.uniques.estimate import (
    PopulationUniques,
    known_uniques,
    possible_uniques,
)

Floats = npt.NDArray[np.float64]

_LEAST_LOGIT, _MOST_LOGIT = -600.0, 30.0
"""ln(β / (1 − β)) between which β is sought: β from 1e-260 to 1 − 1e-13."""


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


@dataclass(frozen=True)
class Snb:
    """The slide negative binomial model, with K classes by Sh3.

    K is estimated first (Haas & Stokes 1998); α and β then follow from f_1 and f_2, see
    `fit_snb`. Population uniques are K β^α.
    """

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "snb"

    def uniques(self, sample: SampleClasses) -> PopulationUniques:
        """K β^α.

        Raises
        ------
        EstimationFailedError
            If the sample has no class of two persons, or no α and β give f_1 and f_2.
        """
        known = known_uniques(self.name, sample)
        if known is not None:
            return known
        sizes, classes = sample.counts_of_sizes
        twos = float(classes[sizes == 2].sum())
        if not twos:
            raise EstimationFailedError("the SNB model needs a class of two persons in the sample")
        count = Sh3().class_count(sizes, classes, sample.population)
        fit = fit_snb(float(classes[0]), twos, count, sample.fraction)
        if fit is None:
            raise EstimationFailedError(
                "no SNB model expects the sample's numbers of classes of one and of two persons"
            )
        shape, logit = fit
        return possible_uniques(self.name, sample, count * exp(-shape * log1p(exp(-logit))))
