"""Pictures of a project's report, drawn from its plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from sfumato.reports.plots.picture import (
    AFTER,
    BEFORE,
    FAINT,
    INK,
    LIMIT,
    PERCENT,
    QUIET,
    Figure,
    picture,
    values,
)

WIDE, ROW = 560, 30
_LABEL = 280
_PADDING = {"left": 18, "right": 8, "top": 2, "bottom": 2}
"""Room for printers whose letters are a little wider than the browser's."""


def risk_figure(content: Mapping[str, Any]) -> Figure | None:
    """Initial and residual risk of every measure that is a share; nothing where a file has none.

    Parameters
    ----------
    content
        The internal report as plain values.
    """
    lines = [
        (line["name"], line)
        for group in content["risk"]
        for line in group["lines"]
        if line["scale"] == "share"
    ]
    lines += [
        (f"{line['name']}: {group['attribute']}", line)
        for group in content["sensitive"]
        for line in group["lines"]
        if line["scale"] == "share"
    ]
    rows = [
        {"measure": name, "before": line["before"], "after": line["after"]}
        for name, line in lines
        if _both(line)
    ]
    if not rows:
        return None
    base = _rows(rows, "measure")
    axis = alt.Axis(format=PERCENT, gridColor=FAINT, title=None)
    x = alt.X("before:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    layers = [
        base.mark_rule(color=QUIET, strokeWidth=1).encode(x=x, x2="after:Q"),
        base.mark_point(filled=True, size=75, color=BEFORE, opacity=1).encode(x="before:Q"),
        base.mark_point(filled=True, size=75, color=AFTER, opacity=1).encode(x="after:Q"),
    ]
    said = "; ".join(f"{r['measure']}: {r['before']:.1%} before, {r['after']:.1%}" for r in rows)
    return Figure(
        picture(_layered(layers, len(rows)), "before-after", f"Points: {said}."),
        "Initial and residual risk",
        "Light: the data before. Dark: the release.",
        wide=True,
    )


def loss_figure(columns: Sequence[Mapping[str, Any]]) -> Figure | None:
    """How much of each quasi-identifier's detail a cell has lost; nothing where that is not known.

    Parameters
    ----------
    columns
        Names of the columns, and their loss as it is told.
    """
    rows = [
        {"column": each["name"], "lost": _plain(each["ncp"])}
        for each in columns
        if _plain(each["ncp"]) is not None
    ]
    if not rows:
        return None
    axis = alt.Axis(format=PERCENT, gridColor=FAINT, title=None)
    bars = _rows(rows, "column").mark_bar(color=AFTER, height=14)
    chart = bars.encode(x=alt.X("lost:Q", scale=alt.Scale(domain=[0, 1]), axis=axis))
    said = "; ".join(f"{row['column']}: {row['lost']:.0%}" for row in rows)
    return Figure(
        picture(_layered([chart], len(rows)), "loss", f"Bars: {said}."),
        "What each quasi-identifier lost",
        "Share of the column’s values that a released cell may stand for, on average (NCP).",
        wide=True,
    )


def attack_figure(outcomes: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Realised success of each attack with its interval, beside what was predicted.

    Parameters
    ----------
    outcomes
        The attacks of the internal report.
    """
    rows = [_attack_row(each) for each in outcomes if each["success"] is not None]
    if not rows:
        return None
    base = _rows(rows, "attack")
    axis = alt.Axis(format=PERCENT, gridColor=FAINT, title="share of guesses that are right")
    x = alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), axis=axis)
    layers = [
        base.mark_tick(thickness=3, size=18, color=QUIET).encode(x="predicted:Q"),
        base.mark_tick(thickness=1.5, size=18, color=LIMIT).encode(x="allowed:Q"),
        base.mark_point(shape="triangle-up", filled=True, size=42, color=BEFORE).encode(
            x="random:Q"
        ),
        base.mark_rule(strokeWidth=2, color=INK).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=65, opacity=1).encode(
            x="success:Q",
            color=alt.Color("verdict:N", legend=None).scale(
                alt.Scale(domain=["held", "exceeded"], range=[AFTER, LIMIT])
            ),
        ),
    ]
    said = "; ".join(f"{row['attack']}: {row['success']:.1%}" for row in rows)
    return Figure(
        picture(_layered(layers, len(rows)), "attacks", f"Points: {said}."),
        "Success of each attack, beside what was predicted",
        "Point and line: realised share with its 95 % interval. Grey bar: predicted; thin red bar: "
        "the most that a true prediction allows; triangle: random guessing.",
        wide=True,
    )


def _attack_row(each: Mapping[str, Any]) -> dict[str, Any]:
    success = each["success"]
    value = _plain(success)
    ends = success if isinstance(success, dict) else {}
    predicted = _plain(each["predicted"])
    return {
        "attack": each["title"],
        "success": value,
        "low": ends.get("low", value),
        "high": ends.get("high", value),
        "predicted": predicted if predicted is None else min(max(predicted, 0.0), 1.0),
        "allowed": each["allowed"],
        "random": _plain(each["baseline"]),
        "verdict": "exceeded" if each["broken"] else "held",
    }


def _rows(rows: list[dict[str, Any]], field: str) -> alt.Chart:
    names = [row[field] for row in rows]
    axis = alt.Axis(labelLimit=_LABEL, labelPadding=9, grid=False, domain=False, ticks=False)
    made: alt.Chart = alt.Chart(values(rows)).encode(
        y=alt.Y(f"{field}:N", sort=names, title=None, axis=axis)
    )
    return made


def _layered(layers: list[Any], rows: int) -> alt.LayerChart:
    return alt.LayerChart(layer=layers, width=WIDE, height=max(2, rows) * ROW, padding=_PADDING)


def _both(line: Mapping[str, Any]) -> bool:
    return all(isinstance(line[name], (int, float)) for name in ("before", "after"))


def _plain(value: Any) -> float | None:
    """The number in a told one."""
    if not isinstance(value, dict):
        return None if value is None else float(value)
    found = next(
        (value[key] for key in ("value", "about", "below", "above", "at_most") if key in value),
        None,
    )
    return _plain(found)
