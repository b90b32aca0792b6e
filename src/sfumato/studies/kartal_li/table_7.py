"""Table 7 of Kartal and Li 2020: k-anonymity, PID-based K-anonymity and g-balance compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.release.constraints import Constraint, GBalance, KAnonymity, PidKAnonymity
from sfumato.release.persons import person_table
from sfumato.release.released import Form, release_column
from sfumato.release.splits import Split
from sfumato.release.tree import grow
from sfumato.release.utility.normalized_error import normalized_error
from sfumato.risk.multi_record import gidr
from sfumato.risk.summary import summarize
from sfumato.studies.kartal_li import published
from sfumato.studies.kartal_li.informs import SCHEMA
from sfumato.studies.study import Column, Grid, Section
from sfumato.table.door import open_table
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Part:
    """One of the three parts of Table 7.

    Attributes
    ----------
    name
        Name of the constraint.
    symbol
        How the paper writes its threshold.
    caption
        What the part shows.
    constraint
        Makes the constraint of a threshold.
    split
        Which cut is tried first.
    persons
        The number of persons that a threshold stands for: k, K or 1/(1 - g) (Equation 3).
    printed
        The paper's numbers, by threshold.
    """

    name: str
    symbol: str
    caption: str
    constraint: Callable[[float], Constraint]
    split: Split
    persons: Callable[[float], float]
    printed: Mapping[float, published.Risks]


PARTS = (
    Part(
        "k",
        "k",
        "Table 7a. Risk with k-anonymity",
        lambda k: KAnonymity(int(k)),
        Split.VARIANCE,
        float,
        published.TABLE_7_K,
    ),
    Part(
        "pid_k",
        "K",
        "Table 7b. Risk with PID-based K-anonymity",
        lambda k: PidKAnonymity(int(k)),
        Split.VARIANCE,
        float,
        published.TABLE_7_PID_K,
    ),
    Part(
        "g_balance",
        "g",
        "Table 7c. Risk with g-balance",
        GBalance,
        Split.BALANCE,
        lambda g: 1 / (1 - g),
        published.TABLE_7_G,
    ),
)


@dataclass(frozen=True)
class Risks:
    """GIDR over the classes of a partition; shares in [0, 1]."""

    max_gidr: float
    avg_gidr: float
    classes: int


@dataclass(frozen=True)
class Row:
    """One row of Table 7.

    Attributes
    ----------
    part
        Name of the constraint.
    threshold
        k, K or g*.
    persons
        The number of persons that the threshold stands for.
    tree
        Risks of the tree's classes, which are the paper's QI-groups.
    release
        Risks of the classes of the release, where tree classes with equal cells are one.
    ane
        Average normalised error against the means of the tree's classes (Section 7).
    seconds
        Time of the partitioning.
    printed
        The paper's numbers, in percent.
    """

    part: str
    threshold: float
    persons: float
    tree: Risks
    release: Risks
    ane: float
    seconds: float
    printed: published.Risks


def table_7_rows(
    records: pa.Table,
    chosen: Mapping[str, Sequence[float]] | None = None,
    progress: Progress = silent,
) -> tuple[Row, ...]:
    """Partition the patient data under every threshold and measure the classes.

    Parameters
    ----------
    records
        The patients' records; see `patient_records`.
    chosen
        Thresholds by name of the constraint; all of the paper's without it.
    progress
        Told the share of the rows that is done.

    Raises
    ------
    InputError
        If a column does not hold what its role and kind need.
    """
    table = open_table(records, SCHEMA, keep_source=False)
    asked = [
        (part, threshold)
        for part in PARTS
        for threshold in part.printed
        if chosen is None or threshold in chosen.get(part.name, ())
    ]
    return tuple(_rows(table, asked, progress))


def _rows(table: Table, asked: Sequence[tuple[Part, float]], progress: Progress) -> Iterator[Row]:
    persons = person_table(table)
    for done, (part, threshold) in enumerate(asked):
        progress("Table 7", done / len(asked))
        started = perf_counter()
        partition = grow(persons, [part.constraint(threshold)], split=part.split)
        seconds = perf_counter() - started
        class_of = partition.class_of_person[table.person]
        yield Row(
            part=part.name,
            threshold=threshold,
            persons=part.persons(threshold),
            tree=_risks(table, class_of, partition.classes),
            release=_risks(table, *_as_released(table, class_of, partition.classes)),
            ane=_ane(table, class_of, partition.classes),
            seconds=seconds,
            printed=part.printed[threshold],
        )
    progress("Table 7", 1.0)


def _risks(table: Table, class_of: Codes, classes: int) -> Risks:
    risk = gidr(summarize(class_of, classes, table.person, {}))
    return Risks(float(risk.max()), float(risk.mean()), classes)


def _as_released(table: Table, class_of: Codes, classes: int) -> tuple[Codes, int]:
    """Classes told apart by their released ranges."""
    columns = [
        release_column(column, class_of, classes, Form.RANGE)[0]
        for column in table.quasi_identifiers
    ]
    merged, count = group(
        [column.text_of_class for column in columns], [len(column.texts) for column in columns]
    )
    return merged[class_of], count


def _ane(table: Table, class_of: Codes, classes: int) -> float:
    errors = [
        normalized_error(column, class_of, classes, table.person)[0]
        for column in table.quasi_identifiers
    ]
    return float(np.mean(errors))


def table_7_section(records: pa.Table, rows: Sequence[Row]) -> Section:
    """Table 7 beside the paper's numbers.

    Parameters
    ----------
    records
        The patients' records.
    rows
        The rows of Table 7.
    """
    patients = records.column(SCHEMA.person or "").unique()
    return Section(
        "Individual-record disclosure risk in the patient data (Table 7)",
        (
            (
                f"INFORMS Data Mining Contest 2008, year 2005: {records.num_rows:,} records of "
                f"{len(patients):,} patients with a valid ICD-9 code and known education. The "
                f"paper had {published.RECORDS:,} records of {published.PATIENTS:,} patients, "
                "a selection that it does not describe fully, so that its numbers are near, "
                "not equal."
            ),
            (
                "MaxGIDR and AvgGIDR are those of the tree's classes, the paper's QI-groups. "
                "Classes with the same released ranges cannot be told apart; the columns "
                "*released* count them as one. ANE follows the paper's formula (at most 1) "
                "against the class means; the scale of the ANE that the paper prints is not "
                "given. Seconds are those of the partitioning. Ties of persons are "
                "cut in the order of the file: in four shuffles MaxGIDR moved by up to 16 "
                "points for k, 10 for K and 1 for g, AvgGIDR by up to 0.4."
            ),
        ),
        tuple(_grid(part, [row for row in rows if row.part == part.name]) for part in PARTS),
        ("table_7",),
    )


def _grid(part: Part, rows: Sequence[Row]) -> Grid:
    digits = 2 if part.name == "g_balance" else 0
    columns = (
        Column("threshold", part.symbol, digits),
        Column("max_gidr", "MaxGIDR %", 2, percent=True),
        Column("max_gidr_published", "paper", 2, percent=True),
        Column("avg_gidr", "AvgGIDR %", 2, percent=True),
        Column("avg_gidr_published", "paper", 2, percent=True),
        Column("classes", "Classes"),
        Column("ane", "ANE", 4),
        Column("seconds", "Seconds", 2),
        Column("max_gidr_released", "MaxGIDR % released", 2, percent=True),
        Column("avg_gidr_released", "AvgGIDR % released", 2, percent=True),
        Column("classes_released", "Classes released"),
    )
    cells = tuple(
        (
            row.threshold,
            row.tree.max_gidr,
            round(row.printed.max_gidr / 100, 4),
            row.tree.avg_gidr,
            round(row.printed.avg_gidr / 100, 4),
            row.tree.classes,
            row.ane,
            round(row.seconds, 3),
            row.release.max_gidr,
            row.release.avg_gidr,
            row.release.classes,
        )
        for row in rows
    )
    return Grid(f"table_7_{part.name}", part.caption, columns, cells)
