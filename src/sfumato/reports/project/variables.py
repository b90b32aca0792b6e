"""Every column of the data: what it is, why, and what was done with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.release.options import Form, Recoding
from sfumato.reports.project.discretion import Internal
from sfumato.reports.project.results import LINK, RELEASE, ProjectResults
from sfumato.schema import Kind

DIRECT, PERSON, HOUSEHOLD = "direct identifier", "person", "household"
QUASI, SENSITIVE, INSENSITIVE = "quasi-identifier", "sensitive", "insensitive"
UNDECIDED = "undecided"
WHY = {
    DIRECT: "names, numbers or reaches a person by itself",
    PERSON: "says which records are of one person",
    HOUSEHOLD: "says which persons live together; measured, and not released",
    QUASI: "an intruder may know it of a person, and single the person out by it with others",
    SENSITIVE: "nobody is to learn it of a person; needed for the analysis",
    INSENSITIVE: "taken as not known outside the file and not harmful",
    UNDECIDED: "nobody has said what it is",
}
"""Why a column has its role, where the custodian gives no reason."""
_SPREAD = {
    Kind.NUMERIC: "the range from its class’s lowest to its highest value",
    Kind.ORDERED: "the range from its class’s lowest to its highest category",
    Kind.CATEGORICAL: "its value where the whole class has it, else *",
}
_ANCESTOR = "the lowest label of the hierarchy that covers its class"


def variables_of(results: ProjectResults, show: Internal) -> list[dict[str, Any]]:
    """One line for each column, direct identifiers first.

    Parameters
    ----------
    results
        What the project found.
    show
        How numbers are told.
    """
    schema = schema_of(results)
    lines = [_line(results, name, DIRECT, "removed") for name in schema["direct_identifiers"]]
    if schema["person"]:
        lines.append(_line(results, schema["person"], PERSON, _pseudonyms(results)))
    if schema["household"]:
        lines.append(_line(results, schema["household"], HOUSEHOLD, "removed"))
    lost = {
        each["column"]: each["ncp"]
        for each in results.measured(RELEASE).get("utility", {}).get("columns", ())
    }
    for name, quasi in schema["quasi_identifiers"].items():
        line = _line(results, name, QUASI, _generalised(results, name, quasi))
        lines.append(line | {"kind": _kind(quasi), "lost": show.mean(lost.get(name))})
    lines += [_line(results, name, SENSITIVE, "unchanged") for name in schema["sensitive"]]
    lines += [_line(results, name, INSENSITIVE, "unchanged") for name in schema["insensitive"]]
    lines += [_line(results, name, UNDECIDED, "removed") for name in schema["undecided"]]
    return lines


def schema_of(results: ProjectResults) -> dict[str, Any]:
    """The schema of the released file, with the direct identifiers of its sources.

    Parameters
    ----------
    results
        What the project found.
    """
    released = results.settings(RELEASE).get("schema", {})
    sources = results.settings(LINK).get("schema", {})
    direct = (*sources.get("direct_identifiers", ()), *released.get("direct_identifiers", ()))
    return {
        "person": released.get("person"),
        "household": released.get("household"),
        "direct_identifiers": list(dict.fromkeys(direct)),
        "quasi_identifiers": dict(released.get("quasi_identifiers", {})),
        "sensitive": list(released.get("sensitive", ())),
        "insensitive": list(released.get("insensitive", ())),
        "undecided": list(released.get("undecided", ())),
        "accepted": dict(released.get("accepted", {})),
    }


def _line(results: ProjectResults, name: str, role: str, done: str) -> dict[str, Any]:
    own = results.reasons.get(name) or schema_of(results)["accepted"].get(name)
    return {
        "name": name,
        "role": role,
        "kind": None,
        "why": own or WHY[role],
        "custodians_reason": own is not None,
        "done": done,
        "lost": None,
    }


def _kind(quasi: Mapping[str, Any]) -> str | None:
    weight = quasi.get("weight", 1)
    said = [quasi.get("kind") or "", "" if weight == 1 else f"weight {weight:g}"]
    return ", ".join(filter(None, said)) or None


def _pseudonyms(results: ProjectResults) -> str:
    manifest = results.measured(RELEASE).get("manifest", {}).get("release", {})
    if manifest.get("keyed_pseudonyms"):
        return "replaced by pseudonyms made with a key, the same in every release with that key"
    return "replaced by random pseudonyms, new in this release"


def _generalised(results: ProjectResults, name: str, quasi: Mapping[str, Any]) -> str:
    if results.is_on_request:
        return "generalised to a level of its code list, value by value, as the rules require"
    making = results.settings(RELEASE).get("release", {})
    levels = results.measured(RELEASE).get("levels", {}).get("columns", ())
    for level in levels:
        if making.get("recoding") == Recoding.FULL_DOMAIN and level["name"] == name:
            which = f"level {level['level']} of {level['height']}"
            return f"recoded: all records show {which} of its hierarchy"
    form = making.get("values", Form.RANGE)
    kind = Kind(quasi.get("kind") or Kind.CATEGORICAL)
    coded = "" if quasi.get("top") is None and quasi.get("bottom") is None else "; ends coded"
    return (
        f"generalised: each record shows {_shown(form, kind, bool(quasi.get('hierarchy')))}{coded}"
    )


def _shown(form: str, kind: Kind, has_hierarchy: bool) -> str:
    categorical = kind is Kind.CATEGORICAL
    if form == Form.SET:
        return "the set of the values of its class"
    if has_hierarchy and (categorical or form == Form.HIERARCHY):
        return _ANCESTOR
    if form == Form.MEAN and kind is Kind.NUMERIC:
        return "the mean of its class"
    both = ", in two columns" if form == Form.BOUNDS and not categorical else ""
    return f"{_SPREAD[kind]}{both}"
