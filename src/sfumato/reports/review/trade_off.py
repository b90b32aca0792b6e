"""Accuracy against disclosure, as simulated workers have it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import altair as alt
from markupsafe import Markup

from sfumato.reports.numbers import percent
from sfumato.reports.plots.picture import (
    AFTER,
    BEFORE,
    FAINT,
    FONT,
    HALF,
    INK,
    PERCENT,
    QUIET,
    Chart,
    Figure,
    picture,
    values,
)
from sfumato.review.simulated.trade_off import Point

HEIGHT = 220
ALIKE, RIGHT = "as with everything shown", "right"
"""What is said of answers."""
_STYLE = f"body{{font-family:{FONT};color:{INK};max-width:860px;margin:2em auto;padding:0 1em}}"
_NOTE = f"p{{color:{QUIET}}}svg{{width:100%;height:auto}}h1{{font-size:1.3em}}"


def trade_off_figure(points: Sequence[Point]) -> Figure:
    """Share of answers against KAPR, and against the share of disclosed characters.

    Parameters
    ----------
    points
        The curve: one point per certainty, and one with everything disclosed.
    """
    known = any(point.accuracy is not None for point in points)
    names = (ALIKE, RIGHT) if known else (ALIKE,)
    rows = [
        {
            "kapr": point.kapr,
            "characters": point.characters,
            "share": share,
            "what": name,
            "at": "everything" if point.certainty is None else f"{point.certainty:g}",
            "order": order,
        }
        for order, point in enumerate(points)
        for name, share in ((ALIKE, point.same_as_full), (RIGHT, point.accuracy))
        if share is not None
    ]
    said_right = [point.accuracy for point in points if point.accuracy is not None]
    least = min([point.same_as_full for point in points] + said_right, default=0.0)
    axes = (
        ("kapr", "KAPR", "~g", max(point.kapr for point in points)),
        ("characters", "share of the characters shown", PERCENT, 1.0),
    )
    chart = alt.hconcat(
        *(_against(rows, *axis, names=names, least=least) for axis in axes), spacing=28
    ).resolve_legend(color="shared")
    last = points[-1]
    said = (
        f"With everything shown: KAPR {last.kapr:.3f}, {percent(last.characters)} of the characters"
    )
    if last.accuracy is not None:
        said += f", {percent(last.accuracy)} of the answers right"
    return Figure(
        picture(chart, "trade-off", f"Lines: share of answers against disclosure. {said}."),
        "Accuracy against disclosure",
        f"Each point is a simulated worker who opens cells until sure enough. {said}.",
        wide=True,
    )


def trade_off_svg(points: Sequence[Point]) -> str:
    """The curve as an SVG file.

    Parameters
    ----------
    points
        The curve.
    """
    return f"{trade_off_figure(points).svg}\n"


def trade_off_page(points: Sequence[Point]) -> str:
    """The curve as a page that loads nothing from elsewhere.

    Parameters
    ----------
    points
        The curve.
    """
    figure = trade_off_figure(points)
    body = Markup("").join(
        (
            Markup(f"<h1>{escape(figure.title)}</h1>"),  # noqa: S704
            figure.svg,
            Markup(f"<p>{escape(figure.note)}</p>"),  # noqa: S704
        )
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(figure.title)}</title><style>{_STYLE}{_NOTE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _against(
    rows: list[dict[str, object]],
    field: str,
    title: str,
    form: str,
    most: float,
    *,
    names: Sequence[str],
    least: float,
) -> Chart:
    colours, dashes = [BEFORE, AFTER], [[4, 3], [1, 0]]
    base = alt.Chart(values(rows)).encode(
        x=alt.X(f"{field}:Q", title=title)
        .scale(domain=[0, most or 1.0], nice=False)
        .axis(format=form, tickCount=5, grid=False),
        y=alt.Y("share:Q", title=None)
        .scale(domain=[max(0.0, least - 0.05), 1.005], nice=False, clamp=True)
        .axis(format=PERCENT, tickCount=5, gridColor=FAINT),
        color=alt.Color("what:N", legend=alt.Legend(labelLimit=HALF, symbolType="stroke")).scale(
            alt.Scale(domain=list(names), range=colours[: len(names)])
        ),
        order="order:Q",
    )  # fmt: skip
    dash = alt.StrokeDash("what:N").scale(alt.Scale(domain=list(names), range=dashes[: len(names)]))
    layers = [
        base.mark_line(strokeWidth=2.2).encode(strokeDash=dash),
        base.mark_point(filled=True, size=36, opacity=1),
    ]
    return alt.LayerChart(layer=layers, width=HALF - 40, height=HEIGHT)
