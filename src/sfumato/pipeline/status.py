"""How far a project is: each stage with its state, its time, its size, and what waits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sfumato.pipeline.current import current_record
from sfumato.pipeline.kept.record import StageRecord, read_measured, read_record
from sfumato.pipeline.stages.attack import NAME as ATTACK
from sfumato.pipeline.stages.order import stages_of
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.stage import Stage, Waiting


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


@dataclass(frozen=True)
class StageState:
    """How a stage stands.

    Attributes
    ----------
    name
        The stage.
    state
        How it stands.
    record
        What is kept of the last time that it was made.
    waiting
        What it waits for.
    ran
        Whether this run made it.
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
                "seconds": self.record.seconds,
                "bytes": self.record.bytes,
                "finished": self.record.finished,
                "said": self.record.said,
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
    place
        The project.
    stages
        Its stages in their order.
    """

    place: Place
    stages: tuple[StageState, ...]

    @property
    def waiting(self) -> Waiting | None:
        """What the project waits for."""
        return next((each.waiting for each in self.stages if each.waiting is not None), None)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        return all(each.state is State.DONE for each in self.stages)

    @property
    def is_caught(self) -> bool:
        """Whether the simulated intruder found more than was predicted."""
        made = any(each.name == ATTACK and each.state is State.DONE for each in self.stages)
        return made and bool((self.measured(ATTACK) or {}).get("caught"))

    def measured(self, stage: str) -> dict[str, Any] | None:
        """What a stage measured, as JSON; ``None`` where it was not made.

        Parameters
        ----------
        stage
            Its name.
        """
        return read_measured(self.place.of_stage(stage))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        waiting = self.waiting
        return {
            "project": self.place.project.about.name,
            "done": self.is_done,
            "waiting": None if waiting is None else waiting.to_json(),
            "stages": [each.to_json() for each in self.stages],
        }


def status_of(place: Place) -> Status:
    """How far a project is; nothing is made.

    Parameters
    ----------
    place
        The project.

    Raises
    ------
    InputError
        If a file that the project names is not there.
    """
    found: list[StageState] = []
    for stage in stages_of(place):
        if any(each.state is not State.DONE for each in found):
            found.append(after_a_gap(place, stage))
            continue
        record = current_record(place, stage)
        if record is not None:
            found.append(StageState(stage.name, State.DONE, record))
            continue
        waiting = stage.waits(place)
        if waiting is None:
            found.append(after_a_gap(place, stage))
        else:
            kept = read_record(place.of_stage(stage.name))
            found.append(StageState(stage.name, State.WAITING, kept, waiting))
    return Status(place, tuple(found))


def after_a_gap(place: Place, stage: Stage) -> StageState:
    """How a stage stands that has to be looked at again.

    Parameters
    ----------
    place
        The project.
    stage
        The stage.
    """
    record = read_record(place.of_stage(stage.name))
    return StageState(stage.name, State.TO_DO if record is None else State.OUTDATED, record)
