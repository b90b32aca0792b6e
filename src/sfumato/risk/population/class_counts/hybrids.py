"""The two published rules that choose one class-count estimator by how much sizes vary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from sfumato.risk.population.class_counts.estimator import ClassCountEstimator
from sfumato.risk.population.class_counts.shlosser import Sh3, Shlosser
from sfumato.risk.population.class_counts.smoothed_jackknife import SmoothedJackknife
from sfumato.risk.population.class_counts.totals import Counts, squared_variation
from sfumato.risk.population.class_counts.unsmoothed_jackknife import Duj2, Duj2a, duj1

LITTLE_VARIATION, MUCH_VARIATION = 0.9, 30.0
"""γ² below the first takes Duj2, below the second Duj2a."""

REJECTION = 0.025
"""The chance that the test of uniformity rejects equal classes."""


def uniformity_statistic(sizes: Counts, classes: Counts) -> float:
    """Σ_j (f_j − f̄)² / f̄ over the d classes of the sample, f̄ = n / d."""
    mean = float(sizes @ classes) / float(classes.sum())
    return float(np.square(sizes - mean) @ classes) / mean


class _Hybrid(ClassCountEstimator):
    """Says which estimator it took, and takes it."""

    def choice(self, sizes: Counts, classes: Counts, population: int) -> ClassCountEstimator:
        """The estimator that the rule takes for this sample."""
        raise NotImplementedError

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula of the chosen estimator gives it."""
        return self.choice(sizes, classes, population).formula(sizes, classes, population)

    def remarks(self, sizes: Counts, classes: Counts, population: int) -> tuple[str, ...]:
        """Which estimator the rule took."""
        return (f"took {self.choice(sizes, classes, population).name}",)


@dataclass(frozen=True)
class Hybrid(_Hybrid):
    """Haas & Stokes' rule: γ²(Duj1) below 0.9 takes Duj2, below 30 Duj2a, else Sh3.

    Haas & Stokes 1998.
    """

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "hybrid"

    def choice(self, sizes: Counts, classes: Counts, population: int) -> ClassCountEstimator:
        """The estimator that the rule takes for this sample."""
        skew = squared_variation(sizes, classes, population, duj1(sizes, classes, population))
        if skew < LITTLE_VARIATION:
            return Duj2()
        return Duj2a() if skew < MUCH_VARIATION else Sh3()


@dataclass(frozen=True)
class HybridVldb(_Hybrid):
    """The smoothed jackknife where classes may be equal, else Shlosser's estimator.

    Equal classes are rejected where `uniformity_statistic` exceeds the 97.5 % quantile of χ²
    with n − 1 degrees of freedom, as published (Haas et al., VLDB 1995, Section 5.2).
    """

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "hybrid-vldb"

    def choice(self, sizes: Counts, classes: Counts, population: int) -> ClassCountEstimator:
        """The estimator that the rule takes for this sample."""
        freedom = max(1.0, float(sizes @ classes) - 1)
        equal = uniformity_statistic(sizes, classes) <= chdtri(freedom, REJECTION)
        return SmoothedJackknife() if equal else Shlosser()
