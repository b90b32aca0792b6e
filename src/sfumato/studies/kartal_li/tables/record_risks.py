"""Tables 7-9 of Kartal and Li 2020: k-anonymity, PID-based K-anonymity and g-balance compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sfumato.core.progress import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.release.partition import Partition
from sfumato.release.released import Form, release_column
from sfumato.risk.multi_record import gidr
from sfumato.risk.summary import summarize
from sfumato.studies.kartal_li.data.data_set import DataSet
from sfumato.studies.kartal_li.encoded import Encoded
from sfumato.studies.kartal_li.measure import Measured, can_hold, cut, measure, shown
from sfumato.studies.kartal_li.published import record_risks as published
from sfumato.studies.kartal_li.tables.parts import PARTS, Part
from sfumato.studies.study import Cell, Column, Grid, Section
from sfumato.table.table import MISSING, Table

PRINTED = MappingProxyType(
    {"patient": published.TABLE_7, "movie": published.TABLE_8, "bank": published.TABLE_9}
)


class Released(NamedTuple):
    """GIDR over the classes of the release; shares in [0, 1]."""

    max_gidr: float
    avg_gidr: float
    classes: int


@dataclass(frozen=True)
class Row:
    """One row of Tables 7-9.

    Attributes
    ----------
    part
        Name of the constraint.
    threshold
        k, K or g*.
    persons
        The number of persons that the threshold stands for.
    tree
        What was measured on the tree's classes, which are the paper's QI-groups; ``None`` where
        the whole file breaks the threshold.
    release
        Risks of the classes of the release, where tree classes with equal cells are one.
    printed
        The paper's numbers, in percent.
    """

    part: str
    threshold: float
    persons: float
    tree: Measured | None
    release: Released | None
    printed: published.Risks


def record_risk_rows(
    encoded: Encoded,
    chosen: Mapping[str, Sequence[float]] | None = None,
    progress: Progress = silent,
) -> tuple[Row, ...]:
    """Partition a data set under every threshold and measure the classes.

    Parameters
    ----------
    encoded
        The data set.
    chosen
        Thresholds by name of the constraint; all of the paper's without it.
    progress
        Told the share of the rows that is done.
    """
    return tuple(_rows(encoded, chosen, progress))


def _rows(
    encoded: Encoded, chosen: Mapping[str, Sequence[float]] | None, progress: Progress
) -> Iterator[Row]:
    printed, stage = PRINTED[encoded.data.key], f"Table {encoded.data.numbers.record_risks}"
    asked = [
        (part, threshold)
        for part in PARTS
        for threshold in printed[part.name]
        if chosen is None or threshold in chosen.get(part.name, ())
    ]
    for done, (part, threshold) in enumerate(asked):
        progress(stage, done / len(asked))
        constraints = [part.constraint(threshold)]
        tree = release = None
        if can_hold(encoded.persons, constraints):
            partition, seconds = cut(encoded.persons, constraints, part.split)
            tree = measure(encoded.table, partition, seconds=seconds)
            release = _released(encoded.table, partition)
        yield Row(
            part.name,
            threshold,
            part.persons(threshold),
            tree,
            release,
            printed[part.name][threshold],
        )
    progress(stage, 1.0)


def _released(table: Table, partition: Partition) -> Released:
    """Classes told apart by their released ranges."""
    class_of, classes = partition.class_of_person[table.person], partition.classes
    columns = [
        release_column(column, class_of, classes, Form.RANGE)[0]
        for column in table.quasi_identifiers
    ]
    merged, count = group(
        [column.text_of_class for column in columns], [len(column.texts) for column in columns]
    )
    risk = gidr(summarize(merged[class_of], count, table.person, {}))
    return Released(float(risk.max()), float(risk.mean()), count)


def record_risk_section(encoded: Encoded, rows: Sequence[Row]) -> Section:
    """Tables 7, 8 or 9 beside the paper's numbers.

    Parameters
    ----------
    encoded
        The data set.
    rows
        The rows of the table.
    """
    data, table = encoded.data, encoded.table
    number = data.numbers.record_risks
    return Section(
        f"Individual-record disclosure risk in the {data.key} data (Table {number})",
        (
            (
                f"{data.source}: {table.records:,} records of {table.persons:,} {data.persons}. "
                f"{data.selection}{_missing(encoded)} The paper had "
                f"{data.published.records:,} records of {data.published.persons:,} {data.persons}. "
                f"{data.remark}".rstrip()
            ),
            (
                "MaxGIDR and AvgGIDR are those of the tree's classes, the paper's QI-groups. "
                "Classes with the same released ranges cannot be told apart; the columns "
                "*released* count them as one. ANE follows the paper's formula (at most 1) "
                "against the class means; the scale of the ANE that the paper prints is not "
                "given. Seconds are those of the partitioning. Ties of persons are "
                "ordered by a hash of the id. A row is empty where the whole file breaks the "
                "threshold."
            ),
        ),
        tuple(_grid(data, part, [row for row in rows if row.part == part.name]) for part in PARTS),
        (f"table_{number}",),
    )


def _missing(encoded: Encoded) -> str:
    """How many persons miss a value of each quasi-identifier, as sentences."""
    said, table = "", encoded.table
    for column in table.quasi_identifiers:
        persons = np.unique(table.person[column.codes == MISSING]).size
        if persons:
            said += f" {persons:,} {encoded.data.persons} miss a value of '{column.name}'."
    return said


def _grid(data: DataSet, part: Part, rows: Sequence[Row]) -> Grid:
    number = data.numbers.record_risks
    columns = (
        Column("threshold", part.symbol, min(part.digits, 2)),
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
    cells = tuple(_cells(row) for row in rows)
    letter = "abc"[PARTS.index(part)]
    caption = f"Table {number}{letter}. Risk with {part.caption}"
    return Grid(f"table_{number}_{part.name}", caption, columns, cells)


def _cells(row: Row) -> tuple[Cell, ...]:
    max_gidr, avg_gidr, classes, ane = shown(row.tree, "max_gidr", "avg_gidr", "classes", "ane")
    return (
        row.threshold,
        max_gidr,
        round(row.printed.max_gidr / 100, 4),
        avg_gidr,
        round(row.printed.avg_gidr / 100, 4),
        classes,
        ane,
        None if row.tree is None else round(row.tree.seconds, 3),
        *(row.release or (None, None, None)),
    )
