"""The stage ``assess``: what the data gives away before anything is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.core.progress import Progress
from sfumato.linkage.files import LINKED, LINKED_SCHEMA
from sfumato.pipeline.project.releasing import Assess, Release
from sfumato.pipeline.stages import schemas
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.reported import form_of, lacking, write_report
from sfumato.pipeline.stages.stage import Made, Stage
from sfumato.risk.assessment import assess
from sfumato.risk.population.population_size import Given, given_fraction, given_size
from sfumato.risk.risk_thresholds import Preset, thresholds
from sfumato.risk.threshold_checks import check_numbers

NAME = "assess"


def data_of(place: Place) -> tuple[Path, str | None]:
    """The file that is measured and released, and its delimiter where it is given.

    Parameters
    ----------
    place
        The project.
    """
    if place.project.is_linked:
        return place.of_stage(schemas.LINKED) / LINKED, None
    source = next(iter(place.project.sources.values()))
    return place.at(source.file), source.delimiter


def data_inputs(place: Place) -> tuple[dict[str, Path], dict[str, tuple[str, ...]]]:
    """The same as inputs: files of the project, and files of earlier stages.

    Parameters
    ----------
    place
        The project.
    """
    if place.project.is_linked:
        return {}, {schemas.LINKED: (LINKED, LINKED_SCHEMA)}
    name, source = next(iter(place.project.sources.items()))
    return {f"sources.{name}.file": place.at(source.file)}, {}


def presets_of(place: Place, asked: Assess | Release, section: str) -> tuple[Preset, ...]:
    """The thresholds that a section names.

    Parameters
    ----------
    place
        The project.
    asked
        The section.
    section
        Its name.

    Raises
    ------
    InputError
        If there is no preset of a name, one states no number, or the file breaks a rule.
    """
    if not asked.presets and asked.thresholds is None:
        return ()
    file = threshold_files(place, asked, section).get(f"{section}.thresholds")
    chosen = thresholds(*asked.presets, file=file)
    check_numbers(chosen)
    return chosen


def threshold_files(place: Place, asked: Assess | Release, section: str) -> dict[str, Path]:
    """The files that a section names beside the data: thresholds and the register.

    Parameters
    ----------
    place
        The project.
    asked
        The section.
    section
        Its name.
    """
    named = {"thresholds": asked.thresholds, "register": asked.register_file}
    return {f"{section}.{key}": place.at(path) for key, path in named.items() if path is not None}


def _settings(place: Place) -> dict[str, Any]:
    _, delimiter = data_of(place)
    return {
        "seed": place.project.about.seed,
        "delimiter": delimiter,
        "schema": schemas.plain_schema(schemas.released_schema(place), place),
        "assess": place.project.assess.model_dump(mode="json", by_alias=True),
        "report": form_of(place).value,
    }


def _files(place: Place) -> dict[str, Path]:
    files, _ = data_inputs(place)
    hierarchies = schemas.hierarchy_files(schemas.released_schema(place))
    return files | hierarchies | threshold_files(place, place.project.assess, NAME)


def _earlier(place: Place) -> dict[str, tuple[str, ...]]:
    return data_inputs(place)[1]


def _population(place: Place) -> Given | None:
    asked = place.project.assess
    if asked.population is not None:
        return given_size(asked.population)
    if asked.fraction is not None:
        return given_fraction(asked.fraction)
    if asked.weights is not None:
        return Given(weights=asked.weights)
    return None if asked.register_file is None else Given(register=place.at(asked.register_file))


def _make(place: Place, making: Path, progress: Progress) -> Made:
    asked, seed = place.project.assess, place.project.about.seed
    data, delimiter = data_of(place)
    risk = assess(
        data,
        schemas.released_schema(place),
        threshold=asked.threshold,
        ordered_distance=asked.ordered_distance,
        special_uniques=asked.special_uniques,
        msu_size=asked.msu_size,
        recursive_l=asked.recursive_l,
        population=_population(place),
        estimator=asked.estimator,
        seed=seed,
        presets=presets_of(place, asked, NAME),
        delimiter=delimiter,
        progress=progress,
    )
    write_report(risk, place, making, "Risk before the release")
    return Made(
        risk.to_json(),
        f"{risk.records:,} records of {risk.persons:,} persons; {risk.sample_uniques:,} classes "
        "with one person",
        (*risk.warnings, *lacking(place)),
        seed,
    )


STAGE = Stage(NAME, _settings, _make, files=_files, earlier=_earlier)
