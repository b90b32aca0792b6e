"""The page of a linkage: what was compared, how pairs scored and why, who became one person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from math import ceil, floor, isfinite, log2
from typing import Any

import altair as alt
import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints, Levels
from sfumato.core.number_text import count, counted
from sfumato.core.phrases import Listed, Phrase
from sfumato.linkage import match_thresholds
from sfumato.linkage.encoding_linkage import EncodedLinks
from sfumato.linkage.link_model import LevelWeight
from sfumato.linkage.linkage_result import Found, Links
from sfumato.linkage.person_inspection import inspect_persons
from sfumato.reports import linkage_tables as tables
from sfumato.reports import pictures
from sfumato.reports.printed_numbers import fill_template

_HEIGHT = 160
_LEAST, _MOST = -20.0, 40.0
"""Farthest ends of the axis of match weights, in bits."""
_WIDTH = 2
"""Bits in a bar."""
_TEN = log2(10)
"""Bits between ticks: odds of ten times as much."""
_HALF_TICKS = 4
"""Ticks that half a picture has room for."""
_POWER = "pow(2, abs(datum.value))"
# Ticks are powers of ten, which come out a little below themselves.
_POINTS = 200
"""Points of a curve."""
_ROW = 30
"""Height of a bar with its name above it and its gap, in pixels."""
_BELOW = 6
"""How far a bar stands below the middle of its row, and its name above it, in pixels."""
_SATURATED = 39.0
"""Match weight in bits from which a score does not tell the weight any more."""
_LOOKED_AT = 5
"""Largest persons, and bridges, that the page names."""
# Fewer would tell of single pairs.
_FEWEST = 3
"""Pairs that a pattern must have to be shown."""
_TITLES = {
    match_thresholds.MATCH: Phrase("How a match adds up"),
    match_thresholds.POSSIBLE_MATCH: Phrase("How a possible match adds up"),
    match_thresholds.NON_MATCH: Phrase("How a non-match adds up"),
}


def _times() -> str:
    """Vega's expression for how many times as many the logarithm of a tick stands for."""
    large = {size: json.dumps(f" {tables.LARGE[size].said().strip()}") for size in tables.LARGE}
    shown = f"format({_POWER}, ',.0f')"
    for size in sorted(large):
        more = f"format({_POWER} / {size:g}, ',.0f') + {large[size]}"
        # Ticks are powers of ten, which come out a little below themselves.
        shown = f"{_POWER} < {0.9 * size:g} ? ({shown}) : ({more})"
    return f"({shown})"


def _as_odds() -> str:
    """Labels of ticks, whose values are logarithms: people read odds."""
    return f"datum.value < 0 ? '1 : ' + {_times()} : {_times()} + ' : 1'"


def _as_times() -> str:
    """The same as how many times as many."""
    return f"abs(datum.value) < 1e-9 ? '1' : (datum.value < 0 ? '÷ ' : '× ') + {_times()}"


def draw_linkage(links: Links | EncodedLinks, title: str, made: date) -> str:
    """The report on a linkage, of records or of their encodings, as one HTML page."""
    # Without a threshold nothing is a match by score, and no line can be drawn.
    upper = links.thresholds.upper if isfinite(links.thresholds.upper) else None
    shared: dict[str, Any] = {"title": title, "made": made, "links": links, "upper": upper}
    persons = _persons_figure(links)
    if isinstance(links, EncodedLinks):
        return fill_template(
            "linkage_encodings.html",
            found=links.to_json(),
            glance=tables.encodings_glance(links) if links.estimated else None,
            thresholds=tables.thresholds(links, upper) if links.estimated else None,
            summary_figures=[_scores_figure(links), _quality_figure(links)]
            if links.estimated
            else [],
            matched=tables.matched(links),
            persons=persons,
            **shared,
        )
    found = links.to_json()
    looked = inspect_persons(
        links.person_ids.ids,
        links.pairs,
        links.records,
        once={*links.spec.one_per_source, *links.model.once},
        unmet=len(links.settled.persons.unmet),
        most=_LOOKED_AT,
    )
    return fill_template(
        "linkage.html",
        found=found,
        work=links.settled.workload,
        glance=tables.glance(links, found["persons"]),
        compared=tables.compared(links),
        rules=tables.rules(links),
        thresholds=tables.thresholds(links, upper) if links.told else None,
        summary_figures=[_scores_figure(links), *([_quality_figure(links)] if links.told else [])],
        weights=_weights_figure(links),
        waterfalls=[
            _waterfall_figure(pattern, f"waterfall{place}")
            for place, pattern in enumerate(_patterns(links))
        ],
        levels=tables.levels(links),
        persons=persons,
        looked=looked,
        looked_at=tables.looked_at(looked),
        contradictions=tables.contradictions(found["decisions"]),
        **shared,
    )


def _bits(score: Floats) -> Floats:
    """Match weight of each score in bits, within the axis."""
    # Scores of 0 and 1 have no finite weight.
    kept = np.clip(score, 1e-15, 1 - 1e-15)
    return np.asarray(np.clip(np.log2(kept / (1 - kept)), _LEAST, _MOST))


def _ends(links: Found) -> tuple[float, float]:
    """Where the axis of the pairs' odds begins and ends: with the pairs and the thresholds."""
    limits = [each for each in (links.thresholds.lower, links.thresholds.upper) if isfinite(each)]
    score = links.pairs.score
    drawn = _bits(np.array([score.min(initial=0.5), score.max(initial=0.5), *limits]))
    least, most = (
        _WIDTH * float(turn(end / _WIDTH))
        for turn, end in ((np.floor, drawn.min()), (np.ceil, drawn.max()))
    )
    return least, max(most, least + _WIDTH)


def _odds_axis(field: str, title: str, least: float, most: float) -> alt.X:
    """An axis of match weights that reads as odds."""
    axis: alt.X = (
        alt.X(f"{field}:Q", title=title)
        .scale(domain=[least, most], nice=False)
        .axis(
            grid=False,
            values=_ticks((least, most), _HALF_TICKS),
            labelExpr=_as_odds(),
            labelOverlap=True,
        )
    )
    return axis


def _scores_figure(links: Found) -> pictures.Figure:
    """Number of pairs by match weight, with both thresholds."""
    least, most = _ends(links)
    edges = np.arange(least, most + _WIDTH, _WIDTH)
    height, _ = np.histogram(_bits(links.pairs.score), edges)
    rows = [
        # A logarithmic axis has no 0: bars begin at half a pair.
        {"low": low, "high": low + _WIDTH, "pairs": pairs, "from": 0.5}
        for low, pairs in zip(edges.tolist(), height.tolist(), strict=False)
        if pairs
    ]
    bars = (
        alt.Chart(pictures.values(rows))
        .mark_bar(color=pictures.AFTER, stroke="white", strokeWidth=0.6)
        .encode(
            x=_odds_axis("low", Phrase("odds that a pair is of one person"), least, most),
            x2=alt.X2("high:Q"),
            y=alt.Y("pairs:Q", title=None)
            .scale(type="log", domain=[0.5, max(2.0, 2.0 * int(height.max(initial=1)))])
            .axis(gridColor=pictures.FAINT, tickCount=5, format="~s"),
            y2=alt.Y2("from:Q"),
        )
    )
    scores = (
        (Phrase("possible"), links.thresholds.lower, False),
        (Phrase("match"), links.thresholds.upper, True),
    )
    limits = [
        layer
        for name, score, right in scores
        if isfinite(score) and 0 < score < 1
        for layer in pictures.limit_mark(log2(score / (1 - score)), name, "low", right=right)
    ]
    chart = alt.LayerChart(layer=[bars, *limits], width=pictures.HALF, height=_HEIGHT)
    pairs = counted(len(links.pairs), "pair")
    said = Phrase("Histogram of the odds of {pairs}, and thresholds.", pairs=pairs)
    return pictures.Figure(
        pictures.picture(chart, "scores", said),
        Phrase("Pairs by their odds to be of one person; {pairs}", pairs=pairs),
        Phrase(
            "Number of pairs, on a logarithmic scale; the lines are the thresholds. Pairs that "
            "score next to nothing are not kept."
        ),
    )


def _quality_figure(links: Found) -> pictures.Figure:
    """Expected precision and recall at every threshold."""
    at = match_thresholds.curve(links.pairs.score, links.settled.probability)
    # As many points as a picture can show, of millions perhaps.
    chosen = np.unique(np.linspace(0, len(at.score) - 1, _POINTS).astype(np.int64))
    # Recall counts what blocking lost, too: the pairs that were scored are a share of all.
    share = at.true / (at.true + links.lost) if at.true + links.lost > 0 else 1.0
    names = (Phrase("precision"), Phrase("recall"))
    rows = [
        {"bits": bits, "share": value, "what": name}
        for name, of in zip(names, (at.precision, at.recall * share), strict=True)
        for bits, value in zip(
            _bits(at.score[chosen]).tolist(), np.clip(of[chosen], 0, 1).tolist(), strict=True
        )
    ]
    lines = (
        alt.Chart(pictures.values(rows))
        .mark_line(strokeWidth=2.2)
        .encode(
            # The same axis as that of the scores, so that both pictures can be read together.
            x=_odds_axis("bits", Phrase("least odds of a match"), *_ends(links)),
            y=alt.Y("share:Q", title=Phrase("pairs (%)")).scale(
                domain=[0, 1.02], nice=False
            ).axis(labelExpr=pictures.PERCENT, tickCount=5, gridColor=pictures.FAINT),
            color=alt.Color("what:N").scale(
                alt.Scale(domain=list(names), range=[pictures.AFTER, pictures.BEFORE])
            ),
            # Dashes tell the lines apart in black and white.
            strokeDash=alt.StrokeDash("what:N").scale(
                alt.Scale(domain=list(names), range=[[1, 0], [5, 3]])
            ),
        )
    )  # fmt: skip
    precision, recall = tables.by_score(links.settled.quality)
    told = {"precision": precision, "recall": recall}
    title = Phrase("Expected precision by score, and recall by score")
    note = Phrase(
        "By the least odds of a match; at the threshold taken: precision by score {precision}, "
        "recall by score {recall}. Recall counts what blocking may have lost.",
        **told,
    )
    if isinstance(links, EncodedLinks):
        title = Phrase("Expected precision by score, and recall among similar pairs")
        note = Phrase(
            "By the least odds of a match; at the threshold taken: precision by score {precision}, "
            "recall among similar pairs {recall}. Recall leaves out matches that look unlike.",
            **told,
        )
    chart = alt.LayerChart(layer=[lines], width=pictures.HALF, height=_HEIGHT)
    said = Phrase(
        "Lines: expected precision and recall. Now precision {precision}, recall {recall}.", **told
    )
    return pictures.Figure(pictures.picture(chart, "quality", said), title, note)


def _persons_figure(links: Found) -> pictures.Figure:
    """How many records the people have."""
    sizes = links.person_sizes.astype(np.int64)
    bins = pictures.size_bins(int(sizes.max()))
    shares = bins.shares(sizes)
    chart = pictures.labelled_bars(
        shares,
        bins.labels,
        Phrase("records of the person"),
        height=_HEIGHT,
        upward=Phrase("people (%)"),
    )
    said = Phrase(
        "{people}; the most records: {most}.",
        people=counted(len(sizes), "person"),
        most=count(int(sizes.max())),
    )
    drawn = Phrase("Bars: share of people by number of records. {said}", said=said)
    return pictures.Figure(
        pictures.picture(chart, "persons", drawn), Phrase("Records per person"), said
    )


@dataclass(frozen=True)
class _Pattern:
    """Pairs that agree and differ in the same way.

    Attributes
    ----------
    steps
        What adds up to their match weight: name and bits.
    """

    outcome: int
    pairs: int
    steps: tuple[tuple[str, float], ...]
    of: int
    with_frequency: bool

    @property
    def title(self) -> str:
        """What a picture of it is called."""
        return _TITLES[self.outcome]

    @property
    def note(self) -> str:
        """Which pairs it stands for."""
        said = Phrase(
            "The most frequent pattern of levels: {some} of {all} pairs of this outcome. Levels "
            "only; no value of a record is in this picture.",
            some=count(self.pairs),
            all=count(self.of),
        )
        if self.with_frequency:
            return said
        return Listed((said, Phrase("How frequent the values are is not in it.")), " ")


def _patterns(links: Links) -> list[_Pattern]:
    """The most frequent pattern of each outcome, where at least three pairs have it."""
    if not links.pairs.levels:
        return []
    found = (
        _most_frequent(links, outcome)
        for outcome in (
            match_thresholds.MATCH,
            match_thresholds.POSSIBLE_MATCH,
            match_thresholds.NON_MATCH,
        )
    )
    return [pattern for pattern in found if pattern is not None and pattern.pairs >= _FEWEST]


def _largest_group(levels: list[Levels]) -> tuple[list[int], int, Bools]:
    """The most frequent combination of levels, its number of pairs, and which they are."""
    group: Ints = np.zeros(len(levels[0]), dtype=np.int64)
    for level in levels:
        # Levels begin at -1: shifted, each combination is a number of its own.
        joint = group * (int(level.max()) + 2) + level + 1
        _, group = np.unique(joint, return_inverse=True)
    counts = np.bincount(group)
    alike = group == int(np.argmax(counts))
    first = int(np.argmax(alike))
    return [int(level[first]) for level in levels], int(counts.max()), alike


def _most_frequent(links: Links, outcome: int) -> _Pattern | None:
    own = np.flatnonzero(links.settled.by_score == outcome)
    if not len(own):
        return None
    first, number, alike = _largest_group([level[own] for level in links.pairs.levels.values()])
    score = np.clip(links.pairs.score[own[alike]], 1e-15, 1 - 1e-15)
    final = float(np.mean(np.log2(score / (1 - score))))
    weights = {(weight.comparison, weight.level): weight for weight in links.model.weights}
    prior = links.model.prior
    steps: list[tuple[str, float]] = [
        (Phrase("two records at random"), float(np.log2(prior / (1 - prior))))
    ]
    for name, level in zip(links.pairs.levels, first, strict=True):
        each = weights.get((name, level))
        label = Phrase("missing") if each is None else each.label
        bits = 0.0 if each is None else each.weight
        steps.append((Listed((_comparison(name), label), ": "), bits))
    # Near 1 a score has lost the last digits of its weight: the rest would be rounding.
    if final < _SATURATED:
        rest = final - sum(bits for _, bits in steps)
        steps.append((Phrase("frequency of the values (mean)"), rest))
    return _Pattern(outcome, number, tuple(steps), len(own), final < _SATURATED)


def _weights_figure(links: Links) -> pictures.Figure:
    """How many times as frequent each comparison level is among pairs of one person."""
    weights = links.model.weights
    rows = [
        {
            "level": _named(weight),
            "bits": weight.weight,
            "side": "for" if weight.weight >= 0 else "against",
            "text": tables.times(weight.weight),
        }
        for weight in weights
    ]
    title = Phrase("how many times as frequent among pairs of one person")
    chart = _bars(rows, [_named(weight) for weight in weights], title)
    said = Phrase("Bars: what each comparison level says. {said}.", said=_told(rows))
    return pictures.Figure(
        pictures.picture(chart, "weights", said),
        Phrase("What each comparison level says for a match or against it"),
        Phrase(
            "Right, ×: so many times as frequent among pairs of one person as among others. Left, "
            "÷: as rare. The frequency of the value is not in it."
        ),
    )


def _told(rows: Iterable[Mapping[str, Any]]) -> Listed:
    return Listed((Listed((row["level"], row["text"]), ": ") for row in rows), "; ")


def _waterfall_figure(pattern: _Pattern, key: str) -> pictures.Figure:
    """How the weights of one pattern of comparison levels add up."""
    rows, at = [], 0.0
    for name, bits in pattern.steps:
        rows.append(_step(name, at, at + bits, bits))
        at += bits
    rows[0]["text"] = tables.odds(pattern.steps[0][1])
    last = _step(Phrase("odds of the pairs"), 0.0, at, at, whole=True)
    rows.append(last | {"text": tables.odds(at)})
    names = [row["level"] for row in rows]
    base, named = _base(rows, names)
    bars = base.mark_bar(height=10, yOffset=_BELOW).encode(
        x=alt.X("low:Q", title=Phrase("odds that the pair is of one person")).axis(
            gridColor=pictures.FAINT,
            values=_ticks((row[end] for row in rows for end in ("low", "high")), _HALF_TICKS),
            labelExpr=_as_odds(),
            labelOverlap=True,
        ),
        x2=alt.X2("high:Q"),
        color=_side(),
    )
    text = base.mark_text(align="left", dx=5, dy=_BELOW, color=pictures.INK).encode(
        x=alt.X("high:Q"), text=alt.Text("text:N")
    )
    chart = alt.LayerChart(layer=[bars, text, named], width=pictures.HALF, height=_ROW * len(rows))
    said = Phrase("Waterfall. {said}.", said=_told(rows))
    return pictures.Figure(pictures.picture(chart, key, said), pattern.title, pattern.note)


def _step(name: str, start: float, end: float, bits: float, whole: bool = False) -> dict[str, Any]:
    side = "sum" if whole else ("for" if bits >= 0 else "against")
    low, high = min(start, end), max(start, end)
    return {"level": name, "low": low, "high": high, "side": side, "text": tables.times(bits)}


def _ticks(ends: Iterable[float], most: int = 5) -> list[float]:
    """Ticks of an axis of weights: powers of ten, or farther apart where it is long.

    Parameters
    ----------
    most
        How many the picture has room for.
    """
    least, *_, last = sorted(ends)
    ticks: list[float] = []
    # Of 10, 100, a thousand, a million, a billion, a trillion.
    for tens in (1, 2, 3, 6, 9, 12):
        step = tens * _TEN
        ticks = [place * step for place in range(ceil(least / step), floor(last / step) + 1)]
        if len(ticks) <= most:
            break
    return ticks


def _named(each: LevelWeight) -> str:
    return f"{_comparison(each.comparison)}: {each.label}"


def _base(rows: list[dict[str, Any]], names: list[str]) -> tuple[alt.Chart, alt.Chart]:
    """Rows in their order, and their names above the bars, where a telephone has room for them."""
    base = alt.Chart(pictures.values(rows)).encode(
        y=alt.Y("level:N", sort=names, title=None).axis(None)
    )
    words = base.mark_text(align="left", dy=-_BELOW, limit=pictures.HALF, color=pictures.QUIET)
    # Where the picture begins, wherever the bar does.
    return base, words.encode(
        x=alt.XValue(0),  # type: ignore[no-untyped-call]
        text=alt.Text("level:N"),
    )


def _bars(rows: list[dict[str, Any]], names: list[str], title: str) -> alt.LayerChart:
    base, named = _base(rows, names)
    ends = [min(0.0, *(row["bits"] for row in rows)), max(0.0, *(row["bits"] for row in rows))]
    room = 0.08 * (ends[1] - ends[0])
    bars = base.mark_bar(height=10, yOffset=_BELOW).encode(
        x=alt.X("bits:Q", title=title)
        .scale(domain=[ends[0] - room, ends[1] + room], nice=False)
        .axis(
            gridColor=pictures.FAINT,
            values=_ticks(ends, _HALF_TICKS),
            labelExpr=_as_times(),
            labelOverlap=True,
        ),
        color=_side(),
    )
    right = base.transform_filter("datum.bits >= 0").mark_text(align="left", dx=4, dy=_BELOW)
    left = base.transform_filter("datum.bits < 0").mark_text(align="right", dx=-4, dy=_BELOW)
    texts = [each.encode(x=alt.X("bits:Q"), text=alt.Text("text:N")) for each in (right, left)]
    return alt.LayerChart(layer=[bars, *texts, named], width=pictures.HALF, height=_ROW * len(rows))


def _side() -> alt.Color:
    scale = alt.Scale(
        domain=["for", "against", "sum"], range=[pictures.AFTER, pictures.BEFORE, pictures.QUIET]
    )
    return alt.Color("side:N", legend=None).scale(scale)


def _comparison(name: str) -> str:
    return name.replace("_", " ")
