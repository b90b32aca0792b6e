"""What a project hands over: the stage ``report``, its release and the reports of all stages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomlkit

from sfumato.core.atomic import write_text
from sfumato.core.declaration import Progress, fields_of
from sfumato.core.errors import InputError
from sfumato.core.phrases import speaking
from sfumato.core.signatures import SIGNATURE
from sfumato.pipeline import project_folder
from sfumato.pipeline.project_model import ReportForm
from sfumato.pipeline.release_stages import (
    FOR_DATABASE,
    RELEASE_MANIFEST,
    TABLES,
    ledger_of,
    release_files,
    verdict_of,
)
from sfumato.pipeline.stage import MEASURED, PAGE, TWIN, Made, Stage, read_object, read_record
from sfumato.release.codebook import codebook_name
from sfumato.release.release_manifest import file_sha256
from sfumato.reports.audience import Audience
from sfumato.reports.project_results import CONTEXT, ProjectResults
from sfumato.reports.report_files import write_project
from sfumato.reports.report_targets import HTML, JSON, PDF
from sfumato.risk.intruders import Findings
from sfumato.table.databases import DatabaseTable, check_new_table, write_database
from sfumato.table.table_files import open_source

RELEASED, REPORTS, PROJECT_JSON = "release", "reports", "project.json"
"""The folder that goes out, the folder that stays, and all measures of all stages."""
PUBLIC, WHOLE = "public", "report"
"""The folder of what may be published, and the report of the project without its ending."""
NO_PDF = (
    "No PDF of the report: WeasyPrint does not find Pango; install libpango-1.0-0, "
    "libpangoft2-1.0-0 and libharfbuzz-subset0, or print the page"
)


def _settings(place: project_folder.ProjectFolder) -> dict[str, Any]:
    return {
        "about": place.project.about.model_dump(mode="json", exclude={"seed"}),
        "formats": list(place.project.outputs.formats),
        "database": place.project.outputs.database,
        "forms": list(_forms(place)),
        "limits": asdict(place.project.judged_by),
        "accept": place.project.accept.model_dump(mode="json", exclude_none=True),
        **place.spoken_settings,
    }


def _forms(place: project_folder.ProjectFolder) -> tuple[str, ...]:
    """Endings of the report of the project."""
    if place.report_form is ReportForm.JSON:
        return (JSON,)
    return (HTML, JSON) if find_spec("weasyprint") is None else (HTML, JSON, PDF)


def _earlier(place: project_folder.ProjectFolder) -> dict[str, tuple[str, ...]]:
    found = {}
    for name in place.stage_names[:-1]:
        record = read_record(place.of_stage(name))
        found[name] = () if record is None else tuple(record.outputs)
    return found


def _collected(
    place: project_folder.ProjectFolder, recipient: Findings | None = None
) -> dict[str, Any]:
    """What every stage measured, with its record, and what the project file says of the release.

    Parameters
    ----------
    recipient
        What one recipient finds; without it who holds all that was handed over when it was made.
    """
    stages: dict[str, dict[str, Any]] = {}
    for name in place.stage_names[:-1]:
        folder = place.of_stage(name)
        record, measured = read_record(folder), read_object(folder / MEASURED)
        if record is not None and measured is not None:
            about = (read_object(folder / TWIN) or {}).get("report", {})
            stages[name] = {"record": record.to_json(), "measured": measured, "about": about}
    # What the model expected must not stand beside a review that contradicts it.
    if _is_contradicted(stages):
        stages[project_folder.LINK]["measured"]["expected"] = stages[project_folder.LINKED][
            "measured"
        ]["expected"]
    # Nor what was said of the release when it was made beside what is said of it now.
    if project_folder.RELEASE in stages:
        stages[project_folder.RELEASE]["measured"].pop("verdict", None)
    about = place.project.about.model_dump(mode="json", exclude_none=True)
    verdict = verdict_of(place, recipient)
    return {
        "project": place.project.about.name,
        "verdict": None if verdict is None else verdict.to_json(),
        "context": {name: about[name] for name in CONTEXT if name in about},
        "reasons": about["reasons"],
        "stages": stages,
    }


def _handed(
    place: project_folder.ProjectFolder, to: str
) -> tuple[dict[str, Any] | None, Findings | None]:
    """What the ledger says of a release and of all others that left, and what a recipient finds."""
    measured = read_object(place.of_stage(project_folder.RELEASE) / MEASURED) or {}
    request = measured.get("ledger", {}).get("release") or 0
    with ledger_of(place) as memory:
        if memory is None:
            return None, None
        every = memory.remembered()
        own = [
            each
            for each in every
            if each.number == measured.get("draft") or (request and each.request == request)
        ]
        if not own:
            return None, None
        number, held = own[0].number, {each.number for each in memory.may_hold(to)}
        beside = memory.beside(number, to) if own[0].kept_in and not request else None
        others = [
            {**fields_of(each, "number name persons handed"), "to": list(each.to)}
            | {"compared": each.number in held, "persons": each.persons if each.kept_in else None}
            for each in every
            if each.to and each.number != number
        ]
        got, signed = memory.handed_to(number), memory.signatures().get(number)
        file = place.of_stage(project_folder.REPORT) / SIGNATURE
        if signed and file.is_file() and file_sha256(file) == signed["sha256"]:
            # Whom it is for the signature says, and not the ledger.
            signed = {**signed, "to": ((read_object(file) or {}).get("statement") or {}).get("to")}
        return {
            "number": number,
            "handed": got.get(to, ""),
            "elsewhere": [each for each in got if each != to],
            "signed": signed,
            "others": others,
            "waived": memory.waivers(),
            "unknown": [] if beside is None else list(beside.unknown),
        }, None if beside is None else Findings.among(**beside.all[number].to_findings())


def results_for(place: project_folder.ProjectFolder, to: str) -> ProjectResults:
    """The results of a project for one recipient, compared with all that left until now.

    Raises
    ------
    InputError
        If the project was not run to its release, or something is stated of a day to come.
    """
    today = datetime.now(tz=UTC).astimezone().date()
    if to in place.project.dossier and place.project.dossier[to].on > today:
        raise InputError(
            f"dossier.{to}.on",
            "must not be later than today",
            found="a day to come",
            advice="state what is so by now",
        )
    # What is stated and who holds what may change after the run, which is signed as it was made.
    handed, recipient = _handed(place, to)
    stated = {name: each.model_dump(mode="json") for name, each in place.project.dossier.items()}
    found = _collected(place, recipient)
    expired = [each.to_json() for each in place.project.answers if each.until < today]
    more = {"stated": stated, "handed": handed, "expired": expired}
    return ProjectResults.from_json(found | more)


def _is_contradicted(stages: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the review contradicts what the model of the linkage expects."""
    return project_folder.LINKED in stages and "contradicted" in stages[project_folder.LINKED][
        "measured"
    ].get("expected", {})


def _check(place: project_folder.ProjectFolder) -> None:
    """Refuse to replace folders that no run has made, and tables of databases."""
    folder, database = place.of_stage(project_folder.REPORT), place.project.outputs.database
    record = read_record(folder)
    told = None if record is None else record.settings.get("database")
    # The table of the last run may be replaced; any other one must be new.
    if database is not None and told != DatabaseTable.of(database).subject:
        check_new_table(place.located(database))
    if record is not None:
        return
    for name in (RELEASED, REPORTS, PUBLIC):
        if (folder / name).exists():
            raise InputError(
                "outputs.folder",
                f"must not hold a folder {name} that no run has made",
                found="one",
                advice="move it away, or choose another folder",
            )


def _make(place: project_folder.ProjectFolder, making: Path, progress: Progress) -> Made:
    progress("report", 0.0)
    out, inside, outside = making / RELEASED, making / REPORTS, making / PUBLIC
    for folder in (out, inside, outside):
        folder.mkdir(mode=0o700)
    made = place.of_stage(project_folder.RELEASE)
    files = release_files(place)
    # That of a database stands among its tables.
    about = Path(TABLES) / TABLES if place.project.is_database else Path(files[0])
    for name in (*files, str(about.with_name(codebook_name(about.name)))):
        if (made / name).is_file():
            (out / name).parent.mkdir(mode=0o700, exist_ok=True)
            project_folder.copy_private(made / name, out / name)
    verdict = verdict_of(place)
    if verdict is None:
        project_folder.copy_private(made / RELEASE_MANIFEST, inside / RELEASE_MANIFEST)
    else:
        # What the project accepts, and who holds earlier releases, the release does not know.
        manifest = tomlkit.parse((made / RELEASE_MANIFEST).read_text(encoding="utf-8"))
        manifest["verdict"] = verdict.noted
        write_text(inside / RELEASE_MANIFEST, tomlkit.dumps(manifest))
    pages = 0
    found = _collected(place)
    for stage in found["stages"]:
        if (
            stage == project_folder.LINK
            and (place.of_stage(project_folder.LINKED) / TWIN).is_file()
        ):
            continue  # it was written before the review, with what people had yet to look at
        for page in (PAGE, TWIN):
            file = place.of_stage(stage) / page
            if file.is_file():
                project_folder.copy_private(file, inside / f"{stage}{file.suffix}")
                pages += file.suffix == Path(PAGE).suffix
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(inside / PROJECT_JSON, f"{text}\n")
    warnings = _write_report(place, found, {Audience.INTERNAL: inside, Audience.PUBLIC: outside})
    outputs, also = place.project.outputs, ""
    if outputs.database is not None:
        source = open_source(made / FOR_DATABASE)
        table = pa.Table.from_batches(source.batches(source.names))
        write_database(table, place.located(outputs.database))
        also = f" and in {DatabaseTable.of(outputs.database).subject}"
    folder = outputs.folder
    return Made(
        {"pages": pages},
        f"the release is in {folder}/{RELEASED}{also}; reports, which stay inside, in "
        f"{folder}/{REPORTS}; the report that may be published in {folder}/{PUBLIC}",
        warnings,
    )


def _write_report(
    place: project_folder.ProjectFolder, found: dict[str, Any], folders: dict[Audience, Path]
) -> tuple[str, ...]:
    """Write both versions of the report of the project; warnings where one lacks a form."""
    forms = _forms(place)
    lacking: tuple[str, ...] = ()
    if PDF in forms:
        from sfumato.reports.report_targets import can_make_pdf  # costs a start's time

        # Only loading WeasyPrint shows whether Pango is there.
        if not can_make_pdf():
            forms, lacking = (HTML, JSON), (NO_PDF,)
    results, today = ProjectResults.from_json(found), datetime.now(tz=UTC).astimezone().date()
    with speaking(place.project.outputs.language):
        for audience, folder in folders.items():
            path = (folder / WHOLE).with_suffix(forms[0])
            write_project(results, path, audience=audience, made=today, forms=forms[1:])
    return lacking


REPORT_STAGE = Stage(project_folder.REPORT, _settings, _make, earlier=_earlier, check=_check)
