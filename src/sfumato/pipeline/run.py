"""Run a project: make what is not done, stop where people are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from sfumato.core.atomic_folder import check_target_folder
from sfumato.core.progress import Progress, silent
from sfumato.pipeline.current import check_unchanged, current_record, depends
from sfumato.pipeline.kept.leftovers import remove_leftovers
from sfumato.pipeline.kept.lock import run_lock
from sfumato.pipeline.kept.record import read_record
from sfumato.pipeline.make_stage import make_stage
from sfumato.pipeline.stages.order import check_stage, stages_of
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.stage import Stage
from sfumato.pipeline.status import StageState, State, Status, after_a_gap


@contextmanager
def _quiet(_name: str) -> Iterator[Progress]:
    yield silent


def run(
    place: Place,
    *,
    until: str | None = None,
    force: tuple[str, ...] = (),
    working: Callable[[str], AbstractContextManager[Progress]] = _quiet,
    tell: Callable[[StageState], None] = lambda _state: None,
) -> Status:
    """Make what is not done, or not of what is there now.

    A stage whose inputs did not change is not made again. Interrupted at any moment, the next run
    goes on; with the same seed the release is the same, byte for byte.

    Parameters
    ----------
    place
        The project.
    until
        The last stage to make; all of them when not given.
    force
        Stages to make again even if nothing changed.
    working
        Shows how far a stage is, while it is being made.
    tell
        Told of each stage that is done, that was there already, or that waits.

    Raises
    ------
    InputError
        If another run is under way, there is no stage of a name, nobody has said what a column
        is that would be released, a stage refuses its input, or a file that is read was changed
        meanwhile.
    ConstraintsNotMetError
        If no release can keep what was promised.
    """
    if until is not None:
        check_stage(place, until, "option --until")
    for name in force:
        check_stage(place, name, "option --force")
    with run_lock(place.stages):
        for stage in stages_of(place):
            remove_leftovers(place.of_stage(stage.name))
        remove_leftovers(place.at(place.project.review.folder))
        for stage in stages_of(place):
            check_target_folder(place.of_stage(stage.name))
            stage.check(place)
            if stage.name == until:
                break
        return Status(place, tuple(_states(place, until, force, working, tell)))


def _states(
    place: Place,
    until: str | None,
    force: tuple[str, ...],
    working: Callable[[str], AbstractContextManager[Progress]],
    tell: Callable[[StageState], None],
) -> Iterator[StageState]:
    stopped = False
    read: dict[str, str] = {}
    for stage in stages_of(place):
        if stopped:
            yield after_a_gap(place, stage)
            continue
        state = _brought_up(place, stage, stage.name in force, working)
        if state.record is not None and state.state is State.DONE:
            check_unchanged(read, state.record.inputs)
            read |= state.record.inputs
        tell(state)
        yield state
        stopped = state.state is not State.DONE or stage.name == until


def _brought_up(
    place: Place,
    stage: Stage,
    forced: bool,
    working: Callable[[str], AbstractContextManager[Progress]],
) -> StageState:
    """A stage, made where it has to be and nobody is waited for."""
    record = None if forced else current_record(place, stage)
    if record is not None:
        return StageState(stage.name, State.DONE, record)
    stage.prepare(place)
    waiting = stage.waits(place)
    if waiting is not None:
        kept = read_record(place.of_stage(stage.name))
        return StageState(stage.name, State.WAITING, kept, waiting)
    with working(stage.name) as progress:
        made = make_stage(place, stage, depends(place, stage), progress)
    return StageState(stage.name, State.DONE, made, ran=True)
