"""Whether a stage must be made again: what it depends on, as one hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.pipeline.kept.hashes import input_sha256, plain_sha256
from sfumato.pipeline.kept.record import Output, StageRecord, read_record
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.stage import Stage
from sfumato.release.manifest import file_sha256

FORM = 1
"""Number of the form of records and folders; another one makes everything again."""


@dataclass(frozen=True)
class Depends:
    """What a stage depends on at present.

    Attributes
    ----------
    settings
        The part of the project that concerns it.
    inputs
        Hashes of the files that it reads.
    key
        Hash of all that.
    """

    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    key: str


def depends(place: Place, stage: Stage) -> Depends:
    """What a stage depends on; the stages before it must be made.

    Parameters
    ----------
    place
        The project.
    stage
        The stage.

    Raises
    ------
    InputError
        If a file that it reads is not there.
    """
    inputs = {name: input_sha256(name, path) for name, path in sorted(stage.files(place).items())}
    for earlier, names in stage.earlier(place).items():
        record = read_record(place.of_stage(earlier))
        for name in sorted(names):
            output = None if record is None else record.outputs.get(name)
            if output is None:
                raise InputError(
                    f"stage {earlier}",
                    f"must have made {name}",
                    found="none",
                    advice=f"sfumato run --force {earlier}",
                )
            inputs[f"{earlier}/{name}"] = output.sha256
    settings = stage.settings(place)
    whole = {"stage": stage.name, "form": FORM, "sfumato": version("sfumato")}
    return Depends(
        settings, inputs, plain_sha256({**whole, "settings": settings, "inputs": inputs})
    )


def current_record(place: Place, stage: Stage) -> StageRecord | None:
    """The record of a stage that need not be made again; ``None`` where it must be.

    Parameters
    ----------
    place
        The project.
    stage
        The stage; those before it are made.

    Raises
    ------
    InputError
        As `depends`.
    """
    folder = place.of_stage(stage.name)
    record = read_record(folder)
    if record is None or record.key != depends(place, stage).key:
        return None
    return record if is_whole(folder, record) else None


def check_unchanged(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse files that somebody changes while the project runs.

    Parameters
    ----------
    before, now
        Hashes of what was read.

    Raises
    ------
    InputError
        If one that is in both is another.
    """
    for name, own in now.items():
        if before.get(name, own) != own:
            raise InputError(
                name,
                "must stay the same while the project runs",
                found="a change",
                advice="run it again",
            )


def is_whole(folder: Path, record: StageRecord) -> bool:
    """Whether all files of a stage are there as it made them.

    Parameters
    ----------
    folder
        The folder of the stage.
    record
        Its record.
    """
    try:
        return all(
            file_sha256(folder / name) == output.sha256 for name, output in record.outputs.items()
        )
    except OSError:
        return False


def outputs_in(folder: Path) -> dict[str, Output]:
    """All files in a folder with their hashes and sizes.

    Parameters
    ----------
    folder
        The folder.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): Output(file_sha256(path), path.stat().st_size)
        for path in files
    }
