"""From a chart to an SVG picture that stands in a page, and the parts that charts share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import altair as alt
import numpy as np
import vl_convert
from markupsafe import Markup, escape

from sfumato.core.arrays import Floats, Ints
from sfumato.core.number_text import count, percent
from sfumato.core.phrases import ENGLISH, Phrase, language, marks, spoken

Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
INK, QUIET, FAINT = "#1f2429", "#5b6570", "#d9dee3"
BEFORE, AFTER, LIMIT = "#c7ab6b", "#1b4965", "#a4301c"
"""Colours that differ in lightness too, so that they print in black and white."""
SERIES = (AFTER, "#b3711b", "#4b7f52", "#7a4f8c", "#9a3b3b", "#3f8fa3", "#6b6b00", "#555f69")
"""Colours of several series of one kind."""
HALF = 376
"""Width of the plot area of one of two pictures beside each other, in pixels."""
PERCENT = "format(100 * datum.value, '~r')"
"""Labels of an axis of shares, whose title names the unit."""

_CONFIG: dict[str, Any] = {
    "aria": False,
    "background": None,
    "font": FONT,
    "padding": {"left": 2, "right": 6, "top": 2, "bottom": 2},
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "group",
        "color": INK,
        "fontSize": 12.5,
        "fontWeight": "bold",
        "offset": 7,
    },
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
        "tickSize": 4,
    },
    "axisY": {"domain": False, "ticks": False},
    "legend": {
        "orient": "top",
        "direction": "horizontal",
        "title": None,
        "labelFontSize": 12,
        "labelColor": INK,
        "symbolStrokeWidth": 2,
        "offset": 6,
    },
    "text": {"color": INK, "fontSize": 11.5},
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its words."""

    svg: Markup
    title: str
    note: str = ""
    wide: bool = False


def picture(chart: Chart, key: str, description: str) -> Markup:
    """Draw a chart as SVG in the language that is spoken, without a network.

    The chart is not compared with the schema of charts, which would take as long as drawing it.
    For the same reason charts are encoded by channels (``alt.X("low:Q")``): for a bare text altair
    numbers its whole schema.

    Parameters
    ----------
    key
        A word that no other picture of the page has; its ids begin with it.
    """
    specification = chart.to_dict(validate=False)
    specification["config"] = _CONFIG
    locale = None
    if language() != ENGLISH:
        specification, (thousands, decimal) = _said(specification), marks()
        locale = {"decimal": decimal, "thousands": thousands, "grouping": [3], "currency": ["", ""]}
    drawn: str = vl_convert.vegalite_to_svg(
        specification, allowed_base_urls=[], format_locale=locale
    )
    # Ids of several pictures in one page must differ, and so must what refers to them.
    drawn = re.sub(r'\bid="', f'id="{key}-', drawn)
    drawn = re.sub(r"url\(#", f"url(#{key}-", drawn)
    drawn = re.sub(r'((?:xlink:)?href)="#', rf'\1="#{key}-', drawn)
    # To screen readers the picture is one image, which its description names.
    drawn = re.sub(r' (?:role|class|aria-[a-z]+|pointer-events)="[^"]*"', "", drawn)
    width = re.search(r'<svg[^>]* width="([0-9.]+)"', drawn)
    view = re.search(r' viewBox="[^"]*"', drawn)
    assert width is not None
    assert view is not None
    # It shrinks with the page and never grows beyond its own size.
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape(str(spoken(description)))}" style="max-width:{width[1]}px"'
    )
    body = drawn.partition(">")[2]
    return Markup(f"{opening}{view[0]}>{body}")  # noqa: S704


def _said(part: Any) -> Any:
    """A part of a chart's specification, its phrases in the language that is spoken."""
    if isinstance(part, dict):
        return {name: _said(each) for name, each in part.items()}
    if isinstance(part, (list, tuple)):
        return [_said(each) for each in part]
    return spoken(part)


def values(rows: Sequence[Mapping[str, Any]]) -> alt.Data:
    """Rows as the data of a chart."""
    # A tuple, which altair does not copy with each mark that is made of the chart.
    return alt.Data(values=tuple(rows))  # type: ignore[no-untyped-call]


def share_axis(top: float, title: str | None = None) -> alt.Y:
    """An axis of shares from 0 to a little above the highest bar."""
    return (
        alt.Y("share:Q", title=title)
        # Room above the highest bar for its number.
        .scale(domain=[0, min(1.15 * top, 1.15)], nice=False)
        .axis(labelExpr=PERCENT, tickCount=3, gridColor=FAINT)
    )


def share_end(largest: float) -> float:
    """Where an axis of shares ends: at the next tenth, so that it does not run past its data."""
    return min(1.0, max(0.1, ceil(10 * largest - 1e-9) / 10))


def limit_mark(at: float, text: str, field: str, *, right: bool) -> list[alt.Chart]:
    """A vertical line and its name on one side of it.

    Parameters
    ----------
    right
        Whether the name stands on the right, where there is room for it.
    """
    mark = alt.Chart(values([{field: at, "text": text}]))
    rule = mark.mark_rule(color=LIMIT, strokeWidth=1.3, strokeDash=[2, 2]).encode(
        x=alt.X(f"{field}:Q")
    )
    words = mark.mark_text(
        color=LIMIT, align="left" if right else "right", dx=4 if right else -4, baseline="top"
    ).encode(
        x=alt.X(f"{field}:Q"),
        y=alt.YValue(0),  # type: ignore[no-untyped-call]
        text=alt.Text("text:N"),
    )
    return [rule, words]


def labelled_bars(
    shares: Floats,
    labels: Sequence[str],
    across: str,
    *,
    height: float,
    colour: str = AFTER,
    upward: str | None = None,
    slanted: bool = False,
    heading: str | None = None,
) -> alt.LayerChart:
    """One bar per label, with its share above it.

    Parameters
    ----------
    across, upward
        What stands along the labels and along the bars.
    heading
        Title of the panel; without one nothing is kept free for it.
    """
    rows = [
        {"label": label, "share": share, "text": percent(share) if share else ""}
        for label, share in zip(labels, shares.tolist(), strict=True)
    ]
    base = alt.Chart(values(rows)).encode(
        x=alt.X("label:N", sort=list(labels), title=across or None).axis(
            labelAngle=-40 if slanted else 0, grid=False
        ),
        y=share_axis(float(shares.max()), upward),
    )
    bars = base.mark_bar(color=colour)
    text = base.mark_text(dy=-6, color=INK).encode(text=alt.Text("text:N"))
    return alt.LayerChart(
        layer=[bars, text],
        width=HALF,
        height=height,
        title=alt.Undefined if heading is None else heading,
    )


def named_rows(rows: Sequence[Mapping[str, Any]], field: str) -> alt.Chart:
    """The base of a wide chart with one row for each name, in the order given."""
    names = [row[field] for row in rows]
    axis = alt.Axis(labelLimit=280, labelPadding=9, grid=False, domain=False, ticks=False)
    made: alt.Chart = alt.Chart(values(rows)).encode(
        y=alt.Y(f"{field}:N", sort=names, title=None, axis=axis)
    )
    return made


def layered_rows(layers: Sequence[Any], rows: int) -> alt.LayerChart:
    """Layers of `named_rows` as one chart.

    Parameters
    ----------
    layers
        The layers, the lowest first.
    """
    # Room at the ends for printers whose letters are a little wider than the browser's.
    padding = {"left": 18, "right": 8, "top": 2, "bottom": 2}
    return alt.LayerChart(layer=list(layers), width=560, height=max(2, rows) * 30, padding=padding)


@dataclass(frozen=True, eq=False)
class SizeBins:
    """Bins for counts of 1 or more, each about twice as wide as the one before.

    Attributes
    ----------
    starts
        The first count of each bin, ascending.
    labels
        ``1``, ``2``, ``3-4``, ``5-9``, ...; the last one is open.
    """

    starts: Ints
    labels: tuple[str, ...]

    def shares(self, sizes: Ints, times: Ints | None = None) -> Floats:
        """Share of the sizes in each bin, each as often as ``times`` says; shape (bins,)."""
        bin_of = np.searchsorted(self.starts, sizes, side="right") - 1
        counts = np.bincount(bin_of, times, len(self.starts))
        number = len(sizes) if times is None else int(times.sum())
        return np.asarray(counts / max(number, 1), dtype=np.float64)


def size_bins(largest: int) -> SizeBins:
    """Bins 1, 2, 3-4, 5-9, 10-19, 20-49, 50-99, ... up to the one that holds ``largest``."""
    starts = [1, 2, 3, 5]
    while starts[-1] <= largest:
        # 1, 2 and 5 times the powers of ten: after 2 comes 5, after the others their double.
        lead = int(str(starts[-1])[0])
        starts.append(starts[-1] * 5 // 2 if lead == 2 else starts[-1] * 2)
    starts = [start for start in starts if start <= largest] or [1]
    labels = [
        count(low)
        if high == low + 1
        else Phrase("{low}–{high}", low=count(low), high=count(high - 1))
        for low, high in pairwise(starts)
    ]
    last = count(starts[-1])
    last = last if starts[-1] == largest else Phrase("{least}+", least=last)
    return SizeBins(np.array(starts, dtype=np.int64), (*labels, last))
