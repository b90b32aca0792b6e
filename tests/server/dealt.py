"""Chosen pairs for a worker, in a stated order, as the queue gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def deal(project: Any, worker: Any, pairs: Iterable[int], by: Any = None) -> int:
    """Give a worker pairs and the rows for them, and tell how many are new."""
    from sfumato.server.live.pair_queue import assigned
    from sfumato.server.live.worker_tasks import admit, counted, task_of
    from sfumato.server.store.models import Dealt

    mine = Dealt.objects.filter(project=project, worker=worker)
    has = mine.filter(taken_back__isnull=True).values_list("pair__number", flat=True)
    known = set(Dealt.objects.filter(counted(project, worker)).values_list("pair", flat=True))
    new = [number for number in dict.fromkeys(pairs) if number not in set(has)]
    admit(project, worker, len(known) + len(new), by)
    if new:
        with task_of(worker, project.pk) as task:
            for number in new:
                assigned(task, number)
    return len(new)


def take_back(project: Any, worker: Any, pairs: Iterable[int]) -> int:
    """Take some pairs from a worker."""
    from sfumato.server.live import worker_tasks
    from sfumato.server.live.live_projects import forget_states
    from sfumato.server.store.models import Dealt

    late = Dealt.objects.filter(
        project=project, worker=worker, taken_back__isnull=True, pair__number__in=list(pairs)
    )
    count = worker_tasks.take_back(project, worker, late)
    forget_states(project.pk)
    return count
