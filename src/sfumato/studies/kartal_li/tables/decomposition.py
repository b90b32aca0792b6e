"""The baseline of Section 2: decompose, k-anonymise the persons, l-diversify the values, join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.progress import Progress, silent
from sfumato.release.constraints import (
    Constraint,
    GBalance,
    HAffiliation,
    LDiversity,
    PidKAnonymity,
)
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.splits import Split
from sfumato.studies.kartal_li.encoded import Encoded, Reading
from sfumato.studies.kartal_li.measure import Measured, can_hold, cut, measure, shown
from sfumato.studies.study import Column, Grid, Section
from sfumato.table.table import Table

THRESHOLDS = (2, 3, 5, 10, 20)
"""k and l; both promise a chance of at most 1/k."""
_RISKS = (
    ("max_gidr", "MaxGIDR %", 2, True),
    ("avg_gidr", "AvgGIDR %", 2, True),
    ("max_gsar", "MaxGSAR %", 2, True),
    ("avg_gsar", "AvgGSAR %", 2, True),
    ("ane", "ANE", 4, False),
    ("classes", "Classes", None, False),
)


@dataclass(frozen=True)
class Row:
    """One k = l of the baseline.

    Attributes
    ----------
    k
        Individuals per class and distinct values per class.
    joined
        What was measured after the join; ``None`` where the whole file has fewer.
    proposed
        The same with g* = 1 - 1/k and h* = 1/k (Equations 3 and 6) on the records; ``None``
        where no partition can meet both.
    """

    k: int
    joined: Measured | None
    proposed: Measured | None


def person_rows(table: Table, persons: PersonTable) -> PersonTable:
    """The persons as the first of the two tables has them, with their values from the second.

    The first table is the projection of the records on the person and the quasi-identifiers:
    one row per person, or several where a quasi-identifier varies. A person's number of records
    is unknown to it.

    Parameters
    ----------
    table
        The records.
    persons
        The persons of the records, with their distinct sensitive values (the second table).
    """
    keys = np.column_stack([table.person, *(column.codes for column in table.quasi_identifiers)])
    _, first = np.unique(keys, axis=0, return_index=True)
    return replace(person_table(table.take(np.sort(first))), sensitive=persons.sensitive)


def decompose(
    table: Table,
    persons: PersonTable,
    k: int,
    l: int,  # noqa: E741
) -> tuple[Partition, float] | None:
    """Classes of at least k individuals with at least l distinct values, and their seconds.

    ``None`` where the whole file has fewer.

    Parameters
    ----------
    table
        The records.
    persons
        Their persons, with their distinct sensitive values.
    k
        Least number of individuals, by the first table.
    l
        Least number of distinct values, by the second.
    """
    apart = person_rows(table, persons)
    promised: list[Constraint] = [PidKAnonymity(k), LDiversity(l)]
    return cut(apart, promised, Split.VARIANCE) if can_hold(apart, promised) else None


def decomposition_rows(
    encoded: Encoded, reading: Reading, progress: Progress = silent
) -> tuple[Row, ...]:
    """Anonymise the two tables apart, join them, and measure what remains.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    progress
        Told the share that is done.
    """
    rows = []
    for done, k in enumerate(THRESHOLDS):
        progress("Section 2", done / len(THRESHOLDS))
        joined = proposed = None
        apart = decompose(encoded.table, reading.by_person, k, k)
        if apart is not None:
            joined = measure(encoded.table, apart[0], reading, apart[1])
        balanced: list[Constraint] = [GBalance(k=k), HAffiliation(l=k)]
        if can_hold(reading.by_person, balanced):
            partition, seconds = cut(reading.by_person, balanced)
            proposed = measure(encoded.table, partition, reading, seconds)
        rows.append(Row(k, joined, proposed))
    progress("Section 2", 1.0)
    return tuple(rows)


def decomposition_section(encoded: Encoded, reading: Reading, rows: Sequence[Row]) -> Section:
    """What the post-decomposition baseline leaves, beside g-balance and h-affiliation.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    rows
        The rows of the table.
    """
    rest = f" Values of few {encoded.data.persons} only." if reading.key else ""
    return Section(
        f"Decomposition into two tables in the {encoded.data.key} data (Section 2)",
        (
            (
                "The first table has the person and the quasi-identifiers: classes of at least k "
                "individuals, cut by the largest variance. The second has the person and the "
                "sensitive values: at least l = k distinct ones per class. Joined on the person, "
                "the records are back, and with them the risks. Beside it: g-balance and "
                "h-affiliation on the records at g\\* = 1 − 1/k and h\\* = 1/k; empty where no "
                f"partition can meet both.{rest}"
            ),
        ),
        (_grid(f"decomposition_{encoded.data.key}", rows),),
    )


def _grid(name: str, rows: Sequence[Row]) -> Grid:
    columns = [Column("k", "k = l"), Column("promised", "Promised %", 2, percent=True)]
    for prefix, label in (("", ""), ("proposed_", " g and h")):
        columns += [
            Column(f"{prefix}{key}", f"{said}{label}", digits, percent=percent)
            for key, said, digits, percent in _RISKS
        ]
    names = [key for key, *_rest in _RISKS]
    cells = tuple(
        (row.k, 1 / row.k, *shown(row.joined, *names), *shown(row.proposed, *names)) for row in rows
    )
    caption = "What remains after k-anonymity and l-diversity on two tables, joined"
    return Grid(name, caption, tuple(columns), cells)
