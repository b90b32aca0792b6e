"""What an intruder learns who knows the quasi-identifiers and the number of records of a target."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.core.measure import Measure, Position
from sfumato.risk.classes import ClassSummary
from sfumato.risk.extremes import highest, smallest_count
from sfumato.risk.reidentification import check_threshold

NUMBER_KNOWN = "the intruder knows the number of records too"


@dataclass(frozen=True, slots=True)
class KnownCounts:
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


def known_counts(summary: ClassSummary, threshold: float) -> KnownCounts:
    """Risks for an intruder who knows numbers of records.

    In a raw file a person may have records in several classes; the number is that in the class,
    and the person counts in each of them.

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
    check_threshold(threshold)
    persons = int(summary.persons.sum())
    fewest, where = smallest_count(summary.fewest_sharing, summary.fewest_sharing_row)
    return KnownCounts(
        count_k=fewest,
        count_k_where=where,
        exposed_persons=Measure("exposed_persons", int(summary.alone.sum()) / persons),
        max_count_risk=highest(
            "max_count_risk",
            summary.count_risk,
            summary.count_risk_row,
            why=NUMBER_KNOWN,
            threshold=threshold,
        ),
        avg_count_risk=Measure(
            "avg_count_risk", float(summary.count_risk_total.sum()) / persons, why=NUMBER_KNOWN
        ),
    )
