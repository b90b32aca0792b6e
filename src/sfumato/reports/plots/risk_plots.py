"""Plots of risks, original beside release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from sfumato.reports.numbers import count, percent
from sfumato.reports.plots.bins import LEAST_RISK, Floats, Ints, records_by_risk, size_bins
from sfumato.reports.plots.picture import (
    AFTER,
    BEFORE,
    FAINT,
    HALF,
    INK,
    LIMIT,
    PERCENT,
    Chart,
    Figure,
    picture,
    values,
)
from sfumato.risk.class_measures import SHARE_BINS
from sfumato.risk.disclosure_risk import Risk

HEIGHT = 84
Named = Sequence[tuple[str, Risk]]


def risk_figures(named: Named, limits: dict[str, float]) -> list[Figure]:
    """Class sizes, GIDR and the records' risks.

    Parameters
    ----------
    named
        Name and risk of the original and the release, or of the assessed file alone.
    limits
        Largest share of each sensitive attribute that was asked for.
    """
    figures = [_class_sizes(named), _gidr(named), _records_at_risk(named)]
    return figures + [
        _gsar(named, name, place, limits.get(name))
        for place, name in enumerate(named[-1][1].sensitive)
    ]


def records_per_person(persons: Mapping[int, int]) -> Figure:
    """How many records the persons of a release have.

    Parameters
    ----------
    persons
        How many persons have each number of records.
    """
    records = np.array(sorted(persons), dtype=np.int64)
    times = np.array([persons[each] for each in records.tolist()], dtype=np.int64)
    bins = size_bins(int(records.max()))
    shares = bins.shares(records, times)
    panel = _named_bars(shares, bins.labels, "records of the person", "", AFTER, 1.3 * HEIGHT)
    most, median = count(records.max()), count(_median(records, times))
    description = f"Bars: share of persons by number of records; median {median}, most {most}."
    return Figure(
        picture(panel, "persons", description),
        "Records per person in the release",
        f"Share of the persons; median {median}, most {most} records.",
    )


def _median(values: Ints, times: Ints) -> float:
    """The median of values, ascending, each as often as ``times`` says."""
    up_to, number = np.cumsum(times), int(times.sum())
    middle = np.searchsorted(up_to, [(number - 1) // 2, number // 2], side="right")
    return float(values[middle].mean())


def _class_sizes(named: Named) -> Figure:
    bins = size_bins(max(int(risk.shape.persons.max()) for _, risk in named))
    shares = [bins.shares(risk.shape.persons, risk.shape.classes) for _, risk in named]
    top = max(float(share.max()) for share in shares)
    panels = [
        _named_bars(
            share,
            bins.labels,
            "persons in the class" if last else "",
            _titled(name, risk),
            _colour(named, place),
            HEIGHT,
            top,
        )
        for place, ((name, risk), share) in enumerate(zip(named, shares, strict=True))
        for last in [place == len(named) - 1]
    ]
    said = "; ".join(
        f"{name}: {percent(risk.shape.alone)} of {count(risk.classes)} "
        f"classes hold one person, the smallest holds {count(risk.pid_k)}"
        for name, risk in named
    )
    return Figure(
        picture(_stacked(panels), "sizes", f"Bars: share of classes by persons. {said}."),
        "Persons in an equivalence class",
        "Share of the classes.",
    )


def _gidr(named: Named) -> Figure:
    classes = [risk.shape.gidr for _, risk in named]
    marks = [(risk.avg_gidr.value, f"mean {percent(risk.avg_gidr.value)}") for _, risk in named]
    said = "; ".join(
        f"{name}: highest {percent(risk.max_gidr.value)}, mean {percent(risk.avg_gidr.value)}"
        for name, risk in named
    )
    title = "largest share of a class’s records that is one person’s (GIDR)"
    return Figure(
        picture(_share_panels(named, classes, title, marks), "gidr", f"Bars: GIDR. {said}."),
        "Whose records? GIDR of the classes",
        "Share of the classes; the line is their mean.",
    )


def _gsar(named: Named, attribute: str, place: int, limit: float | None) -> Figure:
    classes = [risk.shape.gsar[attribute] for _, risk in named]
    marks = [None if limit is None else (limit, f"asked: at most {percent(limit)}")] * len(named)
    said = "; ".join(
        f"{name}: highest {percent(risk.sensitive[attribute].max_gsar.value)}, "
        f"mean {percent(risk.sensitive[attribute].avg_gsar.value)}"
        for name, risk in named
    )
    title = "largest share of a class’s persons with one value (GSAR)"
    chart = _share_panels(named, classes, title, marks)
    return Figure(
        picture(chart, f"gsar{place}", f"Bars: GSAR of {attribute}. {said}."),
        f"Shared values of “{attribute}”: GSAR of the classes",
        "Share of the classes."
        if limit is None
        else "Share of the classes; the line is the limit.",
    )


def _records_at_risk(named: Named) -> Figure:
    rows = [
        {"file": name, "risk": x, "share": y}
        for name, risk in named
        for x, y in records_by_risk(risk.shape.persons, risk.shape.records)
    ]
    names = [name for name, _ in named]
    colours = [_colour(named, place) for place in range(len(named))]
    scale = alt.Scale(domain=names, range=colours)
    dashes = alt.Scale(domain=names, range=[[5, 3], [1, 0]] if len(named) > 1 else [[1, 0]])
    legend: Any = alt.Legend() if len(named) > 1 else None
    lines = (
        alt.Chart(values(rows))
        .mark_line(interpolate="step-before", strokeWidth=2.2)
        .encode(
            x=alt.X("risk:Q", title="risk of the class: 1 / persons").scale(
                type="log", domain=[LEAST_RISK, 1]
            ).axis(values=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], format=PERCENT),
            y=alt.Y("share:Q", title="records at this risk or more")
            .scale(domain=[0, 1])
            .axis(format=PERCENT, tickCount=5),
            color=alt.Color("file:N", legend=legend).scale(scale),
            strokeDash=alt.StrokeDash("file:N", legend=legend).scale(dashes),
        )
        .properties(width=HALF, height=1.9 * HEIGHT)
    )  # fmt: skip
    threshold = named[-1][1].threshold
    limit = _limit(threshold, percent(threshold), "risk")
    said = "; ".join(
        f"{name}: {percent(risk.records_at_risk.value)} of the records above {percent(threshold)}"
        for name, risk in named
    )
    return Figure(
        picture(alt.LayerChart(layer=[lines, limit]), "risks", f"Lines. {said}."),
        "Records by prosecutor risk of their class",
        f"Share of the records in classes whose risk is x or more. {said}.",
    )


def _share_panels(
    named: Named,
    classes: list[Ints],
    title: str,
    marks: Sequence[tuple[float, str] | None],
) -> Chart:
    """A histogram of classes on [0, 1] per file, one above the other."""
    heights: list[Floats] = [each / each.sum() for each in classes]
    top = max(float(height.max()) for height in heights)
    panels = []
    for place, ((name, risk), height) in enumerate(zip(named, heights, strict=True)):
        last = place == len(named) - 1
        rows = [
            {"low": low / SHARE_BINS, "high": (low + 1) / SHARE_BINS, "share": share}
            for low, share in enumerate(height.tolist())
        ]
        bars = (
            alt.Chart(values(rows))
            .mark_bar(color=_colour(named, place), stroke="white", strokeWidth=0.6)
            .encode(
                x=alt.X("low:Q", title=title if last else None)
                .scale(domain=[0, 1], nice=False)
                .axis(format=PERCENT, grid=False, tickCount=5),
                x2="high:Q",
                y=_share_axis(top),
                y2=alt.datum(0),
            )
            .properties(width=HALF, height=HEIGHT, title=_titled(name, risk))
        )
        mark = marks[place]
        panels.append(bars if mark is None else bars + _limit(*mark, "low"))
    return _stacked(panels)


def _named_bars(
    shares: Floats,
    labels: Sequence[str],
    title: str,
    heading: str,
    colour: str,
    height: float,
    top: float | None = None,
) -> Chart:
    """One bar per label, with its share above it."""
    rows = [
        {"label": label, "share": share, "text": percent(share, 0) if share else ""}
        for label, share in zip(labels, shares.tolist(), strict=True)
    ]
    base = alt.Chart(values(rows)).encode(
        x=alt.X("label:N", sort=list(labels), title=title or None).axis(
            labelAngle=0 if len(labels) < 9 else -40, grid=False
        ),
        y=_share_axis(top or float(shares.max())),
    )
    bars = base.mark_bar(color=colour)
    text = base.mark_text(dy=-6, color=INK).encode(text="text:N")
    return alt.LayerChart(layer=[bars, text], width=HALF, height=height, title=heading)


def _share_axis(top: float) -> alt.Y:
    return (
        alt.Y("share:Q", title=None)
        .scale(domain=[0, min(1.15 * top, 1.15)], nice=False)
        .axis(format=PERCENT, tickCount=3, gridColor=FAINT)
    )


def _limit(at: float, text: str, field: str) -> alt.LayerChart:
    """A vertical line with its name, on the side that has room."""
    mark = alt.Chart(values([{field: at, "text": text}]))
    right = at < 0.6 if field == "low" else at < 0.1
    rule = mark.mark_rule(color=LIMIT, strokeWidth=1.3, strokeDash=[2, 2]).encode(x=f"{field}:Q")
    words = mark.mark_text(
        color=LIMIT, align="left" if right else "right", dx=4 if right else -4, baseline="top"
    ).encode(x=f"{field}:Q", y=alt.value(0), text="text:N")
    return alt.LayerChart(layer=[rule, words])


def _stacked(panels: list[Chart]) -> Chart:
    return panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=14)


def _titled(name: str, risk: Risk) -> str:
    return f"{name}: {count(risk.classes)} classes"


def _colour(named: Named, place: int) -> str:
    return AFTER if place == len(named) - 1 else BEFORE
