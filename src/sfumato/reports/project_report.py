"""The report of a project: its sections as plain values, and the page that is drawn of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import Any

from sfumato.core.phrases import Phrase
from sfumato.reports import project_results, project_risk
from sfumato.reports.adversaries import attack_title, project_assumptions, project_limits
from sfumato.reports.attack_tables import most_found, most_found_text
from sfumato.reports.audience import FEWEST, Audience, Discretion, largest_chance
from sfumato.reports.project_verdict import first_page
from sfumato.reports.release_report import toml_value
from sfumato.risk.evidence import beaten_text, evidence_of

_MAXIMA = ("prosecutor", "journalist", "max_")
_RULE_PLACE = re.compile(r" \([^()]*, line \d+\)$")
"""Where a rule of a policy stands, after its words."""
_REPEATING = ("sfumato", "python", "numpy", "pyarrow")
"""Packages whose versions are told to everybody."""
_QUALITY = {
    "precision": Phrase("share of the links that join records of one person"),
    "recall": Phrase("share of the pairs of records of one person that are linked"),
}
_REVIEWED = {
    "desk": Phrase("by people, at the workbench"),
    "application": Phrase("by people, in the web application"),
    "simulated": Phrase("by a simulated worker: no person looked at the records"),
}
_KAPR_DIGITS, _KAPR_COARSE = 9, 0.001
"""Decimals of KAPR inside, and the least that is told outside."""
_FORM = 1
"""Number of the form of these plain values."""
_WHO_MAY_READ = {
    Audience.INTERNAL: "internal: exact numbers, hashes and seeds; do not publish",
    Audience.PUBLIC: "public: coarse numbers; may be published",
}
_WITHHELD = (
    Phrase("hashes of the original files, seeds, and names of files"),
    Phrase("what single reviewers saw"),
    Phrase("distributions of the original file"),
    Phrase("counts below ten, and shares that would tell them"),
    Phrase("places of extremes in the file, and warnings"),
    Phrase("who asked, where a policy decides"),
)
"""What the public version leaves out."""


def project_content(
    results: project_results.ProjectResults, audience: Audience, title: str | None, made: date
) -> dict[str, Any]:
    """The report as plain values.

    Parameters
    ----------
    title
        Its title; the project's name when not given.
    """
    released = results.measured(project_results.RELEASE)
    show = Discretion(audience, released.get("persons", released.get("individuals")))
    keeps_order = bool(
        results.settings(project_results.RELEASE).get("release", {}).get("keep_order")
    )
    content: dict[str, Any] = {
        "report": {
            "title": title or results.name,
            "date": made.isoformat(),
            "about": "project",
            "audience": audience.value,
            "may_be_read": _WHO_MAY_READ[audience],
            "form": _FORM,
            "project": results.name,
            "sfumato": version("sfumato"),
        },
        "verdict": {},
        "context": {name: results.context.get(name) for name in project_results.CONTEXT},
        "request": _request(results, show),
        "variables": project_results.variables(results, show),
        "sources": _sources(results, show),
        "linkage": _linkage(results, show),
        "review": _review(results, show),
        "promises": project_risk.promises(results, show),
        "thresholds": project_risk.thresholds(results, show),
        "practice": project_risk.practice(results, show),
        "risk": project_risk.risk_groups(results, show),
        "estimated": project_risk.population_risk(results, show),
        "sensitive": project_risk.sensitive_groups(results, show),
        "membership": project_risk.membership(results, show),
        "changes": _changes(results, show),
        "tables": _tables(results, show),
        "attack": _attack(results, show),
        "assumptions": [
            asdict(assumption)
            for assumption in project_assumptions(
                has_persons=bool(results.schema["person"]),
                keeps_order=None if results.is_on_request else keeps_order,
            )
        ],
        "limits": [
            asdict(limit)
            for limit in project_limits(linked=bool(results.measured(project_results.LINK)))
        ],
        "manifest": _manifest(results, show),
        "withheld": list(_WITHHELD) if show.is_public else [],
    }
    # Made last, of all that comes after it; its place is the first.
    content["verdict"] = first_page(content, results, show)
    return content


def _sources(results: project_results.ProjectResults, show: Discretion) -> dict[str, Any]:
    """The sources with their records, and the linked file."""
    before = results.measured(project_results.ASSESS)
    # Outside these would tell, beside those of the release, how few were left out.
    file = None
    if not show.is_public:
        file = {name: before.get(name) for name in ("records", "persons")}
    records: Mapping[str, int] = results.linkage.get("records", {})
    sources = [
        # Names of sources may tell who took part.
        {
            "name": Phrase("source {n}", n=place) if show.is_public else name,
            "records": show.count(number),
        }
        for place, (name, number) in enumerate(records.items(), 1)
    ]
    return {"sources": sources, "file": file}


def _linkage(results: project_results.ProjectResults, show: Discretion) -> dict[str, Any] | None:
    """The linkage in numbers; ``None`` where nothing was linked."""
    found = results.linkage
    if not found:
        return None
    specification = results.settings(project_results.LINK).get("specification") or {}
    checks, answers = found.get("checks"), found.get("decisions", {})
    outcomes, persons = found["outcomes"], found["persons"]
    # What the verdict says of it, which calls no model's opinion of itself measured.
    judged = (results.verdict or {}).get("linkage") or persons
    return {
        "persons": show.count(persons["count"]),
        "persons_by_records": {} if show.is_public else dict(persons["by_records"]),
        "compared": list(specification.get("columns", {})),
        "candidate_pairs": show.count(found["candidate_pairs"]),
        "all_pairs": show.count(found["comparisons_without_blocking"]),
        "matches": show.count(outcomes["match"]),
        "to_review": show.count(found["expected"]["pairs_to_review"]),
        "undecided": None if show.is_public else outcomes["possible_match"],
        "contradictions": show.count(len(answers.get("contradictions", ()))),
        "quality": [
            {
                "name": name,
                "says": says,
                "released": show.share(_if_known(judged.get(name)), outcomes["match"]),
                "checked": show.share((checks or {}).get(name), outcomes["match"]),
            }
            for name, says in _QUALITY.items()
        ],
        "why": None if show.is_public else (persons.get("precision") or {}).get("why"),
        "checks": None
        if checks is None
        else {key: show.count(checks[key]) for key in ("drawn", "answered")},
    }


def _if_known(quality: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if quality is None or quality["value"] is None else quality


def _review(results: project_results.ProjectResults, show: Discretion) -> dict[str, Any] | None:
    """The disclosure of a review; ``None`` where there was none."""
    found = results.measured(project_results.REVIEW)
    if not found:
        return None
    rules = results.settings(project_results.REVIEW).get("rules", {})
    workers: list[Mapping[str, Any]] = list(found.get("workers", ()))
    # The worker who saw most bounds what any one of them may have learned.
    most = max((worker["kapr"] for worker in workers), default=None)
    agreement = found.get("agreement") or {}
    return {
        "by": found["by"],
        "by_words": _REVIEWED.get(found["by"], found["by"]),
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
        "workers": [] if show.is_public else [_worker(worker) for worker in workers],
    }


def _kapr(value: float | None, show: Discretion) -> Any:
    """KAPR is a share of all that could be disclosed, and names no record."""
    if value is None or not show.is_public:
        return None if value is None else round(value, _KAPR_DIGITS)
    return {"below": _KAPR_COARSE} if value < _KAPR_COARSE else {"about": round(value, 3)}


def _worker(each: Mapping[str, Any]) -> dict[str, Any]:
    accuracy = each.get("accuracy", {})
    return {
        "worker": each["worker"],
        "pairs": each["pairs"],
        "shown": each["shown"],
        "decided": each["decided"],
        "kapr": round(each["kapr"], _KAPR_DIGITS),
        "budget": each["budget"],
        "characters": each["characters"],
        "right": accuracy.get("share"),
        "checked": accuracy.get("answered", 0),
    }


def _changes(results: project_results.ProjectResults, show: Discretion) -> dict[str, Any]:
    """The loss of a release."""
    if results.is_on_request:
        return _changes_on_request(results, show)
    utility = results.measured(project_results.RELEASE)["utility"]
    queries, correlations = utility["queries"], utility["correlations"]
    return {
        "records": show.count(results.measured(project_results.RELEASE)["records"]),
        "persons": show.count(results.measured(project_results.RELEASE)["persons"]),
        "classes": show.count(results.measured(project_results.RELEASE)["classes"]),
        "suppressed_records": show.count(utility["suppressed_records"]),
        "suppressed_persons": show.count(utility["suppressed_persons"]),
        "detail_lost": show.degree(results.measured(project_results.RELEASE).get("detail_lost")),
        "ncp": show.degree(utility["ncp"]),
        "ane": show.degree(utility["ane"]),
        "sse_sst": show.degree(utility["sse_sst"]),
        "query_error": show.degree(queries["median"]),
        "correlation_change": show.number(correlations["mean_change"]),
        "columns": [
            {"name": each["column"], "ncp": show.degree(each["ncp"])} for each in utility["columns"]
        ],
    }


def _changes_on_request(
    results: project_results.ProjectResults, show: Discretion
) -> dict[str, Any]:
    measured = results.measured(project_results.RELEASE)
    figures = measured["figures"]["SLA"]
    return {
        "records": show.count(measured["records"]),
        "persons": show.count(measured["individuals"]),
        "classes": None,
        "suppressed_records": None,
        "suppressed_persons": None,
        "detail_lost": None,
        "ncp": show.degree(figures["ncp"]),
        "ane": None,
        "sse_sst": show.degree(figures["sse_sst"]),
        "query_error": None,
        "correlation_change": None,
        "columns": [],
    }


def _tables(results: project_results.ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """The rows of each table of a release of several; outside not how few of them were left out."""
    told = results.measured(project_results.RELEASE).get("manifest", {}).get("tables", {})
    return [
        {
            "name": name,
            "before": None if show.is_public else each["rows_before"],
            "after": show.count(each["rows_after"]),
            "undated": list(each.get("undated", ())),
            "shown": {
                column: {way: show.share(own, each["rows_after"]) for way, own in ways.items()}
                for column, ways in each.get("shown", {}).items()
            },
        }
        for name, each in told.items()
    ]


def _attack(results: project_results.ProjectResults, show: Discretion) -> dict[str, Any] | None:
    """The attacks; ``None`` where none was made."""
    found = results.measured(project_results.ATTACK)
    if not found:
        return None
    tried = evidence_of(found["evidence"])
    section = results.settings(project_results.ATTACK).get("attack", {})
    said, beaten = beaten_text(tried), sum(each.beaten or each.raised for each in tried)
    if beaten and show.is_public:
        # Outside the shares of few people are left out.
        said = Phrase(
            "{n} of {all} attacks found more than was predicted or measured.",
            n=beaten,
            all=len(tried),
        )
    unshown = {each.attack for each in tried if each.unshown}
    outcomes = [
        _outcome(each, show, results) | {"unshown": each["attack"] in unshown}
        for each in found["attacks"]
    ]
    return {
        "sentence": said,
        "most": most_found_text(most_found(found["evidence"], outcomes)),
        "attacks": len(tried),
        "unpredicted": sum(each.predicted is None for each in tried),
        "broken": len(found["broken"]),
        "register_persons": None if show.is_public else found["register_persons"],
        "knows": section.get("knows"),
        "counts": bool(section.get("counts")),
        "own_register": section.get("register") is not None,
        "outcomes": outcomes,
    }


def _outcome(
    each: Mapping[str, Any], show: Discretion, results: project_results.ProjectResults
) -> dict[str, Any]:
    """An attack; its shares are left out where few guesses were made or right, outside."""
    few = show.is_public and min(each["attempts"], each["right"]) < FEWEST
    predicted = each.get("predicted")
    made = bool(each["attempts"])
    return {
        "attack": each["attack"],
        "row": each["intruder"],
        "title": attack_title(each["attack"]),
        "attempts": None if show.is_public else each["attempts"],
        "right": None if show.is_public else each["right"],
        "success": show.share(each["success"], each["attempts"]) if made and not few else None,
        "predicted": None if predicted is None else _predicted(predicted, show, results),
        "predicted_by": None if predicted is None else predicted["measure"],
        "allowed": None if show.is_public else each.get("allowed"),
        "baseline": show.mean(each["baseline"]) if made and not few else None,
        "control": None if few else show.mean(each.get("control")),
        "broken": bool(each["broken"]),
        "few": bool(few),
        "tried": made,
    }


def _predicted(
    predicted: Mapping[str, Any], show: Discretion, results: project_results.ProjectResults
) -> Any:
    name, value = str(predicted["measure"]), predicted["value"]
    if name.startswith(_MAXIMA):
        return show.chance(value, largest_chance(name, results.measured(project_results.RELEASE)))
    return show.mean(value)


def _request(results: project_results.ProjectResults, show: Discretion) -> dict[str, Any] | None:
    """The request and what it led to; ``None`` for a release by promises."""
    if not results.is_on_request:
        return None
    found = results.measured(project_results.RELEASE)
    asked, figures = found["request"], found["figures"]["SLA"]
    # Where a rule stands names a file of the custodian's.
    rules = [_RULE_PLACE.sub("", rule) if show.is_public else rule for rule in found["rules"]]
    return {
        "role": asked["role"],
        "purpose": asked["purpose"] or None,
        "linkage": asked["linkage"],
        "requester": None if show.is_public else asked["requester"] or None,
        "k": found["k"],
        "databases": [
            {
                "name": name,
                "quasi_identifiers": list(each["quasi_identifiers"]),
                "individuals": show.count(each["individuals"]),
            }
            for name, each in found["databases"].items()
        ],
        "rules": rules,
        "risk": show.mean(figures["risk"]),
        "risk_unaware": show.mean(figures["risk_unaware"]),
        "smallest_match": show.count(figures["smallest_match"]),
        "exposed": show.count(found["exposed"]),
        "kept": figures["smallest_match"] >= found["k"] and not found["exposed"],
        "associations_enforced": len(found["changes"]),
        "associations_open": len(found["proposed"]),
        "earlier_releases": len(found["ledger"]["earlier"]),
        "in_ledger": found["ledger"]["release"] is not None,
        "covered": list(found["covered"]),
        "not_covered": list(found["not_covered"]),
    }


def _manifest(results: project_results.ProjectResults, show: Discretion) -> dict[str, Any]:
    """Stages, hashes, seed and versions; outside, the hash of the release and versions alone."""
    released = results.measured(project_results.RELEASE).get("manifest", {})
    record = results.stages[project_results.RELEASE].record
    told: dict[str, Any] = {
        "release_sha256": released.get("release", {}).get("output_sha256") or None,
        "versions": {
            name: version
            for name, version in record.get("versions", {}).items()
            if name in _REPEATING
        },
        "stages": [],
        "inputs": [],
        "release": [],
        "warnings": [],
    }
    if show.is_public:
        return told
    return told | {
        "stages": [_stage(name, stage.record) for name, stage in results.stages.items()],
        "inputs": _inputs(results),
        "release": _entries(released),
        "warnings": _warnings(results),
    }


def _stage(name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "stage": name,
        "said": record.get("said", ""),
        "finished": record.get("finished"),
        "seconds": record.get("seconds"),
        "seed": record.get("seed"),
        "key": record.get("key"),
    }


def _inputs(results: project_results.ProjectResults) -> list[dict[str, str]]:
    """Files of the project, by what its file calls them; outputs of stages are left out."""
    found = {
        name: sha256
        for stage in results.stages.values()
        for name, sha256 in stage.record.get("inputs", {}).items()
        if "/" not in name
    }
    return [{"name": name, "sha256": sha256} for name, sha256 in sorted(found.items())]


def _entries(manifest: Mapping[str, Any]) -> list[dict[str, str]]:
    """Entries of the manifest of a release that are single values."""
    return [
        {"name": f"{section}.{name}", "value": toml_value(value)}
        for section, entries in manifest.items()
        if isinstance(entries, Mapping) and section != "versions"
        for name, value in entries.items()
        if not isinstance(value, (dict, list))
    ]


def _warnings(results: project_results.ProjectResults) -> list[dict[str, str]]:
    seen: dict[str, str] = {}
    for name, stage in results.stages.items():
        for warning in stage.record.get("warnings", ()):
            # Stages repeat warnings of those before them: each is told once, of the first.
            seen.setdefault(str(warning), name)
    return [{"stage": name, "says": says} for says, name in seen.items()]
