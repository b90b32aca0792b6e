"""The models of population uniqueness by their names."""

from __future__ import annotations

from sfumato.risk.population.uniques.dankar import Dankar
from sfumato.risk.population.uniques.estimate import UniquesModel
from sfumato.risk.population.uniques.pitman import PitmanUniques
from sfumato.risk.population.uniques.snb import Snb
from sfumato.risk.population.uniques.zayatz import Zayatz

UNIQUES_MODELS: dict[str, UniquesModel] = {
    model.name: model for model in (PitmanUniques(), Zayatz(), Snb(), Dankar())
}
"""Every model of population uniqueness, by its name on the command line and in the report."""
