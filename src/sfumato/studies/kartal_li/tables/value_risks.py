"""Tables 13-15 of Kartal and Li 2020: sensitive-attribute disclosure risk with l and with h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sfumato.core.progress import Progress, silent
from sfumato.studies.kartal_li.encoded import Encoded, Reading
from sfumato.studies.kartal_li.measure import Measured, shown
from sfumato.studies.kartal_li.published import value_risks as published
from sfumato.studies.kartal_li.tables.affiliation import (
    BALANCES,
    DISTINCT,
    H,
    L,
    Promise,
    about,
    measured,
)
from sfumato.studies.study import Cell, Column, Grid, Section

PRINTED = MappingProxyType(
    {"patient": published.TABLE_13, "movie": published.TABLE_14, "bank": published.TABLE_15}
)
THRESHOLDS = ((2, 0.50), (3, 0.33), (5, 0.20), (10, 0.10), (20, 0.05))
"""The pairs l and h of Section 8 (Equation 6)."""


@dataclass(frozen=True)
class Row:
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
) -> tuple[Row, ...]:
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
            return measured(encoded, reading, promise, g, threshold)

        progress(stage, done / len(asked))
        rows.append(Row(g, l, h, at(L, l), at(DISTINCT, l), at(H, h)))
    progress(stage, 1.0)
    return tuple(rows)


def value_risk_section(
    encoded: Encoded, tables: Sequence[tuple[Reading, Sequence[Row]]]
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
        tuple(_grid(encoded, reading, rows) for reading, rows in tables),
    )


def _grid(encoded: Encoded, reading: Reading, rows: Sequence[Row]) -> Grid:
    number = encoded.data.numbers.value_risks
    printed = PRINTED[encoded.data.key]
    columns = [Column("g", "g*", 2), Column("l", "l"), *_pair("l"), *_pair("distinct", False)]
    columns += [Column("h", "h*", 2), *_pair("h")]
    cells = tuple(
        (
            row.g,
            row.l,
            *_beside(row.by_frequency, printed["l"][row.g, row.l]),
            *shown(row.distinct, "max_gsar", "avg_gsar"),
            row.h,
            *_beside(row.affiliation, printed["h"][row.g, row.h]),
        )
        for row in rows
    )
    suffix = f"_{reading.key}" if reading.key else ""
    rest = ", values of few persons" if reading.key else ""
    caption = f"Table {number}. Risk with l-diversity and with h-affiliation{rest}"
    return Grid(f"table_{number}{suffix}", caption, tuple(columns), cells)


def _pair(key: str, printed: bool = True) -> list[Column]:
    columns = []
    for measure, label in (("max_gsar", "MaxGSAR %"), ("avg_gsar", "AvgGSAR %")):
        name = f"{label} distinct" if key == "distinct" else label
        columns.append(Column(f"{key}_{measure}", name, 2, percent=True))
        if printed:
            columns.append(Column(f"{key}_{measure}_published", "paper", 2, percent=True))
    return columns


def _beside(found: Measured | None, printed: published.Risks) -> tuple[Cell, ...]:
    most, average = shown(found, "max_gsar", "avg_gsar")
    return most, round(printed.max_gsar / 100, 4), average, round(printed.avg_gsar / 100, 4)
