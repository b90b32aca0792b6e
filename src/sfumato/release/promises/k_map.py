"""k-map: everybody of a release has doubles in the population."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated

from sfumato.core.declaration import Count, Parameter
from sfumato.core.number_text import count, counted
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import AboutCells, InPopulation, PopulationMeasures, Verdicts

if TYPE_CHECKING:
    from sfumato.core.measure import Position
    from sfumato.risk.classes import ClassSummary
    from sfumato.risk.disclosure_risk import Risk

# The same 5 in 100 as for the upper ends of the other estimates (`cell_dispersion.SURE`); a choice.
RARELY = 0.05
"""Chance, at most, that a class has fewer persons of the population where they are not counted."""


@dataclass(frozen=True)
class KMap(AboutCells):
    """Every class looks like at least k persons of the population: F_j ≥ k.

    k-map (Sweeney 2001): whoever has a register of the population finds a person with a chance of
    at most 1/k. Without a population the file is its own, and it is PID-based k-anonymity. Where
    only the size N of the population is known, it is estimated, not promised: P(F_j ≥ k) is at
    least 0.95 in every class by a model of the population's cells (`CellPrices`).

    Parameters
    ----------
    k
        Least number of persons of the population, 1 or more.

    Raises
    ------
    InputError
        If ``k`` is not a whole number of at least 1.
    """

    name = "k_map"
    order = 9
    needs = frozenset({"population"})

    k: Annotated[
        int,
        Parameter(
            "At least K people of the population look like each class, by --register, without one "
            "in the file itself; by --population it is estimated, not promised.",
            "K",
            Count(1),
            flag="k_map",
        ),
    ]

    def met(self, classes: ClassSummary) -> Verdicts:
        """Whether each class has k persons of the population, or is as good as sure to."""
        fewer = self.cells.smaller(self.k, classes.persons, classes.population)
        verdicts: Verdicts = fewer <= RARELY
        return verdicts

    def shortfall(self, whole: ClassSummary) -> str:
        """The chance that all persons as one class look like too few."""
        fewer = self.cells.smaller(self.k, whole.persons, whole.population)[0]
        return (
            f"k_map asks for {counted(self.k, 'person')} of the population; with all records "
            f"in one class there are fewer with a chance of {fewer:.4g}."
        )

    def in_population(self, population: PopulationMeasures) -> InPopulation:
        """The persons of the population who look like a class, where fewest do."""
        return self.said_of(
            f"At least {count(self.k)} of the {count(population.persons)} people of the "
            "population look like each class.",
            population.k_map,
        )

    def reached(self, risk: Risk, attribute: str = "") -> tuple[float, Position | None]:
        """The persons of the smallest class of a file that is its own population."""
        return risk.pid_k, risk.pid_k_where

    def sentence(self, attribute: str = "") -> str:
        """As a number of persons."""
        return Phrase("Each class looks like at least {people}.", people=counted(self.k, "person"))


KMap.measures = {"k_map": lambda limit: KMap(ceil(limit))}
