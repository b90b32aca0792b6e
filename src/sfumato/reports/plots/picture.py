"""From a chart to an SVG picture that stands in the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup, escape

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
INK, QUIET, FAINT = "#1f2429", "#5b6570", "#d9dee3"
BEFORE, AFTER, LIMIT = "#c7ab6b", "#1b4965", "#a4301c"
"""Colours that differ in lightness too, so that they print in black and white."""
HALF = 376
"""Width of the plot area of one of two pictures beside each other, in pixels."""
PERCENT = ".0%"

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
    """A picture with its words.

    Attributes
    ----------
    svg
        The picture, ready to stand in the page.
    title
        What it shows.
    note
        How to read it.
    wide
        Whether it takes the width of the page.
    """

    svg: Markup
    title: str
    note: str = ""
    wide: bool = False


Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart


def picture(chart: Chart, key: str, description: str) -> Markup:
    """Draw a chart as SVG, without a network.

    The chart is not compared with the schema of charts, which would take as long as drawing it.

    Parameters
    ----------
    chart
        A chart with its data inside.
    key
        A word that no other picture of the page has; its ids begin with it.
    description
        What the picture shows, for people who do not see it.
    """
    specification = chart.to_dict(validate=False)
    specification["config"] = _CONFIG
    drawn: str = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    drawn = re.sub(r'\bid="', f'id="{key}-', drawn)
    drawn = re.sub(r"url\(#", f"url(#{key}-", drawn)
    drawn = re.sub(r'((?:xlink:)?href)="#', rf'\1="#{key}-', drawn)
    drawn = re.sub(r' (?:role|class|aria-[a-z]+|pointer-events)="[^"]*"', "", drawn)
    width = re.search(r'<svg[^>]* width="([0-9.]+)"', drawn)
    view = re.search(r' viewBox="[^"]*"', drawn)
    assert width is not None
    assert view is not None
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(description)}" '
        f'style="max-width:{width[1]}px"'
    )
    body = drawn.partition(">")[2]
    return Markup(f"{opening}{view[0]}>{body}")  # noqa: S704


def values(rows: list[dict[str, Any]]) -> alt.Data:
    """Rows as the data of a chart."""
    return alt.Data(values=rows)  # type: ignore[no-untyped-call]
