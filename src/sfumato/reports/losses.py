"""What a release lost, as lines of a table."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.release.utility import Utility
from sfumato.reports.numbers import count, number, percent


@dataclass(frozen=True, slots=True)
class Loss:
    """One line: name of the measure, what it means, printed value."""

    name: str
    meaning: str
    value: str


def loss_lines(utility: Utility) -> list[Loss]:
    """Every number of the loss of a whole release, with its meaning."""
    queries, correlations = utility.queries, utility.correlations
    columns = "one column" if queries.columns == 1 else f"{queries.columns} columns"
    error = f"{queries.queries:,} random range-count queries on {columns}"
    return [
        Loss(
            "ncp",
            "Share of its domain that a released cell may stand for, on average (GCP)",
            percent(utility.ncp),
        ),
        Loss(
            "ane",
            "Distance of a value from the mean of its class, as a share of the column’s range, "
            "averaged over records",
            percent(utility.ane),
        ),
        Loss("ane_persons", "The same, averaged over persons", percent(utility.ane_persons)),
        Loss(
            "sse_sst",
            "Share of the variance that lies within the classes and can no longer be seen",
            percent(utility.sse_sst),
        ),
        Loss(
            "average_class_records",
            "Records of a class, on average",
            number(utility.average_class_records),
        ),
        Loss(
            "average_class_persons",
            "Persons of a class, on average",
            number(utility.average_class_persons),
        ),
        Loss(
            "discernibility",
            "Sum of squared class sizes: ordered pairs of records that cannot be told apart",
            count(utility.discernibility),
        ),
        Loss(
            "correlations.mean_change",
            "Change of the correlation of two columns, mean over pairs",
            number(correlations.mean_change),
        ),
        Loss("correlations.max_change", "The same, largest", number(correlations.max_change)),
        Loss("queries.mean", f"Relative error of {error}, mean", percent(queries.mean)),
        Loss(
            "queries.median",
            "The same, median (lower and upper quartile)",
            f"{percent(queries.median)} "
            f"({percent(queries.lower_quartile)} to {percent(queries.upper_quartile)})",
        ),
        Loss(
            "suppressed_records",
            f"Records left out, of {count(utility.records)}",
            f"{count(utility.suppressed_records)} ({percent(utility.suppressed_records_share)})",
        ),
        Loss(
            "suppressed_persons",
            f"Persons left out with all their records, of {count(utility.persons)}",
            f"{count(utility.suppressed_persons)} ({percent(utility.suppressed_persons_share)})",
        ),
        *_count_lines(utility),
    ]


def _count_lines(utility: Utility) -> list[Loss]:
    lost = utility.counts
    if lost is None:
        return []
    return [
        Loss(
            "counts.records_dropped",
            "Of these records, those left out so that numbers of records are shared",
            f"{count(lost.records_dropped)} ({percent(lost.records_dropped / utility.records)})",
        ),
        Loss(
            "counts.ids_added",
            "Pseudonyms beyond one per person, so that numbers of records are shared",
            count(lost.ids_added),
        ),
        Loss(
            "counts.persons_affected",
            f"Persons with fewer records or several pseudonyms for that, of "
            f"{count(utility.persons)}",
            f"{count(lost.persons_affected)} ({percent(lost.persons_affected / utility.persons)})",
        ),
        Loss(
            "counts.links_lost",
            "Share of the pairs of records of one person that can no longer be seen to be that",
            percent(lost.links_lost),
        ),
    ]
