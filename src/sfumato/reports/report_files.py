"""How a report is written: HTML or PDF with its JSON twin, whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import partial
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.atomic import all_or_none, atomic_path, check_path, write_text
from sfumato.core.errors import InputError
from sfumato.core.number_text import percent
from sfumato.core.phrases import Phrase, speaking
from sfumato.release.release_result import Release
from sfumato.reports import report_targets
from sfumato.reports.audience import Audience
from sfumato.reports.project_results import ProjectResults
from sfumato.reports.promise_words import promise_lines
from sfumato.reports.release_summary import practice_json
from sfumato.reports.report_targets import HTML, JSON, PDF
from sfumato.reports.risk_tables import population_json
from sfumato.risk.disclosure_risk import Risk
from sfumato.table.file_profile import FileProfile

if TYPE_CHECKING:
    from sfumato.intruder.attack_result import Attack
    from sfumato.intruder.series_attack import SeriesAttack
    from sfumato.linkage.encoding_linkage import EncodedLinks
    from sfumato.linkage.linkage_result import Links
    from sfumato.risk.verdict import Verdict
    from sfumato.semantics.requested_release import RequestedRelease

_MOST_LINES = 40
"""Dependences that a page of a profile lists."""
_INTERNAL = "internal: contains aggregate distributions of the original file; do not publish"


def report(
    result: Release
    | Risk
    | Links
    | EncodedLinks
    | RequestedRelease
    | Attack
    | FileProfile
    | ProjectResults,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    made: date | None = None,
    audience: str = "internal",
    recipient: str | None = None,
    language: str | None = None,
) -> Path:
    """Write the report that a privacy officer signs, whole or not at all.

    One HTML file that loads nothing from elsewhere, with the same as JSON beside it; or the
    JSON alone.

    Parameters
    ----------
    result
        A release, one on request, an assessment, a linkage, an attack, a profile, or a project's
        results.
    path
        Where to write: a ``.html`` file (its ``.json`` twin gets the same name), or a ``.json``
        file; of a project a ``.pdf`` file, too.
    title
        Title of the report.
    made
        The day that the report bears; today when not given.
    audience
        ``"internal"``, or of a project ``"public"``: coarse numbers, which may be published.
    recipient
        Of a project the dossier for this recipient, in place of its report. ``sfumato dossier``
        adds what the ledger and ``[dossier]`` say.
    language
        ``"de"`` or ``"fr"``: the page in German or French, but for that of a profile or a release
        on request; these and the JSON are in English.

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
    if language is not None:
        with speaking(language):
            told = {"title": title, "made": made, "audience": audience, "recipient": recipient}
            return report(result, path, **told)  # type: ignore[arg-type]
    check_path(path)
    target = Path(path)
    if isinstance(result, ProjectResults):
        if audience not in tuple(Audience):
            raise InputError(
                "parameter audience",
                "must be one of the audiences",
                found="another value",
                accepted=", ".join(Audience),
            )
        day = made or _today()
        version = Audience(audience)
        write_project(result, target, audience=version, made=day, title=title, recipient=recipient)
        return target
    if recipient is not None:
        raise InputError(
            "parameter recipient",
            "is for the results of a project",
            found=type(result).__name__,
            advice="sf.ProjectResults.load reads them",
        )
    if isinstance(result, FileProfile):
        return write_profiles([result.to_json()], target, title=title, made=made)
    if audience != "internal":
        raise InputError(
            "parameter audience",
            "must be 'internal', but for the report of a project",
            found="another value",
        )
    # A path that cannot be written is refused before anything is drawn.
    report_targets.check_report_path(path)
    content = report_json(result, title=title, made=made)
    page = _draw(result, content["report"]) if _is_page(target) else None
    _write(_twins(target, content, page))
    return target


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
    """
    day = made or _today()
    if isinstance(result, Release):
        about = _about("release", title or Phrase("Disclosure risk of a release"), day)
        about["asked"] = [line.to_json() for line in promise_lines(result)]
        plain = about | _standing(result.risk), result.to_json()
    elif isinstance(result, Risk):
        about = _about("assessment", title or Phrase("Disclosure risk of a file"), day)
        plain = about | _standing(result), result.to_json()
    else:
        plain = _without_measures(result, title, day)
    content: dict[str, Any] = finite({"report": plain[0], **plain[1]})
    return content


def _about(about: str, title: str, made: date, audience: str = _INTERNAL) -> dict[str, Any]:
    """What a report says of itself."""
    return {
        "title": title,
        "date": made.isoformat(),
        "about": about,
        "audience": audience,
        "sfumato": version("sfumato"),
    }


def _standing(risk: Risk) -> dict[str, Any]:
    """How a file stands to thresholds in use elsewhere, and to the population where it is known."""
    found: dict[str, Any] = {"practice": practice_json(risk)}
    if risk.population is not None:
        found["population"] = population_json(risk)
    return found


def _without_measures(
    result: Links | EncodedLinks | RequestedRelease | Attack, title: str | None, made: date
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What an attack, a request or a linkage says; what it needs is imported where one is."""
    from sfumato.intruder.attack_result import Attack

    if isinstance(result, Attack):
        audience = f"internal: it says how well the {result.about} can be attacked; do not publish"
        usual = Phrase("A review under attack")
        if result.about == "release":
            usual = Phrase("A release under attack")
        return _about("attack", title or usual, made, audience), result.to_json()
    from sfumato.semantics.requested_release import RequestedRelease

    if isinstance(result, RequestedRelease):
        usual = Phrase("A release on request")
        return _about("release on request", title or usual, made), result.to_json()
    from sfumato.linkage.encoding_linkage import EncodedLinks
    from sfumato.linkage.linkage_result import Links

    if not isinstance(result, (Links, EncodedLinks)):
        raise InputError(
            "parameter result",
            "must be what anonymize, assess, link or attack returns",
            found=type(result).__name__,
        )
    plain = {
        **result.to_json(),
        "threshold_table": _threshold_table(result),
        "model": dict(result.manifest.model),
    }
    return _about("linkage", title or Phrase("Linkage of records"), made), plain


def _threshold_table(links: Links | EncodedLinks) -> list[dict[str, Any]]:
    """What thresholds would give; nothing where checks contradict it or scores are no chances."""
    from sfumato.linkage.encoding_linkage import EncodedLinks
    from sfumato.linkage.match_thresholds import threshold_table

    if isinstance(links, EncodedLinks):
        told, probability = links.estimated, None
    else:
        told, probability = links.told, links.settled.probability
    if not told:
        return []
    table = threshold_table(
        links.pairs.score, lower=links.thresholds.lower, probability=probability, lost=links.lost
    )
    return [asdict(row) for row in table]


def _draw(result: Any, about: Mapping[str, Any]) -> str:
    """The page of a result; what draws it needs the extra, and is imported where it is drawn."""
    title, day = about["title"], date.fromisoformat(about["date"])
    match about["about"]:
        case "attack":
            from sfumato.reports.attack_report import draw_attack

            return draw_attack(result, title, day)
        case "linkage":
            from sfumato.reports.linkage_report import draw_linkage

            return draw_linkage(result, title, day)
        case "release on request":
            from sfumato.reports.release_report import draw_requested

            return draw_requested(result, title, day)
    from sfumato.reports.release_report import draw_release

    return draw_release(result, title, day)


def write_tuned(
    found: dict[str, Any],
    verdict: Verdict | None,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    made: date | None = None,
) -> Path:
    """Write the report of a search for constraints, and its JSON twin.

    Parameters
    ----------
    found
        What the search found, plain, as `sfumato.pipeline.tune.Tuned.to_json` gives it.
    verdict
        What intruders find in the chosen release; ``None`` without one.
    path
        Where: ``.html`` (its JSON stands beside it) or ``.json``.
    made
        The report's date; today when ``None``.
    """

    def draw(usual: str, day: date) -> str:
        from sfumato.reports.tune_report import draw_tuned

        return draw_tuned(found, verdict, usual, day)

    usual = Phrase("What a release costs under thresholds")
    about = ("search under thresholds", title or usual)
    return _write_plain(path, about, made, found, draw)


def write_profiles(
    files: Sequence[Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    made: date | None = None,
) -> Path:
    """Write a page about what files hold, and its JSON twin.

    Parameters
    ----------
    files
        The profiles, plain, as `sfumato.table.file_profile.FileProfile.to_json` gives them.
    path
        Where: ``.html`` (its JSON stands beside it) or ``.json``.
    made
        Its date; today when ``None``.
    """
    about = ("profile", title or Phrase("What files hold"))
    return _write_plain(path, about, made, {"files": list(files)}, partial(_draw_profiles, files))


def write_attacked_series(found: SeriesAttack, path: str | os.PathLike[str]) -> Path:
    """Write the report of an attack on all files of a series, and its JSON twin."""

    def draw(title: str, day: date) -> str:
        from sfumato.reports.attack_report import draw_attacked_series

        return draw_attacked_series(found, title, day)

    about = "attack on a series", Phrase("A series under attack")
    return _write_plain(path, about, None, found.to_json(), draw)


def _write_plain(
    path: str | os.PathLike[str],
    about: tuple[str, str],
    made: date | None,
    content: dict[str, Any],
    draw: Callable[[str, date], str],
) -> Path:
    """Write plain content under what it is about and its title, and its page where one is asked."""
    report_targets.check_report_path(path)
    target, day = Path(path), made or _today()
    page = draw(about[1], day) if _is_page(target) else None
    _write(_twins(target, {"report": _about(*about, day)} | content, page))
    return target


def _draw_profiles(files: Sequence[Mapping[str, Any]], title: str, made: date) -> str:
    """The page of what files hold, as plain values."""
    from sfumato.reports.printed_numbers import fill_template

    return fill_template(
        "profile.html",
        title=title,
        made=made,
        files=[_profile_shown(file, place) for place, file in enumerate(files)],
    )


def _profile_shown(file: Mapping[str, Any], place: int) -> dict[str, Any]:
    """One file as the template reads it."""
    from sfumato.reports.risk_plots import uniqueness_growth

    within = dict.fromkeys(file["constant_within_person"], "constant")
    within |= dict.fromkeys(file["changing_within_person"], "changes")
    within[file["person"]] = "the person"
    told = file["dependences"]
    return {
        **file,
        "lines": [each | {"within": within.get(each["name"], "")} for each in file["columns"]],
        "keyed": ", ".join(file["keys"]) or "none",
        "told": [each | {"shown": percent(each["share"])} for each in told[:_MOST_LINES]],
        "more": max(len(told) - _MOST_LINES, 0),
        "figures": [uniqueness_growth(file["uniqueness"], place)] if file["uniqueness"] else [],
        "values": any("examples" in each for each in file["columns"]),
    }


def write_project(
    results: ProjectResults,
    path: Path,
    *,
    audience: Audience,
    made: date,
    title: str | None = None,
    forms: Collection[str] = (),
    recipient: str | None = None,
) -> None:
    """Write one version of the report of a project, or of the dossier for a recipient.

    Parameters
    ----------
    path
        Where to write; its JSON twin gets the same name.
    title
        Its title; the project's name when not given.
    forms
        Endings of further forms beside the path's, drawn from the same page.
    """
    from sfumato.reports.dossier import dossier_content, draw_dossier, without_name
    from sfumato.reports.project_page import draw_project
    from sfumato.reports.project_report import project_content

    wanted = {path.suffix.lower(), *forms}
    for form in (path.suffix.lower(), *forms):
        report_targets.check_project_path(path.with_suffix(form), audience)
    if recipient is not None and audience is Audience.PUBLIC:
        results = without_name(results, recipient)
    content, draw = project_content(results, audience, title, made), draw_project
    if recipient is not None:
        content, draw = dossier_content(content, results, recipient), draw_dossier
    files: dict[Path, str | bytes] = {path.with_suffix(JSON): _dumped(content)}
    # Both are the same page: the PDF is what it prints.
    if wanted & {HTML, PDF}:
        page = draw(content)
        files |= {path.with_suffix(PDF): report_targets.pdf_of(page)} if PDF in wanted else {}
        files |= {path.with_suffix(HTML): page} if HTML in wanted else {}
    _write(files)


def _is_page(target: Path) -> bool:
    return target.suffix.lower() == HTML


def _twins(target: Path, content: Mapping[str, Any], page: str | None) -> dict[Path, str | bytes]:
    """A page with its JSON beside it, or the JSON alone."""
    if page is None:
        return {target: _dumped(content)}
    return {target.with_suffix(JSON): _dumped(content), target: page}


def _dumped(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _write(files: Mapping[Path, str | bytes]) -> None:
    # A page and its twin must never say different things.
    with all_or_none():
        for path, content in files.items():
            if isinstance(content, str):
                write_text(path, content)
            else:
                with atomic_path(path) as making:
                    making.write_bytes(content)


def _today() -> date:
    # The day of the place where it is signed, not that of UTC.
    return datetime.now(tz=UTC).astimezone().date()


def finite(value: Any) -> Any:
    """The same plain values, with ``None`` for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
