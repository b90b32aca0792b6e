"""What every class-count estimator shares: λ = J̃ / N, kept within what is possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sfumato.risk.population.class_counts.totals import Counts, totals
from sfumato.risk.population.estimate import Estimate, EstimationFailedError
from sfumato.risk.population.sample import SampleClasses

ALONE = "nobody of the sample shares a class, so it does not tell how many of the population do"
RAISED = "the formula gave fewer classes than the sample has; raised to the sample's"
LOWERED = "the formula gave more classes than one for each unseen person; lowered to that"


@dataclass(frozen=True)
class ClassCountEstimator(ABC):
    """An estimator of the number of classes of the population, and through it of λ.

    Σ_j f_j / (n F_j) over the classes of an equal-probability sample has the expectation
    J̃ / N, J̃ being the number of classes of the population: each class adds
    E[f_j] / (n F_j) = 1 / N. So an estimate of J̃ is one of λ (paper 004, Theorem 1).
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name on the command line and in the report."""

    @abstractmethod
    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as its formula gives it, which can lie outside what is possible.

        Parameters
        ----------
        sizes
            The class sizes i that occur in the sample, ascending; shape (k,).
        classes
            f_i, the number of classes of each size; shape (k,).
        population
            N, the number of persons of the population.
        """

    def remarks(self, sizes: Counts, classes: Counts, population: int) -> tuple[str, ...]:
        """What the report should say of the way to the estimate, in publishable words."""
        return ()

    def class_count(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃, at least the sample's d classes and at most d + (N − n).

        Parameters
        ----------
        sizes
            The class sizes i that occur in the sample, ascending; shape (k,).
        classes
            f_i, the number of classes of each size; shape (k,).
        population
            N, the number of persons of the population.

        Raises
        ------
        EstimationFailedError
            If the formula has no value for this sample.
        """
        return self._within(sizes, classes, population)[0]

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """λ and J̃ of the population behind an equal-probability sample.

        Raises
        ------
        EstimationFailedError
            If the formula has no value for this sample.
        """
        sizes, classes = sample.counts_of_sizes
        alone = (ALONE,) if sample.classes == sample.n < sample.population else ()
        count, clipped = self._within(sizes, classes, sample.population)
        return Estimate(
            estimator=self.name,
            marketer=count / sample.population,
            class_count=count,
            path=(*self.remarks(sizes, classes, sample.population), *alone, *clipped),
        )

    def _within(
        self, sizes: Counts, classes: Counts, population: int
    ) -> tuple[float, tuple[str, ...]]:
        known = totals(sizes, classes, population)
        most = known.classes + population - known.persons
        if most <= known.classes:
            return known.classes, ()
        count = self.formula(sizes, classes, population)
        if not np.isfinite(count):
            raise EstimationFailedError(f"estimator {self.name} has no finite value here")
        if count < known.classes:
            return known.classes, (RAISED,)
        if count > most:
            return most, (LOWERED,) if count > most * (1 + 1e-12) else ()
        return count, ()
