"""The class count of the Ewens-Pitman model."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

from sfumato.risk.population.class_counts.estimator import ClassCountEstimator
from sfumato.risk.population.class_counts.pitman_fit import digamma_gap, fit_pitman, log_gamma_step
from sfumato.risk.population.class_counts.totals import Counts, totals
from sfumato.risk.population.estimate import EstimationFailedError

NEEDS_TWO = "Pitman's model needs a sample of two persons or more"


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
    known = totals(sizes, classes, population)
    d, n = known.classes, known.persons
    if known.fraction >= 1:
        return d
    if n <= 1:
        raise EstimationFailedError(NEEDS_TWO)
    if d <= 1:
        return d
    if known.ones >= n:
        return float(population)
    theta, sigma = fit_pitman(sizes, classes)
    if sigma == 0:
        return d + theta * digamma_gap(theta + n, population - n)
    growth = log_gamma_step(theta + population, sigma) - log_gamma_step(theta + n, sigma)
    return d + (d + theta / sigma) * expm1(growth)


@dataclass(frozen=True)
class PitmanCount(ClassCountEstimator):
    """The class count of Pitman's two-parameter model, fitted by maximum likelihood."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "pitman"

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula gives it; see `pitman`.

        Raises
        ------
        EstimationFailedError
            If the sample is one person, or the fit finds no maximum.
        """
        return pitman(sizes, classes, population)
