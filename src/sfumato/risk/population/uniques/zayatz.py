"""Population uniques by Zayatz' model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.class_counts.totals import Counts
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.uniques.estimate import (
    PopulationUniques,
    known_uniques,
    possible_uniques,
    sample_uniques,
)


def chance_of_one(sizes: Counts, persons: int, population: int) -> npt.NDArray[np.float64]:
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


@dataclass(frozen=True)
class Zayatz:
    """The chance that a sample unique is a population unique, by Bayes' rule.

    P(F = 1 | f = 1) = p_1 P(f = 1 | F = 1) / Σ_j p_j P(f = 1 | F = j), with the shares p_j of
    the population's classes that have j persons taken from the sample (Zayatz 1991; Dankar et
    al. 2012, Appendix A). f_1 times it is τ1, and τ1 N / n the uniques of the population.
    """

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "zayatz"

    def uniques(self, sample: SampleClasses) -> PopulationUniques:
        """f_1 (N / n) P(F = 1 | f = 1)."""
        known = known_uniques(self.name, sample)
        if known is not None:
            return known
        sizes, classes = sample.counts_of_sizes
        once = classes * chance_of_one(sizes, sample.n, sample.population)
        ones = sample_uniques(sample)
        chance = float(once[0] / once.sum())
        return possible_uniques(self.name, sample, ones * chance / sample.fraction)
