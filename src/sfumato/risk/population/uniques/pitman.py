"""Population uniques by the Ewens-Pitman model."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from sfumato.risk.population.class_counts.estimator import ALONE
from sfumato.risk.population.class_counts.pitman import NEEDS_TWO
from sfumato.risk.population.class_counts.pitman_fit import (
    fit_pitman,
    log_gamma_step,
)
from sfumato.risk.population.estimate import EstimationFailedError
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.uniques.estimate import (
    PopulationUniques,
    known_uniques,
    possible_uniques,
)


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


@dataclass(frozen=True)
class PitmanUniques:
    """Pitman's two-parameter model, fitted by maximum likelihood (Hoshino 2001)."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "pitman"

    def uniques(self, sample: SampleClasses) -> PopulationUniques:
        """The expected number of uniques of N persons at the fitted θ and σ.

        Where nobody of the sample shares a class nobody of the population does (the limit of
        the fit), and ``why`` says so.

        Raises
        ------
        EstimationFailedError
            If the sample is one person, or the fit finds no maximum.
        """
        known = known_uniques(self.name, sample)
        if known is not None:
            return known
        if sample.n == 1:
            raise EstimationFailedError(NEEDS_TWO)
        if sample.classes == sample.n:
            return possible_uniques(self.name, sample, float(sample.population), (ALONE,))
        theta, sigma = fit_pitman(*sample.counts_of_sizes)
        return possible_uniques(
            self.name, sample, expected_uniques(theta, sigma, sample.population)
        )
