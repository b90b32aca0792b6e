"""Household risk: the chance that at least one person of a household is found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure, Position
from sfumato.risk import render
from sfumato.risk.classes import ClassSummary
from sfumato.risk.reidentification import check_threshold
from sfumato.risk.render import row

Codes = npt.NDArray[np.int32]

ROUNDING = 1e-12
"""Relative allowance of comparisons: a person found with a chance of 1/5 is not above 0.2."""


@dataclass(frozen=True, slots=True)
class HouseholdRisk:
    """Risks of households, 1 - Π (1 - r_i) over their persons (Templ et al. 2015, sdcMicro).

    Attributes
    ----------
    households
        Number of households.
    max_household_risk, avg_household_risk
        Largest risk of a household, and the mean over households.
    households_at_risk
        Share of households whose risk is above the threshold.
    """

    households: int
    max_household_risk: Measure
    avg_household_risk: Measure
    households_at_risk: Measure

    def rows(self) -> list[render.Row]:
        """The lines of a table."""
        shares = (self.max_household_risk, self.avg_household_risk, self.households_at_risk)
        return [
            row("households", render.count(self.households)),
            *(row(one.name, render.share(one), one.where) for one in shares),
        ]


def household_risk(
    class_of: Codes, person: Codes, household: Codes, summary: ClassSummary, threshold: float
) -> HouseholdRisk:
    """Risk of every household, persons being found independently of each other.

    The risk of a person is r = 1 / f, f being the persons of the class; of several classes, as
    a raw file may have them, the riskiest counts. A person with records in several households
    belongs to each of them; one with records in none is a household alone. O(records log
    records).

    Parameters
    ----------
    class_of
        Class of each record, shape (records,).
    person
        Index of each record's person, from 0, shape (records,).
    household
        Index of each record's household, from 0, -1 for missing, shape (records,).
    summary
        The classes.
    threshold
        Risk above which a household counts as at risk, in (0, 1].

    Raises
    ------
    InputError
        If the threshold is outside (0, 1].
    """
    check_threshold(threshold)
    risk = np.zeros(int(person.max()) + 1)
    np.maximum.at(risk, person, 1.0 / summary.persons[class_of])
    home = _homes(person, household)
    named = home >= 0
    pairs = np.unique(
        home[named].astype(np.int64) * len(risk) + person[named],
    )
    of_pair, member = pairs // len(risk), pairs % len(risk)
    houses, number = np.unique(of_pair, return_inverse=True)
    with np.errstate(divide="ignore"):
        nobody = np.exp(np.bincount(number, weights=np.log1p(-risk[member])))
    found = 1.0 - nobody
    worst = int(np.argmax(found))
    row = int(np.argmax(home == houses[worst]))
    return HouseholdRisk(
        households=len(houses),
        max_household_risk=Measure(
            "max_household_risk",
            float(found[worst]),
            where=Position(row + 1, int(class_of[row]) + 1),
            threshold=threshold,
        ),
        avg_household_risk=Measure("avg_household_risk", float(found.mean())),
        households_at_risk=Measure(
            "households_at_risk",
            float((found > threshold * (1 + ROUNDING)).mean()),
            why=f"risk above {threshold:g}",
        ),
    )


def _homes(person: Codes, household: Codes) -> npt.NDArray[np.int64]:
    """The household of each record; who has none at all gets one, other records without are -1."""
    housed = np.zeros(int(person.max()) + 1, dtype=bool)
    housed[person[household >= 0]] = True
    alone = int(household.max()) + 1 + person.astype(np.int64)
    return np.where(housed[person], household, alone)
