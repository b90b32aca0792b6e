"""What an intruder learns who knows the quasi-identifiers and the number of records of a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.core.measure import Measure, Position
from sfumato.risk.extremes import Extreme, Sought
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


SOUGHT = {
    "fewest sharing": Sought(
        lambda classes: classes.fewest_sharing,
        "low",
        lambda classes, at: int(classes.fewest_sharing_row[at]),
    ),
    "alone": Sought(lambda classes: classes.alone, "high"),
    "count risk": Sought(
        lambda classes: classes.count_risk,
        "high",
        lambda classes, at: int(classes.count_risk_row[at]),
    ),
    "count risk of persons": Sought(lambda classes: classes.count_risk_total, "high"),
}
"""What `known_counts` reads of the classes."""


def known_counts(found: Mapping[str, Extreme], persons: int, threshold: float) -> KnownCounts:
    """Risks for an intruder who knows numbers of records.

    In a raw file a person may have records in several classes; the number is that in the class,
    and the person counts in each of them.

    Parameters
    ----------
    found
        What was found of `SOUGHT`.
    persons
        Number of persons, each counted in every class that they are in.
    threshold
        Risk above which a record counts as at risk, in (0, 1].

    Raises
    ------
    InputError
        If the threshold is outside (0, 1].
    """
    check_threshold(threshold)
    fewest = found["fewest sharing"]
    return KnownCounts(
        count_k=fewest.whole,
        count_k_where=fewest.where,
        exposed_persons=Measure("exposed_persons", found["alone"].total / persons),
        max_count_risk=found["count risk"].measure(
            "max_count_risk", why=NUMBER_KNOWN, threshold=threshold
        ),
        avg_count_risk=Measure(
            "avg_count_risk", found["count risk of persons"].total / persons, why=NUMBER_KNOWN
        ),
    )
