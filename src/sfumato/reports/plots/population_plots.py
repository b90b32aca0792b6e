"""Plots of what is known or estimated of the population."""

from __future__ import annotations

from typing import Any

import altair as alt

from sfumato.core.measure import Measure
from sfumato.reports.numbers import count, percent
from sfumato.reports.plots.picture import (
    AFTER,
    BEFORE,
    FAINT,
    HALF,
    INK,
    LIMIT,
    PERCENT,
    Figure,
    picture,
    values,
)
from sfumato.reports.population import SHARES, distribution
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.population.population_risk import PopulationRisk
from sfumato.risk.risk_thresholds import Held, thresholds
from sfumato.risk.threshold_checks import held_by

ROW = 46
"""Height of a measure's row, in pixels."""
ENDS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5, 1e-6, 1e-9)
"""Left ends that the axis may have."""
TICKS = (1e-9, 1e-6, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_NAMES = {
    "marketer": "marketer",
    "journalist": "journalist",
    "population_average_risk": "average risk",
    "population_records_at_risk": "records at risk",
}


def population_figures(risk: Risk) -> list[Figure]:
    """Intervals beside thresholds, and the number of correct matches.

    Parameters
    ----------
    risk
        What was measured; nothing is drawn where nothing is known of the population.
    """
    own = risk.population
    return [] if own is None else [_intervals(risk, own), _matches(own)]


def _intervals(risk: Risk, own: PopulationRisk) -> Figure:
    measures: list[Measure] = [getattr(own, name) for name in SHARES]
    limits = _limits(risk)
    rows: list[dict[str, Any]] = [
        {
            "name": _NAMES[each.name],
            "value": _shown(each.value),
            "low": _shown(each.value if each.low is None else each.low),
            "high": _shown(each.value if each.high is None else each.high),
            "text": percent(each.value),
        }
        for each in measures
    ]
    marks = [{"name": _NAMES[measure], "limit": limit} for measure, limit in limits]
    least = min([each["low"] for each in rows] + [limit for _, limit in limits])
    start = next((end for end in ENDS if end < 0.9 * least), ENDS[-1])
    place = alt.Y("name:N", sort=list(_NAMES.values()), title=None).axis(grid=True)
    axis = (
        alt.X("value:Q", title=None)
        .scale(type="log", domain=[start, 1])
        .axis(values=[at for at in TICKS if at >= start], format="~%", gridColor=FAINT)
    )
    base = alt.Chart(values(rows))
    layers = [
        base.mark_rule(color=AFTER, strokeWidth=9, opacity=0.4).encode(
            x=alt.X("low:Q").scale(type="log", domain=[start, 1]), x2="high:Q", y=place
        ),
        base.mark_tick(color=AFTER, thickness=2.5, size=15, opacity=1, orient="vertical").encode(
            x=axis, y=place
        ),
        base.mark_text(color=INK, dy=-13).encode(x=axis, y=place, text="text:N"),
    ]
    if marks:
        ticks = alt.Chart(values(marks)).mark_tick(
            color=LIMIT, thickness=1.6, size=26, orient="vertical", opacity=1
        )
        layers.append(ticks.encode(x=alt.X("limit:Q"), y=place))
    said = "; ".join(f"{row['name']} {row['text']}" for row in rows)
    asked = "asked" if risk.held else "in use elsewhere"
    chart = alt.LayerChart(layer=layers, width=HALF - 60, height=ROW * len(rows))
    return Figure(
        picture(chart, "intervals", f"Points with intervals: {said}."),
        "Risks against the population, with their intervals",
        f"Dark: value and interval; red: thresholds {asked}. The scale is logarithmic.",
    )


def _limits(risk: Risk) -> list[tuple[str, float]]:
    """Limits on the measures of the plot: those asked, else those in use elsewhere."""
    held: list[Held] = list(risk.held)
    if not held:
        held = [line for preset in thresholds() for line in held_by(risk, preset)]
    found = {(each.measure, each.limit) for each in held if each.measure in _NAMES}
    return sorted((measure, limit) for measure, limit in found if limit > 0)


def _shown(share: float) -> float:
    """A share that has a place on a logarithmic axis."""
    return max(share, 1e-9)


def _matches(own: PopulationRisk) -> Figure:
    kinds = (("one-to-one", own.one_to_one), ("free", own.free))
    rows: list[dict[str, Any]] = []
    for name, of in kinds:
        bars = distribution(of)
        for bar in bars:
            width = bar["high"] - bar["low"] + 1
            rows.append(
                {"kind": name, "matches": bar["low"] - 0.5, "p": bar["probability"] / width}
            )
        rows.append({"kind": name, "matches": bars[-1]["high"] + 0.5, "p": 0.0})
    names = [name for name, _ in kinds]
    encode = {
        "x": alt.X("matches:Q", title="persons matched rightly")
        .scale(zero=False, nice=False)
        .axis(tickCount=5),
        "y": alt.Y("p:Q", title=None).axis(format=_precision(rows), tickCount=4),
        "color": alt.Color("kind:N").scale(domain=names, range=[AFTER, BEFORE]),
        "strokeDash": alt.StrokeDash("kind:N").scale(domain=names, range=[[1, 0], [5, 3]]),
    }
    lines = alt.Chart(values(rows)).mark_line(interpolate="step-after", strokeWidth=2)
    low, high = own.one_to_one.quantiles()
    free = own.free.quantiles()
    said = (
        f"one-to-one {count(low)} to {count(high)}, free {count(free[0])} to {count(free[1])}, "
        "in 95 of 100 tries"
    )
    chart = lines.encode(**encode).properties(width=HALF - 30, height=ROW * len(SHARES) - 34)
    return Figure(
        picture(chart, "matches", f"Lines: probability of each number. {said}."),
        "How many persons an intruder matches rightly",
        f"Probability of each number: {said}.",
    )


def _precision(rows: list[dict[str, Any]]) -> str:
    largest = max(row["p"] for row in rows)
    return PERCENT if largest > 0.04 else ".1%" if largest > 0.004 else ".2%"
