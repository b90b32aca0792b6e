"""Tables 13-18 of Kartal and Li 2020: attribute risk with l and h, and loss at equal risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.core.declaration import Progress, silent
from sfumato.release.person_table import PersonTable
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.promises.promise import Constraint
from studies.kartal_li.published_numbers import VALUE_LOSSES, VALUE_RISKS, Risks
from studies.kartal_li.tree_measurement import (
    Encoded,
    LByFrequency,
    Measured,
    Reading,
    cells_of,
    counts,
    cut,
    geometric,
    measure,
    refine,
)
from studies.study_document import Cell, Drawing, Grid, Section, columns

BALANCES = (0.50, 0.67, 0.80)
"""The thresholds g* of Section 8."""


@dataclass(frozen=True)
class Promise:
    """A promise about the sensitive values of each class.

    Attributes
    ----------
    name
        ``l`` (by frequency, as Section 4 has it), ``distinct`` or ``h``.
    label
        What the legend calls it.
    """

    name: str
    label: str

    def constraint(self, threshold: float) -> Constraint:
        """The constraint of a threshold l or h*."""
        if self.name == "h":
            return HAffiliation(threshold)
        return LByFrequency(threshold) if self.name == "l" else LDiversity(int(threshold))

    def persons(self, reading: Reading) -> PersonTable:
        """The persons as the promise counts their values."""
        return reading.by_record if self.name == "l" else reading.by_person


L = Promise("l", "l-diversity by frequency")
DISTINCT = Promise("distinct", "distinct l-diversity")
H = Promise("h", "h-affiliation")
PROMISES = (L, DISTINCT, H)


def measure_promise(
    encoded: Encoded, reading: Reading, promise: Promise, g: float, threshold: float
) -> Measured | None:
    """Measure the tree's classes with g-balance and a promise; ``None`` where none can keep it.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    promise
        The promise about them.
    g
        The threshold g*.
    threshold
        The threshold l or h*.
    """
    found = cut(promise.persons(reading), [GBalance(g), promise.constraint(threshold)])
    return found and measure(encoded.table, found, reading)


def about(encoded: Encoded, reading: Reading) -> str:
    """How a reading counts the sensitive values, and which thresholds nothing can meet."""
    shared = (
        f"{reading.most_shared:.2%} of the {encoded.data.persons} have the most shared value, and "
        f"{reading.most_frequent:.2%} of the records the most frequent one, so that no "
        "partition meets a smaller h\\* (Lemma 1), nor a larger l by frequency than "
        f"{1 / reading.most_frequent:.1f}; such cells are empty."
    )
    if not reading.left_out:
        return f"Every value counts. {shared}"
    common = encoded.data.common or 0
    return (
        f"Values that more than {common:.2%} of the {encoded.data.persons} have "
        f"({reading.left_out} values) are taken as not sensitive. This is this study's reading, "
        "not the paper's: the paper's classes reach a MaxGSAR that low, which by Lemma 1 "
        f"excludes that a more common value counted. Of the others {shared}"
    )


THRESHOLDS = ((2, 0.50), (3, 0.33), (5, 0.20), (10, 0.10), (20, 0.05))
"""The pairs l and h of Section 8 (Equation 6)."""


@dataclass(frozen=True)
class ValueRow:
    """One row of Tables 13-15.

    Attributes
    ----------
    g
        The threshold g*.
    l
        The threshold l.
    h
        The threshold h*.
    by_frequency, distinct, affiliation
        What was measured with l-diversity by frequency, with distinct l-diversity and with
        h-affiliation; ``None`` where the whole file breaks the threshold.
    """

    g: float
    l: int  # noqa: E741
    h: float
    by_frequency: Measured | None
    distinct: Measured | None
    affiliation: Measured | None


def value_risk_rows(
    encoded: Encoded, reading: Reading, progress: Progress = silent
) -> tuple[ValueRow, ...]:
    """Partition a data set with g-balance and every threshold of l and h.

    Parameters
    ----------
    encoded
        The data set.
    reading
        How its sensitive values read.
    progress
        Told the share that is done.
    """
    stage = f"Table {encoded.data.numbers.value_risks}"
    asked = [(g, l, h) for g in BALANCES for l, h in THRESHOLDS]  # noqa: E741
    rows = []
    for done, (g, l, h) in enumerate(asked):  # noqa: E741

        def at(promise: Promise, threshold: float, g: float = g) -> Measured | None:
            return measure_promise(encoded, reading, promise, g, threshold)

        progress(stage, done / len(asked))
        rows.append(ValueRow(g, l, h, at(L, l), at(DISTINCT, l), at(H, h)))
    progress(stage, 1.0)
    return tuple(rows)


def value_risk_section(
    encoded: Encoded, tables: Sequence[tuple[Reading, Sequence[ValueRow]]]
) -> Section:
    """Table 13, 14 or 15 beside the paper's numbers.

    Parameters
    ----------
    encoded
        The data set.
    tables
        Each reading of the sensitive values, and its rows.
    """
    number = encoded.data.numbers.value_risks
    return Section(
        f"Sensitive-attribute disclosure risk in the {encoded.data.key} data (Table {number})",
        (
            (
                "Section 4 states l-diversity by frequency: the most frequent value has at most "
                "1/l of the records of a class. The columns *distinct* ask for l distinct values "
                "instead, the basic requirement of Section 2 and what `--l` does."
            ),
            *(about(encoded, reading) for reading, _rows in tables),
        ),
        tuple(_risk_grid(encoded, reading, rows) for reading, rows in tables),
    )


_RISK_COLUMNS = columns(
    "g=g* .2; l=l; "
    "l_max_gsar=MaxGSAR % .2%; l_max_gsar_published=paper .2%; "
    "l_avg_gsar=AvgGSAR % .2%; l_avg_gsar_published=paper .2%; "
    "distinct_max_gsar=MaxGSAR % distinct .2%; distinct_avg_gsar=AvgGSAR % distinct .2%; "
    "h=h* .2; h_max_gsar=MaxGSAR % .2%; h_max_gsar_published=paper .2%; "
    "h_avg_gsar=AvgGSAR % .2%; h_avg_gsar_published=paper .2%"
)


def _risk_grid(encoded: Encoded, reading: Reading, rows: Sequence[ValueRow]) -> Grid:
    number = encoded.data.numbers.value_risks
    printed = VALUE_RISKS[encoded.data.key]
    cells = tuple(
        (
            row.g,
            row.l,
            *_with_published(row.by_frequency, printed["l"][row.g, row.l]),
            *cells_of(row.distinct, "max_gsar", "avg_gsar"),
            row.h,
            *_with_published(row.affiliation, printed["h"][row.g, row.h]),
        )
        for row in rows
    )
    suffix = f"_{reading.key}" if reading.key else ""
    rest = ", values of few persons" if reading.key else ""
    caption = f"Table {number}. Risk with l-diversity and with h-affiliation{rest}"
    return Grid(f"table_{number}{suffix}", caption, _RISK_COLUMNS, cells)


def _with_published(found: Measured | None, printed: Risks) -> tuple[Cell, ...]:
    most, average = cells_of(found, "max_gsar", "avg_gsar")
    return most, round(printed.largest / 100, 4), average, round(printed.average / 100, 4)


TARGETS = (20, 15, 10)
"""Targets of MaxGSAR in percent (Section 8)."""
STEPS, HALVINGS = 14, 4
"""Thresholds tried per promise and g*, and how often the step at a target is halved."""
LOOSEST_H = 0.6


@dataclass(frozen=True)
class ValuePoint:
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
) -> tuple[ValuePoint, ...]:
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
    points: list[ValuePoint] = []
    for done, (g, promise) in enumerate(asked):
        progress(stage, done / len(asked))

        def risk_at(threshold: float, g: float = g, promise: Promise = promise) -> float | None:
            found = measure_promise(encoded, reading, promise, g, threshold)
            if found is None:
                return None
            points.append(ValuePoint(g, promise.name, threshold, found))
            return found.max_gsar

        risks = [(each, risk_at(each)) for each in _thresholds(encoded, reading, promise, steps)]
        kept = [(each, risk) for each, risk in risks if risk is not None]
        for target in targets(encoded, reading):
            refine(kept, target / 100, risk_at, HALVINGS, whole=promise is DISTINCT)
    progress(stage, 1.0)
    return tuple(points)


def _thresholds(encoded: Encoded, reading: Reading, promise: Promise, steps: int) -> list[float]:
    if promise is L:
        return geometric(2, 1 / reading.most_frequent, steps)
    if promise is DISTINCT:
        return [float(count) for count in counts(reading.values, steps)]
    asked = {target / 100 for target in targets(encoded, reading)}
    return sorted({*geometric(reading.most_shared, LOOSEST_H, steps), *asked}, reverse=True)


def least_loss(
    points: Sequence[ValuePoint], promise: str, g: float, target: float
) -> ValuePoint | None:
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
        point
        for point in points
        if point.promise == promise and point.g == g and point.measured.max_gsar <= target
    ]
    return min(kept, key=lambda each: each.measured.ane, default=None)


def value_loss_section(
    encoded: Encoded, tables: Sequence[tuple[Reading, Sequence[ValuePoint]]]
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
        tuple(_loss_grid(encoded, reading, points) for reading, points in tables),
        tuple(table_name(encoded, reading) for reading, _points in tables),
    )


def table_name(encoded: Encoded, reading: Reading) -> str:
    """The name of the table of a reading, and of its plot."""
    name = f"table_{encoded.data.numbers.value_losses}"
    return f"{name}_{reading.key}" if reading.key else name


_LOSS_COLUMNS = columns(
    "g=g* .2; target=Target MaxGSAR % .0%; "
    "l=l .1; l_max_gsar=MaxGSAR % .2%; l_max_gsar_published=paper .2%; "
    "l_ane=ANE l .4; l_ane_published=paper .3; "
    "distinct=l distinct .0; distinct_max_gsar=MaxGSAR % .2%; distinct_ane=ANE l distinct .4; "
    "h=h* .3; h_max_gsar=MaxGSAR % .2%; h_max_gsar_published=paper .2%; "
    "h_ane=ANE h* .4; h_ane_published=paper .3"
)


def _loss_grid(encoded: Encoded, reading: Reading, points: Sequence[ValuePoint]) -> Grid:
    number, key = encoded.data.numbers.value_losses, encoded.data.key
    rows = tuple(
        (g, target / 100, *_loss_cells(points, key, g, target))
        for g in BALANCES
        for target in targets(encoded, reading)
    )
    rest = ", values of few persons" if reading.key else ""
    caption = f"Table {number}. Loss given MaxGSAR with l-diversity and h-affiliation{rest}"
    return Grid(table_name(encoded, reading), caption, _LOSS_COLUMNS, rows)


def _loss_cells(points: Sequence[ValuePoint], key: str, g: float, target: int) -> list[Cell]:
    cells: list[Cell] = []
    for promise in PROMISES:
        best = least_loss(points, promise.name, g, target / 100)
        loss = VALUE_LOSSES[key].get(promise.name, {}).get((g, target))
        risk, ane = cells_of(best.measured if best else None, "max_gsar", "ane")
        cells += [best.threshold if best else None, risk]
        if promise is not DISTINCT:
            cells += [round(loss.largest / 100, 4) if loss else None, ane]
            cells += [loss.ane if loss else None]
        else:
            cells += [ane]
    return cells


def value_loss_drawing(points: Sequence[ValuePoint]) -> Drawing:
    """The frontier of Table 16, 17 or 18.

    Parameters
    ----------
    points
        Thresholds tried.
    """

    def draw() -> str:
        from studies.study_figures import frontier_figure

        labels = {promise.name: promise.label for promise in PROMISES}
        panels = {
            f"g* = {g:.2f}": [
                {
                    "series": labels[point.promise],
                    "risk": point.measured.max_gsar,
                    "loss": point.measured.ane,
                }
                for point in points
                if point.g == g
            ]
            for g in BALANCES
        }
        return frontier_figure(panels, list(labels.values()), "MaxGSAR")

    return Drawing("ANE against MaxGSAR with l and h: thresholds tried, and the least loss", draw)
