"""When a stage is made again, and how: its record, its inputs, its folder whole or not at all."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sfumato.core.atomic import atomic_folder, write_text
from sfumato.core.declaration import Place, Progress, is_database
from sfumato.core.errors import InputError, unreadable_file
from sfumato.core.optional_packages import install_command
from sfumato.core.secret_keys import read_secret
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_model import ReportForm
from sfumato.release.release_manifest import file_sha256
from sfumato.release.release_options import versions
from sfumato.reports import report
from sfumato.reports.report_files import finite
from sfumato.table.databases import DatabaseTable
from sfumato.table.table_files import data_sha256

FORM = 1
"""Number of the form of records and folders; another one makes everything again."""
RECORD, MEASURED = "stage.json", "measured.json"
"""The record in the folder of a stage, and what the stage measured."""
PAGE, TWIN = "report.html", "report.json"
"""The report of a stage: the page where it is asked for, and the same as JSON."""
LACKING = 'The report is JSON only: a page needs the extra "report"; run: {}'
_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True)
class Waiting:
    """What a stage waits for.

    Attributes
    ----------
    whom
        Who has to do something: ``"reviewers"``.
    """

    whom: str
    what: str
    count: int
    commands: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"commands": list(self.commands)}


@dataclass(frozen=True)
class Made:
    """What a stage found as it was made.

    Attributes
    ----------
    measured
        All that it measured, as plain values without a value of the data.
    seed
        The seed of its random choices, where it makes some.
    """

    measured: Mapping[str, Any]
    said: str
    warnings: tuple[str, ...] = ()
    seed: int | None = None

    @classmethod
    def of(cls, result: Any, said: str, place: ProjectFolder) -> Made:
        """What a result says of itself, with a warning where its page could not be drawn."""
        lacks_page = place.report_form is not place.project.outputs.report
        warnings = (
            (*result.warnings, LACKING.format(install_command("report")))
            if lacks_page
            else tuple(result.warnings)
        )
        return cls(result.to_json(), said, warnings, place.project.about.seed)


@dataclass(frozen=True)
class Stage:
    """A stage of a project.

    Attributes
    ----------
    files
        The files and tables that it reads, by what the project file calls them.
    earlier
        The files of earlier stages that it reads: names by stage.
    check
        Refuses what can be seen to be wrong before any stage is made.
    """

    name: str
    settings: Callable[[ProjectFolder], dict[str, Any]]
    make: Callable[[ProjectFolder, Path, Progress], Made]
    files: Callable[[ProjectFolder], dict[str, Place]] = field(default=lambda _place: {})
    earlier: Callable[[ProjectFolder], dict[str, tuple[str, ...]]] = field(
        default=lambda _place: {}
    )
    check: Callable[[ProjectFolder], None] = field(default=lambda _place: None)
    prepare: Callable[[ProjectFolder], None] = field(default=lambda _place: None)
    waits: Callable[[ProjectFolder], Waiting | None] = field(default=lambda _place: None)


@dataclass(frozen=True)
class Output:
    """Hash and size of a file that a stage made."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    sha256: str
    bytes: int


@dataclass(frozen=True)
class StageRecord:
    """What is kept of a stage that was made; no value of the data.

    Attributes
    ----------
    key
        Hash of all that it depends on: while this is the same, it need not be made again.
    inputs
        Hashes of the files it read, by what the project file calls them, and of outputs of
        earlier stages, as ``link/linked.parquet``.
    seed
        The seed of its random choices, where it makes some.
    finished
        When it was made, in UTC.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    stage: str
    key: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    outputs: Mapping[str, Output]
    said: str
    warnings: tuple[str, ...]
    seed: int | None
    finished: str
    seconds: float
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Size of all that it made."""
        return sum(output.bytes for output in self.outputs.values())

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"warnings": list(self.warnings)}

    def write(self, folder: Path) -> None:
        """Write it into the folder of its stage."""
        write_text(folder / RECORD, json.dumps(self.to_json(), indent=2) + "\n")


def read_record(folder: Path) -> StageRecord | None:
    """The record in the folder of a stage; ``None`` where there is none, or a damaged one."""
    try:
        text = (folder / RECORD).read_bytes()
        record = TypeAdapter(StageRecord).validate_json(text)
    except (OSError, ValidationError):
        return None
    return record if all(map(_is_inside, record.outputs)) else None


def _is_inside(name: str) -> bool:
    """Whether a name is that of a file in the folder: what a record names is removed one day."""
    path = PurePosixPath(name)
    odd = path.is_absolute() or ".." in path.parts or not path.parts
    return not (odd or "\0" in name or "\\" in name)


def read_object(file: Path) -> dict[str, Any] | None:
    """What a stage wrote as a JSON object, such as its measures; ``None`` without such a file."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    # Nesting without end exhausts the stack.
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


@dataclass(frozen=True)
class Depends:
    """What a stage depends on at present."""

    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    key: str


def depends(place: ProjectFolder, stage: Stage) -> Depends:
    """What a stage depends on; the stages before it must be made."""
    inputs = {name: _input_sha256(name, path) for name, path in sorted(stage.files(place).items())}
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
    settings = _without_urls(stage.settings(place))
    # Another version may make something else of the same files.
    whole = {"stage": stage.name, "form": FORM, "sfumato": version("sfumato")}
    whole |= {"settings": settings, "inputs": inputs}
    # One text for the same values, on every machine.
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return Depends(settings, inputs, hashlib.sha256(text.encode("ascii")).hexdigest())


def _without_urls(settings: Any) -> Any:
    """Settings in which tables of databases go by their names: a URL may hold a password."""
    if isinstance(settings, dict):
        return {name: _without_urls(setting) for name, setting in settings.items()}
    if isinstance(settings, list):
        return [_without_urls(setting) for setting in settings]
    return DatabaseTable.of(settings).subject if is_database(settings) else settings


def _input_sha256(name: str, place: Place) -> str:
    """Hash of what a stage reads, by what the project file calls it."""
    try:
        return data_sha256(place) if is_database(place) else file_sha256(place)
    except OSError as error:
        raise unreadable_file(
            name, error, "paths are named from the project file's folder"
        ) from None


def current_record(place: ProjectFolder, stage: Stage) -> StageRecord | None:
    """The record of a stage that need not be made again; ``None`` where it must be.

    The stages before it must be made.
    """
    folder = place.of_stage(stage.name)
    record = read_record(folder)
    if record is None or record.key != depends(place, stage).key:
        return None
    # Files that somebody changed are made again.
    try:
        whole = all(
            file_sha256(folder / name) == output.sha256 for name, output in record.outputs.items()
        )
    except OSError:
        return None
    return record if whole else None


def kept_secret(place: ProjectFolder, stage: Stage, file: str) -> bytes | None:
    """The secret of what a stage makes, where that repeats what it made; ``None`` for a fresh one.

    It stays in the folder of the stage. One that lies there before anything was made was put there.
    """
    path = place.of_stage(stage.name) / file
    record = read_record(path.parent)
    if not path.is_file() or (record is not None and record.key != depends(place, stage).key):
        return None
    return read_secret(path, f"file {file}")


def check_unchanged(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse files that somebody changes while the project runs."""
    for name, own in now.items():
        if before.get(name, own) != own:
            raise InputError(
                name,
                "must stay the same while the project runs",
                found="a change",
                advice="run it again",
            )


def make_stage(place: ProjectFolder, stage: Stage, progress: Progress) -> StageRecord:
    """Make a stage in its folder; nobody else runs the project, the stages before it are made.

    Raises
    ------
    SfumatoError
        If it cannot be made, or what it reads was changed meanwhile; then its folder is as it
        was before.
    """
    folder, now = place.of_stage(stage.name), depends(place, stage)
    # Not by the time of day, which may be set meanwhile.
    started = time.monotonic()
    before = read_record(folder)
    with atomic_folder(folder, without=() if before is None else before.outputs) as making:
        made = stage.make(place, making, progress)
        # Else the record would say that it was made of files which it never saw.
        check_unchanged(now.inputs, depends(place, stage).inputs)
        measured = finite(made.measured)
        text = json.dumps(measured, indent=2, ensure_ascii=False, allow_nan=False)
        write_text(making / MEASURED, f"{text}\n")
        record = StageRecord(
            stage=stage.name,
            key=now.key,
            settings=now.settings,
            inputs=now.inputs,
            outputs=_outputs_in(making),
            said=made.said,
            warnings=made.warnings,
            seed=made.seed,
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - started, 3),
            versions=versions(),
        )
        record.write(making)
    return record


def _outputs_in(folder: Path) -> dict[str, Output]:
    """All files in a folder with their hashes and sizes, those of secrets left out."""
    found = (path for path in folder.rglob("*") if path.suffix != ".secret")
    files = sorted(path for path in found if path.is_file())
    return {
        path.relative_to(folder).as_posix(): Output(file_sha256(path), path.stat().st_size)
        for path in files
    }


def write_report(result: Any, place: ProjectFolder, folder: Path, title: str) -> None:
    """Write the report of a stage.

    Parameters
    ----------
    result
        What `sfumato.report` takes.
    title
        What it is about; without the project's name, which may change while the stage stays.
    """
    name = PAGE if place.report_form is ReportForm.HTML else TWIN
    report(result, folder / name, title=title, language=place.project.outputs.language)
