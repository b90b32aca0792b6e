"""The estimator that extrapolates the accumulation of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.accumulation.baseline import cell_probabilities
from sfumato.risk.population.accumulation.extrapolation import Extrapolation, Reach
from sfumato.risk.population.accumulation.interval import interval
from sfumato.risk.population.estimate import Estimate
from sfumato.risk.population.sample import SampleClasses

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Accumulation:
    """How classes accumulate, calibrated on the sample and carried on to the population.

    λ = J̃ / N with J̃ from `Extrapolation`. τ1, the sample uniques that are population uniques,
    is π times the population uniques s(N) J̃; τ2 is π (J̃ - d) / (1 - π), as the expected numbers
    of unseen classes, Σ (1 - π)^F_j, and of matches of uniques, Σ π (1 - π)^(F_j - 1), differ by
    that factor.
    """

    @property
    def name(self) -> str:
        """``accumulation``."""
        return "accumulation"

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """Extrapolate; O(draws x points) beyond counting.

        Parameters
        ----------
        sample
            The classes of the sample.
        rng
            Draws from the baseline.
        """
        if sample.n == sample.population:
            return known(sample, self.name)
        sizes, counts = sample.counts_of_sizes
        probabilities = cell_probabilities(sample, rng)
        extrapolation = Extrapolation(sizes, sample.n, sample.population, probabilities)
        reach = extrapolation.reach(counts[:, None].astype(float))
        low, high = interval(sample, probabilities, reach, rng)
        return replace(_estimate(sample, reach, self.name), low=low, high=high)


def known(sample: SampleClasses, name: str) -> Estimate:
    """The measures of a sample that is its population.

    Parameters
    ----------
    sample
        The classes, with as many persons as the population.
    name
        The estimator's name.
    """
    alone = float(sample.alone)
    return Estimate(
        estimator=name,
        marketer=sample.classes / sample.n,
        class_count=float(sample.classes),
        population_uniques=alone,
        unique_matches=alone,
        inverse_sizes=1.0 / sample.sizes,
    )


def _estimate(sample: SampleClasses, reach: Reach, name: str) -> Estimate:
    fraction = sample.fraction
    most = sample.classes + sample.population - sample.n
    classes = float(np.clip(reach.classes[0], sample.classes, most))
    alone = float(sample.alone)
    matches = min(fraction * (classes - sample.classes) / (1 - fraction), alone)
    marketer = classes / sample.population
    return Estimate(
        estimator=name,
        marketer=marketer,
        class_count=classes,
        population_uniques=min(fraction * classes * float(reach.growth[0]), matches),
        unique_matches=matches,
    )
