"""Pictures of risk: of the classes, original beside release, and against the population."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.core.measure import Measure
from sfumato.core.number_text import count, counted, percent
from sfumato.core.phrases import Listed, Phrase, Sentence
from sfumato.reports import pictures
from sfumato.reports.risk_tables import POPULATION_SHARES, match_bars, worst_first
from sfumato.risk.class_measures import SHARE_BINS
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.population.population_risk import PopulationRisk
from sfumato.risk.risk_thresholds import Held, thresholds
from sfumato.risk.threshold_checks import held_by

_HEIGHT = 84
_AT_RANDOM, _MOST_TELLING = Phrase("at random"), Phrase("most telling")
"""Which events of a person are known."""
LEAST_RISK = 0.01
"""Left end of a plot of risks."""
_SLANTED = 9
"""So many labels have room only when they are slanted."""
Named = Sequence[tuple[str, Risk]]


_DRAWN = {
    "prosecutor": Phrase("one person of the file, highest chance"),
    "marketer": Phrase("people found by a register"),
    "records_at_risk": Phrase("records at risk"),
    "max_gidr": Phrase("person of a record, highest chance"),
    "avg_gidr": Phrase("person of a record, mean of classes"),
    "max_count_risk": Phrase("exact number of records known, highest chance"),
    "avg_count_risk": Phrase("exact number of records known, mean"),
    "exposed_persons": Phrase("alone with their number of records"),
    "max_household_risk": Phrase("person of a household, highest chance"),
    "avg_household_risk": Phrase("person of a household, mean"),
    "households_at_risk": Phrase("households at risk"),
    "max_gsar": Phrase("people with one value, worst class"),
    "avg_gsar": Phrase("people with one value, mean of classes"),
}
"""What a row of the picture of risk before and after is called."""
MOST_DRAWN = 3
"""Sensitive columns that are drawn: the worst of them."""


def risk_figures(named: Named) -> list[pictures.Figure]:
    """Class sizes, the largest share of one person, and the records' risks.

    Parameters
    ----------
    named
        Name and risk of the original and the release, or of the assessed file alone.
    """
    return [_class_sizes(named), _gidr(named), _records_at_risk(named)]


def value_figures(named: Named, limits: dict[str, float]) -> list[pictures.Figure]:
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


def records_per_person(persons: Mapping[int, int]) -> pictures.Figure:
    """How many records the persons of a release have."""
    records = np.array(sorted(persons), dtype=np.int64)
    times = np.array([persons[record] for record in records.tolist()], dtype=np.int64)
    # Sizes in bins that double: most persons have few records, and some have hundreds.
    bins = pictures.size_bins(int(records.max()))
    shares = bins.shares(records, times)
    panel = pictures.labelled_bars(
        shares,
        bins.labels,
        Phrase("records of the person"),
        height=1.3 * _HEIGHT,
        upward=Phrase("people (%)"),
        slanted=len(bins.labels) >= _SLANTED,
        heading="",
    )
    most, median = count(records.max()), count(_median(records, times))
    description = Phrase(
        "Bars: share of people by number of records; median {median}, most {most}.",
        median=median,
        most=most,
    )
    return pictures.Figure(
        pictures.picture(panel, "persons", description),
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


def _class_sizes(named: Named) -> pictures.Figure:
    bins = pictures.size_bins(max(int(risk.shape.persons.max()) for _, risk in named))
    shares = [bins.shares(risk.shape.persons, risk.shape.classes) for _, risk in named]
    panels: list[pictures.Chart] = [
        pictures.labelled_bars(
            share,
            bins.labels,
            Phrase("people in the class") if place == len(named) - 1 else "",
            height=_HEIGHT,
            colour=_colour(named, place),
            upward=Phrase("classes (%)"),
            slanted=len(bins.labels) >= _SLANTED,
            heading=_titled(name, risk),
        )
        for place, ((name, risk), share) in enumerate(zip(named, shares, strict=True))
    ]
    each = (
        Phrase(
            "{file}: {share} of {classes} hold one person, the smallest holds {people}",
            file=name,
            share=percent(risk.shape.alone),
            classes=counted(risk.classes, "class"),
            people=count(risk.pid_k),
        )
        for name, risk in named
    )
    said = Phrase("Bars: share of classes by people. {files}.", files=Listed(each, "; "))
    return pictures.Figure(
        pictures.picture(_stacked(panels), "sizes", said),
        Phrase("People in a class"),
    )


def _gidr(named: Named) -> pictures.Figure:
    classes = [risk.shape.gidr for _, risk in named]
    marks = [
        (risk.avg_gidr.value, Phrase("mean {share}", share=percent(risk.avg_gidr.value)))
        for _, risk in named
    ]
    said = Phrase(
        "Bars: classes. {files}.",
        files=_highest_and_mean((name, risk.max_gidr, risk.avg_gidr) for name, risk in named),
    )
    title = Phrase("largest share of the records that is one person’s (%)")
    return pictures.Figure(
        pictures.picture(_share_panels(named, classes, title, marks), "gidr", said),
        Phrase("Largest share of a class’s records that is one person’s"),
        Phrase("Line: mean of the classes."),
    )


def _highest_and_mean(files: Iterable[tuple[str, Measure, Measure]]) -> Listed:
    """The highest and the mean share of the classes of each file."""
    said = (
        Phrase(
            "{file}: highest {high}, mean {mean}",
            file=name,
            high=percent(high.value),
            mean=percent(mean.value),
        )
        for name, high, mean in files
    )
    return Listed(said, "; ")


def _gsar(named: Named, attribute: str, place: int, limit: float | None) -> pictures.Figure:
    classes = [risk.shape.gsar[attribute] for _, risk in named]
    mark = None if limit is None else (limit, Phrase("limit {share}", share=percent(limit)))
    shares = ((name, risk.sensitive[attribute]) for name, risk in named)
    said = Phrase(
        "Bars: classes, by {column}. {files}.",
        column=attribute,
        files=_highest_and_mean((name, own.max_gsar, own.avg_gsar) for name, own in shares),
    )
    title = Phrase("largest share of the people with one value (%)")
    chart = _share_panels(named, classes, title, [mark] * len(named))
    return pictures.Figure(
        pictures.picture(chart, f"gsar{place}", said),
        Phrase("“{column}”: largest share of a class’s people with one value", column=attribute),
        "" if limit is None else Phrase("Line: limit."),
    )


def _records_at_risk(named: Named) -> pictures.Figure:
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
        alt.Chart(pictures.values(rows))
        # Classes have whole numbers of persons: between two risks the share is that of the larger.
        .mark_line(interpolate="step-before", strokeWidth=2.2)
        .encode(
            x=alt.X("risk:Q", title=Phrase("chance to find a person of the class (%)")).scale(
                type="log", domain=[LEAST_RISK, 1]
            ).axis(values=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1], labelExpr=pictures.PERCENT),
            y=alt.Y("share:Q", title=Phrase("records at this chance or more (%)"))
            .scale(domain=[0, 1])
            .axis(labelExpr=pictures.PERCENT, tickCount=5),
            color=alt.Color("file:N", legend=legend).scale(scale),
            strokeDash=alt.StrokeDash("file:N", legend=legend).scale(dashes),
        )
        .properties(width=pictures.HALF, height=1.9 * _HEIGHT)
    )  # fmt: skip
    threshold = named[-1][1].threshold
    # Its name stands on the side with more room.
    mark = pictures.limit_mark(threshold, percent(threshold), "risk", right=threshold < 0.1)
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
    return pictures.Figure(
        pictures.picture(
            alt.LayerChart(layer=[lines, alt.LayerChart(layer=mark)]),
            "risks",
            Phrase("Lines. {files}.", files=said),
        ),
        Phrase("Records by the chance to find a person of their class"),
        Phrase("{begin}.", begin=said),
    )


def event_figures(named: Named) -> list[pictures.Figure]:
    """People found by the number of known events; nothing where no column tells an event.

    Parameters
    ----------
    named
        Name and risk of the original and the release, or of the assessed file alone.
    """
    rows = [
        {
            "file": name,
            "drawn": _AT_RANDOM if each.drawn == "random" else _MOST_TELLING,
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
        alt.Chart(pictures.values(rows))
        .mark_line(strokeWidth=2.2)
        .encode(
            x=alt.X("events:O", title=Phrase("events known")).axis(labelAngle=0),
            y=alt.Y("share:Q", title=Phrase("people found (%)"))
            .scale(domain=[0, 1])
            .axis(labelExpr=pictures.PERCENT),
            color=alt.Color("file:N", legend=legend).scale(domain=names, range=colours),
            strokeDash=alt.StrokeDash(
                "drawn:N", legend=alt.Legend(symbolType="stroke", symbolStrokeColor=pictures.QUIET)
            ).scale(domain=[_AT_RANDOM, _MOST_TELLING], range=[[1, 0], [5, 3]]),
        )
        .properties(width=pictures.HALF, height=1.9 * _HEIGHT)
    )
    each = (
        Phrase(
            "{file}, {n} {drawn}: {share}",
            file=row["file"],
            n=row["events"],
            drawn=row["drawn"],
            share=percent(float(str(row["share"]))),
        )
        for row in rows
    )
    said = Phrase("Lines: share of people found. {files}.", files=Listed(each, "; "))
    return [
        pictures.Figure(
            pictures.picture(chart, "events", said),
            Phrase("People found by known events"),
        )
    ]


def _share_panels(
    named: Named, classes: list[Ints], title: str, marks: Sequence[tuple[float, str] | None]
) -> pictures.Chart:
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
            alt.Chart(pictures.values(rows))
            .mark_bar(color=_colour(named, place), stroke="white", strokeWidth=0.6)
            .encode(
                x=alt.X("low:Q", title=title if last else None)
                .scale(domain=[0, 1], nice=False)
                .axis(labelExpr=pictures.PERCENT, grid=False, tickCount=5),
                x2=alt.X2("high:Q"),
                y=pictures.share_axis(float(height.max()), Phrase("classes (%)")),
                y2=alt.Y2Datum(0),
            )
            .properties(width=pictures.HALF, height=_HEIGHT, title=_titled(name, risk))
        )
        mark = marks[place]
        if mark is not None:
            at, text = mark
            bars += alt.LayerChart(layer=pictures.limit_mark(at, text, "low", right=at < 0.6))
        panels.append(bars)
    return _stacked(panels)


def _stacked(panels: list[pictures.Chart]) -> pictures.Chart:
    return panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=14)


def _titled(name: str, risk: Risk) -> str:
    return Phrase("{file}: {classes}", file=name, classes=counted(risk.classes, "class"))


def _colour(named: Named, place: int) -> str:
    return pictures.AFTER if place == len(named) - 1 else pictures.BEFORE


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
    "marketer": Phrase("marketer"),
    "journalist": Phrase("journalist"),
    "population_average_risk": Phrase("average risk"),
    "population_records_at_risk": Phrase("records at risk"),
}


def population_figures(risk: Risk) -> list[pictures.Figure]:
    """Intervals beside thresholds, and the number of correct matches.

    Parameters
    ----------
    risk
        What was measured; nothing is drawn where nothing is known of the population.
    """
    own = risk.population
    return [] if own is None else [_intervals(risk, own), _matches(own)]


def _intervals(risk: Risk, own: PopulationRisk) -> pictures.Figure:
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
        alt.X("value:Q", title=Phrase("chance or share (%)"))
        .scale(type="log", domain=[start, 1])
        .axis(
            values=[at for at in _TICKS if at >= start],
            labelExpr=pictures.PERCENT,
            gridColor=pictures.FAINT,
        )
    )
    base = alt.Chart(pictures.values(rows))
    layers = [
        base.mark_rule(color=pictures.AFTER, strokeWidth=9, opacity=0.4).encode(
            x=alt.X("low:Q").scale(type="log", domain=[start, 1]), x2=alt.X2("high:Q"), y=place
        ),
        base.mark_tick(
            color=pictures.AFTER, thickness=2.5, size=15, opacity=1, orient="vertical"
        ).encode(x=axis, y=place),
        base.mark_text(color=pictures.INK, dy=-13).encode(x=axis, y=place, text=alt.Text("text:N")),
    ]
    if marks:
        ticks = alt.Chart(pictures.values(marks)).mark_tick(
            color=pictures.LIMIT, thickness=1.6, size=26, orient="vertical", opacity=1
        )
        layers.append(ticks.encode(x=alt.X("limit:Q"), y=place))
    said = Listed((Listed((row["name"], row["text"]), " ") for row in rows), "; ")
    chart = alt.LayerChart(layer=layers, width=pictures.HALF - 60, height=_ROW * len(rows))
    return pictures.Figure(
        pictures.picture(chart, "intervals", Phrase("Points with intervals: {rows}.", rows=said)),
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


def _matches(own: PopulationRisk) -> pictures.Figure:
    kinds = ((Phrase("one-to-one"), own.one_to_one), (Phrase("free"), own.free))
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
        "x": alt.X("matches:Q", title=Phrase("people found"))
        .scale(zero=False, nice=False)
        .axis(tickCount=5),
        "y": alt.Y("p:Q", title=Phrase("probability (%)")).axis(
            labelExpr=pictures.PERCENT, tickCount=4
        ),
        "color": alt.Color("kind:N").scale(domain=names, range=[pictures.AFTER, pictures.BEFORE]),
        "strokeDash": alt.StrokeDash("kind:N").scale(domain=names, range=[[1, 0], [5, 3]]),
    }
    lines = alt.Chart(pictures.values(rows)).mark_line(interpolate="step-after", strokeWidth=2)
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
        width=pictures.HALF - 30, height=_ROW * len(POPULATION_SHARES) - 34
    )
    return pictures.Figure(
        pictures.picture(
            chart, "matches", Phrase("Lines: probability of each number. {said}.", said=said)
        ),
        Phrase("How many people an intruder finds"),
        Sentence("{begin}.", begin=said),
    )


def before_after_figure(content: Mapping[str, Any]) -> pictures.Figure | None:
    """Risk before and after, of every measure that is a share; nothing where a file has none.

    Of many sensitive columns the worst are drawn.
    """
    groups = [("", group["lines"]) for group in content["risk"]]
    groups += [(group["attribute"], group["lines"]) for group in content["sensitive"][:MOST_DRAWN]]
    rows = [
        {
            "measure": Listed(filter(None, (of, _DRAWN[line["name"]])), ": "),
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
    chart = _joined_points(rows, "measure", "before", "after", Phrase("share or chance (%)"))
    said = Listed(
        (
            Phrase(
                "{measure}: {before} before, {after}",
                measure=row["measure"],
                before=percent(row["before"]),
                after=percent(row["after"]),
            )
            for row in rows
        ),
        "; ",
    )
    many = len(content["sensitive"])
    note = Phrase("Light: original. Dark: release.")
    if many > MOST_DRAWN:
        note = Phrase(
            "Light: original. Dark: release. The worst {some} of {n} sensitive columns.",
            some=MOST_DRAWN,
            n=many,
        )
    return pictures.Figure(
        pictures.picture(chart, "before-after", Phrase("Points: {said}.", said=said)),
        Phrase("Risk before and after"),
        note,
        wide=True,
    )


def _joined_points(
    rows: Sequence[Mapping[str, Any]], name: str, light: str, dark: str, across: str
) -> alt.LayerChart:
    """Two shares in each row, a light and a dark point, joined by a rule."""
    base = pictures.named_rows(rows, name)
    axis = alt.Axis(labelExpr=pictures.PERCENT, gridColor=pictures.FAINT, title=across)
    top = pictures.share_end(max(max(row[light], row[dark]) for row in rows))
    x = alt.X(f"{light}:Q", scale=alt.Scale(domain=[0, top]), axis=axis)
    rule = base.mark_rule(color=pictures.QUIET, strokeWidth=1).encode(x=x, x2=alt.X2(f"{dark}:Q"))
    points = [
        base.mark_point(filled=True, size=75, color=colour, opacity=1).encode(x=alt.X(f"{of}:Q"))
        for of, colour in ((light, pictures.BEFORE), (dark, pictures.AFTER))
    ]
    return pictures.layered_rows([rule, *points], len(rows))


def uniqueness_growth(steps: Sequence[Mapping[str, Any]], place: int) -> pictures.Figure:
    """How the share of unique people grows with each column.

    Parameters
    ----------
    steps
        By column: its name, and the shares of unique people up to it and without it.
    """
    chart = _joined_points(steps, "column", "without", "up_to", Phrase("unique people (%)"))
    said = Phrase(
        "All columns together: {share} of people are unique.", share=percent(steps[-1]["up_to"])
    )
    words = Phrase("Dark: with this column and those above it. Light: with all but this one.")
    drawn = pictures.picture(
        chart, f"unique{place}", Phrase("Unique people by columns. {said}", said=said)
    )
    note = Listed((words, said), " ")
    return pictures.Figure(drawn, Phrase("How columns single people out"), note, wide=True)
