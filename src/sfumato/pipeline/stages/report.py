"""The stage ``report``: what goes out, and what every stage measured, in one folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.core.progress import Progress
from sfumato.pipeline.kept.record import read_record
from sfumato.pipeline.project.outputs import ReportForm
from sfumato.pipeline.stages import assess, attack, link, release, schemas
from sfumato.pipeline.stages.copies import copy_private
from sfumato.pipeline.stages.place import REPORT, REVIEW, Place
from sfumato.pipeline.stages.reported import PAGE, TWIN, form_of
from sfumato.pipeline.stages.results import StageResult, results_of
from sfumato.pipeline.stages.stage import Made, Stage
from sfumato.reports.audience import Audience
from sfumato.reports.project_results import CONTEXT, ProjectResults
from sfumato.reports.report_files import HTML, JSON, PDF, write_project

RELEASED, REPORTS, PROJECT_JSON = "release", "reports", "project.json"
"""The folder that goes out, the folder that stays, and all measures of all stages."""
PUBLIC, WHOLE = "public", "report"
"""The folder of what may be published, and the report of the project without its ending."""
NO_PDF = (
    "No PDF of the report: WeasyPrint does not find Pango; install libpango-1.0-0, "
    "libpangoft2-1.0-0 and libharfbuzz-subset0, or print the page"
)


def reporting(place: Place) -> tuple[str, ...]:
    """The stages before this one.

    Parameters
    ----------
    place
        The project.
    """
    project = place.project
    names = [link.LINK, schemas.LINKED] if project.is_linked else []
    if project.is_reviewed:
        names.insert(1, REVIEW)
    names += [assess.NAME, release.NAME]
    return (*names, attack.NAME) if project.attack is not None else tuple(names)


def _settings(place: Place) -> dict[str, Any]:
    return {
        "about": place.project.about.model_dump(mode="json", exclude={"seed"}),
        "formats": list(place.project.outputs.formats),
        "forms": list(_forms(place)),
    }


def _forms(place: Place) -> tuple[str, ...]:
    """Endings of the report of the project."""
    if form_of(place) is ReportForm.JSON:
        return (JSON,)
    return (HTML, JSON) if find_spec("weasyprint") is None else (HTML, JSON, PDF)


def _earlier(place: Place) -> dict[str, tuple[str, ...]]:
    found = {}
    for name in reporting(place):
        record = read_record(place.of_stage(name))
        found[name] = () if record is None else tuple(record.outputs)
    return found


def collected(place: Place) -> dict[str, Any]:
    """What every stage measured, with its record, and what the project file says of the release.

    Parameters
    ----------
    place
        The project.
    """
    results = results_of(place, reporting(place))
    about = place.project.about.model_dump(mode="json", exclude_none=True)
    if _contradicted(results):
        results[link.LINK].measured["expected"] = results[schemas.LINKED].measured["expected"]
    return {
        "project": place.project.about.name,
        "context": {name: about[name] for name in CONTEXT if name in about},
        "reasons": about["reasons"],
        "stages": {name: each.to_json() for name, each in results.items()},
    }


def _contradicted(results: Mapping[str, StageResult]) -> bool:
    """Whether the review contradicts what the model of the linkage expects."""
    linked = results.get(schemas.LINKED)
    return linked is not None and "contradicted" in linked.measured.get("expected", {})


def _check(place: Place) -> None:
    """Refuse to replace folders that no run has made.

    Raises
    ------
    InputError
        If there are such folders.
    """
    folder = place.of_stage(REPORT)
    if read_record(folder) is not None:
        return
    for name in (RELEASED, REPORTS, PUBLIC):
        if (folder / name).exists():
            raise InputError(
                "outputs.folder",
                f"must not hold a folder {name} that no run has made",
                found="one",
                advice="move it away, or choose another folder",
            )


def _make(place: Place, making: Path, progress: Progress) -> Made:
    progress("report", 0.0)
    out, inside, outside = making / RELEASED, making / REPORTS, making / PUBLIC
    for folder in (out, inside, outside):
        folder.mkdir(mode=0o700)
    made = place.of_stage(release.NAME)
    for name in release.release_files(place):
        copy_private(made / name, out / name)
    copy_private(made / release.RELEASE_MANIFEST, inside / release.RELEASE_MANIFEST)
    pages = 0
    results = results_of(place, reporting(place))
    for stage in results:
        if stage == link.LINK and _contradicted(results):
            continue  # it was written before the review, with what the model expected
        for page in (PAGE, TWIN):
            file = place.of_stage(stage) / page
            if file.is_file():
                copy_private(file, inside / f"{stage}{file.suffix}")
                pages += file.suffix == Path(PAGE).suffix
    found = collected(place)
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(inside / PROJECT_JSON, f"{text}\n")
    warnings = _write_report(place, found, {Audience.INTERNAL: inside, Audience.PUBLIC: outside})
    folder = place.project.outputs.folder
    return Made(
        {"pages": pages},
        f"the release is in {folder}/{RELEASED}; reports, which stay inside, in "
        f"{folder}/{REPORTS}; the report that may be published in {folder}/{PUBLIC}",
        warnings,
    )


def _write_report(
    place: Place, found: dict[str, Any], folders: dict[Audience, Path]
) -> tuple[str, ...]:
    """Write both versions of the report of the project; warnings where one lacks a form."""
    forms = _forms(place)
    lacking: tuple[str, ...] = ()
    if PDF in forms:
        from sfumato.reports.report_files import can_make_pdf  # costs a start's time

        if not can_make_pdf():
            forms, lacking = (HTML, JSON), (NO_PDF,)
    results, today = ProjectResults.from_json(found), datetime.now(tz=UTC).astimezone().date()
    for audience, folder in folders.items():
        path = (folder / WHOLE).with_suffix(forms[0])
        write_project(results, path, audience=audience, made=today, forms=forms[1:])
    return lacking


STAGE = Stage(REPORT, _settings, _make, earlier=_earlier, check=_check)
