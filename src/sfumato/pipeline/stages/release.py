"""The stage ``release``: a file that keeps what was promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.core.progress import Progress
from sfumato.pipeline.stages import schemas
from sfumato.pipeline.stages.assess import data_inputs, data_of, presets_of, threshold_files
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.reported import form_of, lacking, write_report
from sfumato.pipeline.stages.stage import Made, Stage
from sfumato.release.anonymize import anonymize, check_asked
from sfumato.release.options import Options
from sfumato.release.preset_promises import held_against, strictest
from sfumato.release.preset_promises import promises as promises_of
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.result import Release
from sfumato.table.table_files import write_table

NAME, RELEASE, RELEASE_MANIFEST = "release", "release", "release.toml"
"""The stage, its file without the ending of its format, and the manifest."""


def release_files(place: Place) -> tuple[str, ...]:
    """Names of the released file in each of its formats.

    Parameters
    ----------
    place
        The project.
    """
    return tuple(f"{RELEASE}.{form}" for form in place.project.outputs.formats)


def _settings(place: Place) -> dict[str, Any]:
    _, delimiter = data_of(place)
    return {
        "seed": place.project.about.seed,
        "delimiter": delimiter,
        "schema": schemas.plain_schema(schemas.released_schema(place), place),
        "release": place.project.release.model_dump(mode="json", by_alias=True),
        "formats": list(place.project.outputs.formats),
        "report": form_of(place).value,
    }


def _files(place: Place) -> dict[str, Path]:
    files, _ = data_inputs(place)
    asked = place.project.release
    if asked.pseudonym_key is not None:
        files["release.pseudonym_key"] = place.at(asked.pseudonym_key)
    hierarchies = schemas.hierarchy_files(schemas.released_schema(place))
    return files | hierarchies | threshold_files(place, asked, NAME)


def _earlier(place: Place) -> dict[str, tuple[str, ...]]:
    return data_inputs(place)[1]


def made_release(place: Place, progress: Progress) -> Release:
    """The release of a project, as its file asks for it; nothing is written.

    Parameters
    ----------
    place
        The project.
    progress
        Told how far it is.

    Raises
    ------
    ConstraintsNotMetError
        If no release can keep what was promised.
    InputError
        If the data does not fit the schema, or a file cannot be read.
    """
    asked = place.project.release
    data, delimiter = data_of(place)
    return anonymize(
        data,
        schemas.released_schema(place),
        *_promised(place),
        **asked.making,
        register=None if asked.register_file is None else place.at(asked.register_file),
        population=asked.population,
        seed=place.project.about.seed,
        pseudonym_key=place.key(asked.pseudonym_key, "release.pseudonym_key"),
        delimiter=delimiter,
        progress=progress,
    )


def _promised(place: Place) -> tuple[Constraint | Budget, ...]:
    """All promises, those of presets too."""
    asked = place.project.release
    presets = presets_of(place, asked, NAME)
    if not presets:
        return asked.promises
    return strictest((*asked.promises, *promises_of(*presets, threshold=asked.threshold)))


def _check(place: Place) -> None:
    """Refuse promises that no data could keep, and a file that is no key.

    Raises
    ------
    InputError
        If there are such.
    """
    asked = place.project.release
    key = place.key(asked.pseudonym_key, "release.pseudonym_key")
    schema = schemas.given_schema(place)
    if schema is None:
        return
    if place.project.is_linked:
        schema = schema.model_copy(update={"person": "person"})  # the linkage finds the persons
    check_asked(
        schema,
        _promised(place),
        Options(**asked.making),
        register=asked.register_file is not None,
        population=asked.population,
        pseudonym_key=key,
    )


def _make(place: Place, making: Path, progress: Progress) -> Made:
    release = made_release(place, progress)
    first, *others = release_files(place)
    presets = presets_of(place, place.project.release, NAME)
    release = held_against(release.write(making / first), presets)
    for name in others:
        write_table(release.table, making / name)
    write_report(release, place, making, "Release")
    risk = release.risk
    return Made(
        release.to_json(),
        f"{risk.records:,} records of {risk.persons:,} persons in {risk.classes:,} classes; "
        f"information lost: ncp {release.utility.ncp:.1%}",
        (*release.warnings, *lacking(place)),
        place.project.about.seed,
    )


STAGE = Stage(NAME, _settings, _make, files=_files, earlier=_earlier, check=_check)
