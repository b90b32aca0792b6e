"""Pictures of a review: progress, disclosure, answers, and accuracy against disclosure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import altair as alt
from markupsafe import Markup

from sfumato.core.number_text import percent
from sfumato.reports import pictures
from sfumato.review.review_forecast import Point

_WIDTH, _HEIGHT = 360, 190
_NEAR = 4
"""How many times what was spent a budget may be and still be marked."""
_COORDINATES = re.compile(r' (?:d|transform)="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def progress_figure(series: Mapping[str, Sequence[tuple[datetime, int]]]) -> pictures.Figure:
    """Pairs decided over time, by worker.

    Parameters
    ----------
    series
        By worker, times and the number of decided pairs from then on.
    """
    rows = [
        {"worker": worker, "time": time.isoformat(), "decided": count}
        for worker, points in series.items()
        for time, count in points
    ]
    begin, end = _whole_minutes(series)
    scale = alt.Scale(type="utc", domain=[begin, end])
    chart: alt.Chart = _lines(rows, list(series), "time:T", "decided:Q", "pairs decided").encode(
        x=alt.X("time:T", title="time (UTC)", scale=scale).axis(
            grid=False, format=_format(end - begin), labelOverlap=True
        )
    )
    said = "; ".join(f"{worker}: {points[-1][1]}" for worker, points in series.items() if points)
    return pictures.Figure(
        _drawn(chart, "progress", f"Lines: pairs decided over time. At last {said}."),
        "Pairs decided over time",
    )


def disclosure_figure(
    series: Mapping[str, Sequence[tuple[int, float]]], limit: float | None
) -> pictures.Figure:
    """KAPR against the number of decisions, by worker.

    Parameters
    ----------
    series
        By worker, numbers of decided pairs and the KAPR spent by then.
    limit
        The budget that is marked, ``None`` for none.
    """
    rows = [
        {"worker": worker, "decided": count, "kapr": score}
        for worker, points in series.items()
        for count, score in points
    ]
    lines = _lines(rows, list(series), "decided:Q", "kapr:Q", "KAPR spent").encode(
        x=alt.X("decided:Q", title="pairs decided").axis(grid=False, tickMinStep=1, format="d")
    )
    chart: alt.Chart | alt.LayerChart = lines
    most = max((score for points in series.values() for _, score in points), default=0.0)
    # A budget far above what was spent would press all lines to the axis.
    if limit is not None and limit <= _NEAR * most:
        rule = alt.Chart(pictures.values([{"limit": limit}])).mark_rule(
            color=pictures.LIMIT, strokeDash=[4, 3]
        )
        label = alt.Chart(pictures.values([{"limit": limit}])).mark_text(
            color=pictures.LIMIT, align="left", baseline="top", dx=4, dy=4, text="budget"
        )
        at = alt.Y("limit:Q")
        left = alt.XValue(0)  # type: ignore[no-untyped-call]
        marked = [rule.encode(y=at), label.encode(y=at, x=left)]
        chart = alt.LayerChart(layer=[lines, *marked], width=_WIDTH, height=_HEIGHT)
    said = "; ".join(
        f"{worker}: {points[-1][1]:.4f} after {points[-1][0]} decisions"
        for worker, points in series.items()
        if points
    )
    return pictures.Figure(
        _drawn(chart, "disclosure", f"Lines: KAPR against decisions. {said}."),
        "Disclosure against decisions",
        "" if limit is None else f"The budget of a worker is {limit:g}.",
    )


def answers_figure(counts: Mapping[str, int]) -> pictures.Figure:
    """How often each of the six answers stands.

    Parameters
    ----------
    counts
        By the answer in words, from surely different to surely same.
    """
    rows = [
        {"answer": answer, "count": count, "side": answer.partition(",")[0]}
        for answer, count in counts.items()
    ]
    base = alt.Chart(pictures.values(rows)).encode(
        y=alt.Y("answer:N", sort=list(counts), title=None).axis(grid=False, labelLimit=200),
        x=alt.X("count:Q", title="answers").axis(
            gridColor=pictures.FAINT, tickMinStep=1, format="d"
        ),
    )
    bars = base.mark_bar(height=17).encode(
        color=alt.Color(
            "side:N",
            scale=alt.Scale(domain=["Different", "Same"], range=[pictures.BEFORE, pictures.AFTER]),
            legend=None,
        )
    )
    text = base.mark_text(align="left", dx=4, color=pictures.INK).encode(text=alt.Text("count:Q"))
    chart = alt.LayerChart(layer=[bars, text], width=_WIDTH - 130, height=_HEIGHT)
    said = "; ".join(f"{answer}: {count}" for answer, count in counts.items())
    return pictures.Figure(
        _drawn(chart, "answers", f"Bars: answers that stand. {said}."), "Answers that stand"
    )


def _drawn(chart: alt.Chart | alt.LayerChart, key: str, description: str) -> Markup:
    """A picture whose coordinates have two decimals, which makes it half as large."""
    return Markup(_COORDINATES.sub(_rounded, str(pictures.picture(chart, key, description))))  # noqa: S704


def _rounded(found: re.Match[str]) -> str:
    return _LONG.sub(lambda number: f"{float(number[0]):.2f}", found[0])


def _whole_minutes(series: Mapping[str, Sequence[tuple[datetime, int]]]) -> tuple[float, float]:
    """From when to when, in milliseconds: minutes, so that no axis counts parts of a second."""
    times = [time.timestamp() for points in series.values() for time, _ in points] or [0.0]
    return min(times) // 60 * 60_000, (max(times) // 60 + 1) * 60_000


def _format(milliseconds: float) -> str:
    """How an axis as long says a time, with hours from 0 to 23."""
    minutes = milliseconds / 60_000
    if minutes <= 10:
        return "%H:%M:%S"
    return "%H:%M" if minutes <= 24 * 60 else "%d %b, %H:%M" if minutes <= 4 * 24 * 60 else "%d %b"


def _lines(
    rows: list[dict[str, Any]], workers: list[str], across: str, up: str, title: str
) -> alt.Chart:
    """Steps in a colour and a dash of their own for each worker."""
    colours = [pictures.SERIES[place % len(pictures.SERIES)] for place in range(len(workers))]
    # Dashes tell the lines apart in black and white.
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(workers))]
    chart: alt.Chart = (
        alt.Chart(pictures.values(rows))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=across,
            y=alt.Y(up, title=title).axis(
                gridColor=pictures.FAINT, titleColor=pictures.QUIET, tickCount=5
            ),
            color=alt.Color("worker:N", scale=alt.Scale(domain=workers, range=colours)).legend(
                columns=4
            ),
            strokeDash=alt.StrokeDash(
                "worker:N", scale=alt.Scale(domain=workers, range=dashes), legend=None
            ),
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    return chart


_TRADE_OFF_HEIGHT = 220
_ALIKE, _RIGHT = "as with everything shown", "right"
"""What is said of answers."""
_STYLE = (
    f"body{{font-family:{pictures.FONT};color:{pictures.INK};max-width:860px;margin:2em auto;"
    "padding:0 1em}"
)
_NOTE = f"p{{color:{pictures.QUIET}}}svg{{width:100%;height:auto}}h1{{font-size:1.3em}}"


def trade_off_figure(points: Sequence[Point]) -> pictures.Figure:
    """Share of answers against KAPR, and against the share of disclosed characters.

    Parameters
    ----------
    points
        The curve: one point per certainty, and one with everything disclosed.
    """
    known = any(point.accuracy is not None for point in points)
    names = (_ALIKE, _RIGHT) if known else (_ALIKE,)
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
        for name, share in ((_ALIKE, point.same_as_full), (_RIGHT, point.accuracy))
        if share is not None
    ]
    said_right = [point.accuracy for point in points if point.accuracy is not None]
    least = min([point.same_as_full for point in points] + said_right, default=0.0)
    axes = (
        ("kapr", "KAPR", "datum.label", max(point.kapr for point in points)),
        ("characters", "characters shown (%)", pictures.PERCENT, 1.0),
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
    return pictures.Figure(
        pictures.picture(
            chart, "trade-off", f"Lines: share of answers against disclosure. {said}."
        ),
        "Accuracy against disclosure",
        f"Each point is a simulated worker who opens cells until sure enough. {said}.",
        wide=True,
    )


def trade_off_svg(points: Sequence[Point]) -> str:
    """The curve as an SVG file."""
    return f"{trade_off_figure(points).svg}\n"


def trade_off_page(points: Sequence[Point]) -> str:
    """The curve as a page that loads nothing from elsewhere."""
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
) -> pictures.Chart:
    colours, dashes = [pictures.BEFORE, pictures.AFTER], [[4, 3], [1, 0]]
    base = alt.Chart(pictures.values(rows)).encode(
        x=alt.X(f"{field}:Q", title=title)
        .scale(domain=[0, most or 1.0], nice=False)
        .axis(labelExpr=form, tickCount=5, grid=False),
        y=alt.Y("share:Q", title="answers (%)")
        .scale(domain=[max(0.0, least - 0.05), 1.005], nice=False, clamp=True)
        .axis(labelExpr=pictures.PERCENT, tickCount=5, gridColor=pictures.FAINT),
        color=alt.Color(
            "what:N", legend=alt.Legend(labelLimit=pictures.HALF, symbolType="stroke")
        ).scale(alt.Scale(domain=list(names), range=colours[: len(names)])),
        order=alt.Order("order:Q"),
    )  # fmt: skip
    dash = alt.StrokeDash("what:N").scale(alt.Scale(domain=list(names), range=dashes[: len(names)]))
    layers = [
        base.mark_line(strokeWidth=2.2).encode(strokeDash=dash),
        base.mark_point(filled=True, size=36, opacity=1),
    ]
    return alt.LayerChart(layer=layers, width=pictures.HALF - 40, height=_TRADE_OFF_HEIGHT)
