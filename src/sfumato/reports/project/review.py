"""What people were shown of the records while they decided about possible matches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.results import REVIEW, ProjectResults

BY = {
    "terminal": "by people, in a terminal",
    "application": "by people, in the web application",
    "simulated": "by a simulated worker: nobody looked at the records",
}
DIGITS, COARSE = 9, 0.001
"""Decimals of KAPR inside, and the least that is told outside."""


def review_of(results: ProjectResults, show: Internal) -> dict[str, Any] | None:
    """The disclosure of a review; ``None`` where there was none.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    found = results.measured(REVIEW)
    if not found:
        return None
    rules = results.settings(REVIEW).get("rules", {})
    workers: list[Mapping[str, Any]] = list(found.get("workers", ()))
    most = max((each["kapr"] for each in workers), default=None)
    agreement = found.get("agreement") or {}
    return {
        "by": found["by"],
        "by_words": BY.get(found["by"], found["by"]),
        "possible_matches": show.count(found["possible_matches"]),
        "answered": None if show.is_public else found["answered"],
        "carried": None if show.is_public else found.get("carried", 0),
        "k": rules.get("k"),
        "budget": rules.get("budget"),
        "project_budget": rules.get("project_budget"),
        "people": show.count(len(workers)),
        "most_kapr": _kapr(most, show),
        "combined_kapr": _kapr(found.get("combined_kapr"), show),
        "agreement": show.number(agreement.get("sides")),
        "conflicts": None if show.is_public else found.get("conflicts", 0),
        "workers": [] if show.is_public else [_worker(each) for each in workers],
    }


def _kapr(value: float | None, show: Internal) -> Any:
    """KAPR is a share of all that could be disclosed, and names no record."""
    if value is None or not show.is_public:
        return None if value is None else round(value, DIGITS)
    return {"below": COARSE} if value < COARSE else {"about": round(value, 3)}


def _worker(each: Mapping[str, Any]) -> dict[str, Any]:
    accuracy = each.get("accuracy", {})
    return {
        "worker": each["worker"],
        "pairs": each["pairs"],
        "shown": each["shown"],
        "decided": each["decided"],
        "kapr": round(each["kapr"], DIGITS),
        "budget": each["budget"],
        "characters": each["characters"],
        "right": accuracy.get("share"),
        "checked": accuracy.get("answered", 0),
    }
