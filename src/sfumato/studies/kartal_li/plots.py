"""The plots of the study; needs the extra ``report``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from sfumato.reports.plots.picture import AFTER, FAINT, FONT, INK, LIMIT, QUIET, values
from sfumato.studies.kartal_li.example import Example
from sfumato.studies.kartal_li.table_7 import Row

COMPUTED, PRINTED = "computed here", "printed in the paper"
CONSTRAINTS = {
    "k": "k-anonymity (k)",
    "pid_k": "PID-based K-anonymity (K)",
    "g_balance": "g-balance (1/(1 − g))",
}
OCHRE = "#b8860b"
COLOURS = [LIMIT, OCHRE, AFTER]
WIDTH, HEIGHT = 340, 260
YOUNG = 77
"""Names of persons below this mean age stand on the left of their dots."""


def table_7_plot(rows: Sequence[Row]) -> str:
    """MaxGIDR and AvgGIDR against the number of persons that a threshold stands for, as SVG.

    Parameters
    ----------
    rows
        The rows of Table 7.
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
    return _svg(alt.hconcat(*panels, spacing=28))


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


def example_plot(example: Example) -> str:
    """The groups of Table 6b over age and ZIP, women and men apart, as SVG.

    Parameters
    ----------
    example
        The worked example.
    """
    groups = example.groups()
    records = example.source.to_pylist()
    boxes: list[dict[str, Any]] = []
    persons: list[dict[str, Any]] = []
    for number, rows in enumerate(groups, start=1):
        mine = [records[row] for row in rows]
        ages, zips = [each["age"] for each in mine], [int(each["zip"]) for each in mine]
        about = {"group": f"group {number}", "gender": mine[0]["gender"]}
        boxes.append(
            about
            | {"low": min(ages) - 0.6, "high": max(ages) + 0.6}
            | {"bottom": min(zips) - 14, "top": max(zips) + 14}
        )
        for name in sorted({each["name"] for each in mine}):
            own = [each for each in mine if each["name"] == name]
            persons.append(
                about
                | {
                    "said": f"{name} ({len(own)})",
                    "age": float(np.mean([each["age"] for each in own])),
                    "zip": float(np.mean([int(each["zip"]) for each in own])),
                    "records": len(own),
                }
            )
    panels = [
        _persons_panel(
            [each for each in boxes if each["gender"] == gender],
            [each for each in persons if each["gender"] == gender],
            title,
        )
        for gender, title in (
            ("Female", "Women (number of records)"),
            ("Male", "Men (number of records)"),
        )
    ]
    return _svg(alt.hconcat(*panels, spacing=28))


def _persons_panel(
    boxes: list[dict[str, Any]], persons: list[dict[str, Any]], title: str
) -> alt.LayerChart:
    age = alt.Scale(domain=[62, 92], nice=False)
    zone = alt.Scale(domain=[20020, 20450], nice=False)
    colour = alt.Color("group:N").scale(
        domain=["group 1", "group 2", "group 3"], range=[LIMIT, AFTER, OCHRE]
    )
    areas = (
        alt.Chart(values(boxes))
        .mark_rect(fillOpacity=0.16)
        .encode(
            x=alt.X("low:Q", title="age", scale=age).axis(values=[65, 70, 75, 80, 85, 90]),
            x2="high:Q",
            y=alt.Y("bottom:Q", title="ZIP", scale=zone).axis(format="d"),
            y2="top:Q",
            color=colour,
        )
    )
    base = alt.Chart(values(persons)).encode(
        x=alt.X("age:Q", scale=age), y=alt.Y("zip:Q", scale=zone)
    )
    sizes = alt.Size("records:Q", legend=None).scale(domain=[1, 5], range=[40, 260])
    dots = base.mark_circle(opacity=1).encode(color=colour, size=sizes)
    names = base.encode(text="said:N")
    young = alt.datum.age < YOUNG
    before = names.mark_text(align="right", dx=-11, color=INK).transform_filter(young)
    behind = names.mark_text(align="left", dx=11, color=INK).transform_filter(~young)
    panel: alt.LayerChart = (areas + dots + before + behind).properties(
        width=WIDTH, height=HEIGHT, title=title
    )
    return panel


def _svg(chart: alt.HConcatChart) -> str:
    """Draw without a network, on white, so that the file stands by itself."""
    specification = chart.to_dict()
    specification["config"] = {
        "background": "white",
        "font": FONT,
        "padding": 12,
        "view": {"stroke": None},
        "title": {"anchor": "start", "color": INK, "fontSize": 13},
        "axis": {
            "labelColor": INK,
            "labelFontSize": 12,
            "titleColor": QUIET,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": FAINT,
            "gridWidth": 0.7,
            "domainColor": QUIET,
            "tickColor": QUIET,
        },
        "legend": {
            "orient": "bottom",
            "direction": "horizontal",
            "title": None,
            "labelFontSize": 12,
            "labelColor": INK,
            "labelLimit": 240,
            "symbolStrokeWidth": 2,
        },
    }
    drawn: str = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    return drawn
