"""The plot of Figure 2: relative error over the sampling fraction, a panel per population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from sfumato.reports.plots.picture import INK, values
from sfumato.risk.population.estimation import AUTO
from sfumato.studies.dankar_el_emam.compared import ESTIMATORS, LABELS, OF_THE_PAPER
from sfumato.studies.dankar_el_emam.simulate import Errors
from sfumato.studies.dankar_el_emam.tables.figure_2 import Simulated, mean_error
from sfumato.studies.svg import svg

WIDTH, HEIGHT = 340, 280
TICKS = (1, 3, 10, 30, 100, 300)
LEGEND_COLUMNS = 4
LINEAR = 1
"""Percent up to which the axis of errors is linear; beyond it is logarithmic."""
COLOURS = (
    "#d55e00",
    "#e69f00",
    "#0072b2",
    "#56b4e9",
    "#009e73",
    "#7f7f7f",
    "#cc79a7",
    "#000000",
)
"""Okabe and Ito's colours, which people with any colour vision tell apart, and a grey."""
SHAPES = (
    "triangle-down",
    "square",
    "circle",
    "circle",
    "diamond",
    "triangle-up",
    "cross",
    "circle",
)
_SERIES = {
    (5, 3): [LABELS["log-linear-independence"]],
    (2, 2): [LABELS[name] for name in ("shlosser", "sh3", "pitman")],
    (1, 0): [LABELS[name] for name in (*OF_THE_PAPER, AUTO)],
}
"""Estimators by the dashes of their lines; whole for the paper's and the default."""


def figure_2_plot(simulated: Simulated) -> str:
    """Mean relative error in % over the sampling fraction, as SVG.

    Parameters
    ----------
    simulated
        The errors.
    """
    rows = {data.key: list(_rows(errors)) for data, errors in simulated.items()}
    panels = [_panel(each, title, _domain(rows)) for title, each in rows.items()]
    lines = [alt.hconcat(*pair, spacing=28) for pair in (panels[:2], panels[2:]) if pair]
    return svg(alt.vconcat(*lines, spacing=20))


def _rows(of_fractions: Sequence[Errors]) -> Iterator[dict[str, Any]]:
    for errors in of_fractions:
        for name, each in errors.of.items():
            mean = mean_error(each)
            if mean is not None:
                yield {"estimator": LABELS[name], "fraction": errors.fraction, "error": 100 * mean}


def _domain(rows: dict[str, list[dict[str, Any]]]) -> list[float]:
    errors = [row["error"] for each in rows.values() for row in each]
    return [1.15 * min(errors, default=-1.0), 1.15 * max(errors, default=1.0)]


def _panel(rows: list[dict[str, Any]], title: str, domain: list[float]) -> alt.LayerChart:
    labels = [LABELS[name] for name in ESTIMATORS]
    ticks = [sign * tick for sign in (-1, 1) for tick in TICKS if domain[0] <= sign * tick]
    shown = sorted({0, *(tick for tick in ticks if tick <= domain[1])})
    base = alt.Chart(values(rows)).encode(
        x=alt.X("fraction:Q", title="sampling fraction")
        .scale(domain=[0.05, 0.95], nice=False)
        .axis(values=[0.1, 0.3, 0.5, 0.7, 0.9], format=".1f", grid=False),
        y=alt.Y("error:Q", title="mean relative error, % (logarithmic beyond ±1)")
        .scale(type="symlog", constant=LINEAR, domain=domain, nice=False)
        .axis(
            values=shown,
            tickCount=len(shown),
            labelExpr="datum.value ? format(datum.value, '+d') : '0'",
        ),
        color=alt.Color("estimator:N", sort=labels)
        .scale(domain=labels, range=list(COLOURS))
        .legend(columns=LEGEND_COLUMNS),
    )
    zero = alt.Chart(values([{"error": 0}])).mark_rule(color=INK, strokeWidth=1.2)
    lines = [
        base.transform_filter(alt.FieldOneOfPredicate("estimator", series)).mark_line(
            strokeWidth=1.8, strokeDash=list(dash)
        )
        for dash, series in _SERIES.items()
    ]
    points = base.mark_point(size=44, filled=True, opacity=1).encode(
        shape=alt.Shape("estimator:N", sort=labels)
        .scale(domain=labels, range=list(SHAPES))
        .legend(columns=LEGEND_COLUMNS)
    )
    layers = [zero.encode(y="error:Q"), *lines, points]
    return alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT, title=title)
