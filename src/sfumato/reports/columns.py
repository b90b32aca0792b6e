"""What each column is, and what was done with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sfumato.release.options import Form
from sfumato.release.result import Release
from sfumato.schema import Kind, QuasiIdentifier

_SPREAD = {
    Kind.NUMERIC: "the range from its class’s lowest to its highest value",
    Kind.ORDERED: "the range from its class’s lowest to its highest category",
    Kind.CATEGORICAL: "its value where the whole class has it, else “*”",
}
_ANCESTOR = "the lowest label of the hierarchy that covers its class"


@dataclass(frozen=True, slots=True)
class Column:
    """One line of the table of columns.

    Attributes
    ----------
    name
        Name of the column.
    role
        Its role in the schema.
    kind
        Kind of a quasi-identifier, else empty.
    done
        What was done with it, and why it is accepted where a check warned of it.
    """

    name: str
    role: str
    kind: str
    done: str


def columns_of(release: Release) -> list[Column]:
    """Every column of the original with its role and treatment, in the order of roles."""
    schema = release.schema
    lines = [
        Column(name, role, "", "removed" if name in schema.withheld() else _done(release, role))
        for role, names in schema.roles().items()
        if role != "quasi-identifier"
        for name in names
    ]
    quasi = [
        Column(
            name,
            "quasi-identifier",
            f"{each.kind.value if each.kind else ''}{_weight(each)}{_ends(each)}",
            _generalised(release, name, each),
        )
        for name, each in schema.quasi_identifiers.items()
    ]
    people = 0 if schema.person is None else 1
    return [
        replace(each, done=f"{each.done}; accepted: {schema.accepted[each.name]}")
        if each.name in schema.accepted
        else each
        for each in (*lines[:people], *quasi, *lines[people:])
    ]


def _weight(quasi: QuasiIdentifier) -> str:
    return "" if quasi.weight == 1 else f", weight {quasi.weight:g}"


def _ends(quasi: QuasiIdentifier) -> str:
    bottom = "" if quasi.bottom is None else f", bottom-coded at {quasi.bottom}"
    return bottom if quasi.top is None else f"{bottom}, top-coded at {quasi.top}"


def _done(release: Release, role: str) -> str:
    if role == "person":
        how = "keyed" if release.manifest.keyed else "fresh random"
        return f"pseudonymised: replaced by {how} pseudonyms"
    return "unchanged"


def _generalised(release: Release, name: str, quasi: QuasiIdentifier) -> str:
    chosen = {} if release.levels is None else {each.name: each for each in release.levels.columns}
    if name in chosen:
        level = chosen[name]
        return f"recoded: all records show level {level.level} of {level.height} of its hierarchy"
    form = release.manifest.options.values
    kind = quasi.kind or Kind.CATEGORICAL
    categorical = kind is Kind.CATEGORICAL
    if form is Form.SET:
        how = "the set of the values of its class"
    elif quasi.hierarchy is not None and (categorical or form is Form.HIERARCHY):
        how = _ANCESTOR
    elif form is Form.MEAN and kind is Kind.NUMERIC:
        how = "the mean of its class"
    elif form is Form.BOUNDS and not categorical:
        how = f"{_SPREAD[kind]}, as columns “{name}_low” and “{name}_high”"
    else:
        how = _SPREAD[kind]
    return f"generalised: each record shows {how}"
