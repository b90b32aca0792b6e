"""Tables 7-12 of Kartal and Li 2020: record risk with k, K and g, and loss at equal risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sfumato.core.declaration import Progress, silent
from sfumato.engines.embedded.counts import group
from sfumato.release.generalisation import release_column
from sfumato.release.release_options import Form
from sfumato.release.tree import Partition
from sfumato.risk.class_measures import gidr
from sfumato.risk.classes import summarize
from sfumato.table.table import MISSING, Table
from studies.kartal_li.data_sets import DataSet
from studies.kartal_li.published_numbers import RECORD_LOSSES, RECORD_RISKS, Risks
from studies.kartal_li.tree_measurement import (
    PARTS,
    Encoded,
    Measured,
    Part,
    cells_of,
    counts,
    cut,
    measure,
    refine,
)
from studies.study_document import Cell, Drawing, Grid, Section, columns

CONSTRAINT_LABELS = MappingProxyType(
    {
        "k": "k-anonymity (k)",
        "pid_k": "PID-based K-anonymity (K)",
        "g_balance": "g-balance (1/(1 − g))",
    }
)
"""What the legends of the figures call the constraints."""


class Released(NamedTuple):
    """GIDR over the classes of the release; shares in [0, 1]."""

    max_gidr: float
    avg_gidr: float
    classes: int


@dataclass(frozen=True)
class RiskRow:
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
    printed: Risks


def record_risk_rows(
    encoded: Encoded,
    chosen: Mapping[str, Sequence[float]] | None = None,
    progress: Progress = silent,
) -> tuple[RiskRow, ...]:
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
    printed, stage = RECORD_RISKS[encoded.data.key], f"Table {encoded.data.numbers.record_risks}"
    asked = [
        (part, threshold)
        for part in PARTS
        for threshold in printed[part.name]
        if chosen is None or threshold in chosen.get(part.name, ())
    ]
    rows = []
    for done, (part, threshold) in enumerate(asked):
        progress(stage, done / len(asked))
        found = cut(encoded.persons, [part.constraint(threshold)], part.split)
        rows.append(
            RiskRow(
                part.name,
                threshold,
                part.persons(threshold),
                found and measure(encoded.table, found),
                found and _released(encoded.table, found.partition),
                printed[part.name][threshold],
            )
        )
    progress(stage, 1.0)
    return tuple(rows)


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


def record_risk_section(encoded: Encoded, rows: Sequence[RiskRow]) -> Section:
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
        tuple(
            _risk_grid(data, part, [row for row in rows if row.part == part.name]) for part in PARTS
        ),
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


_RISK_COLUMNS = (
    "max_gidr=MaxGIDR % .2%; max_gidr_published=paper .2%; avg_gidr=AvgGIDR % .2%; "
    "avg_gidr_published=paper .2%; classes=Classes; ane=ANE .4; seconds=Seconds .2; "
    "max_gidr_released=MaxGIDR % released .2%; avg_gidr_released=AvgGIDR % released .2%; "
    "classes_released=Classes released"
)


def _risk_grid(data: DataSet, part: Part, rows: Sequence[RiskRow]) -> Grid:
    number = data.numbers.record_risks
    cells = tuple(_risk_cells(row) for row in rows)
    letter = "abc"[PARTS.index(part)]
    caption = f"Table {number}{letter}. Risk with {part.caption}"
    listing = f"threshold={part.symbol} .{min(part.digits, 2)}; {_RISK_COLUMNS}"
    return Grid(f"table_{number}_{part.name}", caption, columns(listing), cells)


def _risk_cells(row: RiskRow) -> tuple[Cell, ...]:
    max_gidr, avg_gidr, classes, ane = cells_of(row.tree, "max_gidr", "avg_gidr", "classes", "ane")
    return (
        row.threshold,
        max_gidr,
        round(row.printed.largest / 100, 4),
        avg_gidr,
        round(row.printed.average / 100, 4),
        classes,
        ane,
        None if row.tree is None else round(row.tree.seconds, 3),
        *(row.release or (None, None, None)),
    )


STEPS, HALVINGS = 60, 5
"""Thresholds tried per constraint, and how often the step at a target is halved."""


@dataclass(frozen=True)
class RecordPoint:
    """One threshold tried.

    Attributes
    ----------
    part
        Name of the constraint.
    threshold
        k, K or g*.
    measured
        What its partition gives away and loses.
    """

    part: str
    threshold: float
    measured: Measured


def record_frontier(
    encoded: Encoded, steps: int = STEPS, progress: Progress = silent
) -> tuple[RecordPoint, ...]:
    """Partition a data set under many thresholds of k, K and g.

    Parameters
    ----------
    encoded
        The data set.
    steps
        Thresholds tried per constraint, geometrically from 2 records or persons to half of all.
    progress
        Told the share that is done.
    """
    stage = f"Table {encoded.data.numbers.record_losses}"
    targets = RECORD_LOSSES[encoded.data.key]
    points: list[RecordPoint] = []
    for done, part in enumerate(PARTS):

        def risk_at(persons: float, part: Part = part) -> float | None:
            threshold = part.of_persons(persons)
            found = cut(encoded.persons, [part.constraint(threshold)], part.split)
            if found is None:
                return None
            points.append(RecordPoint(part.name, threshold, measure(encoded.table, found)))
            return points[-1].measured.max_gidr

        kept = []
        whole = encoded.table.records if part.name == "k" else encoded.table.persons
        asked = counts(whole // 2, steps)
        for index, persons in enumerate(asked):
            progress(stage, (done + index / len(asked)) / len(PARTS))
            risk = risk_at(persons)
            kept += [] if risk is None else [(float(persons), risk)]
        for target in targets:
            refine(kept, target / 100, risk_at, HALVINGS, whole=True)
    progress(stage, 1.0)
    return tuple(points)


def least_loss(points: Sequence[RecordPoint], part: str, target: float) -> RecordPoint | None:
    """The threshold with the least ANE among those with MaxGIDR at or below a target.

    Parameters
    ----------
    points
        Thresholds tried.
    part
        Name of the constraint.
    target
        Largest MaxGIDR allowed, in [0, 1].
    """
    kept = [point for point in points if point.part == part and point.measured.max_gidr <= target]
    return min(kept, key=lambda each: each.measured.ane, default=None)


def record_loss_section(encoded: Encoded, points: Sequence[RecordPoint]) -> Section:
    """Table 10, 11 or 12 beside the paper's numbers, and the frontier.

    Parameters
    ----------
    encoded
        The data set.
    points
        Thresholds tried.
    """
    number = encoded.data.numbers.record_losses
    return Section(
        f"Loss at equal individual-record risk in the {encoded.data.key} data (Table {number})",
        (
            (
                "Per target the threshold with the least ANE among those tried whose MaxGIDR is at "
                "or below the target; the paper adjusted thresholds by hand until MaxGIDR was "
                "comparable, at times above the target. "
                f"{STEPS} thresholds per constraint, geometric from 2 to half of the records (k) "
                "or persons (K, 1/(1 − g)), and more around each target by halving the step "
                f"{HALVINGS} times. The scale of the printed ANE is not given: compare "
                "orders, not values."
            ),
        ),
        (_loss_grid(encoded, points),),
        (f"table_{number}",),
    )


def _loss_grid(encoded: Encoded, points: Sequence[RecordPoint]) -> Grid:
    number = encoded.data.numbers.record_losses
    listing = "target=Target MaxGIDR % .0%" + "".join(
        f"; {part.name}={part.symbol} .{part.digits}; {part.name}_max_gidr=MaxGIDR % .2%; "
        f"{part.name}_max_gidr_published=paper .2%; {part.name}_ane=ANE {part.symbol} .4; "
        f"{part.name}_ane_published=paper .3"
        for part in PARTS
    )
    rows = []
    for target, printed in RECORD_LOSSES[encoded.data.key].items():
        cells: list[Cell] = [target / 100]
        for part in PARTS:
            best = least_loss(points, part.name, target / 100)
            loss = printed[part.name]
            risk, ane = cells_of(best.measured if best else None, "max_gidr", "ane")
            threshold = best.threshold if best else None
            cells += [threshold, risk, round(loss.largest / 100, 4), ane, loss.ane]
        rows.append(tuple(cells))
    caption = (
        f"Table {number}. Loss given MaxGIDR with k-anonymity, PID-based K-anonymity and g-balance"
    )
    return Grid(f"table_{number}", caption, columns(listing), tuple(rows))


def record_risk_drawing(rows: Sequence[RiskRow]) -> Drawing:
    """The plot of Table 7, 8 or 9.

    Parameters
    ----------
    rows
        The rows of the table.
    """

    def draw() -> str:
        from studies.study_figures import COMPUTED, PRINTED, risk_figure

        points = [
            {
                "constraint": CONSTRAINT_LABELS[row.part],
                "persons": row.persons,
                "measure": measure,
                "from": source,
                "risk": risk,
            }
            for row in rows
            if row.tree is not None
            for measure, source, risk in (
                ("MaxGIDR", COMPUTED, row.tree.max_gidr),
                ("AvgGIDR", COMPUTED, row.tree.avg_gidr),
                ("MaxGIDR", PRINTED, row.printed.largest / 100),
                ("AvgGIDR", PRINTED, row.printed.average / 100),
            )
        ]
        return risk_figure(points, list(CONSTRAINT_LABELS.values()))

    return Drawing(
        "MaxGIDR and AvgGIDR by number of persons k, K, 1/(1 - g): computed and printed", draw
    )


def record_loss_drawing(points: Sequence[RecordPoint]) -> Drawing:
    """The frontier of Table 10, 11 or 12.

    Parameters
    ----------
    points
        Thresholds tried.
    """

    def draw() -> str:
        from studies.study_figures import RISKS, frontier_figure

        rows = [
            {"series": CONSTRAINT_LABELS[point.part], "risk": found.max_gidr, "loss": found.ane}
            for point in points
            if RISKS[0] <= (found := point.measured).max_gidr < 1
        ]
        panels = {"Least loss at each MaxGIDR (below 100%)": rows}
        return frontier_figure(panels, list(CONSTRAINT_LABELS.values()), "MaxGIDR")

    return Drawing(
        "ANE against MaxGIDR with k, K and g: thresholds tried, and the least loss", draw
    )
