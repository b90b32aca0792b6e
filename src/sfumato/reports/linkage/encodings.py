"""The page of a linkage of encodings."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from math import isfinite

from sfumato.linkage.encodings.unit.links import EncodedLinks
from sfumato.linkage.outcomes.table import THRESHOLDS, ThresholdRow, threshold_table
from sfumato.reports.linkage.environment import environment
from sfumato.reports.linkage.plots.scores import persons_figure, quality_figure, scores_figure


def draw_encoded_linkage(links: EncodedLinks, title: str, made: date) -> str:
    """The report on a linkage of encodings as one HTML page.

    Parameters
    ----------
    links
        The linkage.
    title
        What stands above it.
    made
        The day that it bears.
    """
    figures = [scores_figure(links), quality_figure(links)] if links.estimated else []
    return (
        environment()
        .get_template("linkage_encodings.html")
        .render(
            title=title,
            made=made,
            version=version("sfumato"),
            links=links,
            found=links.to_json(),
            upper=_upper(links),
            thresholds=_thresholds(links) if links.estimated else [],
            summary_figures=figures,
            persons=persons_figure(links),
        )
    )


def _upper(links: EncodedLinks) -> float | None:
    return links.thresholds.upper if isfinite(links.thresholds.upper) else None


def _thresholds(links: EncodedLinks) -> list[ThresholdRow]:
    upper = _upper(links)
    return threshold_table(
        links.pairs.score,
        thresholds=sorted({*THRESHOLDS, *([] if upper is None else [upper])}),
        lower=links.thresholds.lower,
        probability=links.settled.probability,
        lost=links.lost,
    )
