"""The plot of Tables 7-9."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from sfumato.reports.plots.picture import values
from sfumato.studies.kartal_li.plots.style import COLOURS, CONSTRAINTS, HEIGHT, WIDTH
from sfumato.studies.kartal_li.tables.record_risks import Row
from sfumato.studies.svg import svg

COMPUTED, PRINTED = "computed here", "printed in the paper"


def record_risk_plot(rows: Sequence[Row]) -> str:
    """MaxGIDR and AvgGIDR against the number of persons that a threshold stands for, as SVG.

    Parameters
    ----------
    rows
        The rows of Table 7, 8 or 9.
    """
    points = [
        {
            "constraint": CONSTRAINTS[row.part],
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
            ("MaxGIDR", PRINTED, row.printed.max_gidr / 100),
            ("AvgGIDR", PRINTED, row.printed.avg_gidr / 100),
        )
    ]
    panels = [
        _risk_panel([each for each in points if each["measure"] == measure], title)
        for measure, title in (
            ("MaxGIDR", "MaxGIDR: the worst class"),
            ("AvgGIDR", "AvgGIDR: mean over classes"),
        )
    ]
    return svg(alt.hconcat(*panels, spacing=28))


def _risk_panel(points: list[dict[str, Any]], title: str) -> alt.LayerChart:
    base = alt.Chart(values(points)).encode(
        x=alt.X("persons:Q", title="persons: k, K, 1/(1 − g)")
        .scale(type="log", domain=[1.8, 56])
        .axis(values=[2, 3, 5, 7, 10, 20, 50], format="d"),
        y=alt.Y("risk:Q", title=None)
        .scale(domain=[0, 1])
        .axis(format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
        color=alt.Color("constraint:N", sort=list(CONSTRAINTS.values())).scale(
            domain=list(CONSTRAINTS.values()), range=COLOURS
        ),
    )
    dash = alt.StrokeDash("from:N").scale(domain=[COMPUTED, PRINTED], range=[[1, 0], [5, 4]])
    lines = base.mark_line(strokeWidth=1.8).encode(strokeDash=dash)
    computed = alt.datum["from"] == COMPUTED
    filled = base.mark_point(size=46, filled=True, opacity=1).transform_filter(computed)
    hollow = base.mark_point(size=46, fill="white", opacity=1).transform_filter(~computed)
    panel: alt.LayerChart = (lines + hollow + filled).properties(
        width=WIDTH, height=HEIGHT, title=title
    )
    return panel
