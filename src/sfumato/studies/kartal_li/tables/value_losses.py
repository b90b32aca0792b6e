"""Tables 16-18 of Kartal and Li 2020: loss at equal sensitive-attribute disclosure risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sfumato.core.progress import Progress, silent
from sfumato.studies.kartal_li.encoded import Encoded, Reading
from sfumato.studies.kartal_li.measure import Measured, shown
from sfumato.studies.kartal_li.published import value_losses as published
from sfumato.studies.kartal_li.tables.affiliation import (
    BALANCES,
    DISTINCT,
    PROMISES,
    H,
    L,
    Promise,
    measured,
)
from sfumato.studies.kartal_li.tables.parts import close_in, counts, geometric
from sfumato.studies.study import Cell, Column, Grid, Section

PRINTED = MappingProxyType(
    {"patient": published.TABLE_16, "movie": published.TABLE_17, "bank": published.TABLE_18}
)
TARGETS = (20, 15, 10)
"""Targets of MaxGSAR in percent (Section 8)."""
STEPS, HALVINGS = 14, 4
"""Thresholds tried per promise and g*, and how often the step at a target is halved."""
LOOSEST_H = 0.6


@dataclass(frozen=True)
class Point:
    """One threshold tried.

    Attributes
    ----------
    g
        The threshold g*.
    promise
        Name of the promise about the sensitive values.
    threshold
        l or h*.
    measured
        What its partition gives away and loses.
    """

    g: float
    promise: str
    threshold: float
    measured: Measured


def targets(encoded: Encoded, reading: Reading) -> tuple[int, ...]:
    """The targets of MaxGSAR at which a reading is compared, in percent."""
    return (*(() if reading.key else encoded.data.targets), *TARGETS)


def value_frontier(
    encoded: Encoded, reading: Reading, steps: int = STEPS, progress: Progress = silent
) -> tuple[Point, ...]:
    """Partition a data set with g-balance and many thresholds of l and h.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    steps
        Thresholds tried per promise and g*, geometrically from the loosest to the strictest
        that the whole file keeps.
    progress
        Told the share that is done.
    """
    stage = f"Table {encoded.data.numbers.value_losses}"
    asked = [(g, promise) for g in BALANCES for promise in PROMISES]
    points: list[Point] = []
    for done, (g, promise) in enumerate(asked):
        progress(stage, done / len(asked))

        def risk_at(threshold: float, g: float = g, promise: Promise = promise) -> float | None:
            found = measured(encoded, reading, promise, g, threshold)
            if found is None:
                return None
            points.append(Point(g, promise.name, threshold, found))
            return found.max_gsar

        risks = [(each, risk_at(each)) for each in _thresholds(encoded, reading, promise, steps)]
        kept = [(each, risk) for each, risk in risks if risk is not None]
        for target in targets(encoded, reading):
            close_in(kept, target / 100, risk_at, HALVINGS, whole=promise is DISTINCT)
    progress(stage, 1.0)
    return tuple(points)


def _thresholds(encoded: Encoded, reading: Reading, promise: Promise, steps: int) -> list[float]:
    if promise is L:
        return geometric(2, 1 / reading.most_frequent, steps)
    if promise is DISTINCT:
        return [float(each) for each in counts(reading.values, steps)]
    asked = {target / 100 for target in targets(encoded, reading)}
    return sorted({*geometric(reading.most_shared, LOOSEST_H, steps), *asked}, reverse=True)


def least_loss(points: Sequence[Point], promise: str, g: float, target: float) -> Point | None:
    """The threshold with the least ANE among those with MaxGSAR at or below a target.

    Parameters
    ----------
    points
        Thresholds tried.
    promise
        Name of the promise about the sensitive values.
    g
        The threshold g*.
    target
        Largest MaxGSAR allowed, in [0, 1].
    """
    kept = [
        each
        for each in points
        if each.promise == promise and each.g == g and each.measured.max_gsar <= target
    ]
    return min(kept, key=lambda each: each.measured.ane, default=None)


def value_loss_section(
    encoded: Encoded, tables: Sequence[tuple[Reading, Sequence[Point]]]
) -> Section:
    """Table 16, 17 or 18 beside the paper's numbers, and the frontiers.

    Parameters
    ----------
    encoded
        The data set.
    tables
        Each reading of the sensitive values, and the thresholds tried.
    """
    number = encoded.data.numbers.value_losses
    return Section(
        f"Loss at equal sensitive-attribute risk in the {encoded.data.key} data (Table {number})",
        (
            (
                "Per g\\* and target the threshold with the least ANE among those tried whose "
                f"MaxGSAR is at or below the target: {STEPS} per promise, geometric from the "
                "loosest to the strictest that the file can meet, more around each target by "
                f"halving the step {HALVINGS} times, and the targets themselves as h\\*. A cell is "
                "empty where none reaches the target, and where the paper has no number. The "
                "scale of the printed ANE is not given: compare orders, not values."
            ),
        ),
        tuple(_grid(encoded, reading, points) for reading, points in tables),
        tuple(table_name(encoded, reading) for reading, _points in tables),
    )


def table_name(encoded: Encoded, reading: Reading) -> str:
    """The name of the table of a reading, and of its plot."""
    name = f"table_{encoded.data.numbers.value_losses}"
    return f"{name}_{reading.key}" if reading.key else name


def _grid(encoded: Encoded, reading: Reading, points: Sequence[Point]) -> Grid:
    number, key = encoded.data.numbers.value_losses, encoded.data.key
    columns = [Column("g", "g*", 2), Column("target", "Target MaxGSAR %", 0, percent=True)]
    for promise, label, digits in ((L, "l", 1), (DISTINCT, "l distinct", 0), (H, "h*", 3)):
        printed = promise is not DISTINCT
        name = promise.name
        columns += [Column(name, label, digits)]
        columns += [Column(f"{name}_max_gsar", "MaxGSAR %", 2, percent=True)]
        columns += [Column(f"{name}_max_gsar_published", "paper", 2, percent=True)] * printed
        columns += [Column(f"{name}_ane", f"ANE {label}", 4)]
        columns += [Column(f"{name}_ane_published", "paper", 3)] * printed
    rows = tuple(
        (g, target / 100, *_cells(points, key, g, target))
        for g in BALANCES
        for target in targets(encoded, reading)
    )
    rest = ", values of few persons" if reading.key else ""
    caption = f"Table {number}. Loss given MaxGSAR with l-diversity and h-affiliation{rest}"
    return Grid(table_name(encoded, reading), caption, tuple(columns), rows)


def _cells(points: Sequence[Point], key: str, g: float, target: int) -> list[Cell]:
    cells: list[Cell] = []
    for promise in PROMISES:
        best = least_loss(points, promise.name, g, target / 100)
        loss = PRINTED[key].get(promise.name, {}).get((g, target))
        risk, ane = shown(best.measured if best else None, "max_gsar", "ane")
        cells += [best.threshold if best else None, risk]
        if promise is not DISTINCT:
            cells += [round(loss.max_gsar / 100, 4) if loss else None, ane]
            cells += [loss.ane if loss else None]
        else:
            cells += [ane]
    return cells
