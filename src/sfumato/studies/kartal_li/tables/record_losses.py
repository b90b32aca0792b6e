"""Tables 10-12 of Kartal and Li 2020: loss at equal individual-record disclosure risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sfumato.core.progress import Progress, silent
from sfumato.studies.kartal_li.encoded import Encoded
from sfumato.studies.kartal_li.measure import Measured, can_hold, cut, measure, shown
from sfumato.studies.kartal_li.published import record_losses as published
from sfumato.studies.kartal_li.tables.parts import PARTS, Part, close_in, counts
from sfumato.studies.study import Cell, Column, Grid, Section

PRINTED = MappingProxyType(
    {"patient": published.TABLE_10, "movie": published.TABLE_11, "bank": published.TABLE_12}
)
STEPS, HALVINGS = 60, 5
"""Thresholds tried per constraint, and how often the step at a target is halved."""


@dataclass(frozen=True)
class Point:
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
) -> tuple[Point, ...]:
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
    targets = PRINTED[encoded.data.key]
    points: list[Point] = []
    for done, part in enumerate(PARTS):

        def risk_at(persons: float, part: Part = part) -> float | None:
            threshold = part.of_persons(persons)
            constraints = [part.constraint(threshold)]
            if not can_hold(encoded.persons, constraints):
                return None
            partition, seconds = cut(encoded.persons, constraints, part.split)
            found = measure(encoded.table, partition, seconds=seconds)
            points.append(Point(part.name, threshold, found))
            return found.max_gidr

        kept = []
        whole = encoded.table.records if part.name == "k" else encoded.table.persons
        asked = counts(whole // 2, steps)
        for index, persons in enumerate(asked):
            progress(stage, (done + index / len(asked)) / len(PARTS))
            risk = risk_at(persons)
            kept += [] if risk is None else [(float(persons), risk)]
        for target in targets:
            close_in(kept, target / 100, risk_at, HALVINGS, whole=True)
    progress(stage, 1.0)
    return tuple(points)


def least_loss(points: Sequence[Point], part: str, target: float) -> Point | None:
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
    kept = [each for each in points if each.part == part and each.measured.max_gidr <= target]
    return min(kept, key=lambda each: each.measured.ane, default=None)


def record_loss_section(encoded: Encoded, points: Sequence[Point]) -> Section:
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
        (_grid(encoded, points),),
        (f"table_{number}",),
    )


def _grid(encoded: Encoded, points: Sequence[Point]) -> Grid:
    number = encoded.data.numbers.record_losses
    columns = [Column("target", "Target MaxGIDR %", 0, percent=True)]
    for part in PARTS:
        columns += [
            Column(part.name, part.symbol, part.digits),
            Column(f"{part.name}_max_gidr", "MaxGIDR %", 2, percent=True),
            Column(f"{part.name}_max_gidr_published", "paper", 2, percent=True),
            Column(f"{part.name}_ane", f"ANE {part.symbol}", 4),
            Column(f"{part.name}_ane_published", "paper", 3),
        ]
    rows = []
    for target, printed in PRINTED[encoded.data.key].items():
        cells: list[Cell] = [target / 100]
        for part in PARTS:
            best = least_loss(points, part.name, target / 100)
            loss = printed[part.name]
            risk, ane = shown(best.measured if best else None, "max_gidr", "ane")
            threshold = best.threshold if best else None
            cells += [threshold, risk, round(loss.max_gidr / 100, 4), ane, loss.ane]
        rows.append(tuple(cells))
    caption = (
        f"Table {number}. Loss given MaxGIDR with k-anonymity, PID-based K-anonymity and g-balance"
    )
    return Grid(f"table_{number}", caption, tuple(columns), tuple(rows))
