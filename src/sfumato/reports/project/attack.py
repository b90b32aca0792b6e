"""What a simulated intruder found, beside what was predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.reports.attack.words import title_of
from sfumato.reports.project.discretion import FEWEST, Internal
from sfumato.reports.project.implied import largest_chance
from sfumato.reports.project.results import ATTACK, RELEASE, ProjectResults

_MAXIMA = ("prosecutor", "journalist", "max_")


def attack_of(results: ProjectResults, show: Internal) -> dict[str, Any] | None:
    """The attacks; ``None`` where none was made.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    found = results.measured(ATTACK)
    if not found:
        return None
    section = results.settings(ATTACK).get("attack", {})
    return {
        "caught": bool(found["caught"]),
        "attacks": sum(each["attempts"] > 0 for each in found["attacks"]),
        "broken": len(found["broken"]),
        "exposed": show.count(found["exposed"]),
        "threshold": found["threshold"],
        "register_persons": None if show.is_public else found["register_persons"],
        "knows": section.get("knows"),
        "counts": bool(section.get("counts")),
        "own_register": section.get("register") is not None,
        "outcomes": [_outcome(each, show, results) for each in found["attacks"]],
    }


def _outcome(each: Mapping[str, Any], show: Internal, results: ProjectResults) -> dict[str, Any]:
    """An attack; its shares are left out where few guesses were made or right, outside."""
    few = show.is_public and min(each["attempts"], each["right"]) < FEWEST
    predicted = each.get("predicted")
    made = bool(each["attempts"])
    return {
        "attack": each["attack"],
        "title": title_of(each["attack"]),
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
    }


def _predicted(predicted: Mapping[str, Any], show: Internal, results: ProjectResults) -> Any:
    name, value = str(predicted["measure"]), predicted["value"]
    if name.startswith(_MAXIMA):
        return show.chance(value, largest_chance(name, results.measured(RELEASE)))
    return show.mean(value)
