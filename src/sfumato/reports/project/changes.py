"""What the release lost: generalisation, suppression, and what that does to analyses."""

from __future__ import annotations

from typing import Any

from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.results import RELEASE, ProjectResults


def changes_of(results: ProjectResults, show: Internal) -> dict[str, Any]:
    """The loss of a release.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    if results.is_on_request:
        return _of_request(results, show)
    utility = results.measured(RELEASE)["utility"]
    queries, correlations = utility["queries"], utility["correlations"]
    return {
        "records": show.count(results.measured(RELEASE)["records"]),
        "persons": show.count(results.measured(RELEASE)["persons"]),
        "classes": show.count(results.measured(RELEASE)["classes"]),
        "suppressed_records": show.count(utility["suppressed_records"]),
        "suppressed_persons": show.count(utility["suppressed_persons"]),
        "ncp": show.mean(utility["ncp"]),
        "ane": show.mean(utility["ane"]),
        "sse_sst": show.mean(utility["sse_sst"]),
        "query_error": show.mean(queries["median"]),
        "correlation_change": show.number(correlations["mean_change"]),
        "columns": [
            {"name": each["column"], "ncp": show.mean(each["ncp"])} for each in utility["columns"]
        ],
    }


def _of_request(results: ProjectResults, show: Internal) -> dict[str, Any]:
    measured = results.measured(RELEASE)
    figures = measured["figures"]["SLA"]
    return {
        "records": show.count(measured["records"]),
        "persons": show.count(measured["individuals"]),
        "classes": None,
        "suppressed_records": None,
        "suppressed_persons": None,
        "ncp": show.mean(figures["ncp"]),
        "ane": None,
        "sse_sst": show.mean(figures["sse_sst"]),
        "query_error": None,
        "correlation_change": None,
        "columns": [],
    }
