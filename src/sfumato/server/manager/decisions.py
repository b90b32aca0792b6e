"""What the database has of decisions, as the review's own events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from sfumato.review.review_decisions import Answer, Decisions, FlagReason, History
from sfumato.server.live.project_files import read_pairs
from sfumato.server.store.models import DecisionEvent, EventKind, Project, Resolution


def decisions_of(project: Project) -> Decisions:
    """All that workers and the manager decided; pairs by their numbers, people by pseudonyms.

    Parameters
    ----------
    project
        The project.
    """
    return Decisions.of(_histories(project, {}))


def decisions_with_ids(project: Project) -> Decisions:
    """The same with the ids that the pairs have in the linkage.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If the project is purged, or its file of pairs is missing or was changed.
    """
    ids = read_pairs(project)["pair"].to_pylist()
    return Decisions.of(_histories(project, {str(place): name for place, name in enumerate(ids)}))


def truth_of(project: Project) -> dict[str, bool]:
    """By the number of a gold pair, whether its two records are one person's.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If the project is purged, or its file of pairs is missing or was changed.
    """
    known = read_pairs(project)["gold"].to_pylist()
    return {str(place): same for place, same in enumerate(known) if same is not None}


def generator() -> np.random.Generator:
    """Randomness for intervals: the same answers give the same interval."""
    return np.random.default_rng(20_260_101)


def _histories(project: Project, names: dict[str, str]) -> Iterator[History]:
    events = DecisionEvent.objects.filter(dealt__project=project).order_by("dealt_id", "pk")
    rows = events.values_list(
        "dealt__pair__number", "dealt__worker__pseudonym", "kind", "answer", "time"
    )
    history: History | None = None
    for number, worker, kind, answer, time in rows.iterator(chunk_size=5000):
        pair = names.get(str(number), str(number))
        if history is None or (history.pair, history.worker) != (pair, worker):
            if history is not None:
                yield history
            history = History(pair, worker)
        history = _after(history, kind, answer, time)
    if history is not None:
        yield history
    resolved = Resolution.objects.filter(pair__project=project).exclude(answer=0)
    for number, who, answer, time in resolved.values_list(
        "pair__number", "by__pseudonym", "answer", "time"
    ):
        yield History(names.get(str(number), str(number)), who).resolve(Answer(answer), time)


def _after(history: History, kind: str, answer: int, time: datetime) -> History:
    if kind == EventKind.DECIDED:
        return history.decide(Answer(answer), time)
    if kind == EventKind.SKIPPED:
        return history.skip(time)
    if kind == EventKind.FLAGGED:
        return history.flag(FlagReason.OTHER, time)
    if kind == EventKind.UNFLAGGED:
        return history.remove_flag(time)
    return history if history.present.answer is None else history.withdraw(time)
