"""Risk against loss: every threshold tried, and the least loss at each risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from sfumato.reports.plots.picture import values
from sfumato.studies.kartal_li.plots.style import COLOURS, CONSTRAINTS, HEIGHT, WIDTH
from sfumato.studies.kartal_li.tables import record_losses, value_losses
from sfumato.studies.kartal_li.tables.affiliation import BALANCES, PROMISES
from sfumato.studies.svg import svg

NARROW = 225
"""Width of one of three panels, in pixels."""
RISKS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1]
LOSSES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]


def record_frontier_plot(points: Sequence[record_losses.Point]) -> str:
    """ANE against MaxGIDR with k, K and g, as SVG.

    Parameters
    ----------
    points
        The thresholds tried.
    """
    rows = [
        _row(CONSTRAINTS[each.part], each.measured.max_gidr, each.measured.ane)
        for each in points
        if RISKS[0] <= each.measured.max_gidr < 1
    ]
    panel = _panel(
        rows,
        list(CONSTRAINTS.values()),
        "MaxGIDR",
        "Least loss at each MaxGIDR (below 100%)",
        _range(rows),
    )
    return svg(alt.hconcat(panel.properties(width=2 * WIDTH, height=HEIGHT)))


def value_frontier_plot(points: Sequence[value_losses.Point]) -> str:
    """ANE against MaxGSAR with l and h, one panel per g*, as SVG.

    Parameters
    ----------
    points
        The thresholds tried.
    """
    said = {promise.name: promise.said for promise in PROMISES}
    rows = {
        g: [
            _row(said[each.promise], each.measured.max_gsar, each.measured.ane)
            for each in points
            if each.g == g
        ]
        for g in BALANCES
    }
    losses = _range([row for each in rows.values() for row in each])
    panels = [
        _panel(each, list(said.values()), "MaxGSAR", f"g* = {g:.2f}", losses).properties(
            width=NARROW, height=HEIGHT
        )
        for g, each in rows.items()
    ]
    return svg(alt.hconcat(*panels, spacing=24))


def _row(series: str, risk: float, loss: float) -> dict[str, Any]:
    return {"series": series, "risk": risk, "loss": loss}


def _range(rows: Sequence[dict[str, Any]]) -> list[float]:
    """The least and the largest positive loss."""
    losses = [row["loss"] for row in rows if row["loss"] > 0] or [0.01, 1]
    return [0.9 * min(losses), 1.1 * max(losses)]


def least_at_each_risk(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
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


def _panel(
    rows: list[dict[str, Any]], series: list[str], risk: str, title: str, losses: list[float]
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
    colour = alt.Color("series:N", sort=series).scale(domain=series, range=COLOURS)
    tried = alt.Chart(values(rows)).mark_circle(size=18, opacity=0.4)
    best = alt.Chart(values(least_at_each_risk(rows))).mark_line(
        interpolate="step-after", strokeWidth=1.8
    )
    layers = best.encode(x, y, colour) + tried.encode(x, y, colour)
    panel: alt.LayerChart = layers.properties(title=title)
    return panel
