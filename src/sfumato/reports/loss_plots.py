"""Pictures of what a release lost: per column, of correlations, of each distribution."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from sfumato.core.number_text import number, percent
from sfumato.core.phrases import Figure, Listed, Phrase, spoken
from sfumato.release.distributions import Distribution
from sfumato.release.information_loss import CorrelationChange
from sfumato.release.utility_measures import ColumnLoss, Utility
from sfumato.reports import pictures
from sfumato.reports.printed_numbers import plain_number
from sfumato.schema import Kind

ROW, BARS, MATRIX = 24, 228, 222
"""Height of a bar's row; widths of a panel of bars and of a matrix, in pixels."""
CATEGORY = 19
"""Height of a category's bar, in pixels."""
LEAST_SCALE = 0.1
"""Changes of correlations up to this stay pale."""
MOST_PRINTED = 7
"""Most columns of a matrix whose cells still show their numbers."""
_LOSSES = (
    ("ncp", Phrase("values of a cell"), Phrase("of the column (%)")),
    ("ane", Phrase("distance from the class mean"), Phrase("of the range (%)")),
    ("sse_sst", Phrase("variance lost"), Phrase("of the variance (%)")),
)
_DIVERGING = ["#b35806", "#f1a340", "#fee0b6", "#f7f7f7", "#d1e5f0", "#67a9cf", "#2166ac"]


def loss_figures(utility: Utility) -> list[pictures.Figure]:
    """Loss per column, correlations, and each column's distribution."""
    figures = [_per_column(utility.columns)]
    if len(utility.correlations.columns) > 1:
        figures.append(_correlations(utility.correlations))
    shown = enumerate(utility.distributions)
    return figures + [_distribution(each, f"column{place}") for place, each in shown]


def _per_column(columns: tuple[ColumnLoss, ...]) -> pictures.Figure:
    names = [column.column for column in columns]
    panels = []
    for place, (field, title, across) in enumerate(_LOSSES):
        rows: list[dict[str, Any]] = [
            {"column": column.column, "loss": share, "text": percent(share)}
            for column in columns
            for share in [getattr(column, field)]
        ]
        labels: Any = alt.Axis(labelLimit=180) if place == 0 else None
        end = pictures.share_end(max(row["loss"] for row in rows))
        base = alt.Chart(pictures.values(rows)).encode(
            x=alt.X("loss:Q", title=across)
            .scale(domain=[0, end])
            .axis(labelExpr=pictures.PERCENT, values=[0, end / 2, end]),
            y=alt.Y("column:N", sort=names, title=None, axis=labels).scale(padding=0.35),
        )
        text = base.mark_text(align="left", dx=4).encode(text=alt.Text("text:N"))
        # Beyond it there is no room beside the bar.
        near_end = alt.datum.loss > 0.8 * end
        inside = base.mark_text(align="right", dx=-4, color="white")
        panels.append(
            (
                base.mark_bar(color=pictures.AFTER)
                + text.transform_filter(~near_end)
                + inside.encode(text=alt.Text("text:N")).transform_filter(near_end)
            ).properties(width=BARS, height=max(ROW * len(columns), 40), title=title)
        )
    said = _by_column(
        (column.column, Listed(("NCP", percent(column.ncp)), " ")) for column in columns
    )
    return pictures.Figure(
        pictures.picture(
            alt.hconcat(*panels, spacing=24),
            "losses",
            Phrase("Bars: loss per column. {said}.", said=said),
        ),
        Phrase("Detail lost, by quasi-identifier"),
        wide=True,
    )


def _correlations(change: CorrelationChange) -> pictures.Figure:
    panels = [
        _matrix(change, change.before, Phrase("Original values")),
        _matrix(change, change.after, Phrase("Class means of the release")),
        # The largest change gets the strongest colour, but small ones stay pale.
        _matrix(change, _difference(change), Phrase("Change"), max(change.max_change, LEAST_SCALE)),
    ]
    told = {"mean": number(change.mean_change), "largest": number(change.max_change)}
    said = Phrase(
        "Three matrices. Mean change {mean}, largest {largest}, over pairs of columns.", **told
    )
    matrices = alt.hconcat(*panels, spacing=18).resolve_scale(color="independent")
    return pictures.Figure(
        pictures.picture(matrices, "correlations", said),
        Phrase("Correlations before and after"),
        Phrase(
            "Pearson, negative in brown, positive in blue; of categorical columns, those with two "
            "categories. Mean change {mean}, largest {largest}, over pairs of columns; the colours "
            "of the last panel reach to the largest change.",
            **told,
        ),
        wide=True,
    )


def _difference(change: CorrelationChange) -> tuple[tuple[float, ...], ...]:
    return tuple(
        tuple(after - before for before, after in zip(*rows, strict=True))
        for rows in zip(change.before, change.after, strict=True)
    )


def _matrix(
    change: CorrelationChange,
    matrix: tuple[tuple[float, ...], ...],
    title: str,
    largest: float = 1.0,
) -> alt.LayerChart:
    names = list(change.columns)
    rows = [
        {"row": row, "column": column, "value": cell, "text": _printed(cell)}
        for row, cells in zip(names, matrix, strict=True)
        for column, cell in zip(names, cells, strict=True)
    ]
    labels: Any = alt.Axis(labelLimit=180) if matrix is change.before else None
    base = alt.Chart(pictures.values(rows)).encode(
        x=alt.X("column:N", sort=names, title=None).axis(labelAngle=-40, labelLimit=90),
        y=alt.Y("row:N", sort=names, title=None, axis=labels),
    )
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color("value:Q", legend=None).scale(
            domain=[-largest, largest], range=_DIVERGING, clamp=True
        )
    )
    printed = base.mark_text().encode(
        text=alt.Text("text:N"),
        # White is read on the dark ends of the scale, ink on its pale middle.
        color=alt.condition(
            abs(alt.datum.value) > 0.75 * largest, alt.value("white"), alt.value(pictures.INK)
        ),
    )
    layers = [cells, printed] if len(names) <= MOST_PRINTED else [cells]
    return alt.LayerChart(layer=layers, width=MATRIX, height=MATRIX * 0.8, title=title)


def _printed(correlation: float) -> str:
    """Two decimals, with a true minus, and no sign at zero."""
    # -0.00 would look like a correlation that is negative.
    text = f"{correlation:.2f}".replace("-", "−")
    return Figure(text) if text.strip("−0.") else "0"


def _distribution(shown: Distribution, key: str) -> pictures.Figure:
    """Light bars for the original, dark marks for the release."""
    rows = [
        {"bar": bar, "before": before, "after": after}
        for bar, (before, after) in enumerate(zip(shown.before, shown.after, strict=True))
    ]
    # By their places: two bars of a column may have the same label.
    names = f"{json.dumps([spoken(label) for label in shown.labels])}[datum.value]"
    upright = shown.kind is Kind.NUMERIC
    if upright:
        place: Any = alt.X("bar:O", title=None).axis(
            labelExpr=names, labelAngle=-90, labelFontSize=10, labelLimit=110, grid=False
        )
        bars = {"x": place, "y": _share(alt.Y, "before:Q")}
        marks = {"x": place, "y": _share(alt.Y, "after:Q")}
        size: dict[str, Any] = {"width": pictures.HALF, "height": 130}
    else:
        place = alt.Y("bar:O", title=None).axis(labelExpr=names, labelFontSize=11, labelLimit=130)
        bars = {"y": place, "x": _share(alt.X, "before:Q")}
        marks = {"y": place, "x": _share(alt.X, "after:Q")}
        size = {"width": pictures.HALF - 60, "height": alt.Step(CATEGORY)}
    base = alt.Chart(pictures.values(rows))
    long = max(0.8 * pictures.HALF / len(rows), 4) if upright else 0.7 * CATEGORY
    chart = base.mark_bar(color=pictures.BEFORE).encode(**bars) + base.mark_tick(
        color=pictures.AFTER,
        opacity=1,
        thickness=3,
        size=long,
        orient="horizontal" if upright else "vertical",
    ).encode(**marks)
    share = percent(shown.total_variation)
    said = Phrase(
        "Bars and marks: shares of {column}; change of distribution {share}.",
        column=shown.column,
        share=share,
    )
    return pictures.Figure(
        pictures.picture(chart.properties(**size), key, said),
        Phrase("“{column}” before and after", column=shown.column),
        Phrase("Bars: original; marks: release; change of distribution {share}.", share=share),
    )


def _share(axis: Any, field: str) -> Any:
    return axis(field, title=Phrase("records (%)")).axis(labelExpr=pictures.PERCENT, tickCount=4)


def _by_column(shares: Iterable[tuple[str, str]]) -> Listed:
    return Listed((Phrase("{name}: {share}", name=name, share=each) for name, each in shares), "; ")


def column_loss_figure(columns: Sequence[Mapping[str, Any]]) -> pictures.Figure | None:
    """How much of each quasi-identifier's detail a cell has lost; nothing where that is not known.

    Parameters
    ----------
    columns
        Names of the columns, and their loss as an audience is told it.
    """
    rows = [
        {"column": column["name"], "lost": lost}
        for column in columns
        if (lost := plain_number(column["ncp"])) is not None
    ]
    if not rows:
        return None
    title = Phrase("values that a cell may stand for (%)")
    axis = alt.Axis(labelExpr=pictures.PERCENT, gridColor=pictures.FAINT, title=title)
    bars = pictures.named_rows(rows, "column").mark_bar(color=pictures.AFTER, height=14)
    end = pictures.share_end(max(row["lost"] for row in rows))
    chart = bars.encode(x=alt.X("lost:Q", scale=alt.Scale(domain=[0, end]), axis=axis))
    said = _by_column((row["column"], percent(row["lost"])) for row in rows)
    drawn = pictures.layered_rows([chart], len(rows))
    return pictures.Figure(
        pictures.picture(drawn, "loss", Phrase("Bars: {said}.", said=said)),
        Phrase("Detail lost, by quasi-identifier"),
        wide=True,
    )
