"""What anybody can work out from the promises of a release: no audience learns more by it."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, sqrt
from typing import Any

from sfumato.reports.project.discretion import FEWEST

_EXACT = 1e-9


def fewest_persons(measured: Mapping[str, Any]) -> int:
    """Persons that every class has at least, by the promises or by what is told of the smallest.

    Parameters
    ----------
    measured
        What was measured of a file; of a release with its ``constraints``.
    """
    promised = _promised(measured)
    known = [1, promised.get("pid_k", {}).get("k", 1)]
    if "g_balance" in promised:
        known.append(ceil(1 / (1 - promised["g_balance"]["g"]) - _EXACT))
    if measured.get("pid_k", 0) >= FEWEST:
        known.append(measured["pid_k"])
    return int(max(known))


def largest_chance(name: str, measured: Mapping[str, Any]) -> float:
    """What a largest chance or share of a class is at most, by the promises alone.

    With g-balance g the squares of the shares of a class's records sum to at most 1 - g, so that
    no share is above the root of it (paper 003, Definition 1).

    Parameters
    ----------
    name
        The measure.
    measured
        What was measured of a file; of a release with its ``constraints``.
    """
    promised = _promised(measured)
    if name == "prosecutor":
        return 1 / fewest_persons({"constraints": measured.get("constraints", ())})
    if name == "max_gidr" and "g_balance" in promised:
        return sqrt(1 - float(promised["g_balance"]["g"]))
    if name in ("max_gsar", "h_affiliation") and "h_affiliation" in promised:
        return float(promised["h_affiliation"]["h"])
    return 1.0


def _promised(measured: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The promises about all classes and attributes, by name."""
    kept = measured.get("constraints", ())
    return {each["name"]: each for each in kept if "attribute" not in each}
