"""δ-presence: nobody can be too sure who is in the file, nor who is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.declaration import Parameter, Share
from sfumato.core.errors import InputError
from sfumato.core.number_text import percent
from sfumato.core.phrases import Phrase
from sfumato.release.promises import promise

if TYPE_CHECKING:
    from sfumato.release.person_table import PersonTable
    from sfumato.risk.classes import ClassSummary


@dataclass(frozen=True)
class DeltaPresence(promise.Promise):
    """Of the population's persons who look like a class, a share in [low, high] is in the file.

    δ-presence of Nergiz, Atzori & Clifton 2007: low ≤ f_j/F_j ≤ high in every class j, f_j being
    the persons of the file and F_j those of a population register. It needs the register.

    Parameters
    ----------
    low, high
        The ends of the interval, 0 ≤ low ≤ high ≤ 1 and high > 0.

    Raises
    ------
    InputError
        If an end is out of range, or ``low`` lies above ``high``.
    """

    name = "presence"
    order = 9
    needs = frozenset({"population"})

    low: Annotated[
        float,
        Parameter(
            "Of the register's people who look like a class, at least a share A is in DATA.",
            "A",
            Share(zero=True, one=True),
            flag="presence_low",
        ),
    ] = 0.0
    high: Annotated[
        float,
        Parameter(
            "Of the register's people who look like a class, at most a share B is in DATA.",
            "B",
            Share(zero=False, one=True),
            flag="presence_high",
        ),
    ] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise InputError(
                "parameter low", "must not lie above the parameter high", found="a larger one"
            )

    @property
    def threshold(self) -> float:
        """The upper end: the lower one protects those who are not in the file."""
        return self.high

    def implies(self, other: object) -> bool:
        """Whether its interval lies within the other's."""
        if not isinstance(other, DeltaPresence):
            return False
        return other.low <= self.low and self.high <= other.high

    def met(self, classes: ClassSummary) -> promise.Verdicts:
        """low·F ≤ f ≤ high·F, with a tolerance; F is never below f.

        Raises
        ------
        LookupError
            If the classes were counted without their population.
        """
        if len(classes.population) != classes.classes:
            raise LookupError("classes were counted without population")
        population = np.maximum(classes.population, classes.persons)
        low, high = (
            (self.low - promise.TOLERANCE) * population,
            (self.high + promise.TOLERANCE) * population,
        )
        verdicts: promise.Verdicts = (low <= classes.persons) & (classes.persons <= high)
        return verdicts

    def shortfall(self, whole: ClassSummary) -> str:
        """The share of the population that is in the file, beside the two ends."""
        population = max(int(whole.population[0]), int(whole.persons[0]))
        return (
            f"presence asks for a share of {self.low:.4g} to {self.high:.4g}; with all records in "
            f"one class {whole.persons[0]} of {population} people of the register are in the "
            f"file, {whole.persons[0] / population:.4g}."
        )

    def offenders(self, persons: PersonTable) -> Ints:
        """Above ``high`` as many persons as are too many, those with fewest records first."""
        if self.met(persons.whole())[0]:
            return np.empty(0, dtype=np.int64)
        population = int(persons.whole().population[0])
        # With the tolerance of `met`, so that nobody goes whom that would let stay.
        allowed = int(np.floor((self.high + promise.TOLERANCE) * population))
        # Every person counts alike in the share, so that those go who take the fewest records
        # along.
        lightest: Ints = np.argsort(persons.records, kind="stable")
        # Below the lower end nobody is named: without them the share would fall further.
        return lightest[: max(persons.persons - allowed, 0)]

    def parameters(self) -> Mapping[str, float]:
        """Both ends."""
        return {"low": self.low, "high": self.high}

    def against(self, cells: promise.CellPrices) -> DeltaPresence:
        """The same: it speaks about the register and nothing else."""
        del cells
        return self

    def in_population(self, population: promise.PopulationMeasures) -> promise.InPopulation:
        """The shares of the population's persons who are in the file, where they are extreme."""
        fewest, most = population.presence_low, population.presence_high
        low, high = (0.0, 1.0) if fewest is None or most is None else (fewest.value, most.value)
        return promise.InPopulation(
            self.sentence(),
            low >= self.low - promise.TOLERANCE and high <= self.high + promise.TOLERANCE,
            f"{percent(self.high)}, at least {percent(self.low)}",
            f"{percent(low)} to {percent(high)}",
            None if most is None else most.where,
        )

    def sentence(self, attribute: str = "") -> str:
        """As shares of the population."""
        if self.low:
            return Phrase(
                "Of the population’s people who look like a class, the share who are in the "
                "release is at least {low} and at most {high} in every class.",
                low=percent(self.low),
                high=percent(self.high),
            )
        return Phrase(
            "Of the population’s people who look like a class, the share who are in the release "
            "is at most {high} in every class.",
            high=percent(self.high),
        )


DeltaPresence.measures = {"presence_high": lambda limit: DeltaPresence(0.0, limit)}
