"""The decision rule of Dankar et al. 2012 between the models of population uniqueness."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sfumato.risk.population.estimate import EstimationFailedError
from sfumato.risk.population.sample import SampleClasses
from sfumato.risk.population.uniques.estimate import PopulationUniques, known_uniques
from sfumato.risk.population.uniques.pitman import PitmanUniques
from sfumato.risk.population.uniques.snb import Snb
from sfumato.risk.population.uniques.zayatz import Zayatz

SMALL_FRACTION = 0.1
"""The sampling fraction up to which the rule takes Pitman's model."""


@dataclass(frozen=True)
class Dankar:
    """Pitman's model up to a sampling fraction of 0.1, above it the lower of Zayatz and SNB.

    Dankar, El Emam, Neisa, Roffey 2012, BMC Medical Informatics and Decision Making 12:66: at
    n / N ≤ 0.1 Pitman's estimate, and Zayatz' where Pitman's model cannot be fitted; above 0.1
    Zayatz' estimate where it is below SNB's or where SNB has no solution, else SNB's. ``why``
    says which model was taken and which failed.

    ARX has the same rule (`RiskModelPopulationUniqueness`) and other numbers, because two of its
    models differ: its SNB multiplies E[f_2] by D^(α+2) where it must divide, and the -1 of its
    Sh3 stands outside of the product; its Pitman is the limit for a large population. On Adult
    at n / N = 0.2 it gives Zayatz' 0.357710, which is 0.319459 by SNB.
    """

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        return "dankar"

    def uniques(self, sample: SampleClasses) -> PopulationUniques:
        """The estimate of the model that the rule takes."""
        known = known_uniques(self.name, sample)
        if known is not None:
            return known
        small = sample.fraction <= SMALL_FRACTION
        zayatz = Zayatz().uniques(sample)
        try:
            other = PitmanUniques().uniques(sample) if small else Snb().uniques(sample)
        except EstimationFailedError as failure:
            reason = str(failure).rstrip(".")
            return self._taken(zayatz, f"took zayatz, as {reason}")
        if small:
            return self._taken(other, "took pitman: the sampling fraction is at most 0.1")
        lower = min(zayatz, other, key=lambda estimate: estimate.uniques)
        return self._taken(lower, f"took {lower.model}, the lower of zayatz and snb")

    def _taken(self, estimate: PopulationUniques, reason: str) -> PopulationUniques:
        return replace(estimate, model=self.name, why=(reason, *estimate.why))
