"""What is held in memory of each project, and the lock of each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from sfumato.review.disclosure_account import Review
from sfumato.review.hints import Evidence
from sfumato.review.worker_state import CombinedState, WorkerState

KEPT = 8
"""Number of projects that are held in memory."""


@dataclass
class Held:
    """The state of a worker, as the database has it at some version.

    Attributes
    ----------
    version
        The version of the worker's allowance.
    state
        The state.
    """

    version: int
    state: WorkerState


@dataclass
class Live:
    """What is held of a project.

    Attributes
    ----------
    rules
        The settings, as the database has them, that `review` was made with.
    review
        Its pairs and its index.
    evidence
        What the linkage's model says, for hints.
    combined
        What all workers have been shown, ``None`` until it is asked for.
    combined_version
        The sum of the versions of all allowances that it is of.
    workers
        By the key of a worker, its state.
    """

    rules: dict[str, Any]
    review: Review
    evidence: Evidence | None = None
    combined: CombinedState | None = None
    combined_version: int = -1
    workers: dict[int, Held] = field(default_factory=dict)


_guard = threading.Lock()
_locks: WeakValueDictionary[UUID, threading.RLock] = WeakValueDictionary()
_kept: OrderedDict[UUID, Live] = OrderedDict()


def lock_of(project_id: UUID) -> threading.RLock:
    """The lock of a project; whoever reads or changes what is held of it has it.

    It is taken before a transaction is begun, never in one.

    Parameters
    ----------
    project_id
        The project's id.
    """
    with _guard:
        return _locks.setdefault(project_id, threading.RLock())


def kept(project_id: UUID) -> Live | None:
    """What is held of a project, if anything is.

    Parameters
    ----------
    project_id
        The project's id.
    """
    with _guard:
        live = _kept.get(project_id)
        if live is not None:
            _kept.move_to_end(project_id)
        return live


def keep(project_id: UUID, live: Live) -> None:
    """Hold a project in memory, in place of the one that was longest not asked for.

    Parameters
    ----------
    project_id
        The project's id.
    live
        What is held of it.
    """
    with _guard:
        _kept[project_id] = live
        _kept.move_to_end(project_id)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)


def forget_project(project_id: UUID) -> None:
    """Hold nothing of a project any more.

    Parameters
    ----------
    project_id
        The project's id.
    """
    with _guard:
        _kept.pop(project_id, None)


def forget_states(project_id: UUID) -> None:
    """Hold no state of a project's workers any more; the database has what holds.

    Parameters
    ----------
    project_id
        The project's id.
    """
    with _guard:
        live = _kept.get(project_id)
    if live is not None:
        live.workers.clear()
        live.combined, live.combined_version = None, -1
