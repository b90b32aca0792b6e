"""Deal pairs to a worker, and take them back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from sfumato.core.errors import InputError
from sfumato.review.disclosure_account import kapr_of
from sfumato.server.audit.append import append
from sfumato.server.live.project_files import settings_of
from sfumato.server.store.models import (
    Account,
    Allowance,
    Dealt,
    Member,
    Project,
    Spent,
    StoredPair,
)

_AT_ONCE = 500


def deal(project: Project, worker: Account, pairs: Sequence[int], by: Account | None = None) -> int:
    """Give a worker pairs, in this order behind those that they have, and tell how many are new.

    A pair that was taken back comes back as it was left; what was shown of it stays charged.

    Parameters
    ----------
    project
        The project.
    worker
        The worker, who becomes a member of it.
    pairs
        Numbers of the pairs, from 0.
    by
        Who deals.

    Raises
    ------
    InputError
        If a pair is not one of the project's.
    """
    with transaction.atomic():
        _lock(project)
        Member.objects.get_or_create(project=project, account=worker)
        allowance, _ = Allowance.objects.select_for_update().get_or_create(
            project=project, worker=worker, defaults={"budget": settings_of(project).budget}
        )
        mine = Dealt.objects.filter(project=project, worker=worker)
        had = set(mine.values_list("pair__number", flat=True))
        again = _mark(mine.filter(taken_back__isnull=False), pairs, None)
        place = mine.aggregate(last=Max("place"))["last"]
        place = 0 if place is None else place + 1
        fresh = [number for number in dict.fromkeys(pairs) if number not in had]
        keys = dict(StoredPair.objects.filter(project=project).values_list("number", "pk"))
        if not keys.keys() >= set(fresh):
            raise InputError("the pairs", "must be pairs of the project")
        Dealt.objects.bulk_create(
            Dealt(project=project, worker=worker, pair_id=keys[number], place=place + step)
            for step, number in enumerate(fresh)
        )
        _count_rows(allowance)
        detail = {"worker": worker.pseudonym, "pairs": len(fresh) + again}
        append(by or project.manager, "deal", f"project {project.id}", detail)
    return len(fresh) + again


def take_back(
    project: Project, worker: Account, pairs: Collection[int], by: Account | None = None
) -> int:
    """Take pairs from a worker, and tell how many; what was shown of them stays charged.

    Parameters
    ----------
    project
        The project.
    worker
        The worker.
    pairs
        Numbers of the pairs, from 0.
    by
        Who takes them.
    """
    with transaction.atomic():
        _lock(project)
        allowance = Allowance.objects.select_for_update().get(project=project, worker=worker)
        mine = Dealt.objects.filter(project=project, worker=worker, taken_back__isnull=True)
        count = _mark(mine, pairs, timezone.now())
        _count_rows(allowance)
        detail = {"worker": worker.pseudonym, "pairs": count}
        append(by or project.manager, "take back", f"project {project.id}", detail)
    return count


def counted(project: Project, worker: Account) -> Q:
    """Which dealt pairs are part of a worker's task: those they have, and those they have seen.

    A pair that was taken back before it was shown is no part of it, so that nobody's budget
    grows by pairs that are dealt and taken back.

    Parameters
    ----------
    project
        The project.
    worker
        The worker.
    """
    there = Q(taken_back__isnull=True) | Q(shown__isnull=False)
    return Q(project=project, worker=worker) & there


def _lock(project: Project) -> None:
    """Wait for whoever opens cells in the project; they lock in the same order."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _mark(dealt: QuerySet[Dealt], pairs: Collection[int], taken_back: datetime | None) -> int:
    """Take some of the pairs back, or give them again, and tell how many."""
    wanted = set(pairs)
    keys = [key for key, number in dealt.values_list("pk", "pair__number") if number in wanted]
    for start in range(0, len(keys), _AT_ONCE):
        Dealt.objects.filter(pk__in=keys[start : start + _AT_ONCE]).update(taken_back=taken_back)
    return len(keys)


def _count_rows(allowance: Allowance) -> None:
    """Count the rows of a task anew; with fewer of them, what was shown is a larger share."""
    project, worker = allowance.project, allowance.worker
    rows = 2 * Dealt.objects.filter(counted(project, worker)).count()
    score = float(
        kapr_of(allowance.units, settings_of(project).k, rows or 1, len(project.attributes))
    )
    more = max(0.0, score - allowance.spent)
    if more:
        spent, _ = Spent.objects.select_for_update().get_or_create(
            fingerprint=project.fingerprint, worker=worker.pseudonym
        )
        spent.score += more
        spent.save(update_fields=["score"])
    allowance.rows, allowance.spent = rows, allowance.spent + more
    allowance.version += 1
    allowance.save(update_fields=["rows", "spent", "version"])
