"""The report on a linkage as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sfumato.linkage.encodings.unit.links import EncodedLinks
from sfumato.linkage.links import Links
from sfumato.linkage.outcomes.table import threshold_table


def linkage_json(links: Links) -> dict[str, Any]:
    """Numbers about a linkage, its thresholds and its weights; no table where checks contradict it.

    Parameters
    ----------
    links
        The linkage.
    """
    table = []
    if not links.contradicted:
        table = threshold_table(
            links.pairs.score,
            lower=links.thresholds.lower,
            probability=links.settled.probability,
            lost=links.lost,
        )
    return {
        **links.to_json(),
        "threshold_table": [asdict(row) for row in table],
        "model": dict(links.manifest.model),
    }


def encoded_linkage_json(links: EncodedLinks) -> dict[str, Any]:
    """Numbers about a linkage of encodings, and its thresholds where scores are probabilities.

    Parameters
    ----------
    links
        The linkage.
    """
    table = []
    if links.estimated:
        table = threshold_table(links.pairs.score, lower=links.thresholds.lower, lost=links.lost)
    return {
        **links.to_json(),
        "threshold_table": [asdict(row) for row in table],
        "model": dict(links.manifest.model),
    }
