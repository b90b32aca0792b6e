"""How a chart of a study becomes SVG."""

from __future__ import annotations

import altair as alt
import vl_convert

from sfumato.reports.plots.picture import FAINT, FONT, INK, QUIET


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
