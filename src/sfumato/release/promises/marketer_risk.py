"""Marketer risk as a budget that is spent over the whole release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sfumato.core.arrays import Floats
from sfumato.core.declaration import Parameter, Share
from sfumato.core.number_text import count, percent
from sfumato.core.phrases import Phrase
from sfumato.release.promises.promise import AboutCells, InPopulation, PopulationMeasures

if TYPE_CHECKING:
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class MarketerRisk(AboutCells):
    """The expected share of persons whom an intruder matches correctly is at most τ.

    It is λ = (1/n) Σ f_j/F_j over the classes j, f_j being the persons of the file and F_j those
    of the population (paper 004, Theorem 1); class j spends f_j/F_j expected matches. Without a
    population the file is its own, and every class spends one. Where only the size N of the
    population is known, the budget is estimated, not promised: class j spends f_j·E[1/F_j | f_j]
    by a model of the population's cells (`CellPrices`).

    Parameters
    ----------
    tau
        The threshold τ in (0, 1].

    Raises
    ------
    InputError
        If ``tau`` is out of range.
    """

    name = "marketer"
    order = 6

    tau: Annotated[
        float,
        Parameter(
            "Marketer risk of the release at most T, against --register, without one against the "
            "file itself; against --population it is estimated, not promised.",
            "T",
            Share(zero=False, one=True),
            flag="marketer",
        ),
    ]

    def limit(self, records: int, persons: int) -> float:
        """Expected correct matches allowed: τ·n."""
        # λ = (1/n) Σ f_j/F_j ≤ τ, multiplied by n, so that classes add up.
        return self.tau * persons

    def spent(self, classes: ClassSummary) -> Floats:
        """Expected correct matches of each class."""
        return self.cells.matches(classes.persons, classes.population)

    def in_population(self, population: PopulationMeasures) -> InPopulation:
        """The expected share of the release's persons who are matched with the population."""
        return self.said_of(
            f"Where each is looked for among the {count(population.persons)} people of the "
            f"population, at most {percent(self.tau)} of the release’s people are expected to be "
            "found.",
            population.marketer,
        )

    def sentence(self, attribute: str = "") -> str:
        """As a share of the persons, when everybody is matched."""
        return Phrase(
            "Where each is looked for, at most {share} of the people are expected to be found, "
            "over the whole release.",
            share=percent(self.tau),
        )


MarketerRisk.measures = {"marketer": MarketerRisk}
