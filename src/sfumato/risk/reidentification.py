"""The chance to find a person or household: prosecutor, journalist, marketer, one who counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from operator import attrgetter
from typing import Literal

import numpy as np

from sfumato.core.arrays import Codes, Integers, Ints
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure, Position
from sfumato.risk import measure_table
from sfumato.risk.classes import ClassSummary, ClassValue, Counts, Extreme
from sfumato.risk.measure_table import row

OWN_POPULATION = "the file is taken as its own population"
Unit = Literal["persons", "records"]
NUMBER_KNOWN = "the intruder knows the exact number of records, too"
RISK_TOLERANCE = 1e-12
"""Relative allowance of comparisons: a person found with a chance of 1/5 is not above 0.2."""


@dataclass(frozen=True, slots=True)
class Reidentification:
    """Risks that follow from the sizes f_j of the classes.

    Attributes
    ----------
    prosecutor
        Largest 1 / f_j: the chance to find a person who is known to be in the file.
    journalist
        Largest 1 / F_j, F_j being the class's size in the population, here the file itself.
    marketer
        J / n with n the sum of all f_j: the share that is matched rightly when everybody is
        matched (paper 004, Theorem 1).
    average_risk
        Mean of 1 / f_j over the file's records.
    records_at_risk
        Share of the file's records in classes with 1 / f_j above the threshold.
    """

    prosecutor: Measure
    journalist: Measure
    marketer: Measure
    average_risk: Measure
    records_at_risk: Measure


def check_threshold(threshold: object) -> None:
    """Refuse a threshold that is no share above 0."""
    if not isinstance(threshold, Real) or not 0 < float(threshold) <= 1:
        raise InputError(
            "parameter threshold",
            "must be a risk that a record may have",
            accepted="a number above 0 and at most 1",
        )


def size_values(unit: Unit, threshold: float) -> dict[str, ClassValue]:
    """What `reidentification` reads of the classes, of which f_j counts some unit."""
    size = attrgetter(unit)

    def at_risk(classes: ClassSummary) -> Counts:
        return np.where(1.0 / size(classes) > threshold, classes.records, 0)

    return {
        unit: ClassValue(size, "low"),
        f"risk by {unit}": ClassValue(lambda classes: classes.records / size(classes), "high"),
        f"at risk by {unit}": ClassValue(at_risk, "high"),
    }


def reidentification(
    found: Mapping[str, Extreme], unit: Unit, classes: int, records: int, threshold: float
) -> Reidentification:
    """Re-identification risks of a file that is its own population.

    With f_j counting the records of a class, the classical figures, they understate the risk
    where a person has several records; such risks are named so.

    Parameters
    ----------
    found
        What was found of `size_values`.
    unit
        What f_j counts of a class.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    """
    check_threshold(threshold)
    suffix = "_by_records" if unit == "records" else ""
    smallest = found[unit]
    # The smallest class is found as a whole number, so
    # that ties are exact; its inverse is the largest risk.
    worst = smallest._replace(value=1.0 / smallest.value)

    return Reidentification(
        prosecutor=worst.measure("prosecutor" + suffix, why=OWN_POPULATION, threshold=threshold),
        journalist=worst.measure("journalist" + suffix, why=OWN_POPULATION, threshold=threshold),
        marketer=Measure("marketer" + suffix, classes / smallest.total, why=OWN_POPULATION),
        average_risk=Measure("average_risk" + suffix, found[f"risk by {unit}"].total / records),
        records_at_risk=Measure(
            "records_at_risk" + suffix,
            found[f"at risk by {unit}"].total / records,
            why=f"risk above {threshold:g}",
        ),
    )


@dataclass(frozen=True, slots=True)
class CountingRisk:
    """Risks for an intruder who counts (paper 000), over persons of a class with equal numbers.

    The intruder finds the class of the target, and in it the ids with the target's number of
    records. What stands beside them for an intruder who does not know the number: ``pid_k``,
    ``sample_uniques``, ``prosecutor`` and ``marketer``, the mean of 1 / f over persons.

    Attributes
    ----------
    count_k
        Fewest persons who share class and number of records.
    count_k_where
        Where that is.
    exposed_persons
        Share of persons whose number of records nobody else of their class has.
    max_count_risk
        Largest share of the ids of one class and number of records that are one person's; with
        one id per person 1 / ``count_k``.
    avg_count_risk
        The largest such share of each person, averaged over persons.
    """

    count_k: int
    count_k_where: Position
    exposed_persons: Measure
    max_count_risk: Measure
    avg_count_risk: Measure


COUNTING_VALUES = {
    "fewest sharing": ClassValue(
        lambda classes: classes.fewest_sharing,
        "low",
        lambda classes, at: int(classes.fewest_sharing_row[at]),
    ),
    "alone": ClassValue(lambda classes: classes.alone, "high"),
    "count risk": ClassValue(
        lambda classes: classes.count_risk,
        "high",
        lambda classes, at: int(classes.count_risk_row[at]),
    ),
    "count risk of people": ClassValue(lambda classes: classes.count_risk_total, "high"),
}
"""What `counting_risk` reads of the classes."""


def counting_risk(found: Mapping[str, Extreme], persons: int, threshold: float) -> CountingRisk:
    """Risks for an intruder who knows numbers of records, from `COUNTING_VALUES`.

    In a raw file a person may have records in several classes; the number is that in the class, and
    the person counts in each of them. A record is at risk above a threshold in (0, 1].
    """
    check_threshold(threshold)
    fewest = found["fewest sharing"]
    return CountingRisk(
        count_k=fewest.whole,
        count_k_where=fewest.where,
        exposed_persons=Measure("exposed_persons", found["alone"].total / persons),
        max_count_risk=found["count risk"].measure(
            "max_count_risk", why=NUMBER_KNOWN, threshold=threshold
        ),
        avg_count_risk=Measure(
            "avg_count_risk", found["count risk of people"].total / persons, why=NUMBER_KNOWN
        ),
    )


@dataclass(frozen=True, slots=True)
class HouseholdRisk:
    """Risks of households, 1 - Π (1 - r_i) over their persons (Templ et al. 2015, sdcMicro).

    Attributes
    ----------
    households_at_risk
        Share of households whose risk is above the threshold.
    household_k
        Fewest households that have the same members, by the classes of these.
    max_composition_risk, avg_composition_risk
        Largest chance to find a household of which all members are known, and the mean over
        households: 1 / the number of households that have the same members.
    """

    households: int
    max_household_risk: Measure
    avg_household_risk: Measure
    households_at_risk: Measure
    household_k: int
    max_composition_risk: Measure
    avg_composition_risk: Measure

    def rows(self) -> list[measure_table.Row]:
        """The lines of a table."""
        alone = (self.max_household_risk, self.avg_household_risk, self.households_at_risk)
        whole = (self.max_composition_risk, self.avg_composition_risk)
        return [
            row("households", measure_table.count(self.households)),
            *(row(one.name, measure_table.share(one), one.where) for one in alone),
            row("household_k", measure_table.count(self.household_k)),
            *(row(one.name, measure_table.share(one), one.where) for one in whole),
        ]


def household_risk(
    class_of: Codes, person: Codes, household: Codes, summary: ClassSummary, threshold: float
) -> HouseholdRisk:
    """Risk of every household: of its persons, found independently of each other, and as a whole.

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
    threshold
        Risk above which a household counts as at risk, in (0, 1].
    """
    check_threshold(threshold)
    risk = np.zeros(int(person.max()) + 1)
    # A raw file shows a person in several classes, and an intruder takes the smallest of them.
    np.maximum.at(risk, person, 1.0 / summary.persons[class_of])
    home = homes(person, household)
    named = home >= 0
    # Each person counts once in a household, however many records say so.
    pairs = np.unique(home[named].astype(np.int64) * len(risk) + person[named])
    of_pair, member = pairs // len(risk), pairs % len(risk)
    houses, number = np.unique(of_pair, return_inverse=True)
    with np.errstate(divide="ignore"):
        # Π (1 − r_i) as a sum of logarithms: a person
        # with r = 1 gives −∞, and so the right product 0.
        nobody = np.exp(np.bincount(number, weights=np.log1p(-risk[member])))
    found = 1.0 - nobody
    worst = int(np.argmax(found))
    row = int(np.argmax(home == houses[worst]))
    sharing = sharing_composition(class_of[named], person[named], home[named])
    rarest = int(np.argmin(sharing))
    its_row = int(np.argmax(home == houses[rarest]))
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
            float((found > threshold * (1 + RISK_TOLERANCE)).mean()),
            why=f"risk above {threshold:g}",
        ),
        household_k=int(sharing[rarest]),
        max_composition_risk=Measure(
            "max_composition_risk",
            1 / float(sharing[rarest]),
            where=Position(its_row + 1, int(class_of[its_row]) + 1),
        ),
        avg_composition_risk=Measure("avg_composition_risk", float((1 / sharing).mean())),
    )


def sharing_composition(class_of: Codes, person: Codes, household: Integers) -> Counts:
    """How many households have the same members as each one, itself among them.

    Two households have the same members where these can be paired so that each pair is in the
    same class. A person in several classes is a member in each. No household is missing. Shape
    (households,), by ascending household; O(records log records).
    """
    # Members by class within each household: equal households then are equal rows.
    order = np.lexsort((person, class_of, household))
    home, of_class, who = household[order], class_of[order], person[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(home) != 0) | (np.diff(of_class) != 0) | (np.diff(who) != 0)
    home, of_class = home[new], of_class[new]
    _, first, members = np.unique(home, return_index=True, return_counts=True)
    sharing = np.empty(len(first), dtype=np.int64)
    # Households of one size make a rectangular array, which numpy compares row by row.
    for size in np.unique(members).tolist():
        alike = np.flatnonzero(members == size)
        composed = of_class[first[alike][:, None] + np.arange(size)]
        number, times = np.unique(composed, axis=0, return_inverse=True, return_counts=True)[1:]
        sharing[alike] = times[number.reshape(-1)]
    return sharing


def homes(person: Codes, household: Codes) -> Ints:
    """The household of each record; who has none at all gets one, other records without are -1."""
    housed = np.zeros(int(person.max()) + 1, dtype=bool)
    housed[person[household >= 0]] = True
    # Numbers beyond all households, so that who has none is alone and not with others without one.
    alone = int(household.max()) + 1 + person.astype(np.int64)
    return np.where(housed[person], household, alone)
