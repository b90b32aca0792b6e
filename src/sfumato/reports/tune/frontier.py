"""Risk against loss of everything that was tried."""

from __future__ import annotations

from typing import Any

import altair as alt

from sfumato.core.measure import ESTIMATED
from sfumato.reports.numbers import number, percent
from sfumato.reports.plots.picture import (
    AFTER,
    BEFORE,
    FAINT,
    HALF,
    LIMIT,
    PERCENT,
    QUIET,
    Chart,
    Figure,
    picture,
    values,
)

HEIGHT = 230
ROOM = 1.08
MET, KEPT, NOT_MET = "meets every threshold", f"keeps them ({ESTIMATED})", "does not"


def frontier_figures(found: dict[str, Any]) -> list[Figure]:
    """One picture per threshold: the measure of each trial against its loss.

    Parameters
    ----------
    found
        What the search found, as plain values.
    """
    made = {each["trial"]: each for each in found["trials"] if "loss" in each}
    if not made:
        return []
    labels = [_label(each) for each in found["held"]]
    return [
        _figure(found, made, held, label, place)
        for place, (held, label) in enumerate(zip(found["held"], labels, strict=True))
    ]


def _label(held: dict[str, Any]) -> str:
    attribute = held.get("attribute")
    return f"{held['measure']} [{attribute}]" if attribute else str(held["measure"])


def _figure(
    found: dict[str, Any],
    made: dict[int, dict[str, Any]],
    held: dict[str, Any],
    label: str,
    place: int,
) -> Figure:
    share = held["scale"] == "share"
    front = [made[each] for each in found["frontiers"][label]]
    chosen = found["best"] or found["nearest"]
    top = ROOM * max([each["loss"] for each in front if each["met"]] + [chosen["loss"]])
    shown = [each for each in made.values() if each["loss"] <= 1.35 * top]
    beyond = len(made) - len(shown)
    kept = MET if found["promised"] else KEPT
    rows = [
        {
            "x": each["measures"][label],
            "y": each["loss"],
            "met": kept if each["met"] else NOT_MET,
        }
        for each in shown
    ]
    steps = [
        {"x": each["measures"][label], "y": each["loss"], "order": at}
        for at, each in enumerate(front)
        if each in shown
    ]
    chart = _chart(
        rows, steps, (chosen["measures"][label], chosen["loss"]), held, found["loss"], kept
    )
    word = "chosen" if found["best"] else "nearest"
    show = percent if share else number
    said = (
        f"Asked: {held['bound']} {show(held['limit'])}; "
        f"{word}: {show(chosen['measures'][label])} at a loss of {number(chosen['loss'])}."
    )
    note = said
    if steps:
        note += " The line joins what no trial beats, the other thresholds met."
    if beyond:
        note += f" {beyond} trials lose more than is shown."
    description = f"Points: {len(rows)} trials, {label} against loss. {said}"
    return Figure(picture(chart, f"frontier{place}", description), label, note)


def _chart(
    rows: list[dict[str, Any]],
    steps: list[dict[str, Any]],
    chosen: tuple[float, float],
    held: dict[str, Any],
    loss: str,
    kept: str,
) -> Chart:
    form = PERCENT if held["scale"] == "share" else "~s"
    horizontal = (
        alt.X("x:Q", title=held["measure"])
        .scale(zero=False, nice=True)
        .axis(format=form, tickCount=6, grid=False)
    )
    vertical = (
        alt.Y("y:Q", title=f"loss ({loss})")
        .scale(zero=False, nice=True)
        .axis(format="~g", tickCount=5, gridColor=FAINT)
    )
    colour = alt.Color("met:N", legend=alt.Legend(symbolType="circle")).scale(
        alt.Scale(domain=[kept, NOT_MET], range=[AFTER, BEFORE])
    )
    line = (
        alt.Chart(values(steps))
        .mark_line(interpolate="step-after", color=QUIET, strokeWidth=1.4)
        .encode(x=horizontal, y=vertical, order="order:Q")
    )
    points = (
        alt.Chart(values(rows))
        .mark_point(filled=True, size=34, opacity=0.75)
        .encode(x=horizontal, y=vertical, color=colour)
    )
    limit = (
        alt.Chart(values([{"x": held["limit"]}]))
        .mark_rule(color=LIMIT, strokeWidth=1.3, strokeDash=[2, 2])
        .encode(x=horizontal)
    )
    mark = (
        alt.Chart(values([{"x": chosen[0], "y": chosen[1]}]))
        .mark_point(filled=False, shape="circle", size=160, color=LIMIT, strokeWidth=2.2, opacity=1)
        .encode(x=horizontal, y=vertical)
    )
    return alt.LayerChart(layer=[limit, line, points, mark], width=HALF - 20, height=HEIGHT)
