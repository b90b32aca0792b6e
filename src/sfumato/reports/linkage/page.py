"""The page of a linkage: gather what it shows, and fill its template."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from math import isfinite
from typing import Any

from sfumato.linkage.links import Links
from sfumato.linkage.outcomes.table import THRESHOLDS, threshold_table
from sfumato.linkage.summary import as_json
from sfumato.reports.linkage.environment import environment
from sfumato.reports.linkage.patterns import patterns_of
from sfumato.reports.linkage.plots.scores import persons_figure, quality_figure, scores_figure
from sfumato.reports.linkage.plots.weights import waterfall_figure, weights_figure


def draw_linkage(links: Links, title: str, made: date) -> str:
    """The report on a linkage as one HTML page.

    Parameters
    ----------
    links
        The linkage.
    title
        What stands above it.
    made
        The day that it bears.
    """
    return (
        environment()
        .get_template("linkage.html")
        .render(title=title, made=made, version=version("sfumato"), **_content(links))
    )


def _content(links: Links) -> dict[str, Any]:
    upper = links.thresholds.upper
    return {
        "links": links,
        "found": as_json(links),
        "work": links.settled.workload,
        "upper": upper if isfinite(upper) else None,
        "compared": _compared(links),
        "rules": _rules(links),
        "thresholds": _thresholds(links),
        "summary_figures": [
            scores_figure(links),
            *([] if links.contradicted else [quality_figure(links)]),
        ],
        "weights": weights_figure(links),
        "waterfalls": [
            waterfall_figure(pattern, f"waterfall{place}")
            for place, pattern in enumerate(patterns_of(links))
        ],
        "persons": persons_figure(links),
    }


def _compared(links: Links) -> list[tuple[str, str, str]]:
    """Compared columns: name, kind, and whether rare values count more."""
    said = {None: "where it is usual", True: "yes", False: "no"}
    return [
        (name, column.kind.value, said[column.term_frequency] if column.compare else "not compared")
        for name, column in links.spec.columns.items()
    ]


def _rules(links: Links) -> list[tuple[str, int]]:
    words = (
        [rule.rule for rule in links.model.rules]
        if links.spec.splink is not None
        else [" and ".join(rule) for rule in links.spec.blocking]
    )
    return list(zip(words, (rule.pairs for rule in links.model.rules), strict=True))


def _thresholds(links: Links) -> list[Any]:
    taken = {links.thresholds.upper} if isfinite(links.thresholds.upper) else set()
    return threshold_table(
        links.pairs.score,
        thresholds=sorted({*THRESHOLDS, *taken}),
        lower=links.thresholds.lower,
        probability=links.settled.probability,
        lost=links.lost,
    )
