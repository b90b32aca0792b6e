"""Prosecutor, journalist and marketer risk, with the file as its own population (paper 004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from operator import attrgetter
from typing import Literal

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.risk.classes import ClassSummary, Counts
from sfumato.risk.extremes import Extreme, Sought

OWN_POPULATION = "the file is taken as its own population"
Unit = Literal["persons", "records"]


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
    """Refuse a threshold that is no share above 0.

    Raises
    ------
    InputError
        If the threshold is outside (0, 1].
    """
    if not isinstance(threshold, Real) or not 0 < float(threshold) <= 1:
        raise InputError(
            "parameter threshold",
            "must be a risk that a record may have",
            accepted="a number above 0 and at most 1",
        )


def sizes_sought(unit: Unit, threshold: float) -> dict[str, Sought]:
    """What `reidentification` reads of the classes.

    Parameters
    ----------
    unit
        What f_j counts of a class.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    """
    size = attrgetter(unit)

    def at_risk(classes: ClassSummary) -> Counts:
        return np.where(1.0 / size(classes) > threshold, classes.records, 0)

    return {
        unit: Sought(size, "low"),
        f"risk by {unit}": Sought(lambda classes: classes.records / size(classes), "high"),
        f"at risk by {unit}": Sought(at_risk, "high"),
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
        What was found of `sizes_sought`.
    unit
        What f_j counts of a class.
    classes, records
        Number of classes and of records.
    threshold
        Risk above which a record counts as at risk, in (0, 1].

    Raises
    ------
    InputError
        If the threshold is outside (0, 1].
    """
    check_threshold(threshold)
    suffix = "_by_records" if unit == "records" else ""
    smallest = found[unit]
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
