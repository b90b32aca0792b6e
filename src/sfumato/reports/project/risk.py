"""Initial and residual risk: measures of the data before the release and of the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.measures import MEASURES, of_attribute, told_measure
from sfumato.reports.project.results import ASSESS, RELEASE, ProjectResults
from sfumato.reports.project.variables import schema_of
from sfumato.risk.measure_table import IN_POPULATION, MEANINGS

_GROUPS = {
    "Can a person be found?": (
        "prosecutor",
        "marketer",
        "records_at_risk",
        "sample_uniques",
        "pid_k",
    ),
    "Whose record is it?": ("max_gidr", "avg_gidr", "g_balance"),
    "Can a person be found whose number of records is known, too?": (
        "max_count_risk",
        "avg_count_risk",
        "exposed_persons",
    ),
    "Can somebody of a household be found?": (
        "max_household_risk",
        "avg_household_risk",
        "households_at_risk",
    ),
}
_SENSITIVE = ("max_gsar", "avg_gsar", "l_distinct", "t_closeness")
_ESTIMATED = (
    "journalist",
    "marketer",
    "population_average_risk",
    "population_records_at_risk",
    "population_uniques",
    "unique_matches",
)
_PRESENCE = ("presence_low", "presence_high")
_MEANINGS = MEANINGS | {
    "pid_k": "people in the class with fewest people",
    "max_gsar": "largest share of one class’s people with the same value (GSAR)",
    "avg_gsar": "share of a class’s people with its most shared value, averaged over classes",
    "records_at_risk": "records whose risk is above",
    "exposed_persons": "people who are alone in their class with their number of records",
    "avg_count_risk": "the same chance, averaged over people",
    "avg_gidr": "the same share, averaged over classes",
}


def risk_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """Groups of measures, each before and after; after is empty for a release on request.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    before, after = before_and_after(results)
    threshold = (after or before).get("threshold")
    groups = []
    for title, names in _GROUPS.items():
        lines = [_line(name, before, after, show) for name in _there(names, before, after)]
        for each in lines:
            if each["name"] == "records_at_risk":
                each["above"] = threshold
        if lines:
            groups.append({"title": title, "lines": lines})
    return groups


def before_and_after(results: ProjectResults) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What was measured of the data, and of the release by the same measures.

    Parameters
    ----------
    results
        What the project found.
    """
    if results.is_on_request:
        return results.measured(ASSESS), {}
    after = results.measured(RELEASE)
    return after.get("before", {}), after


def sensitive_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """What can be learned of a person: one group for each sensitive attribute.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    before, after = before_and_after(results)
    return [
        {
            "attribute": name,
            "lines": [_line(line, before, after, show, name) for line in _SENSITIVE],
        }
        for name in schema_of(results)["sensitive"]
    ]


def estimated_of(results: ProjectResults, show: Internal) -> dict[str, Any] | None:
    """Risks in the population that the data comes from; ``None`` where nothing is known of it.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    before, against = results.measured(ASSESS), results.measured(RELEASE).get("population", {})
    # With a register `population` of the assessment is its size as well.
    persons = before.get("population") or against.get("persons")
    known = before if "population_average_risk" in before else {}
    of_release = {"marketer": against["marketer"]} if "marketer" in against else {}
    if persons is None or not (known or of_release):
        return None
    lines = _there(_ESTIMATED, known, of_release)
    return {
        "population": show.count(persons),
        "of_release": bool(of_release),
        "lines": [_line(name, known, of_release, show) for name in lines],
    }


def membership_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """How surely somebody of a register is in the file, where a register was given.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    before, after = results.measured(ASSESS), results.measured(RELEASE).get("population", {})
    return [_line(name, before, after, show) for name in _there(_PRESENCE, before, after)]


def _there(
    names: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[str]:
    """Those of the measures that were made of one of the two files."""
    return [name for name in names if name in before or name in after]


def _line(
    name: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    show: Internal,
    attribute: str = "",
) -> dict[str, Any]:
    estimate = isinstance(before.get(name), dict) and not attribute
    meaning = IN_POPULATION.get(name) if estimate else None
    return {
        "name": name,
        "means": meaning or _MEANINGS[name],
        "over": MEASURES[name].over,
        "scale": MEASURES[name].scale,
        "before": told_measure(name, of_attribute(before, name, attribute), before, show),
        "after": told_measure(name, of_attribute(after, name, attribute), after, show),
    }
