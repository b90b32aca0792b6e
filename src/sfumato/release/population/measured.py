"""What a release gives away to somebody who has a register of the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import REGISTER, Measure, Position
from sfumato.release.population.known import Population
from sfumato.release.promises.marketer_risk import ALLOWANCE, estimated_matches

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
COUNTED = (
    "counted in the register: every person of it who lies in a class's cells is in that class; "
    "where persons lie in the cells of several classes, the true risk is lower"
)
ESTIMATED = (
    "estimated by Argus from the size of each class with p = n/N, no register being there. Against "
    "registers (Adult, 4 and 8 quasi-identifiers, p = 0.1, 0.3 and 0.5) the true risk of files "
    "released at 0.05 was between 24 % below and 15 % above the estimate: the interval allows for "
    "30 % and 20 %. Argus looks at nothing but sizes: in files with a column of many categories "
    "(postcodes, occupations) the true risk is several times the estimate. It is no promise"
)
BELOW = 0.7
"""The least true risk, over its estimate."""


@dataclass(frozen=True, slots=True)
class PopulationRisk:
    """The measures of a release against the population that its persons come from.

    Attributes
    ----------
    persons
        N, the number of persons of the population.
    marketer
        λ = (1/n) Σ f_j/F_j, the expected share of the release's persons whom an intruder with
        the register matches correctly (paper 004, Theorem 1); an estimate where only N is known.
    presence_low, presence_high
        Smallest and largest f_j/F_j of a class; ``None`` without a register.
    strangers
        Number of persons of the release for whom the register has nobody.
    """

    persons: int
    marketer: Measure
    presence_low: Measure | None = None
    presence_high: Measure | None = None
    strangers: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "persons": self.persons,
            "marketer": self.marketer.to_json(),
            **{
                each.name: each.to_json()
                for each in (self.presence_low, self.presence_high)
                if each is not None
            },
            "strangers": self.strangers,
        }

    def __str__(self) -> str:
        """A table."""
        marketer = self.marketer
        by = f"  ({marketer.low:.4g} to {marketer.high:.4g}; {marketer.estimator})"
        if marketer.estimator == REGISTER:
            by = ""
        lines = [
            "Against the population",
            f"  persons        {self.persons:,}",
            f"  marketer       {marketer.value:.4g}{by}",
        ]
        shares = [each for each in (self.presence_low, self.presence_high) if each is not None]
        lines += [f"  {each.name:<14} {each.value:.4g}" for each in shares]
        return "\n".join(lines)

    def warnings(self) -> tuple[str, ...]:
        """What the reader should know."""
        if not self.strangers:
            return ()
        warning = (
            f"{self.strangers:,} persons of the release have no counterpart of their own in the "
            "register: it is not the whole population of the file, or its values are written "
            "differently; each counts as one more person of the population."
        )
        return (warning,)


def measured(
    population: Population,
    persons: Ints,
    alike: Ints | None,
    first: Ints,
) -> PopulationRisk:
    """Measure the classes of a release against their population.

    Parameters
    ----------
    population
        What is known of it.
    persons
        f_j, the persons of each class.
    alike
        The register's persons of each class; ``None`` without a register.
    first
        0-based first row of each class in the release.
    """
    n = int(persons.sum())
    if alike is None:
        value = float(estimated_matches(persons, n / population.persons).sum()) / n
        high = min(value * ALLOWANCE, 1.0)
        estimate = Measure("marketer", value, value * BELOW, high, "argus", ESTIMATED)
        return PopulationRisk(population.persons, estimate)
    share = persons / np.maximum(alike, persons)
    low, high = int(np.argmin(share)), int(np.argmax(share))
    return PopulationRisk(
        population.persons,
        _counted(float(share.sum()) / n),
        Measure("presence_low", float(share[low]), where=_place(first, low)),
        Measure("presence_high", float(share[high]), where=_place(first, high)),
        int(np.maximum(persons - alike, 0).sum()),
    )


def _counted(value: float) -> Measure:
    return Measure("marketer", value, value, value, REGISTER, COUNTED)


def _place(first: Ints, at: int) -> Position:
    return Position(int(first[at]) + 1, at + 1)
