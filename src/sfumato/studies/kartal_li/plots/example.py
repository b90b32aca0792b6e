"""The plot of the worked example."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from sfumato.reports.plots.picture import AFTER, INK, LIMIT, values
from sfumato.studies.kartal_li.example import Example
from sfumato.studies.kartal_li.plots.style import HEIGHT, OCHRE, WIDTH
from sfumato.studies.svg import svg

YOUNG = 77
"""Names of persons below this mean age stand on the left of their dots."""


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
    return svg(alt.hconcat(*panels, spacing=28))


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
