"""The page: gather what it shows, and fill the templates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from typing import Any

from sfumato.release.result import Release
from sfumato.reports.asked import asked_of, thresholds
from sfumato.reports.assumptions import adversary, assumptions, limits
from sfumato.reports.columns import columns_of
from sfumato.reports.held import held_lines, practice_lines
from sfumato.reports.linkage.environment import environment
from sfumato.reports.losses import loss_lines
from sfumato.reports.measures import risk_groups, sensitive_groups
from sfumato.reports.plots.loss_plots import loss_figures
from sfumato.reports.plots.population_plots import population_figures
from sfumato.reports.plots.risk_plots import records_per_person, risk_figures
from sfumato.reports.population import population_part
from sfumato.reports.verdict import assessment_verdict, release_verdict
from sfumato.risk.disclosure_risk import Risk

ORIGINAL, RELEASED, ASSESSED = "Original", "Release", "File"


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above the page.

    Attributes
    ----------
    title
        Its title.
    made
        The day it was made.
    """

    title: str
    made: date


def draw_page(result: Release | Risk, heading: Heading) -> str:
    """The whole report as one HTML page.

    Parameters
    ----------
    result
        A release, or an assessment.
    heading
        Title and date.
    """
    shared = {"heading": heading, "version": version("sfumato")}
    own = _of_release(result) if isinstance(result, Release) else _of_assessment(result)
    return environment().get_template("page.html").render(**shared, **own)


def _of_release(release: Release) -> dict[str, Any]:
    before, after = release.risk_before, release.risk
    asks = thresholds(release)
    shares = {
        attribute: each.limit
        for (name, attribute), each in asks.items()
        if name == "h_affiliation" and each.limit is not None
    }
    records = release.records_per_person()
    return {
        "release": release,
        "files": (ORIGINAL, RELEASED),
        "risk": after,
        "verdict": release_verdict(release),
        "asked": asked_of(release),
        "columns": columns_of(release),
        "records_per_person": None if records is None else records_per_person(records),
        "risk_groups": risk_groups((before, after), asks),
        "sensitive_groups": sensitive_groups((before, after), asks),
        "risk_figures": risk_figures(((ORIGINAL, before), (RELEASED, after)), shares),
        "losses": loss_lines(release.utility),
        "loss_figures": loss_figures(release.utility),
        **_beside((before, after)),
        "adversary": adversary(release, after),
        "assumptions": assumptions(release, after),
        "limits": limits(release),
        "manifest": _flat(release.manifest.to_dict()),
        "warnings": _warnings(release),
    }


def _of_assessment(risk: Risk) -> dict[str, Any]:
    return {
        "release": None,
        "files": (ASSESSED,),
        "risk": risk,
        "verdict": assessment_verdict(risk),
        "risk_groups": risk_groups((risk,), {}),
        "sensitive_groups": sensitive_groups((risk,), {}),
        "risk_figures": risk_figures(((ASSESSED, risk),), {}),
        **_beside((risk,)),
        "adversary": adversary(None, risk),
        "assumptions": assumptions(None, risk),
        "limits": limits(None),
        "warnings": list(risk.warnings),
    }


def _beside(risks: tuple[Risk, ...]) -> dict[str, Any]:
    """Population and thresholds, of the last file."""
    last = risks[-1]
    return {
        "population": population_part(last),
        "population_figures": population_figures(last),
        "held_lines": held_lines(risks),
        "practice": practice_lines(last),
    }


def _warnings(release: Release) -> list[str]:
    """The warnings of the release, then those that speak about one of the two files."""
    said = list(release.warnings)
    for name, risk in ((ORIGINAL, release.risk_before), (RELEASED, release.risk)):
        said += [f"{name}: {each}" for each in risk.warnings if each not in release.warnings]
    return said


def _flat(manifest: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Sections of a manifest, each as names and printed values."""
    sections = []
    for section, content in manifest.items():
        if isinstance(content, list):
            pairs = [(part["name"], _settings(part)) for part in content]
        else:
            pairs = [(name, _plain(value)) for name, value in content.items()]
        sections.append((section, pairs))
    return sections


def _settings(constraint: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} = {_plain(value)}" for name, value in constraint.items() if name != "name"
    )


def _plain(value: object) -> str:
    """A value of a manifest as it stands in TOML."""
    return value if isinstance(value, str) else json.dumps(value)
