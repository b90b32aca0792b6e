"""Results of a made-up project: a real release, and what its other stages might have found."""

from __future__ import annotations

from typing import Any

from sfumato.release.release_result import Release
from sfumato.reports.project_results import ProjectResults
from sfumato.reports.report_files import report_json

SECRETS = (
    "gary.hospital", "wanda-worker", "4711471147", "aa11aa11", "warned of 3", "said of 3",
    "opened by 3", "held of 3", "noted of 3", "why of 3",
)  # fmt: skip
"""What the public version leaves out: names, seeds, hashes, words of stages."""
(SOURCE, WORKER, _SEED, HASH, WARNED, SAID, _OPENED, HELD, NOTED, WHY) = SECRETS
SEED = int(_SEED)
CONTEXT = {
    "recipients": "the diabetes group",
    "purpose": "a study of visits",
    "controls": "a secure room",
    "review_date": "2027-11-20",
}


def record(settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """The record of a stage."""
    return {
        "settings": settings or {},
        "inputs": {f"sources.{SOURCE}.file": HASH},
        "outputs": {},
        "said": SAID,
        "warnings": [WARNED],
        "seed": SEED,
        "key": HASH,
        "finished": "2026-11-20T12:00:00+00:00",
        "seconds": 1.5,
        "versions": {"sfumato": "0.1.0", "python": "3.11.7"},
    }


LINKED = {
    "records": {SOURCE: 700, "practice": 8},
    "comparisons_without_blocking": 99_000,
    "candidate_pairs": 5_000,
    "outcomes": {"match": 300, "possible_match": 3, "non_match": 97},
    "expected": {
        "pairs_to_review": 121, "false_matches": 0.94, "missed_matches": 0.2,
        "lost_to_blocking": 0.4, "precision": 0.9789, "recall": 0.9716, "labels": 0,
    },
    "persons": {
        "count": 400, "by_records": {"1": 396, "2": 4},
        "precision": {"value": 0.952, "low": 0.94, "high": 0.963, "why": WHY},
        "recall": {"value": 0.988, "low": 0.981, "high": 0.992, "why": WHY},
    },
    "decisions": {"answers": 118, "contradictions": [], "matches_kept_apart": 3},
    "checks": {
        "drawn": 114, "answered": 114,
        "precision": {"value": 0.97, "low": 0.94, "high": 0.99, "estimator": "checks", "why": WHY},
        "recall": {"value": 0.95, "low": 0.9, "high": 0.98, "estimator": "checks", "why": WHY},
    },
}  # fmt: skip
REVIEW = {
    "by": "desk", "possible_matches": 121, "answered": 118, "carried": 3, "conflicts": 2,
    "combined_kapr": 0.0123456, "agreement": {"sides": 0.81},
    "workers": [
        {
            "worker": WORKER, "pairs": 121, "shown": 120, "decided": 118, "kapr": 0.0001234,
            "budget": 0.4, "characters": 0.02,
            "accuracy": {"answered": 4, "share": {"value": 0.75, "low": 0.3, "high": 0.95}},
        }
    ],
}  # fmt: skip


def outcome(name: str, attempts: int, right: int, *, broken: bool = False) -> dict[str, Any]:
    """An attack."""
    share = right / attempts
    return {
        "attack": name, "intruder": "stranger", "what": HELD, "attempts": attempts, "right": right,
        "success": {
            "value": share, "low": share / 2, "high": 2 * share, "estimator": "CP", "why": WHY,
        },
        "baseline": 0.001, "control": None,
        "predicted": {"measure": "marketer", "value": 0.1, "low": None, "high": None},
        "allowed": 0.12, "broken": broken, "notes": [NOTED],
    }  # fmt: skip


SHARE = {"value": 0.11, "low": 0.08, "high": 0.15}


def attack(*, broken: bool = False) -> dict[str, Any]:
    """What the attacks found."""
    attacks = [outcome("exact_free", 400, 44, broken=broken), outcome("exact_surest", 31, 3)]
    return {
        "verdict": None,
        "evidence": [
            {
                "attack": each["attack"], "intruder": "stranger", "number": "found",
                "found": SHARE, "people": SHARE, "predicted": 0.1, "measured": 0.1, "luck": 1e-5,
                "tests": 4, "beaten": each["broken"], "raised": each["broken"], "own": True,
            }
            for each in attacks
        ],
        "sentence": "x", "broken": ["exact_free"] if broken else [],
        "records": 1_900, "persons": 400, "register_persons": 403, "held": [HELD],
        "claims": {}, "attacks": attacks, "calibration": {}, "seed": SEED,
        "warnings": [WARNED],
    }  # fmt: skip


def results(release: Release, *, broken: bool = False, **changes: Any) -> ProjectResults:
    """A project that linked, reviewed, released and attacked."""
    told = release.to_json()
    told["manifest"]["release"]["seed"] = SEED
    told["manifest"]["release"]["input_sha256"] = HASH
    schema = {
        "person": release.schema.person,
        "sensitive": list(release.schema.sensitive),
        "insensitive": [*release.schema.insensitive, "stray"],
        "quasi_identifiers": {
            name: {"kind": each.kind.value if each.kind else None}
            for name, each in release.schema.quasi_identifiers.items()
        },
    }
    link = {
        "schema": {"direct_identifiers": ["surname"]},
        "specification": {"columns": {"zip": {}}},
    }
    stages = {
        "link": (record(link), LINKED | {"checks": None}),
        "review": (record({"rules": {"k": 5, "budget": 0.4}}), REVIEW),
        "linked": (record(), LINKED),
        "assess": (record(), told["before"]),
        "release": (record({"schema": schema, "release": {"values": "range"}}), told),
        "attack": (record({"attack": {}}), attack(broken=broken)),
    }
    plain = {
        "project": "two clinics",
        "stages": {
            name: {"record": kept, "measured": measured}
            for name, (kept, measured) in stages.items()
        },
        "context": CONTEXT,
        "reasons": {"age": "known to neighbours"},
        "verdict": told["verdict"],
    } | changes
    plain["stages"]["release"]["about"] = report_json(release)["report"]
    return ProjectResults.from_json(plain)
