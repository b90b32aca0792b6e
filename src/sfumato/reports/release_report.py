"""The page of a release, of an assessment, and of a release on request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from sfumato.core.number_text import NONE, number
from sfumato.core.phrases import Listed, Phrase
from sfumato.release.codebook import cell_words
from sfumato.release.release_result import Release
from sfumato.reports import release_summary as summary
from sfumato.reports.adversaries import intruder_points, measure_assumptions, measure_limits
from sfumato.reports.printed_numbers import fill_template
from sfumato.reports.promise_words import PromiseLine, promise_lines
from sfumato.reports.risk_tables import RiskTables, column_lines, event_tables, population_tables
from sfumato.risk.disclosure_risk import Risk
from sfumato.schema import Kind, QuasiIdentifier
from sfumato.schema.roles import RECIPE_SOURCE

if TYPE_CHECKING:
    from sfumato.schema.recipe import StepCount
    from sfumato.semantics.requested_release import RequestedRelease

_ORIGINAL, _RELEASED, _ASSESSED = Phrase("Original"), Phrase("Release"), Phrase("File")

ROLES = {
    "person": Phrase("person"),
    "household": Phrase("household"),
    "direct identifier": Phrase("direct identifier"),
    "quasi-identifier": Phrase("quasi-identifier"),
    "sensitive": Phrase("sensitive"),
    "insensitive": Phrase("insensitive"),
    "undecided": Phrase("undecided"),
    RECIPE_SOURCE: Phrase("source of the recipe"),
}
"""The roles of columns, as pages name them."""
KINDS = {
    Kind.NUMERIC: Phrase("numeric"),
    Kind.CATEGORICAL: Phrase("categorical"),
    Kind.ORDERED: Phrase("ordered"),
}
"""The kinds of quasi-identifiers, as pages name them."""
_FRESH = Phrase("pseudonymised: replaced by fresh random pseudonyms")


def draw_release(result: Release | Risk, title: str, made: date) -> str:
    """The whole report on a release or an assessment as one HTML page."""
    own = _of_release(result) if isinstance(result, Release) else _of_assessment(result)
    return fill_template("release.html", title=title, made=made, **own)


def _of_release(release: Release) -> dict[str, Any]:
    from sfumato.reports.loss_plots import loss_figures
    from sfumato.reports.risk_plots import records_per_person

    promises = promise_lines(release)
    records = release.records_per_person()
    shared = _shared({_ORIGINAL: release.risk_before, _RELEASED: release.risk}, release, promises)
    return shared | {
        "summary": summary.release_summary(release, promises),
        "promises": promises,
        "kinds": KINDS,
        "columns": _columns(release),
        "records_per_person": None if records is None else records_per_person(records),
        "loss_figures": loss_figures(release.utility),
        "losses": getattr(release.content, "losses", ()),
        "manifest": list(_sections(release.manifest.to_dict())),
        "warnings": _warnings(release),
        "recipe": (),
    }


def _of_assessment(risk: Risk) -> dict[str, Any]:
    shared = _shared({_ASSESSED: risk}, None)
    return shared | {
        "summary": summary.assessment_summary(risk),
        "warnings": list(risk.warnings),
        "recipe": risk.preparation,
    }


def _shared(
    files: Mapping[str, Risk], release: Release | None, promises: Sequence[PromiseLine] = ()
) -> dict[str, Any]:
    """What both reports have: measures, population, thresholds, adversaries and assumptions."""
    from sfumato.reports.risk_plots import (
        event_figures,
        population_figures,
        risk_figures,
        value_figures,
    )

    # A promise about the population is left out: these measures take the file as its own.
    by_measure = {(line.measure, line.attribute): line for line in promises if line.measure}
    shares = {
        attribute: line.limit
        for (measure, attribute), line in by_measure.items()
        if measure == "h_affiliation" and line.limit is not None
    }
    risks = tuple(files.values())
    last, tables = risks[-1], RiskTables(risks, by_measure)
    told = column_lines(last)
    return {
        "release": release,
        "files": tuple(files),
        "risk": last,
        "risk_groups": tables.groups,
        "sensitive_groups": tables.sensitive,
        "risk_figures": risk_figures(tuple(files.items())),
        "sensitive_figures": value_figures(tuple(files.items()), shares),
        "events": event_tables(risks),
        "columns_told": told,
        "columns_tell": any(tells != NONE for *_, tells in told),
        "event_figures": event_figures(tuple(files.items())),
        "population": population_tables(last),
        "population_figures": population_figures(last),
        "thresholds": summary.threshold_lines(risks),
        "practice": summary.practice_lines(last),
        "adversary": intruder_points(last, release),
        "assumptions": measure_assumptions(last, release),
        "unsaid": measure_limits([] if release is None else _unchanged(release)),
    }


def _unchanged(release: Release) -> list[str]:
    """Columns that are released as in the original."""
    schema = release.schema
    made = {f"{name}{end}" for name in schema.quasi_identifiers for end in ("", "_low", "_high")}
    made |= {*schema.sensitive, schema.person or ""}
    return [
        name
        for name in release.columns
        if name not in release.event_treatments and (name in schema.insensitive or name not in made)
    ]


def _warnings(release: Release) -> list[str]:
    """The warnings of the release, then those that speak about one of the two files."""
    said = list(release.warnings)
    # What both files and the release warn of is told once.
    for name, risk in ((_ORIGINAL, release.risk_before), (_RELEASED, release.risk)):
        said += [
            Phrase("{file}: {warning}", file=name, warning=warning)
            for warning in risk.warnings
            if warning not in release.warnings
        ]
    return said


def _columns(release: Release) -> list[tuple[list[str], str, str, str]]:
    """The columns of the original that were treated alike: names, role, kind, treatment and why."""
    schema = release.schema
    lines = [
        (name, ROLES[role], "", _released(release, name, role))
        for role, names in schema.roles().items()
        if role != "quasi-identifier"
        for name in names
    ]
    quasi = [
        (
            name,
            ROLES["quasi-identifier"],
            _kind(identifier),
            _generalised(release, name, identifier),
        )
        for name, identifier in schema.quasi_identifiers.items()
    ]
    # The person's column, which `roles` names first, stays before the quasi-identifiers.
    people = 0 if schema.person is None else 1
    accepted = {name: Phrase("accepted: {why}", why=why) for name, why in schema.accepted.items()}
    steps = read_as(release.manifest.preparation)
    alike: dict[tuple[str, str, str], list[str]] = {}
    for name, role, kind, done in (*lines[:people], *quasi, *lines[people:]):
        told = Listed(filter(None, (steps.get(name), done, accepted.get(name))), "; ")
        alike.setdefault((role, kind, told), []).append(name)
    return [(names, *treated) for treated, names in alike.items()]


def read_as(preparation: Sequence[StepCount]) -> dict[str, str]:
    """What the recipe did to each column that it has a line for."""
    said: dict[str, list[str]] = {}
    for each in preparation:
        done = Phrase("{what} ({n} cells)", what=each.what, n=each.cells)
        said.setdefault(each.column, []).append(done)
    return {column: Listed(every, "; ") for column, every in said.items()}


def _kind(quasi: QuasiIdentifier) -> str:
    said: list[str] = [KINDS[quasi.kind]] if quasi.kind else [""]
    if quasi.weight != 1:
        said.append(Phrase("weight {weight}", weight=number(quasi.weight)))
    if quasi.bottom is not None:
        said.append(Phrase("bottom-coded at {value}", value=quasi.bottom))
    if quasi.top is not None:
        said.append(Phrase("top-coded at {value}", value=quasi.top))
    return Listed(said)


def _released(release: Release, name: str, role: str) -> str:
    if role == "person" and name not in release.event_treatments:
        if release.manifest.keyed:
            return Phrase("pseudonymised: replaced by keyed pseudonyms")
        return _FRESH
    if role == "household" and name in release.columns:
        return _FRESH
    if name in release.schema.withheld():
        return Phrase("removed")
    return release.event_treatments.get(name) or Phrase("unchanged")


def _generalised(release: Release, name: str, quasi: QuasiIdentifier) -> str:
    for level in () if release.levels is None else release.levels.columns:
        if level.name == name:
            return Phrase(
                "recoded: all records show level {level} of {height} of its hierarchy",
                level=level.level,
                height=level.height,
            )
    form, kind = release.manifest.options.values, quasi.kind or Kind.CATEGORICAL
    columns = Phrase(", as columns “{low}” and “{high}”", low=f"{name}_low", high=f"{name}_high")
    labelled, ends = quasi.hierarchy is not None, release.manifest.options.ends
    shown = cell_words(form, kind, columns, has_hierarchy=labelled, ends=ends)
    return Phrase("generalised: each record shows {shown}", shown=shown)


def _sections(manifest: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Sections of a manifest, each as names and printed values."""
    for section, content in manifest.items():
        if isinstance(content, list):
            yield section, [(part["name"], _settings(part)) for part in content]
        else:
            yield section, [(name, toml_value(value)) for name, value in content.items()]


def _settings(constraint: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {toml_value(value)}" for name, value in constraint.items() if name != "name"
    )


def toml_value(value: object) -> str:
    """A value of a manifest as it stands in TOML."""
    return value if isinstance(value, str) else json.dumps(value)


def draw_requested(release: RequestedRelease, title: str, made: date) -> str:
    """The report on a release on request as one HTML page."""
    found = release.to_json()
    sections: dict[str, Mapping[str, Any]] = {}
    for section, pairs in found["manifest"].items():
        if section == "databases":
            sections |= {f"database {name}": pair for name, pair in pairs.items()}
        elif section != "recipe":  # its counts stand in a table of their own
            sections[section] = pairs
    return fill_template(
        "requested.html",
        title=title,
        made=made,
        found=found,
        verdict=release.verdict,
        recipe=release.linked.table.preparation,
        manifest=[
            (section, [(name, _request_value(value)) for name, value in pairs.items()])
            for section, pairs in sections.items()
        ],
        associations=[each for each in found["changes"] if each["association"]],
        between=[each for each in found["changes"] if not each["association"]],
    )


def _request_value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
