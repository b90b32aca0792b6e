"""The states of a project's workers: held in memory, restored from what the database has."""

from __future__ import annotations

from sfumato.review.review_settings import Mode
from sfumato.review.worker_state import CombinedState, WorkerState
from sfumato.server.live.deal import counted
from sfumato.server.live.memory import Held, Live
from sfumato.server.store.models import Account, Allowance, Dealt, Project


def state_of(
    live: Live, project: Project, worker: Account, allowance: Allowance, versions: int
) -> Held:
    """The state of a worker, of the version that the database has.

    Parameters
    ----------
    live
        What is held of the project.
    project
        The project.
    worker
        The worker.
    allowance
        The worker's allowance, read in the present transaction.
    versions
        The sum of the versions of all allowances of the project, read in the same.
    """
    combined = _combined(live, project, versions)
    held = live.workers.get(worker.pk)
    if held is None or held.version != allowance.version:
        held = Held(allowance.version, _restored(live, project, worker, allowance, combined))
        live.workers[worker.pk] = held
    return held


def modes_text(modes: tuple[Mode, ...]) -> str:
    """The modes of a pair as `Dealt` has them: one digit each.

    Parameters
    ----------
    modes
        The modes.
    """
    return "".join(str(int(mode)) for mode in modes)


def _combined(live: Live, project: Project, versions: int) -> CombinedState:
    """What all workers have been shown; states that were added to an older one go with it."""
    if live.combined is None or live.combined_version != versions:
        live.workers.clear()
        combined = CombinedState(live.review, project.rows)
        shown = Dealt.objects.filter(project=project).exclude(modes="")
        for pair, modes in shown.values_list("pair__number", "modes"):
            combined.take(pair, _modes(modes))
        live.combined, live.combined_version = combined, versions
    return live.combined


def _restored(
    live: Live, project: Project, worker: Account, allowance: Allowance, combined: CombinedState
) -> WorkerState:
    dealt = Dealt.objects.filter(counted(project, worker)).order_by("place")
    pairs = dict(dealt.values_list("pair__number", "modes"))
    state = {
        "pairs": list(pairs),
        "rows": allowance.rows,
        "modes": {str(pair): modes for pair, modes in pairs.items() if modes},
    }
    return WorkerState.restored(live.review, state, combined)


def _modes(text: str) -> tuple[Mode, ...]:
    return tuple(Mode(int(digit)) for digit in text)
