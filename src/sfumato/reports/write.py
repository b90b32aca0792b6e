"""Write the report of a release, an assessment, a linkage, an attack or a project."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime
from importlib.metadata import version
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.atomic import all_or_none, check_target, write_text
from sfumato.core.errors import InputError
from sfumato.core.paths import check_path
from sfumato.release.result import Release
from sfumato.reports.asked import asked_of
from sfumato.reports.held import practice_json
from sfumato.reports.population import population_json
from sfumato.risk.result import Risk

if TYPE_CHECKING:
    from sfumato.intruder.result import Attack
    from sfumato.linkage.encodings.unit.links import EncodedLinks
    from sfumato.linkage.links import Links
    from sfumato.reports.project.results import ProjectResults
    from sfumato.semantics.requested import RequestedRelease

NEEDED = ("altair", "jinja2", "vl_convert")
"""What the pages need beyond the core; the extra ``report`` brings them."""
INTERNAL = "internal: contains aggregate distributions of the original file; do not publish"


def report(
    result: Release | Risk | Links | EncodedLinks | RequestedRelease | Attack | ProjectResults,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    made: date | None = None,
    audience: str = "internal",
) -> Path:
    """Write the report that a privacy officer signs, whole or not at all.

    One HTML file that loads nothing from elsewhere, with the same as JSON beside it; or the
    JSON alone.

    Parameters
    ----------
    result
        A release, one on request, an assessment, a linkage, an attack, or a project's results.
    path
        Where to write: a ``.html`` file (its ``.json`` twin gets the same name), or a ``.json``
        file; of a project a ``.pdf`` file, too.
    title
        Title of the report.
    made
        The day that the report bears; today when not given.
    audience
        ``"internal"``, or of a project ``"public"``: coarse numbers, which may be published.

    Returns
    -------
    Path
        The file that was asked for.

    Raises
    ------
    InputError
        If the path ends otherwise or its folder cannot be written, the result is no release,
        assessment, linkage or attack, or the extra ``report`` is not installed.
    """
    from sfumato.reports.project.results import ProjectResults

    check_path(path)
    if isinstance(result, ProjectResults):
        return _of_project(result, Path(path), title, made, audience)
    if audience != "internal":
        raise InputError(
            "parameter audience",
            "must be 'internal', but for the report of a project",
            found="another value",
        )
    check_report_path(path)
    target = Path(path)
    content = report_json(result, title=title, made=made)
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if target.suffix.lower() == ".html":
        page = _page(result, content["report"])
        with all_or_none():
            write_text(target.with_suffix(".json"), text)
            write_text(target, page)
    else:
        write_text(target, text)
    return target


def _of_project(
    results: ProjectResults, path: Path, title: str | None, made: date | None, audience: str
) -> Path:
    from sfumato.reports.project.discretion import Audience
    from sfumato.reports.project.write import write_project

    if audience not in tuple(Audience):
        raise InputError(
            "parameter audience",
            "must be one of the audiences",
            found="another value",
            accepted=", ".join(Audience),
        )
    day = made or datetime.now(tz=UTC).astimezone().date()
    write_project(results, path, audience=Audience(audience), made=day, title=title)
    return path


def _page(
    result: Release | Risk | Links | EncodedLinks | RequestedRelease | Attack,
    about: dict[str, Any],
) -> str:
    day = date.fromisoformat(about["date"])
    if isinstance(result, (Release, Risk)):
        from sfumato.reports.page import Heading, draw_page

        return draw_page(result, Heading(about["title"], day))
    from sfumato.intruder.result import Attack

    if isinstance(result, Attack):
        from sfumato.reports.attack.page import draw_attack

        return draw_attack(result, about["title"], day)
    from sfumato.semantics.requested import RequestedRelease

    if isinstance(result, RequestedRelease):
        from sfumato.reports.requested.page import draw_requested

        return draw_requested(result, about["title"], day)
    from sfumato.linkage.encodings.unit.links import EncodedLinks
    from sfumato.reports.linkage.encodings import draw_encoded_linkage
    from sfumato.reports.linkage.page import draw_linkage

    if isinstance(result, EncodedLinks):
        return draw_encoded_linkage(result, about["title"], day)
    return draw_linkage(result, about["title"], day)


def report_json(
    result: Release | Risk | Links | EncodedLinks | RequestedRelease | Attack,
    *,
    title: str | None = None,
    made: date | None = None,
) -> dict[str, Any]:
    """The report as plain values: those of the result's ``to_json``, and ``report``.

    ``report`` holds the title, the date, what it is about, what was asked and met, how the file
    stands to thresholds in use elsewhere, and the records by risk and the distribution of correct
    matches where a population is known. A number that is not finite is ``None``.

    Parameters
    ----------
    result
        A release, one on request, an assessment, a linkage, or an attack.
    title
        Title of the report.
    made
        The day that the report bears; today when not given.

    Raises
    ------
    InputError
        If the result is no release, assessment, linkage or attack.
    """
    day = made or datetime.now(tz=UTC).astimezone().date()
    if not isinstance(result, (Release, Risk)):
        return _of_other(result, title, day)
    of_release = isinstance(result, Release)
    about: dict[str, Any] = {
        "title": title or f"Disclosure risk of a {'release' if of_release else 'file'}",
        "date": day.isoformat(),
        "about": "release" if of_release else "assessment",
        "audience": INTERNAL,
        "sfumato": version("sfumato"),
    }
    if isinstance(result, Release):
        about["asked"] = [each.to_json() for each in asked_of(result)]
    risk = result.risk if isinstance(result, Release) else result
    about["practice"] = practice_json(risk)
    if risk.population is not None:
        about["population"] = population_json(risk)
    content: dict[str, Any] = _finite({"report": about} | result.to_json())
    return content


def _of_other(
    result: Links | EncodedLinks | RequestedRelease | Attack, title: str | None, made: date
) -> dict[str, Any]:
    """The report on an attack, a request or a linkage; what it needs is imported where one is."""
    from sfumato.intruder.result import Attack

    if isinstance(result, Attack):
        from sfumato.reports.attack.content import attack_content

        on_attack: dict[str, Any] = _finite(attack_content(result, title, made))
        return on_attack
    from sfumato.semantics.requested import RequestedRelease

    if isinstance(result, RequestedRelease):
        from sfumato.reports.requested.page import requested_content

        on_request: dict[str, Any] = _finite(requested_content(result, title, made, INTERNAL))
        return on_request
    from sfumato.linkage.encodings.unit.links import EncodedLinks
    from sfumato.linkage.links import Links
    from sfumato.reports.linkage.write import linkage_content

    if not isinstance(result, (Links, EncodedLinks)):
        raise InputError(
            "parameter result",
            "must be what anonymize, assess, link or attack returns",
            found=type(result).__name__,
        )
    content: dict[str, Any] = _finite(linkage_content(result, title, made, INTERNAL))
    return content


def check_report_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no report can be written to, before work starts.

    Parameters
    ----------
    path
        Where a report is to be written.

    Raises
    ------
    InputError
        If the path ends in neither ``.html`` nor ``.json``, its folder does not exist, or a page
        is asked for and the extra ``report`` is not installed.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".html", ".json"):
        raise InputError(
            "path of the report",
            "must end in .html (a page, with its JSON beside it) or .json",
            found=f"the ending {suffix}" if suffix else "no ending",
        )
    if not target.parent.is_dir():
        raise InputError(
            "path of the report",
            "must be in a folder that exists",
            advice="create the folder, or choose another one",
        )
    check_target(target)
    check_target(target.with_suffix(".json"))
    if suffix == ".html" and any(find_spec(name) is None for name in NEEDED):
        raise InputError(
            "a report as a page",
            "needs the extra 'report', which is not installed",
            advice='run: pip install "sfumato[report]"',
        )


def _finite(value: Any) -> Any:
    """The same plain values, with ``None`` for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
