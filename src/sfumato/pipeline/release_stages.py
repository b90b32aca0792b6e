"""How a project's data is measured, released and attacked: ``assess``, ``release``, ``attack``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress
from sfumato.pipeline.project.outputs import Attack
from sfumato.pipeline.project.releasing import Assess
from sfumato.pipeline.project.releasing import Release as ReleaseSection
from sfumato.pipeline.stage import Made, Stage, report_form, write_report
from sfumato.pipeline.workspace import (
    ASSESS,
    ATTACK,
    RELEASE,
    Place,
    data_files,
    data_of,
    data_stages,
    given_schema,
    plain_schema,
    released_schema,
)
from sfumato.release.anonymize import anonymize, check_asked
from sfumato.release.constraints import Budget, Constraint
from sfumato.release.options import Options
from sfumato.release.promises import held_against, strictest
from sfumato.release.promises import promises as promises_of
from sfumato.release.result import Release
from sfumato.risk.assessment import assess
from sfumato.risk.population.population_size import Given, given_fraction, given_size
from sfumato.risk.risk_thresholds import Preset, thresholds
from sfumato.risk.threshold_checks import check_numbers
from sfumato.table.table_files import write_table

RELEASE_MANIFEST = "release.toml"
"""The manifest in the folder of the stage ``release``."""


def _section_files(place: Place, asked: Assess | ReleaseSection, section: str) -> dict[str, Path]:
    """The data, its hierarchies, and the files that a section names: thresholds, the register."""
    named = {"thresholds": asked.thresholds, "register": asked.register_file}
    there = {f"{section}.{key}": path for key, path in named.items() if path is not None}
    return data_files(place) | {name: place.at(path) for name, path in there.items()}


def _register(place: Place, asked: Assess | ReleaseSection | Attack) -> Path | None:
    return None if asked.register_file is None else place.at(asked.register_file)


def _presets(place: Place, asked: Assess | ReleaseSection) -> tuple[Preset, ...]:
    """The thresholds that a section names.

    Raises
    ------
    InputError
        If there is no preset of a name, one states no number, or the file breaks a rule.
    """
    if not asked.presets and asked.thresholds is None:
        return ()
    file = None if asked.thresholds is None else place.at(asked.thresholds)
    chosen = thresholds(*asked.presets, file=file)
    check_numbers(chosen)
    return chosen


def _settings_of_data(place: Place) -> dict[str, Any]:
    return {
        "seed": place.project.about.seed,
        "delimiter": data_of(place)[1],
        "schema": plain_schema(released_schema(place), place),
    }


def _assess_settings(place: Place) -> dict[str, Any]:
    return _settings_of_data(place) | {
        "assess": place.project.assess.model_dump(mode="json", by_alias=True),
        "report": report_form(place).value,
    }


def _assess_files(place: Place) -> dict[str, Path]:
    return _section_files(place, place.project.assess, ASSESS)


def _population(place: Place) -> Given | None:
    asked = place.project.assess
    if asked.population is not None:
        return given_size(asked.population)
    if asked.fraction is not None:
        return given_fraction(asked.fraction)
    if asked.weights is not None:
        return Given(weights=asked.weights)
    register = _register(place, asked)
    return None if register is None else Given(register=register)


def _assess(place: Place, making: Path, progress: Progress) -> Made:
    asked = place.project.assess
    data, delimiter = data_of(place)
    risk = assess(
        data,
        released_schema(place),
        threshold=asked.threshold,
        ordered_distance=asked.ordered_distance,
        special_uniques=asked.special_uniques,
        msu_size=asked.msu_size,
        recursive_l=asked.recursive_l,
        population=_population(place),
        estimator=asked.estimator,
        seed=place.project.about.seed,
        presets=_presets(place, asked),
        delimiter=delimiter,
        progress=progress,
    )
    write_report(risk, place, making, "Risk before the release")
    return Made.of(
        risk,
        f"{risk.records:,} records of {risk.persons:,} persons; {risk.sample_uniques:,} classes "
        "with one person",
        place,
    )


ASSESS_STAGE = Stage(ASSESS, _assess_settings, _assess, files=_assess_files, earlier=data_stages)


def release_files(place: Place) -> tuple[str, ...]:
    """Names of the released file in each of its formats."""
    return tuple(f"{RELEASE}.{form}" for form in place.project.outputs.formats)


def _release_settings(place: Place) -> dict[str, Any]:
    return _settings_of_data(place) | {
        "release": place.project.release.model_dump(mode="json", by_alias=True),
        "formats": list(place.project.outputs.formats),
        "report": report_form(place).value,
    }


def _release_files(place: Place) -> dict[str, Path]:
    asked = place.project.release
    files = _section_files(place, asked, RELEASE)
    if asked.pseudonym_key is not None:
        files["release.pseudonym_key"] = place.at(asked.pseudonym_key)
    return files


def _made_release(place: Place, progress: Progress) -> Release:
    """The release of a project, as its file asks for it; nothing is written."""
    asked = place.project.release
    data, delimiter = data_of(place)
    return anonymize(
        data,
        released_schema(place),
        *_promised(place),
        **asked.making,
        register=_register(place, asked),
        population=asked.population,
        seed=place.project.about.seed,
        pseudonym_key=place.key(asked.pseudonym_key, "release.pseudonym_key"),
        delimiter=delimiter,
        progress=progress,
    )


def _promised(place: Place) -> tuple[Constraint | Budget, ...]:
    """All promises, those of presets too."""
    asked = place.project.release
    presets = _presets(place, asked)
    if not presets:
        return asked.promises
    return strictest((*asked.promises, *promises_of(*presets, threshold=asked.threshold)))


def _check_release(place: Place) -> None:
    """Refuse promises that no data could keep, and a file that is no key.

    Raises
    ------
    InputError
        If there are such.
    """
    asked = place.project.release
    key = place.key(asked.pseudonym_key, "release.pseudonym_key")
    schema = given_schema(place)
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


def _release(place: Place, making: Path, progress: Progress) -> Made:
    release = _made_release(place, progress)
    first, *others = release_files(place)
    release = held_against(release.write(making / first), _presets(place, place.project.release))
    for name in others:
        write_table(release.table, making / name)
    write_report(release, place, making, "Release")
    risk = release.risk
    return Made.of(
        release,
        f"{risk.records:,} records of {risk.persons:,} persons in {risk.classes:,} classes; "
        f"information lost: ncp {release.utility.ncp:.1%}",
        place,
    )


RELEASE_STAGE = Stage(
    RELEASE,
    _release_settings,
    _release,
    files=_release_files,
    earlier=data_stages,
    check=_check_release,
)


def _attack_section(place: Place) -> Attack:
    if place.project.attack is None:
        raise InputError("section [attack]", "must be given for an attack")
    return place.project.attack


def _attack_settings(place: Place) -> dict[str, Any]:
    return {
        "attack": _attack_section(place).model_dump(mode="json", by_alias=True),
        "release": _release_settings(place),
        "report": report_form(place).value,
    }


def _attack_files(place: Place) -> dict[str, Path]:
    register = _register(place, _attack_section(place))
    return _release_files(place) | ({} if register is None else {"attack.register": register})


def _attack_earlier(place: Place) -> dict[str, tuple[str, ...]]:
    return {**data_stages(place), RELEASE: release_files(place)}


def _attack(place: Place, making: Path, progress: Progress) -> Made:
    from sfumato.intruder.attack import attack  # costs a start's time

    asked = _attack_section(place)
    found = attack(
        # Made again, from the same seed: whose each record is stands in no file.
        _made_release(place, progress),
        original=data_of(place)[0],
        register=_register(place, asked),
        knows=asked.knows,
        counts=asked.counts,
        noise=asked.noise,
        missing=asked.missing,
        threshold=asked.threshold,
        attacks=asked.attacks,
        seed=place.project.about.seed,
        progress=progress,
    )
    write_report(found, place, making, "Attack")
    return Made.of(found, found.verdict.rstrip("."), place)


ATTACK_STAGE = Stage(
    ATTACK, _attack_settings, _attack, files=_attack_files, earlier=_attack_earlier
)
