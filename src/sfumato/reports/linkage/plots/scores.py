"""Pairs by score, expected precision and recall, and records per person."""

from __future__ import annotations

from math import isfinite, log2

import altair as alt
import numpy as np

from sfumato.linkage.found import Found
from sfumato.linkage.outcomes.expected import curve
from sfumato.linkage.values import Floats
from sfumato.reports.numbers import count, percent
from sfumato.reports.plots.bins import size_bins
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

HEIGHT = 160
LEAST, MOST = -20.0, 40.0
"""Ends of the axis of match weights, in bits."""
WIDTH = 2
"""Bits in a bar."""
POINTS = 200
"""Points of a curve."""


def bits_of(score: Floats) -> Floats:
    """Match weight of each score in bits, within the axis."""
    kept = np.clip(score, 1e-15, 1 - 1e-15)
    return np.asarray(np.clip(np.log2(kept / (1 - kept)), LEAST, MOST))


def scores_figure(links: Found) -> Figure:
    """Number of pairs by match weight, with both thresholds.

    Parameters
    ----------
    links
        The linkage.
    """
    edges = np.arange(LEAST, MOST + WIDTH, WIDTH)
    height, _ = np.histogram(bits_of(links.pairs.score), edges)
    rows = [
        {"low": low, "high": low + WIDTH, "pairs": pairs, "from": 0.5}
        for low, pairs in zip(edges.tolist(), height.tolist(), strict=False)
        if pairs
    ]
    bars = (
        alt.Chart(values(rows))
        .mark_bar(color=AFTER, stroke="white", strokeWidth=0.6)
        .encode(
            x=alt.X("low:Q", title="match weight in bits: log₂ of the odds")
            .scale(domain=[LEAST, MOST], nice=False)
            .axis(grid=False, tickCount=7),
            x2="high:Q",
            y=alt.Y("pairs:Q", title=None)
            .scale(type="log", domain=[0.5, max(2.0, 2.0 * int(height.max(initial=1)))])
            .axis(gridColor=FAINT, tickCount=5, format="~s"),
            y2="from:Q",
        )
    )
    layers = [bars, *_limits(links)]
    chart = alt.LayerChart(layer=layers, width=HALF, height=HEIGHT)
    said = f"{count(len(links.pairs))} pairs"
    return Figure(
        picture(chart, "scores", f"Histogram of the match weights of {said}, and thresholds."),
        "Pairs by match weight",
        "Number of pairs, on a logarithmic scale; the lines are the thresholds. Pairs that score "
        "next to nothing are not kept.",
    )


def _limits(links: Found) -> list[Chart]:
    at = links.thresholds
    layers: list[Chart] = []
    for name, score in (("possible", at.lower), ("match", at.upper)):
        if not isfinite(score) or not 0 < score < 1:
            continue
        mark = alt.Chart(values([{"low": log2(score / (1 - score)), "text": name}]))
        rule = mark.mark_rule(color=LIMIT, strokeWidth=1.3, strokeDash=[2, 2]).encode(x="low:Q")
        words = mark.mark_text(
            color=LIMIT,
            align="left" if name == "match" else "right",
            dx=4 if name == "match" else -4,
            baseline="top",
        ).encode(x="low:Q", y=alt.value(0), text="text:N")
        layers += [rule, words]
    return layers


def quality_figure(links: Found) -> Figure:
    """Expected precision and recall at every threshold.

    Parameters
    ----------
    links
        The linkage.
    """
    at = curve(links.pairs.score, links.settled.probability)
    chosen = np.unique(np.linspace(0, len(at.score) - 1, POINTS).astype(np.int64))
    share = at.true / (at.true + links.lost) if at.true + links.lost > 0 else 1.0
    names = ("precision", "recall")
    rows = [
        {"bits": bits, "share": value, "what": name}
        for name, of in zip(names, (at.precision, at.recall * share), strict=True)
        for bits, value in zip(
            bits_of(at.score[chosen]).tolist(), np.clip(of[chosen], 0, 1).tolist(), strict=True
        )
    ]
    lines = (
        alt.Chart(values(rows))
        .mark_line(strokeWidth=2.2)
        .encode(
            x=alt.X("bits:Q", title="least match weight of a match, in bits")
            .scale(domain=[LEAST, MOST], nice=False)
            .axis(grid=False, tickCount=7),
            y=alt.Y("share:Q", title=None).scale(domain=[0, 1.02], nice=False).axis(
                format=PERCENT, tickCount=5, gridColor=FAINT
            ),
            color=alt.Color("what:N").scale(alt.Scale(domain=list(names), range=[AFTER, BEFORE])),
            strokeDash=alt.StrokeDash("what:N").scale(
                alt.Scale(domain=list(names), range=[[1, 0], [5, 3]])
            ),
        )
    )  # fmt: skip
    precision, recall = links.quality
    said = f"precision {percent(precision.value, 2)}, recall {percent(recall.value, 2)}"
    chart = alt.LayerChart(layer=[lines], width=HALF, height=HEIGHT)
    return Figure(
        picture(chart, "quality", f"Lines: expected precision and recall. Now {said}."),
        "Expected precision and recall",
        f"By the least weight of a match; at the threshold taken: {said}. Recall counts what "
        "blocking may have lost.",
    )


def persons_figure(links: Found) -> Figure:
    """How many records the persons have.

    Parameters
    ----------
    links
        The linkage.
    """
    sizes = links.person_sizes.astype(np.int64)
    bins = size_bins(int(sizes.max()))
    shares = bins.shares(sizes)
    rows = [
        {"label": label, "share": share, "text": percent(share) if share else ""}
        for label, share in zip(bins.labels, shares.tolist(), strict=True)
    ]
    base = alt.Chart(values(rows)).encode(
        x=alt.X("label:N", sort=list(bins.labels), title="records of the person").axis(
            labelAngle=0, grid=False
        ),
        y=alt.Y("share:Q", title=None)
        .scale(domain=[0, min(1.15 * float(shares.max()), 1.15)], nice=False)
        .axis(format=PERCENT, tickCount=3, gridColor=FAINT),
    )
    layers = [
        base.mark_bar(color=AFTER),
        base.mark_text(dy=-6, color=INK).encode(text="text:N"),
    ]
    chart = alt.LayerChart(layer=layers, width=HALF, height=HEIGHT)
    said = f"{count(len(sizes))} persons; the most records: {count(int(sizes.max()))}"
    return Figure(
        picture(chart, "persons", f"Bars: share of persons by number of records. {said}."),
        "Records per person",
        f"Share of the persons. {said}.",
    )
