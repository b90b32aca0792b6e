"""Marketer risk as a budget that is spent over the whole release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt

from sfumato.core.declaration import Parameter, Share
from sfumato.core.measure import is_estimate
from sfumato.core.number_text import count, percent
from sfumato.release.promises.promise import (
    TOLERANCE,
    CellPrices,
    InPopulation,
    PopulationMeasures,
    Promise,
)

if TYPE_CHECKING:
    from sfumato.risk.classes import ClassSummary

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MarketerRisk(Promise):
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
        return self.tau * persons

    def spent(self, classes: ClassSummary) -> Floats:
        """One expected match per class."""
        return np.ones(classes.classes)

    def against(self, cells: CellPrices | None) -> MarketerRisk:
        """The same promise about another population than the file.

        Parameters
        ----------
        cells
            What a class spends by a model; ``None`` where a register counts it.
        """
        if cells is None:
            return _AgainstRegister(self.tau)
        return _Estimated(self.tau, cells)

    def in_population(self, population: PopulationMeasures) -> InPopulation:
        """The expected share of the release's persons who are matched with the population."""
        found = population.marketer
        return InPopulation(
            f"When everybody is matched with the {count(population.persons)} persons of the "
            f"population, at most {percent(self.tau)} of the release’s persons are expected to be "
            "matched rightly.",
            found.value <= self.tau * (1 + TOLERANCE),
            percent(self.tau),
            self.printed(found.value),
            promised=not is_estimate(found.estimator),
        )

    def sentence(self, attribute: str = "") -> str:
        """As a share of the persons, when everybody is matched."""
        return (
            f"When everybody is matched, at most {percent(self.tau)} of the persons are expected "
            "to be matched rightly, over the whole release."
        )


MarketerRisk.measures = {"marketer": MarketerRisk}


@dataclass(frozen=True)
class _AgainstRegister(MarketerRisk):
    """F_j is counted."""

    def spent(self, classes: ClassSummary) -> Floats:
        """f_j/F_j; F_j is never below f_j, because the file's persons are of the population.

        Raises
        ------
        LookupError
            If the classes were counted without their population.
        """
        if len(classes.population) != classes.classes:
            raise LookupError("classes were counted without population")
        spent: Floats = classes.persons / np.maximum(classes.population, classes.persons)
        return spent


@dataclass(frozen=True)
class _Estimated(MarketerRisk):
    """1/F_j is estimated from f_j and what the model of the population has in the class."""

    cells: CellPrices | None = None

    def spent(self, classes: ClassSummary) -> Floats:
        """f_j·E[1/F_j | f_j], at most 1."""
        assert self.cells is not None
        return self.cells.matches(classes.persons, classes.population)
