"""Which pair a worker gets next, and which come back to the queue."""

from __future__ import annotations

import secrets
from collections import Counter
from datetime import timedelta

import numpy as np
from django.conf import settings
from django.db.models import Max, QuerySet
from django.dispatch import Signal
from django.utils import timezone

from sfumato.core.arrays import Ints
from sfumato.linkage.match_thresholds import joined
from sfumato.server.live.live_projects import Live, Queue
from sfumato.server.live.worker_tasks import Task, give_back
from sfumato.server.proofs import check_proved
from sfumato.server.stated_rows import stated
from sfumato.server.store.models import Dealt, Project, StoredPair

pair_taken = Signal()
"""That a worker has taken a pair: `project_id`. Sent after what was written."""
# A choice: who presses keys faster than a server answers has another one there already.
AHEAD = 3
"""Pairs that a worker has before the first of them is decided."""


def take_up(task: Task) -> Dealt | None:
    """Give a worker the next pair; ``None`` where there is none for them now.

    It is the worker's until it is decided. What is not decided in the time after which a session
    ends comes back as soon as another worker finds nothing else.
    """
    pile = Dealt.objects.filter(project=task.project, worker=task.account)
    has = pile.filter(taken_back__isnull=True)
    open_ones = has.filter(answer=0, skipped=False).count()
    if open_ones >= AHEAD:
        return None
    queue, had = queue_of(task.live, task.project), set(has.values_list("pair__number", flat=True))
    number = _chosen(task, queue, had)
    if number is None and _late_come_back(task, queue):
        number = _chosen(task, queue, had)
    # No more than was allowed: what is shown is a share of so many rows.
    full = 2 * len(task.state.pairs) >= task.allowance.rows and number not in task.state.pairs
    return None if number is None or full else assigned(task, number)


def queue_of(live: Live, project: Project) -> Queue:
    """The queue of a project, as the database has it."""
    if live.queue is None:
        held = Dealt.objects.filter(project=project, taken_back__isnull=True)
        gold = StoredPair.objects.filter(project=project, gold=True).order_by("number")
        known = tuple(gold.values_list("number", flat=True))
        order = in_clusters(live.review.left, live.review.right)
        order = order[~np.isin(order, np.array(known, dtype=np.int64))]
        readers = Counter(held.values_list("pair__number", flat=True))
        live.queue = Queue(order.tolist(), readers, known)
    return live.queue


def in_clusters(left: Ints, right: Ints) -> Ints:
    """All pairs in a random order, but that those which share a record stand together."""
    # No seed: nobody is to foresee who gets which pairs.
    rng = np.random.default_rng()
    records, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    # Renumbered, so that this costs what the task is large and not the database.
    cluster = joined(ends[: len(left)], ends[len(left) :], len(records))[ends[: len(left)]]
    place = rng.permutation(len(records))[cluster]
    return np.asarray(np.lexsort((rng.random(len(left)), place)), dtype=np.int64)


def _chosen(task: Task, queue: Queue, had: set[int]) -> int | None:
    """A pair of known truth now and then, else the next one."""
    gold = [number for number in queue.gold if number not in had]
    if gold and secrets.SystemRandom().random() < task.project.gold_share:
        return secrets.choice(gold)
    found = queue.next_for(had, task.project.overlap)
    return next((number for number in found if _as_known(task, queue, number)), None)


def _as_known(task: Task, queue: Queue, number: int) -> bool:
    """Whether the database has no more readers of a pair than memory."""
    held = Dealt.objects.filter(pair_id=task.live.keys[number], taken_back__isnull=True)
    return held.count() <= queue.readers[number]


def assigned(task: Task, number: int) -> Dealt:
    """Give a worker a pair; one that was taken back comes as it was left."""
    task.changed = True
    queue = queue_of(task.live, task.project)  # before there is one more reader to count
    pile = Dealt.objects.filter(project=task.project, worker=task.account)
    last = pile.aggregate(last=Max("place"))["last"]
    place, key = 0 if last is None else last + 1, task.live.keys[number]
    dealt = pile.filter(pair_id=key).select_related("pair").first()
    if dealt is None:
        dealt = Dealt.objects.create(
            project=task.project, worker=task.account, pair_id=key, place=place
        )
        row = stated(dealt)
        dealt.pair = StoredPair(pk=key, project=task.project, number=number)
    else:
        check_proved(dealt)
        dealt.place, dealt.taken_back = place, None
        dealt.save(update_fields=["place", "taken_back"])
        row = stated(dealt, "place", "taken_back")
    dealt.project, dealt.worker = task.project, task.account
    queue.readers[number] += 1
    queue.taken += 1
    task.state.take_up(number)
    task.note(dealt, "take up", {}, rows=[row])
    return dealt


def _late_come_back(task: Task, queue: Queue) -> bool:
    """Whether pairs of others came back that these have not decided in time."""
    since = timezone.now() - timedelta(minutes=settings.SFUMATO.idle_minutes)
    late = undecided(task.project).filter(shown__lt=since).exclude(worker=task.account)
    task.changed = True
    back = give_back(late, None)
    for number in back:
        queue.give_back(number)
    return bool(back)


def undecided(project: Project) -> QuerySet[Dealt]:
    """Pairs that somebody has and has not decided."""
    return Dealt.objects.filter(project=project, answer=0, taken_back__isnull=True)
