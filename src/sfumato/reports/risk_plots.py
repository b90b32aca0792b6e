"""Pictures of risk: of the classes, original beside release, and against the population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.core.measure import Measure
from sfumato.core.number_text import count, percent
from sfumato.core.phrases import Listed, Phrase, Sentence
from sfumato.reports.pictures import (
    AFTER,
    BEFORE,
    FAINT,
    HALF,
    INK,
    LIMIT,
    PERCENT,
    QUIET,
    Chart,
    Figure,
    labelled_bars,
    layered_rows,
    limit_mark,
    named_rows,
    picture,
    share_axis,
    share_end,
    size_bins,
    values,
)
from sfumato.reports.risk_tables import POPULATION_SHARES, match_bars, worst_first
from sfumato.risk.class_measures import SHARE_BINS
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.population.population_risk import PopulationRisk
from sfumato.risk.risk_thresholds import Held, thresholds
from sfumato.risk.threshold_checks import held_by

_HEIGHT = 84
LEAST_RISK = 0.01
"""Left end of a plot of risks."""
_SLANTED = 9
"""So many labels have room only when they are slanted."""
Named = Sequence[tuple[str, Risk]]


_DRAWN = {
    "prosecutor": "one person of the file, highest chance",
    "marketer": "people found by a register",
    "records_at_risk": "records at risk",
    "max_gidr": "person of a record, highest chance",
    "avg_gidr": "person of a record, mean of classes",
    "max_count_risk": "number of records known, highest chance",
    "avg_count_risk": "number of records known, mean",
    "exposed_persons": "alone with their number of records",
    "max_household_risk": "person of a household, highest chance",
    "avg_household_risk": "person of a household, mean",
    "households_at_risk": "households at risk",
    "max_gsar": "people with one value, worst class",
    "avg_gsar": "people with one value, mean of classes",
}
"""What a row of the picture of risk before and after is called."""
MOST_DRAWN = 3
"""Sensitive columns that are drawn: the worst of them."""


def risk_figures(named: Named) -> list[Figure]:
    """Class sizes, the largest share of one person, and the records' risks.

    Parameters
    ----------
    named
        Name and risk of the original and the release, or of the assessed file alone.
    """
    return [_class_sizes(named), _gidr(named), _records_at_risk(named)]


def value_figures(named: Named, limits: dict[str, float]) -> list[Figure]:
    """The most shared value of each class, of the worst sensitive columns.

    Parameters
    ----------
    named
        Name and risk of the original and the release, or of the assessed file alone.
    limits
        Largest share of each sensitive attribute that was asked for.
    """
    worst = worst_first(named[-1][1])
    return [
        _gsar(named, name, place, limits.get(name)) for place, name in enumerate(worst[:MOST_DRAWN])
    ]


def records_per_person(persons: Mapping[int, int]) -> Figure:
    """How many records the persons of a release have."""
    records = np.array(sorted(persons), dtype=np.int64)
    times = np.array([persons[record] for record in records.tolist()], dtype=np.int64)
    # Sizes in bins that double: most persons have few records, and some have hundreds.
    bins = size_bins(int(records.max()))
    shares = bins.shares(records, times)
    panel = labelled_bars(
        shares,
        bins.labels,
        "records of the person",
        height=1.3 * _HEIGHT,
        upward="people (%)",
        slanted=len(bins.labels) >= _SLANTED,
        heading="",
    )
    most, median = count(records.max()), count(_median(records, times))
    description = f"Bars: share of people by number of records; median {median}, most {most}."
    return Figure(
        picture(panel, "persons", description),
        Phrase("Records per person in the release"),
        Phrase(
            "{people} people; median {median}, most {most} records.",
            people=count(times.sum()),
            median=median,
            most=most,
        ),
    )


def _median(values: Ints, times: Ints) -> float:
    """The median of values, ascending, each as often as ``times`` says."""
    up_to, number = np.cumsum(times), int(times.sum())
    middle = np.searchsorted(up_to, [(number - 1) // 2, number // 2], side="right")
    return float(values[middle].mean())


def _class_sizes(named: Named) -> Figure:
    bins = size_bins(max(int(risk.shape.persons.max()) for _, risk in named))
    shares = [bins.shares(risk.shape.persons, risk.shape.classes) for _, risk in named]
    panels: list[Chart] = [
        labelled_bars(
            share,
            bins.labels,
            "people in the class" if place == len(named) - 1 else "",
            height=_HEIGHT,
            colour=_colour(named, place),
            upward="classes (%)",
            slanted=len(bins.labels) >= _SLANTED,
            heading=_titled(name, risk),
        )
        for place, ((name, risk), share) in enumerate(zip(named, shares, strict=True))
    ]
    said = "; ".join(
        f"{name}: {percent(risk.shape.alone)} of {count(risk.classes)} "
        f"classes hold one person, the smallest holds {count(risk.pid_k)}"
        for name, risk in named
    )
    return Figure(
        picture(_stacked(panels), "sizes", f"Bars: share of classes by people. {said}."),
        Phrase("People in a class"),
    )


def _gidr(named: Named) -> Figure:
    classes = [risk.shape.gidr for _, risk in named]
    marks = [(risk.avg_gidr.value, f"mean {percent(risk.avg_gidr.value)}") for _, risk in named]
    said = "; ".join(
        f"{name}: highest {percent(risk.max_gidr.value)}, mean {percent(risk.avg_gidr.value)}"
        for name, risk in named
    )
    title = "largest share of the records that is one person’s (%)"
    return Figure(
        picture(_share_panels(named, classes, title, marks), "gidr", f"Bars: classes. {said}."),
        Phrase("Largest share of a class’s records that is one person’s"),
        Phrase("Line: mean of the classes."),
    )


def _gsar(named: Named, attribute: str, place: int, limit: float | None) -> Figure:
    classes = [risk.shape.gsar[attribute] for _, risk in named]
    marks = [None if limit is None else (limit, f"limit {percent(limit)}")] * len(named)
    said = "; ".join(
        f"{name}: highest {percent(risk.sensitive[attribute].max_gsar.value)}, "
        f"mean {percent(risk.sensitive[attribute].avg_gsar.value)}"
        for name, risk in named
    )
    title = "largest share of the people with one value (%)"
    chart = _share_panels(named, classes, title, marks)
    return Figure(
        picture(chart, f"gsar{place}", f"Bars: classes, by {attribute}. {said}."),
        Phrase("“{column}”: largest share of a class’s people with one value", column=attribute),
        "" if limit is None else Phrase("Line: limit."),
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
        # Classes have whole numbers of persons: between two risks the share is that of the larger.
        .mark_line(interpolate="step-before", strokeWidth=2.2)
        .encode(
            x=alt.X("risk:Q", title="chance to find a person of the class (%)").scale(
                type="log", domain=[LEAST_RISK, 1]
            ).axis(values=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], labelExpr=PERCENT),
            y=alt.Y("share:Q", title="records at this chance or more (%)")
            .scale(domain=[0, 1])
            .axis(labelExpr=PERCENT, tickCount=5),
            color=alt.Color("file:N", legend=legend).scale(scale),
            strokeDash=alt.StrokeDash("file:N", legend=legend).scale(dashes),
        )
        .properties(width=HALF, height=1.9 * _HEIGHT)
    )  # fmt: skip
    threshold = named[-1][1].threshold
    # Its name stands on the side with more room.
    mark = limit_mark(threshold, percent(threshold), "risk", right=threshold < 0.1)
    said = Listed(
        (
            Phrase(
                "{file}: {share} of the records above {limit}",
                file=name,
                share=percent(risk.records_at_risk.value),
                limit=percent(threshold),
            )
            for name, risk in named
        ),
        "; ",
    )
    return Figure(
        picture(
            alt.LayerChart(layer=[lines, alt.LayerChart(layer=mark)]), "risks", f"Lines. {said}."
        ),
        Phrase("Records by the chance to find a person of their class"),
        Phrase("{begin}.", begin=said),
    )


def event_figures(named: Named) -> list[Figure]:
    """People found by the number of known events; nothing where no column tells an event.

    Parameters
    ----------
    named
        Name and risk of the original and the release, or of the assessed file alone.
    """
    rows = [
        {
            "file": name,
            "drawn": "at random" if each.drawn == "random" else "most telling",
            "events": each.m,
            "share": each.found.value,
        }
        for name, risk in named
        if risk.known_events is not None
        for each in risk.known_events.risks
    ]
    if not rows:
        return []
    names = [name for name, _ in named]
    colours = [_colour(named, place) for place in range(len(named))]
    legend: Any = alt.Legend() if len(named) > 1 else None
    chart = (
        alt.Chart(values(rows))
        .mark_line(strokeWidth=2.2)
        .encode(
            x=alt.X("events:O", title="events known").axis(labelAngle=0),
            y=alt.Y("share:Q", title="people found (%)")
            .scale(domain=[0, 1])
            .axis(labelExpr=PERCENT),
            color=alt.Color("file:N", legend=legend).scale(domain=names, range=colours),
            strokeDash=alt.StrokeDash(
                "drawn:N", legend=alt.Legend(symbolType="stroke", symbolStrokeColor=QUIET)
            ).scale(domain=["at random", "most telling"], range=[[1, 0], [5, 3]]),
        )
        .properties(width=HALF, height=1.9 * _HEIGHT)
    )
    said = "; ".join(
        f"{row['file']}, {row['events']} {row['drawn']}: {percent(float(str(row['share'])))}"
        for row in rows
    )
    return [
        Figure(
            picture(chart, "events", f"Lines: share of people found. {said}."),
            Phrase("People found by known events"),
        )
    ]


def _share_panels(
    named: Named, classes: list[Ints], title: str, marks: Sequence[tuple[float, str] | None]
) -> Chart:
    """A histogram of classes on [0, 1] per file, one above the other."""
    heights: list[Floats] = [each / each.sum() for each in classes]
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
                .axis(labelExpr=PERCENT, grid=False, tickCount=5),
                x2=alt.X2("high:Q"),
                y=share_axis(float(height.max()), "classes (%)"),
                y2=alt.Y2Datum(0),
            )
            .properties(width=HALF, height=_HEIGHT, title=_titled(name, risk))
        )
        mark = marks[place]
        if mark is not None:
            at, text = mark
            bars += alt.LayerChart(layer=limit_mark(at, text, "low", right=at < 0.6))
        panels.append(bars)
    return _stacked(panels)


def _stacked(panels: list[Chart]) -> Chart:
    return panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=14)


def _titled(name: str, risk: Risk) -> str:
    return f"{name}: {count(risk.classes)} classes"


def _colour(named: Named, place: int) -> str:
    return AFTER if place == len(named) - 1 else BEFORE


def records_by_risk(persons: Ints, records: Ints) -> list[tuple[float, float]]:
    """Share of the records whose class has a risk 1/persons of x or more, as points (x, share).

    Ascending by x, from `LEAST_RISK` to 1; between two points the share is that of the right
    one.

    Parameters
    ----------
    persons, records
        Persons and records of each class, or of all classes of each size; shape (classes,).
    """
    largest = int(1 / LEAST_RISK)
    # Classes too large for the axis count together, beyond its left end.
    within = np.minimum(persons, largest + 1)
    by_size = np.bincount(within, weights=records, minlength=largest + 2)
    up_to = np.cumsum(by_size)[: largest + 1] / records.sum()
    held = [size for size in range(largest, 0, -1) if by_size[size]]
    points = [(1 / size, float(up_to[size])) for size in held]
    first = [] if points and points[0][0] <= LEAST_RISK else [(LEAST_RISK, float(up_to[-1]))]
    last = [] if points and points[-1][0] == 1 else [(1.0, 0.0)]
    return [*first, *points, *last]


_ROW = 46
"""Height of a measure's row, in pixels."""
_ENDS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5, 1e-6, 1e-9)
"""Left ends that the axis may have."""
_TICKS = (1e-9, 1e-6, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
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
    measures: list[Measure] = [getattr(own, name) for name in POPULATION_SHARES]
    limits = _limits(risk)
    rows: list[dict[str, Any]] = [
        {
            "name": _NAMES[measure.name],
            "value": _shown(measure.value),
            "low": _shown(measure.value if measure.low is None else measure.low),
            "high": _shown(measure.value if measure.high is None else measure.high),
            "text": percent(measure.value),
        }
        for measure in measures
    ]
    marks = [{"name": _NAMES[measure], "limit": limit} for measure, limit in limits]
    least = min([row["low"] for row in rows] + [limit for _, limit in limits])
    # The axis begins at the next round number below all that is drawn.
    start = next((end for end in _ENDS if end < 0.9 * least), _ENDS[-1])
    place = alt.Y("name:N", sort=list(_NAMES.values()), title=None).axis(grid=True)
    axis = (
        alt.X("value:Q", title="chance or share (%)")
        .scale(type="log", domain=[start, 1])
        .axis(values=[at for at in _TICKS if at >= start], labelExpr=PERCENT, gridColor=FAINT)
    )
    base = alt.Chart(values(rows))
    layers = [
        base.mark_rule(color=AFTER, strokeWidth=9, opacity=0.4).encode(
            x=alt.X("low:Q").scale(type="log", domain=[start, 1]), x2=alt.X2("high:Q"), y=place
        ),
        base.mark_tick(color=AFTER, thickness=2.5, size=15, opacity=1, orient="vertical").encode(
            x=axis, y=place
        ),
        base.mark_text(color=INK, dy=-13).encode(x=axis, y=place, text=alt.Text("text:N")),
    ]
    if marks:
        ticks = alt.Chart(values(marks)).mark_tick(
            color=LIMIT, thickness=1.6, size=26, orient="vertical", opacity=1
        )
        layers.append(ticks.encode(x=alt.X("limit:Q"), y=place))
    said = "; ".join(f"{row['name']} {row['text']}" for row in rows)
    chart = alt.LayerChart(layer=layers, width=HALF - 60, height=_ROW * len(rows))
    return Figure(
        picture(chart, "intervals", f"Points with intervals: {said}."),
        Phrase("Risks against the population, with their intervals"),
        Phrase("Dark: value and interval; red: limits asked. The scale is logarithmic.")
        if risk.held
        else Phrase(
            "Dark: value and interval; red: limits in use elsewhere. The scale is logarithmic."
        ),
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
        bars = match_bars(of)
        for bar in bars:
            # Of several counts in one bar the mean is drawn: a wide bar must not be a high one.
            width = bar["high"] - bar["low"] + 1
            # A bar of the counts a to b reaches from a - 1/2 to b + 1/2.
            rows.append(
                {"kind": name, "matches": bar["low"] - 0.5, "p": bar["probability"] / width}
            )
        rows.append({"kind": name, "matches": bars[-1]["high"] + 0.5, "p": 0.0})
    names = [name for name, _ in kinds]
    encode = {
        "x": alt.X("matches:Q", title="people found")
        .scale(zero=False, nice=False)
        .axis(tickCount=5),
        "y": alt.Y("p:Q", title="probability (%)").axis(labelExpr=PERCENT, tickCount=4),
        "color": alt.Color("kind:N").scale(domain=names, range=[AFTER, BEFORE]),
        "strokeDash": alt.StrokeDash("kind:N").scale(domain=names, range=[[1, 0], [5, 3]]),
    }
    lines = alt.Chart(values(rows)).mark_line(interpolate="step-after", strokeWidth=2)
    low, high = own.one_to_one.quantiles()
    free = own.free.quantiles()
    said = Phrase(
        "one-to-one {low} to {high}, free {free_low} to {free_high}, in 95 of 100 tries",
        low=count(low),
        high=count(high),
        free_low=count(free[0]),
        free_high=count(free[1]),
    )
    chart = lines.encode(**encode).properties(
        width=HALF - 30, height=_ROW * len(POPULATION_SHARES) - 34
    )
    return Figure(
        picture(chart, "matches", f"Lines: probability of each number. {said}."),
        Phrase("How many people an intruder finds"),
        Sentence("{begin}.", begin=said),
    )


def before_after_figure(content: Mapping[str, Any]) -> Figure | None:
    """Risk before and after, of every measure that is a share; nothing where a file has none.

    Of many sensitive columns the worst are drawn.
    """
    groups = [("", group["lines"]) for group in content["risk"]]
    groups += [
        (f"{group['attribute']}: ", group["lines"]) for group in content["sensitive"][:MOST_DRAWN]
    ]
    rows = [
        {
            "measure": f"{of}{_DRAWN[line['name']]}",
            **{end: line[end] for end in ("before", "after")},
        }
        for of, lines in groups
        for line in lines
        if line["name"] in _DRAWN
        # A coarse number has no point on an axis.
        and all(isinstance(line[file], (int, float)) for file in ("before", "after"))
    ]
    if not rows:
        return None
    chart = _joined_points(rows, "measure", "before", "after", "share or chance (%)")
    said = "; ".join(
        f"{r['measure']}: {percent(r['before'])} before, {percent(r['after'])}" for r in rows
    )
    many = len(content["sensitive"])
    worst = f" The worst {MOST_DRAWN} of {many} sensitive columns." if many > MOST_DRAWN else ""
    return Figure(
        picture(chart, "before-after", f"Points: {said}."),
        "Risk before and after",
        f"Light: original. Dark: release.{worst}",
        wide=True,
    )


def _joined_points(
    rows: Sequence[Mapping[str, Any]], name: str, light: str, dark: str, across: str
) -> alt.LayerChart:
    """Two shares in each row, a light and a dark point, joined by a rule."""
    base = named_rows(rows, name)
    axis = alt.Axis(labelExpr=PERCENT, gridColor=FAINT, title=across)
    top = share_end(max(max(row[light], row[dark]) for row in rows))
    x = alt.X(f"{light}:Q", scale=alt.Scale(domain=[0, top]), axis=axis)
    rule = base.mark_rule(color=QUIET, strokeWidth=1).encode(x=x, x2=alt.X2(f"{dark}:Q"))
    points = [
        base.mark_point(filled=True, size=75, color=colour, opacity=1).encode(x=alt.X(f"{of}:Q"))
        for of, colour in ((light, BEFORE), (dark, AFTER))
    ]
    return layered_rows([rule, *points], len(rows))


def uniqueness_growth(steps: Sequence[Mapping[str, Any]], place: int) -> Figure:
    """How the share of unique people grows with each column.

    Parameters
    ----------
    steps
        By column: its name, and the shares of unique people up to it and without it.
    """
    chart = _joined_points(steps, "column", "without", "up_to", "unique people (%)")
    said = f"All columns together: {percent(steps[-1]['up_to'])} of people are unique."
    drawn = picture(chart, f"unique{place}", f"Unique people by columns. {said}")
    words = "Dark: with this column and those above it. Light: with all but this one."
    return Figure(drawn, "How columns single people out", f"{words} {said}", wide=True)
