"""The figures of the studies as SVG, each from plain rows; they need the extra ``report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import vl_convert

from sfumato.reports.pictures import AFTER, FAINT, FONT, INK, LIMIT, QUIET, values

Rows = list[dict[str, Any]]
OCHRE = "#b8860b"
SERIES_COLOURS = [LIMIT, OCHRE, AFTER]
WIDTH, HEIGHT = 340, 260
YOUNG = 77
"""Names of persons below this mean age stand on the left of their dots."""
COMPUTED, PRINTED = "computed here", "printed in the paper"
THIRD = 225
"""Width of one of three panels, in pixels."""
RISKS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1]
LOSSES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
ERROR_HEIGHT = 280
ERROR_TICKS = (1, 3, 10, 30, 100, 300)
LEGEND_COLUMNS = 4
LINEAR = 1
"""Percent up to which the axis of errors is linear; beyond it is logarithmic."""
ERROR_COLOURS = [
    "#d55e00", "#e69f00", "#0072b2", "#56b4e9", "#009e73", "#7f7f7f", "#cc79a7", "#000000",
]  # fmt: skip
"""Okabe and Ito's colours, which people with any colour vision tell apart, and a grey."""
ERROR_SHAPES = [
    "triangle-down", "square", "circle", "circle", "diamond", "triangle-up", "cross", "circle",
]  # fmt: skip


def svg(chart: alt.HConcatChart | alt.VConcatChart) -> str:
    """Draw a chart without a network, on white, so that the file stands by itself.

    Parameters
    ----------
    chart
        The chart, with its data inside.
    """
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


def group_figure(boxes: Rows, persons: Rows) -> str:
    """Groups over age and ZIP, women and men apart, as SVG.

    Parameters
    ----------
    boxes
        Per group its name ``group``, ``gender``, ages ``low`` to ``high``, ZIPs ``bottom`` to
        ``top``.
    persons
        Per person ``group``, ``gender``, mean ``age`` and ``zip``, number of ``records`` and what
        is ``said``.
    """
    panels = [
        _group_panel(
            [box for box in boxes if box["gender"] == gender],
            [person for person in persons if person["gender"] == gender],
            f"{title} (number of records)",
        )
        for gender, title in (("Female", "Women"), ("Male", "Men"))
    ]
    return svg(alt.hconcat(*panels, spacing=28))


def _group_panel(boxes: Rows, persons: Rows, title: str) -> alt.LayerChart:
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


def risk_figure(points: Rows, constraints: list[str]) -> str:
    """MaxGIDR and AvgGIDR against the number of persons that a threshold stands for, as SVG.

    Parameters
    ----------
    points
        Per point ``constraint``, ``persons``, ``measure``, ``from`` (`COMPUTED` or `PRINTED`)
        and ``risk``.
    constraints
        What the legend calls the constraints.
    """
    panels = [
        _risk_panel([point for point in points if point["measure"] == measure], constraints, title)
        for measure, title in (
            ("MaxGIDR", "MaxGIDR: the worst class"),
            ("AvgGIDR", "AvgGIDR: mean over classes"),
        )
    ]
    return svg(alt.hconcat(*panels, spacing=28))


def _risk_panel(points: Rows, constraints: list[str], title: str) -> alt.LayerChart:
    base = alt.Chart(values(points)).encode(
        x=alt.X("persons:Q", title="persons: k, K, 1/(1 − g)")
        .scale(type="log", domain=[1.8, 56])
        .axis(values=[2, 3, 5, 7, 10, 20, 50], format="d"),
        y=alt.Y("risk:Q", title=None)
        .scale(domain=[0, 1])
        .axis(format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
        color=alt.Color("constraint:N", sort=constraints).scale(
            domain=constraints, range=SERIES_COLOURS
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


def frontier_figure(panels: Mapping[str, Rows], series: list[str], risk: str) -> str:
    """ANE against a risk: every threshold tried and the least loss at each risk, as SVG.

    Parameters
    ----------
    panels
        Per title of a panel its points: ``series``, ``risk`` and ``loss``.
    series
        What the legend calls the series.
    risk
        Name of the risk.
    """
    losses = [row["loss"] for rows in panels.values() for row in rows if row["loss"] > 0]
    losses = losses or [0.01, 1]
    domain = [0.9 * min(losses), 1.1 * max(losses)]
    width = THIRD if len(panels) > 1 else 2 * WIDTH
    drawn = [
        _frontier_panel(rows, series, risk, title, domain).properties(width=width, height=HEIGHT)
        for title, rows in panels.items()
    ]
    return svg(alt.hconcat(*drawn, spacing=24))


def least_at_each_risk(rows: Sequence[dict[str, Any]]) -> Rows:
    """The rows of each series that no other of it beats in both risk and loss.

    Parameters
    ----------
    rows
        Mappings with ``series``, ``risk`` and ``loss``.
    """
    kept = []
    least: dict[str, float] = {}
    for row in sorted(rows, key=lambda row: (row["risk"], row["loss"])):
        if row["loss"] < least.get(row["series"], float("inf")):
            least[row["series"]] = row["loss"]
            kept.append(row)
    return kept


def _frontier_panel(
    rows: Rows, series: list[str], risk: str, title: str, losses: list[float]
) -> alt.LayerChart:
    rows = [row for row in rows if row["loss"] > 0]
    lowest = min((row["risk"] for row in rows), default=RISKS[0])
    scale = alt.Scale(type="log", domain=[min(lowest, 0.5), 1], nice=False)
    x = alt.X("risk:Q", title=risk, scale=scale).axis(
        values=[each for each in RISKS if each >= lowest], format=".1~%"
    )
    y = (
        alt.Y("loss:Q", title="ANE")
        .scale(type="log", domain=losses, nice=False)
        .axis(values=LOSSES, format="~g")
    )
    colour = alt.Color("series:N", sort=series).scale(domain=series, range=SERIES_COLOURS)
    tried = alt.Chart(values(rows)).mark_circle(size=18, opacity=0.4)
    best = alt.Chart(values(least_at_each_risk(rows))).mark_line(
        interpolate="step-after", strokeWidth=1.8
    )
    layers = best.encode(x, y, colour) + tried.encode(x, y, colour)
    panel: alt.LayerChart = layers.properties(title=title)
    return panel


def error_figure(
    populations: Mapping[str, Rows],
    estimators: Sequence[str],
    dashes: Mapping[tuple[int, int], Sequence[str]],
) -> str:
    """Mean relative error in % over the sampling fraction, a panel per population, as SVG.

    Parameters
    ----------
    populations
        Per population its points: ``estimator``, ``fraction`` and ``error``.
    estimators
        What the legend calls the estimators.
    dashes
        Estimators by the dashes of their lines.
    """
    errors = [row["error"] for rows in populations.values() for row in rows]
    domain = [1.15 * min(errors, default=-1.0), 1.15 * max(errors, default=1.0)]
    panels = [
        _error_panel(rows, list(estimators), dashes, title, domain)
        for title, rows in populations.items()
    ]
    lines = [alt.hconcat(*pair, spacing=28) for pair in (panels[:2], panels[2:]) if pair]
    return svg(alt.vconcat(*lines, spacing=20))


def _error_panel(
    rows: Rows,
    estimators: list[str],
    dashes: Mapping[tuple[int, int], Sequence[str]],
    title: str,
    domain: list[float],
) -> alt.LayerChart:
    ticks = [sign * tick for sign in (-1, 1) for tick in ERROR_TICKS if domain[0] <= sign * tick]
    shown = sorted({0, *(tick for tick in ticks if tick <= domain[1])})
    base = alt.Chart(values(rows)).encode(
        x=alt.X("fraction:Q", title="sampling fraction")
        .scale(domain=[0.05, 0.95], nice=False)
        .axis(values=[0.1, 0.3, 0.5, 0.7, 0.9], format=".1f", grid=False),
        y=alt.Y("error:Q", title="mean relative error, % (logarithmic beyond ±1)")
        .scale(type="symlog", constant=LINEAR, domain=domain, nice=False)
        .axis(
            values=shown,
            tickCount=len(shown),
            labelExpr="datum.value ? format(datum.value, '+d') : '0'",
        ),
        color=alt.Color("estimator:N", sort=estimators)
        .scale(domain=estimators, range=ERROR_COLOURS)
        .legend(columns=LEGEND_COLUMNS),
    )
    zero = alt.Chart(values([{"error": 0}])).mark_rule(color=INK, strokeWidth=1.2)
    lines = [
        base.transform_filter(alt.FieldOneOfPredicate("estimator", list(series))).mark_line(
            strokeWidth=1.8, strokeDash=list(dash)
        )
        for dash, series in dashes.items()
    ]
    points = base.mark_point(size=44, filled=True, opacity=1).encode(
        shape=alt.Shape("estimator:N", sort=estimators)
        .scale(domain=estimators, range=ERROR_SHAPES)
        .legend(columns=LEGEND_COLUMNS)
    )
    layers = [zero.encode(y="error:Q"), *lines, points]
    return alt.LayerChart(layer=layers, width=WIDTH, height=ERROR_HEIGHT, title=title)
