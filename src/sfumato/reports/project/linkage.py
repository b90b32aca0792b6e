"""Where the records come from, and how well they are linked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.linkage.numbers import unless_contradicted
from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.results import ASSESS, LINK, LINKED, ProjectResults

_QUALITY = {
    "precision": "share of the links that join records of one person",
    "recall": "share of the pairs of records of one person that are linked",
}


def sources_of(results: ProjectResults, show: Internal) -> dict[str, Any]:
    """The sources with their records, and the linked file.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    before = results.measured(ASSESS)
    # Outside these would tell, beside those of the release, how few were left out.
    file = None
    if not show.is_public:
        file = {name: before.get(name) for name in ("records", "persons")}
    linked = final(results)
    records: Mapping[str, int] = linked.get("records", {})
    sources = [
        {"name": f"source {place}" if show.is_public else name, "records": show.count(number)}
        for place, (name, number) in enumerate(records.items(), 1)
    ]
    return {"sources": sources, "file": file}


def final(results: ProjectResults) -> Mapping[str, Any]:
    """What was measured of the linkage, after people's answers where there are any.

    Parameters
    ----------
    results
        What the project found.
    """
    after, scored = results.measured(LINKED), results.measured(LINK)
    return after if after.get("records") else scored


def linkage_of(results: ProjectResults, show: Internal) -> dict[str, Any] | None:
    """The linkage in numbers; ``None`` where nothing was linked.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    found = final(results)
    if not found:
        return None
    checks, answers = found.get("checks"), found.get("decisions", {})
    expected = unless_contradicted(found["expected"], checks)
    outcomes, persons = found["outcomes"], found["persons"]
    contradicted = expected.get("contradicted", [])
    missed = None if contradicted else expected["missed_matches"] + expected["lost_to_blocking"]
    return {
        "persons": show.count(persons["count"]),
        "persons_by_records": {} if show.is_public else dict(persons["by_records"]),
        "compared": _compared(results),
        "candidate_pairs": show.count(found["candidate_pairs"]),
        "all_pairs": show.count(found["comparisons_without_blocking"]),
        "matches": show.count(outcomes["match"]),
        "to_review": show.count(expected["pairs_to_review"]),
        "undecided": None if show.is_public else outcomes["possible_match"],
        "contradictions": show.count(len(answers.get("contradictions", ()))),
        "quality": [
            {
                "name": name,
                "says": says,
                "expected": show.share(expected.get(name), outcomes["match"]),
                "checked": show.share((checks or {}).get(name), outcomes["match"]),
            }
            for name, says in _QUALITY.items()
        ],
        "false_matches": show.count(expected["false_matches"]),
        "missed": show.count(missed),
        "contradicted": list(contradicted),
        "calibrated_by": show.count(expected["labels"]),
        "checks": None
        if checks is None
        else {key: show.count(checks[key]) for key in ("drawn", "answered")},
    }


def _compared(results: ProjectResults) -> list[str]:
    given = results.settings(LINK).get("specification") or {}
    return list(given.get("columns", {}))
