"""The smoothed jackknife estimator of Haas et al. 1995."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma

from sfumato.risk.population.class_counts.estimator import ClassCountEstimator
from sfumato.risk.population.class_counts.totals import Counts, pairs_within, totals
from sfumato.risk.population.estimate import EstimationFailedError


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
    known = totals(sizes, classes, population)
    n = known.persons
    if known.fraction >= 1:
        return known.classes
    if n <= 1:
        raise EstimationFailedError("the smoothed jackknife needs a sample of two persons or more")
    once = known.ones / n
    ahead = (population - n + 1) / population
    first = (known.classes - once) / (1 - ahead * once)
    mean = population / first
    pairs = (population - 1) * pairs_within(sizes, classes) / (population * n * (n - 1))
    skew = max(0.0, first * pairs + first / population - 1)
    chance = unseen_chance(mean, n, population)
    second = population * chance * _falling(mean, n - 1, population) * skew if chance else 0.0
    return (known.classes + second) / (1 - (ahead - mean / population) * once)


@dataclass(frozen=True)
class SmoothedJackknife(ClassCountEstimator):
    """The smoothed jackknife."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "jackknife"

    def formula(self, sizes: Counts, classes: Counts, population: int) -> float:
        """J̃ as the formula gives it; see `smoothed_jackknife`.

        Raises
        ------
        EstimationFailedError
            If the sample is one person.
        """
        return smoothed_jackknife(sizes, classes, population)
