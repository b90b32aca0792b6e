"""How far a project is, and how a run brings it on: its stages in order, one run at a time."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.atomic import check_target_folder
from sfumato.core.declaration import Progress, fields_of, silent
from sfumato.core.errors import InputError
from sfumato.core.phrases import Phrase
from sfumato.core.workspace import lock_file
from sfumato.pipeline.acceptances import measured_first
from sfumato.pipeline.linking_stages import LINK_STAGE, LINKED_STAGE, check_classified
from sfumato.pipeline.periods import shown_periods
from sfumato.pipeline.project_folder import RELEASE, REPORT, REVIEW, ProjectFolder
from sfumato.pipeline.release_stages import ASSESS_STAGE, ATTACK_STAGE, RELEASE_STAGE, verdict_of
from sfumato.pipeline.report_stage import REPORT_STAGE
from sfumato.pipeline.stage import (
    MEASURED,
    Stage,
    StageRecord,
    Waiting,
    check_unchanged,
    current_record,
    make_stage,
    read_object,
    read_record,
)
from sfumato.review.review_extra import needs_review
from sfumato.risk.verdict import Verdict, check_answers

Working = Callable[[str], AbstractContextManager[Progress]]
"""Shows how far a stage is, while it is being made."""
LOCK = ".lock"
# Windows has no such flag.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_STAGES = (LINK_STAGE, LINKED_STAGE, ASSESS_STAGE, RELEASE_STAGE, ATTACK_STAGE, REPORT_STAGE)


def stages_of(place: ProjectFolder) -> tuple[Stage, ...]:
    """The stages that a project has, each after those that it rests on."""
    return tuple(_stage(place, name) for name in place.stage_names)


def _stage(place: ProjectFolder, name: str) -> Stage:
    if name == REVIEW:
        needs_review()
        from sfumato.pipeline.review_stage import REVIEW_STAGE  # needs an extra

        return REVIEW_STAGE
    if name == RELEASE and place.project.policy is not None:
        from sfumato.pipeline.request_stage import REQUEST_STAGE  # costs a start's time

        return REQUEST_STAGE
    return next(stage for stage in _STAGES if stage.name == name)


class State(StrEnum):
    """How a stage stands."""

    DONE = "done"
    """Made, of what is there now."""
    WAITING = "waiting"
    """It waits for people."""
    TO_DO = "to do"
    """Not made yet."""
    OUTDATED = "outdated"
    """Made of something else than is there now; the next run makes it again if that matters."""

    @property
    def said(self) -> str:
        """How a page says it."""
        return STATES[self]


STATES = {
    State.DONE: Phrase("done"),
    State.WAITING: Phrase("waiting"),
    State.TO_DO: Phrase("to do"),
    State.OUTDATED: Phrase("outdated"),
}
"""How each is said."""


@dataclass(frozen=True)
class StageState:
    """How a stage stands.

    Attributes
    ----------
    record
        What is kept of the last time that it was made.
    """

    name: str
    state: State
    record: StageRecord | None = None
    waiting: Waiting | None = None
    ran: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        found: dict[str, Any] = {"stage": self.name, "state": self.state.value, "ran": self.ran}
        if self.record is not None:
            found |= {
                **fields_of(self.record, "seconds bytes finished said"),
                "warnings": list(self.record.warnings),
            }
        if self.waiting is not None:
            found["waiting"] = self.waiting.to_json()
        return found


@dataclass(frozen=True)
class Status:
    """How far a project is.

    Attributes
    ----------
    stages
        Its stages in their order.
    """

    place: ProjectFolder
    stages: tuple[StageState, ...]

    @property
    def waiting(self) -> Waiting | None:
        """What the project waits for."""
        return next((stage.waiting for stage in self.stages if stage.waiting is not None), None)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return all(stage.state is State.DONE for stage in self.stages)

    @cached_property
    def verdict(self) -> Verdict | None:
        """What is said of the release; ``None`` where none is there, or a policy decided."""
        made = any(stage.name == RELEASE and stage.state is State.DONE for stage in self.stages)
        return verdict_of(self.place) if made else None

    def measured(self, stage: str) -> dict[str, Any] | None:
        """What a stage measured, as JSON; ``None`` where it was not made."""
        return read_object(self.place.of_stage(stage) / MEASURED)

    @property
    def periods(self) -> list[dict[str, Any]]:
        """Of a series, what the release of each period shows, and what all until it find."""
        return shown_periods(self.place.file)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        waiting = self.waiting
        return {
            "project": self.place.project.about.name,
            **({"periods": self.periods} if self.place.period else {}),
            "done": self.is_done,
            "waiting": None if waiting is None else waiting.to_json(),
            "stages": [stage.to_json() for stage in self.stages],
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }


def status_of(place: ProjectFolder) -> Status:
    """How far a project is; nothing is made."""
    found: list[StageState] = []
    for stage in stages_of(place):
        # What a stage depends on is known only once those before it are made.
        is_next = all(each.state is State.DONE for each in found)
        record = current_record(place, stage) if is_next else None
        if record is not None:
            found.append(StageState(stage.name, State.DONE, record))
        else:
            found.append(_not_made(place, stage, stage.waits(place) if is_next else None))
    return Status(place, tuple(found))


def _not_made(place: ProjectFolder, stage: Stage, waiting: Waiting | None = None) -> StageState:
    """How a stage stands that waits, has to be made, or follows one of these."""
    record = read_record(place.of_stage(stage.name))
    if waiting is not None:
        return StageState(stage.name, State.WAITING, record, waiting)
    return StageState(stage.name, State.TO_DO if record is None else State.OUTDATED, record)


def run(
    place: ProjectFolder,
    *,
    until: str | None = None,
    force: tuple[str, ...] = (),
    working: Working = lambda _name: nullcontext(silent),
    tell: Callable[[StageState], None] = lambda _state: None,
) -> Status:
    """Make what is not done, or not of what is there now.

    A stage whose inputs did not change is not made again. Interrupted at any moment, the next run
    goes on; with the same seed the release is the same, byte for byte.

    Parameters
    ----------
    until
        The last stage to make; all of them when not given.
    force
        Stages to make again even if nothing changed.
    tell
        Told of each stage that is done, that was there already, or that waits.

    Raises
    ------
    ConstraintsNotMetError
        If no release can keep what was promised.
    """
    if until is not None:
        _check_stage(place, until, "option --until")
    for name in force:
        _check_stage(place, name, "option --force")
    with _held(place):
        stages = stages_of(place)
        # Nobody else runs the project: what is half written is of a run that was ended.
        for stage in stages:
            remove_leftovers(place.of_stage(stage.name))
        remove_leftovers(place.at(place.project.review.folder))
        names = [stage.name for stage in stages]
        wanted = stages[: None if until is None else names.index(until) + 1]
        # All that can be refused is refused first: a run may take hours.
        for stage in wanted:
            check_target_folder(place.of_stage(stage.name))
            stage.check(place)
        if any(stage.name == RELEASE for stage in wanted):  # after what needs no look at a file
            check_classified(place)
            if not place.project.is_linked:
                check_answers(place.project.answers, place.released_schema().further)
        found: list[StageState] = []
        read: dict[str, str] = {}
        for stage in wanted:
            if stage.name == RELEASE and place.project.is_linked:  # its columns are known by now
                check_answers(place.project.answers, place.released_schema().further)
            state = _brought_up(place, stage, stage.name in force, working)
            if state.record is not None and state.state is State.DONE:
                check_unchanged(read, state.record.inputs)
                read |= state.record.inputs
            tell(state)
            found.append(state)
            if state.state is not State.DONE:
                break
            if stage.name == RELEASE:
                place = measured_first(place)
        return Status(place, (*found, *(_not_made(place, each) for each in stages[len(found) :])))


@contextmanager
def _held(place: ProjectFolder) -> Iterator[None]:
    """Hold the locks of a project, first that of its series, whose folders are made with it."""
    with ExitStack() as held:
        if place.period is not None:
            held.enter_context(run_lock(place.stages.parent))
            with suppress(OSError):  # refused later, with what it is that cannot be made
                place.of_stage(REPORT).parent.mkdir(exist_ok=True)
        held.enter_context(run_lock(place.stages))
        yield


def _check_stage(place: ProjectFolder, name: str, option: str) -> None:
    """Refuse a name that no stage of the project has."""
    if name not in place.stage_names:
        raise InputError(
            option,
            "must be a stage of this project",
            found="another name",
            accepted=", ".join(place.stage_names),
        )


def _brought_up(place: ProjectFolder, stage: Stage, forced: bool, working: Working) -> StageState:
    """A stage, made where it has to be and nobody is waited for."""
    record = None if forced else current_record(place, stage)
    if record is not None:
        return StageState(stage.name, State.DONE, record)
    stage.prepare(place)
    waiting = stage.waits(place)
    if waiting is not None:
        return _not_made(place, stage, waiting)
    with working(stage.name) as progress:
        made = make_stage(place, stage, progress)
    return StageState(stage.name, State.DONE, made, ran=True)


@contextmanager
def run_lock(stages: Path) -> Iterator[None]:
    """Hold the lock of a project's stages; where the system has no file locks, nothing is held.

    Parameters
    ----------
    stages
        The folder of the stages; made if it does not exist.
    """
    try:
        stages.mkdir(mode=0o700, exist_ok=True)
        file = os.open(stages / LOCK, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    except OSError as error:
        raise _not_written(stages, error) from None
    try:
        _lock(file, stages)
        yield
    finally:
        # The system gives the lock back with the file, even if the process is killed.
        os.close(file)


def _lock(file: int, stages: Path) -> None:
    try:
        lock_file(file)
    except BlockingIOError:
        raise InputError(
            "the project",
            "must be run by one at a time",
            found="a run that is under way",
            advice="wait for it, or end it",
        ) from None
    except OSError as error:
        raise _not_written(stages, error) from None


def _not_written(stages: Path, error: OSError) -> InputError:
    return InputError(
        f"folder {stages.name}",
        "must be a folder that can be made and written",
        found=os.strerror(error.errno).lower() if error.errno else "an error of the system",
    )


def remove_leftovers(folder: Path) -> None:
    """Remove what was being written to a folder; bring back the folder where it was moved away.

    Nobody else may write it meanwhile. See `sfumato.core.atomic` for the names.
    """
    if not folder.parent.is_dir():
        return
    left = re.compile(rf"\.+{re.escape(folder.name)}(\.[0-9a-f]{{8}}(\.part)?)+")
    found = sorted(path for path in folder.parent.iterdir() if left.fullmatch(path.name))
    for each in found:
        moved = each.name == f".{folder.name}.{each.name[-8:]}"
        # Moved away and not replaced yet: the run was ended between the two.
        if moved and not folder.exists():
            each.rename(folder)
        else:
            shutil.rmtree(each, ignore_errors=True)
