"""Persons who are alone in the population, as a budget over the whole release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sfumato.core.arrays import Floats
from sfumato.core.declaration import Parameter, Share
from sfumato.core.number_text import count, percent
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import AboutCells, InPopulation, PopulationMeasures

if TYPE_CHECKING:
    from sfumato.core.measure import Position
    from sfumato.risk.classes import ClassSummary
    from sfumato.risk.disclosure_risk import Risk


@dataclass(frozen=True)
class PopulationUniques(AboutCells):
    """At most a share of the release's persons are alone in the population.

    A person is whose class has one person of the file and whose cells have one of the population,
    f_j = F_j = 1: whoever finds them in a register is right. Without a population the file is its
    own. Where only the size N of the population is known, the budget is estimated, not promised:
    class j spends P(F_j = 1 | f_j = 1) by a model of the population's cells (`CellPrices`).

    Parameters
    ----------
    share
        The largest share of the release's persons, in (0, 1].

    Raises
    ------
    InputError
        If ``share`` is out of range.
    """

    name = "population_uniques"
    order = 9

    share: Annotated[
        float,
        Parameter(
            "At most a share S of the people are alone in the population, by --register, without "
            "one in the file itself; by --population it is estimated, not promised.",
            "S",
            Share(zero=False, one=True),
            flag="population_uniques",
        ),
    ]

    def limit(self, records: int, persons: int) -> float:
        """Persons who may be alone: share·n."""
        return self.share * persons

    def spent(self, classes: ClassSummary) -> Floats:
        """The chance that the one person of a class is the only one of the population."""
        # F_j < 2 means f_j = F_j = 1, since F_j is never below f_j.
        alone: Floats = self.cells.smaller(2, classes.persons, classes.population)
        return alone

    def in_population(self, population: PopulationMeasures) -> InPopulation:
        """The share of the release's persons who are alone in the population, at its upper end."""
        return self.said_of(
            f"At most {percent(self.share)} of the release’s people are the only one of the "
            f"{count(population.persons)} people of the population who looks like them.",
            population.population_uniques,
        )

    def reached(self, risk: Risk, attribute: str = "") -> tuple[float, Position | None]:
        """The share of persons who are alone in a file that is its own population."""
        return risk.sample_uniques / risk.persons, None

    def sentence(self, attribute: str = "") -> str:
        """As a share of the persons."""
        return Phrase(
            "At most {share} of the people are alone in their class.", share=percent(self.share)
        )


PopulationUniques.measures = {"population_uniques": PopulationUniques}
