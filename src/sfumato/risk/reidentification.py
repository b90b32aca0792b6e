"""Prosecutor, journalist and marketer risk, with the file as its own population (paper 004)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.risk.classes import ClassSummary, Counts
from sfumato.risk.extremes import highest

OWN_POPULATION = "the file is taken as its own population"


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


def by_persons(summary: ClassSummary, threshold: float) -> Reidentification:
    """Re-identification risks with f_j counting the persons of a class.

    Parameters
    ----------
    summary
        The classes.
    threshold
        Risk above which a record counts as at risk, in (0, 1].

    Raises
    ------
    InputError
        If the threshold is outside (0, 1].
    """
    return _risks(summary, summary.persons, threshold, "")


def by_records(summary: ClassSummary, threshold: float) -> Reidentification:
    """Re-identification risks with f_j counting the records of a class: the classical figures.

    They understate the risk where a person has several records.

    Parameters
    ----------
    summary
        The classes.
    threshold
        Risk above which a record counts as at risk, in (0, 1].

    Raises
    ------
    InputError
        If the threshold is outside (0, 1].
    """
    return _risks(summary, summary.records, threshold, "_by_records")


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


def _risks(summary: ClassSummary, sizes: Counts, threshold: float, suffix: str) -> Reidentification:
    check_threshold(threshold)
    risk = 1.0 / sizes
    records = int(summary.records.sum())
    at_risk = int(summary.records[risk > threshold].sum())

    def worst(name: str) -> Measure:
        return highest(
            name + suffix, risk, summary.first_row, why=OWN_POPULATION, threshold=threshold
        )

    return Reidentification(
        prosecutor=worst("prosecutor"),
        journalist=worst("journalist"),
        marketer=Measure(
            "marketer" + suffix, summary.classes / int(sizes.sum()), why=OWN_POPULATION
        ),
        average_risk=Measure(
            "average_risk" + suffix, float((risk * summary.records).sum()) / records
        ),
        records_at_risk=Measure(
            "records_at_risk" + suffix, at_risk / records, why=f"risk above {threshold:g}"
        ),
    )
