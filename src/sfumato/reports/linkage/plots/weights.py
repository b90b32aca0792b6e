"""How much each comparison level says, and how weights add up to a score."""

from __future__ import annotations

from typing import Any

import altair as alt

from sfumato.linkage.links import Links
from sfumato.linkage.model.saved import LevelWeight
from sfumato.reports.linkage.patterns import Pattern
from sfumato.reports.linkage.words import comparison_name
from sfumato.reports.plots.picture import (
    AFTER,
    BEFORE,
    FAINT,
    INK,
    QUIET,
    Figure,
    picture,
    values,
)

ROW = 19
"""Height of a bar with its gap, in pixels."""
WIDE = 540
"""Width of a picture that takes the page, without the names beside it, in pixels."""


def weights_figure(links: Links) -> Figure:
    """Match weight of each comparison level: bits for or against a match.

    Parameters
    ----------
    links
        The linkage.
    """
    weights = links.model.weights
    rows = [
        {
            "level": _named(each),
            "bits": each.weight,
            "side": "for" if each.weight >= 0 else "against",
            "text": f"{each.weight:+.1f}",
        }
        for each in weights
    ]
    chart = _bars(rows, [_named(each) for each in weights], "match weight in bits: log₂(m / u)")
    said = "; ".join(f"{row['level']}: {row['text']}" for row in rows)
    return Figure(
        picture(chart, "weights", f"Bars: match weight of each comparison level. {said}."),
        "Match weights",
        "What each comparison level says for a match (right) or against it (left), before the "
        "frequency of the value. 1 bit doubles the odds.",
        wide=True,
    )


def waterfall_figure(pattern: Pattern, key: str) -> Figure:
    """How the weights of one pattern of comparison levels add up.

    Parameters
    ----------
    pattern
        The pattern.
    key
        A word that no other picture of the page has.
    """
    rows, at = [], 0.0
    for name, bits in pattern.steps:
        rows.append(_step(name, at, at + bits, bits))
        at += bits
    rows.append(_step("sum: match weight of the pairs", 0.0, at, at, whole=True))
    names = [row["level"] for row in rows]
    base = alt.Chart(values(rows)).encode(
        y=alt.Y("level:N", sort=names, title=None).axis(grid=False, labelLimit=330)
    )
    bars = base.mark_bar(height=ROW - 7).encode(
        x=alt.X("low:Q", title="match weight in bits").axis(gridColor=FAINT, tickCount=8),
        x2="high:Q",
        color=_side(),
    )
    text = base.mark_text(align="left", dx=5, color=INK).encode(x="high:Q", text="text:N")
    chart = alt.LayerChart(layer=[bars, text], width=WIDE, height=ROW * len(rows))
    said = "; ".join(f"{row['level']}: {row['text']}" for row in rows)
    return Figure(
        picture(chart, key, f"Waterfall. {said}."), pattern.title, pattern.note, wide=True
    )


def _step(name: str, start: float, end: float, bits: float, whole: bool = False) -> dict[str, Any]:
    side = "sum" if whole else ("for" if bits >= 0 else "against")
    low, high = min(start, end), max(start, end)
    return {"level": name, "low": low, "high": high, "side": side, "text": f"{bits:+.1f}"}


def _named(each: LevelWeight) -> str:
    return f"{comparison_name(each.comparison)}: {each.label}"


def _bars(rows: list[dict[str, Any]], names: list[str], title: str) -> alt.LayerChart:
    base = alt.Chart(values(rows)).encode(
        y=alt.Y("level:N", sort=names, title=None).axis(grid=False, labelLimit=330)
    )
    ends = [min(0.0, *(row["bits"] for row in rows)), max(0.0, *(row["bits"] for row in rows))]
    room = 0.08 * (ends[1] - ends[0])
    bars = base.mark_bar(height=ROW - 7).encode(
        x=alt.X("bits:Q", title=title)
        .scale(domain=[ends[0] - room, ends[1] + room], nice=False)
        .axis(gridColor=FAINT, tickCount=8),
        color=_side(),
    )
    right = base.transform_filter("datum.bits >= 0").mark_text(align="left", dx=4)
    left = base.transform_filter("datum.bits < 0").mark_text(align="right", dx=-4)
    texts = [each.encode(x="bits:Q", text="text:N") for each in (right, left)]
    return alt.LayerChart(layer=[bars, *texts], width=WIDE, height=ROW * len(rows))


def _side() -> alt.Color:
    scale = alt.Scale(domain=["for", "against", "sum"], range=[AFTER, BEFORE, QUIET])
    return alt.Color("side:N", legend=None).scale(scale)
