"""What was promised of a release, what it is held against, and what it reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.core.measure import is_estimate
from sfumato.reports.asked import promise_words
from sfumato.reports.project.discretion import FEWEST, Internal
from sfumato.reports.project.measures import (
    AVERAGE,
    MAXIMUM,
    MEASURES,
    OTHER,
    of_attribute,
    told_measure,
)
from sfumato.reports.project.results import RELEASE, ProjectResults
from sfumato.reports.project.text import COUNT, SHARE, told

WORST = "worst class"
AT_LEAST, AT_MOST = "at least", "at most"
_PROMISES = {
    "g_balance": ("g_balance", AT_LEAST),
    "h_affiliation": ("h_affiliation", AT_MOST),
    "k": ("k", AT_LEAST),
    "pid_k": ("pid_k", AT_LEAST),
    "l": ("l_distinct", AT_LEAST),
    "t_closeness": ("t_closeness", AT_MOST),
    "shared_counts": ("count_k", AT_LEAST),
    "marketer": ("marketer", AT_MOST),
}
"""The measure that each promise is about, and whether it is to be large or small."""


def promises_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """What was promised, one line for each promise and sensitive attribute.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    found = results.stages[RELEASE]
    return [_line(each, results, show) for each in found.about.get("asked", ())]


def _line(asked: Mapping[str, Any], results: ProjectResults, show: Internal) -> dict[str, Any]:
    name, attribute, limit = asked["name"], asked.get("attribute") or "", asked.get("threshold")
    measured = results.measured(RELEASE)
    words = "" if limit is None else promise_words(name, limit, attribute)
    measure, bound = _PROMISES.get(name, ("", ""))
    reached = told_measure(measure, of_attribute(measured, measure, attribute), measured, show)
    if "presence" in name:
        measure, bound = "presence_high", AT_MOST
        words = (
            "Of the people of the population who look like a class, "
            f"{bound} {told(limit, SHARE)} are in the release."
        )
        reached = show.chance(measured.get("population", {}).get(measure))
    how = MEASURES.get(measure, OTHER)
    return {
        "name": name,
        "attribute": attribute or None,
        "says": words or "A promise of the custodian’s own.",
        "over": AVERAGE if how.over == AVERAGE else WORST,
        "bound": bound,
        "limit": limit,
        "scale": how.scale,
        "reached": reached,
        "met": bool(asked["met"]),
        "promised": bool(asked.get("promised", True)),
        "reason": results.reasons.get(name),
    }


def thresholds_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """The thresholds that the project file names, and how the release stands to them.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    measured = results.measured(RELEASE)
    return [_held(each, measured, show) for each in measured.get("thresholds", ())]


def practice_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """Thresholds in use elsewhere, and how the release stands to them.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    measured = results.measured(RELEASE)
    return [
        {
            "source": each["source"],
            "says": each["says"],
            "evidence": each["evidence"],
            "held": [
                _held(one, measured, show) for one in each["held"] if not _tells_more(one, show)
            ],
        }
        for each in results.stages[RELEASE].about.get("practice", ())
    ]


def _tells_more(held: Mapping[str, Any], show: Internal) -> bool:
    """Whether keeping a threshold tells more of a small class than its size is told by."""
    how = MEASURES.get(held["measure"], OTHER)
    if not show.is_public or how.over != MAXIMUM:
        return False
    return bool(held["limit"] < FEWEST if how.scale == COUNT else held["limit"] > 1 / FEWEST)


def _held(held: Mapping[str, Any], measured: Mapping[str, Any], show: Internal) -> dict[str, Any]:
    value = {key: held.get(key) for key in ("value", "low", "high", "estimator")}
    plain = held["value"] if held.get("estimator") is None else value
    name = held["measure"]
    return {
        "preset": held["preset"],
        "source": held["source"],
        "evidence": held["evidence"],
        "measure": name,
        "attribute": held.get("attribute") or None,
        "bound": held["bound"],
        "limit": held["limit"],
        "scale": MEASURES.get(name, OTHER).scale,
        "value": told_measure(name, plain, measured, show),
        "met": bool(held["met"]),
        "promised": not is_estimate(held.get("estimator")),
        "met_over_interval": held.get("met_over_interval"),
    }


def limit_of(line: Mapping[str, Any]) -> str:
    """The limit of a promise or a threshold as people read it.

    Parameters
    ----------
    line
        The promise or threshold.
    """
    if line["limit"] is None:
        return ""
    return f"{line['bound']} {told(line['limit'], line['scale'])}".strip()
