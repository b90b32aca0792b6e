"""The stage ``attack``: what a simulated intruder finds in the release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress
from sfumato.pipeline.project.outputs import Attack
from sfumato.pipeline.stages import release
from sfumato.pipeline.stages.assess import data_inputs, data_of
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.reported import form_of, lacking, write_report
from sfumato.pipeline.stages.stage import Made, Stage

NAME = "attack"


def _section(place: Place) -> Attack:
    if place.project.attack is None:
        raise InputError("section [attack]", "must be given for an attack")
    return place.project.attack


def _settings(place: Place) -> dict[str, Any]:
    return {
        "attack": _section(place).model_dump(mode="json", by_alias=True),
        "release": release.STAGE.settings(place),
        "report": form_of(place).value,
    }


def _files(place: Place) -> dict[str, Path]:
    files = release.STAGE.files(place)
    held = _section(place).register_file
    return files if held is None else {**files, "attack.register": place.at(held)}


def _earlier(place: Place) -> dict[str, tuple[str, ...]]:
    return {**data_inputs(place)[1], release.NAME: release.release_files(place)}


def _make(place: Place, making: Path, progress: Progress) -> Made:
    from sfumato.intruder.attack import attack  # costs a start's time

    asked = _section(place)
    data, _ = data_of(place)
    found = attack(
        # Made again, from the same seed: whose each record is stands in no file.
        release.made_release(place, progress),
        original=data,
        register=None if asked.register_file is None else place.at(asked.register_file),
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
    return Made(
        found.to_json(),
        found.verdict.rstrip("."),
        (*found.warnings, *lacking(place)),
        place.project.about.seed,
    )


STAGE = Stage(NAME, _settings, _make, files=_files, earlier=_earlier)
