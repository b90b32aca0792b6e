"""The report of a project as plain values: its twin, and all that its page draws."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import Any

from sfumato.reports.project.attack import attack_of
from sfumato.reports.project.changes import changes_of
from sfumato.reports.project.discretion import Audience, discretion
from sfumato.reports.project.linkage import linkage_of, sources_of
from sfumato.reports.project.manifest import manifest_of
from sfumato.reports.project.promises import practice_of, promises_of, thresholds_of
from sfumato.reports.project.request import request_of
from sfumato.reports.project.results import CONTEXT, ProjectResults
from sfumato.reports.project.review import review_of
from sfumato.reports.project.risk import estimated_of, membership_of, risk_of, sensitive_of
from sfumato.reports.project.variables import variables_of
from sfumato.reports.project.verdict import verdict_of
from sfumato.reports.project.words import adversaries_of, assumptions_of, limits_of

FORM = 1
"""Number of the form of these plain values."""
TITLE = "Report on the release of a project"
WHO_MAY_READ = {
    Audience.INTERNAL: "internal: exact numbers, hashes and seeds; do not publish",
    Audience.PUBLIC: "public: coarse numbers; may be published",
}
WITHHELD = (
    "hashes of the original files, seeds, and names of files",
    "what single reviewers saw",
    "distributions of the original file",
    "counts below ten, and shares that would tell them",
    "places of extremes in the file, and warnings",
    "who asked, where a policy decides",
)
"""What the public version leaves out."""


def project_content(
    results: ProjectResults, audience: Audience, title: str | None, made: date
) -> dict[str, Any]:
    """The report as plain values.

    Parameters
    ----------
    results
        What the project found.
    audience
        Who may read it.
    title
        Its title; the project's name when not given.
    made
        The day that it bears.
    """
    show = discretion(audience)
    content: dict[str, Any] = {
        "report": {
            "title": title or results.name,
            "date": made.isoformat(),
            "about": "project",
            "audience": audience.value,
            "may_be_read": WHO_MAY_READ[audience],
            "form": FORM,
            "project": results.name,
            "sfumato": version("sfumato"),
        },
        "verdict": {},
        "context": {name: results.context.get(name) for name in CONTEXT},
        "request": request_of(results, show),
        "variables": variables_of(results, show),
        "sources": sources_of(results, show),
        "linkage": linkage_of(results, show),
        "review": review_of(results, show),
        "adversaries": adversaries_of(results, show),
        "promises": promises_of(results, show),
        "thresholds": thresholds_of(results, show),
        "practice": practice_of(results, show),
        "risk": risk_of(results, show),
        "estimated": estimated_of(results, show),
        "sensitive": sensitive_of(results, show),
        "membership": membership_of(results, show),
        "changes": changes_of(results, show),
        "attack": attack_of(results, show),
        "assumptions": [asdict(each) for each in assumptions_of(results)],
        "limits": [asdict(each) for each in limits_of(results)],
        "manifest": manifest_of(results, show),
        "withheld": list(WITHHELD) if show.is_public else [],
    }
    content["verdict"] = verdict_of(content, results, show)
    return content
