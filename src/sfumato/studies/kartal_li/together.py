"""All tables and plots about one data set."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from sfumato.core.progress import Progress, silent
from sfumato.studies.kartal_li.data.data_set import DataSet
from sfumato.studies.kartal_li.encoded import encode
from sfumato.studies.kartal_li.tables import record_losses, record_risks, value_losses, value_risks
from sfumato.studies.kartal_li.tables.decomposition import (
    decomposition_rows,
    decomposition_section,
)
from sfumato.studies.study import Drawing, Section


class Tables(NamedTuple):
    """The sections about one data set, and their plots by name."""

    sections: tuple[Section, ...]
    drawings: dict[str, Drawing]


def tables_of(records: pa.Table, data: DataSet, *, progress: Progress = silent) -> Tables:
    """Compute all tables about one data set.

    Parameters
    ----------
    records
        Its joined records.
    data
        What is known of it.
    progress
        Told which table is at work and the share of it that is done.

    Raises
    ------
    InputError
        If a column does not hold what its role and kind need.
    """
    encoded = encode(records, data)
    risks = record_risks.record_risk_rows(encoded, progress=progress)
    losses = record_losses.record_frontier(encoded, progress=progress)
    shared = [
        (reading, value_risks.value_risk_rows(encoded, reading, progress))
        for reading in encoded.readings
    ]
    shared_losses = [
        (reading, value_losses.value_frontier(encoded, reading, progress=progress))
        for reading in encoded.readings
    ]
    last = encoded.readings[-1]
    sections = (
        record_risks.record_risk_section(encoded, risks),
        record_losses.record_loss_section(encoded, losses),
        value_risks.value_risk_section(encoded, shared),
        value_losses.value_loss_section(encoded, shared_losses),
        decomposition_section(encoded, last, decomposition_rows(encoded, last, progress)),
    )
    drawings = {
        f"table_{data.numbers.record_risks}": _risks_drawing(risks),
        f"table_{data.numbers.record_losses}": _record_drawing(losses),
    }
    for reading, points in shared_losses:
        name = value_losses.table_name(encoded, reading)
        drawings[name] = _value_drawing(points)
    return Tables(sections, drawings)


def _risks_drawing(rows: tuple[record_risks.Row, ...]) -> Drawing:
    def draw() -> str:
        from sfumato.studies.kartal_li.plots.record_risks import record_risk_plot

        return record_risk_plot(rows)

    return Drawing(
        "MaxGIDR and AvgGIDR by number of persons k, K, 1/(1 - g): computed and printed", draw
    )


def _record_drawing(points: tuple[record_losses.Point, ...]) -> Drawing:
    def draw() -> str:
        from sfumato.studies.kartal_li.plots.frontiers import record_frontier_plot

        return record_frontier_plot(points)

    return Drawing(
        "ANE against MaxGIDR with k, K and g: thresholds tried, and the least loss", draw
    )


def _value_drawing(points: tuple[value_losses.Point, ...]) -> Drawing:
    def draw() -> str:
        from sfumato.studies.kartal_li.plots.frontiers import value_frontier_plot

        return value_frontier_plot(points)

    return Drawing("ANE against MaxGSAR with l and h: thresholds tried, and the least loss", draw)
