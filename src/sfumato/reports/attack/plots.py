"""Plots of an attack: success beside prediction, and how sure the intruder was. Aggregates only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from sfumato.intruder.referee.calibration import CalibrationBin
from sfumato.intruder.referee.outcome import Outcome
from sfumato.reports.attack.words import title_of
from sfumato.reports.plots.picture import (
    AFTER,
    BEFORE,
    FAINT,
    HALF,
    INK,
    LIMIT,
    PERCENT,
    QUIET,
    Figure,
    picture,
    values,
)

ROW = 34
"""Height of one attack, in pixels."""
WIDE = 520
SIDE = 290
_LEAST = 30
"""Size of the smallest point, in square pixels."""
_COLOURS = (AFTER, "#b3711b", "#4b7f52", "#7a4f8c", "#9a3b3b", "#3f8fa3")


def success_figure(outcomes: Sequence[Outcome]) -> Figure:
    """Realised success of each attack with its interval, beside what was predicted.

    Parameters
    ----------
    outcomes
        The attacks that guessed anything.
    """
    rows = [_row(outcome) for outcome in outcomes]
    order = [row["attack"] for row in rows]
    base = alt.Chart(values(rows)).encode(
        y=alt.Y("attack:N", sort=order, title=None).axis(
            labelLimit=320, labelPadding=9, grid=False, domain=False
        )
    )
    scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=PERCENT, gridColor=FAINT, title="share of guesses that are right")
    line = base.mark_rule(strokeWidth=2, color=INK).encode(
        x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q", color=_by_verdict(legend=False)
    )
    point = base.mark_point(filled=True, size=70, opacity=1).encode(
        x="success:Q", color=_by_verdict(legend=True)
    )
    predicted = base.mark_tick(thickness=3, size=20, color=QUIET).encode(x="predicted:Q")
    allowed = base.mark_tick(thickness=1.5, size=20, color=LIMIT).encode(x="allowed:Q")
    chance = base.mark_point(shape="triangle-up", size=42, color=BEFORE, filled=True).encode(
        x="baseline:Q"
    )
    layers = [predicted, allowed, chance, line, point]
    chart = alt.LayerChart(layer=layers, width=WIDE, height=max(2, len(rows)) * ROW)
    said = "; ".join(
        f"{row['attack']}: {row['success']:.1%}"
        + ("" if row["predicted"] is None else f", predicted {row['predicted']:.1%}")
        for row in rows
    )
    return Figure(
        picture(chart, "success", f"Points: success of each attack. {said}."),
        "Success of each attack, beside what was predicted",
        "Point and line: realised share with its 95 % interval. Grey bar: predicted; thin red bar: "
        "the most that a true prediction allows; triangle: random guessing.",
        wide=True,
    )


def _by_verdict(*, legend: bool) -> alt.Color:
    words = alt.Scale(domain=["within", "exceeded"], range=[AFTER, LIMIT])
    shown = alt.Legend() if legend else None
    return alt.Color("verdict:N", scale=words, legend=shown)


def _row(outcome: Outcome) -> dict[str, Any]:
    success, predicted = outcome.success, outcome.predicted
    return {
        "attack": title_of(outcome.attack),
        "success": success.value,
        "low": success.value if success.low is None else success.low,
        "high": success.value if success.high is None else success.high,
        "predicted": None if predicted is None else min(max(predicted.value, 0.0), 1.0),
        "allowed": outcome.allowed,
        "baseline": outcome.baseline.value,
        "verdict": "exceeded" if outcome.broken else "within",
    }


def predicted_figure(outcomes: Sequence[Outcome]) -> Figure:
    """Realised success against predicted, one point for each attack.

    Parameters
    ----------
    outcomes
        The attacks that guessed something that was predicted.
    """
    rows = [_row(outcome) for outcome in outcomes]
    layers = [_diagonal(), *_marks(rows, "predicted", "success", _by_verdict(legend=False))]
    chart = alt.LayerChart(layer=layers, width=HALF - 70, height=SIDE)
    said = "; ".join(
        f"{row['predicted']:.1%} predicted, {row['success']:.1%} found" for row in rows
    )
    return Figure(
        picture(chart, "predicted", f"Points: found against predicted. {said}."),
        "Found against predicted",
        "Above the line more was found than predicted; red where chance does not explain it.",
    )


def calibration_figure(bins: Mapping[str, Sequence[CalibrationBin]]) -> Figure:
    """Realised share of right guesses against the intruder's own chance.

    Parameters
    ----------
    bins
        By attack, guesses grouped by the chance that the intruder gave them.
    """
    rows = [
        {
            "attack": title_of(name),
            "chance": each.chance,
            "success": each.success,
            "low": each.success_low,
            "high": each.success_high,
            "attempts": each.attempts,
        }
        for name, several in bins.items()
        for each in several
    ]
    names = [title_of(name) for name in bins]
    colours = [_COLOURS[place % len(_COLOURS)] for place in range(len(names))]
    scale = alt.Scale(domain=names, range=colours)
    colour = alt.Color("attack:N", scale=scale).legend(columns=1, labelLimit=300)
    chart = alt.LayerChart(
        layer=[_diagonal(), *_marks(rows, "chance", "success", colour)],
        width=HALF - 70,
        height=SIDE,
    )
    said = "; ".join(
        f"{row['attack']}: {row['success']:.1%} of {row['attempts']} guesses at {row['chance']:.1%}"
        for row in rows
    )
    return Figure(
        picture(chart, "calibration", f"Points: right share by the intruder's chance. {said}."),
        "How sure the intruder was, and how right",
        "Guesses grouped by the chance that the intruder gave them. On the line he knew how right "
        "he was.",
    )


def _diagonal() -> alt.Chart:
    ends = values([{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    scale = alt.Scale(domain=[0, 1])
    line: alt.Chart = (
        alt.Chart(ends)
        .mark_line(color=QUIET, strokeDash=[4, 3], strokeWidth=1)
        .encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))
    )
    return line


def _marks(
    rows: list[dict[str, Any]], across: str, up: str, colour: alt.Color
) -> tuple[alt.Chart, alt.Chart]:
    """Points with the line of their interval."""
    title = {"chance": "the intruder's own chance", "predicted": "predicted"}[across]
    base = alt.Chart(values(rows)).encode(
        x=alt.X(f"{across}:Q", title=title).axis(format=PERCENT, grid=False), color=colour
    )
    line = base.mark_rule(strokeWidth=1.4).encode(
        y=alt.Y("low:Q", title="share found right").axis(format=PERCENT, gridColor=FAINT),
        y2="high:Q",
    )
    point = base.mark_point(filled=True, size=2 * _LEAST, opacity=1).encode(y=f"{up}:Q")
    return line, point
