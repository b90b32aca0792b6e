"""Colours, sizes and how a chart of the study becomes SVG."""

from __future__ import annotations

import altair as alt
import vl_convert

from sfumato.reports.plots.picture import AFTER, FAINT, FONT, INK, LIMIT, QUIET

OCHRE = "#b8860b"
COLOURS = [LIMIT, OCHRE, AFTER]
WIDTH, HEIGHT = 340, 260
CONSTRAINTS = {
    "k": "k-anonymity (k)",
    "pid_k": "PID-based K-anonymity (K)",
    "g_balance": "g-balance (1/(1 − g))",
}
"""How the legend calls the constraints."""


def svg(chart: alt.HConcatChart) -> str:
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
