"""Deal the pairs of a project to workers, deal them again, take them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from sfumato.review.pair_dealing import Deal, deal_again, mix_gold, of_one_record
from sfumato.review.pair_dealing import deal as deal_evenly
from sfumato.server.audit_log import append
from sfumato.server.error_pages import Stop
from sfumato.server.live.live_projects import locked, review_of
from sfumato.server.live.worker_tasks import deal, take_back
from sfumato.server.permissions import Action
from sfumato.server.stated_rows import stated
from sfumato.server.store.models import Account, Dealt, Project, StoredPair


def deal_pairs(
    by: Account,
    project: Project,
    workers: Sequence[Account],
    overlap: int,
    gold_share: float,
    *,
    together: bool = False,
) -> int:
    """Deal what fewer workers than wanted have, and tell how many pairs were given.

    Pairs that nobody has are dealt evenly among the workers; those that some have already go to
    more of them, until each pair has as many workers as wanted. Then gold pairs are mixed in.

    Parameters
    ----------
    overlap
        How many workers each pair is to have.
    gold_share
        Share of gold pairs among all that a worker has.
    together
        Whether pairs that share a record go to the same workers.

    Raises
    ------
    Stop
        If they may not.
    """
    # A manager who decided pairs would settle disagreements with themselves.
    if any(worker.pk == project.manager_id for worker in workers):
        raise Stop(409, "The manager resolves conflicts, and so gets no pairs.")
    # Before the lock is taken: reading a project that is not in memory takes a while.
    numbers = _record_groups(project) if together else None
    with locked(by, Action.DEAL, project.pk):
        # No seed: nobody is to foresee who gets which pairs.
        rng = np.random.default_rng()
        others = _numbers(project, gold=False)
        has, had = _piles(project)
        count = Counter(pair for pile in has.values() for pair in pile)
        fresh = [pair for pair in others if not count[pair]]
        names = [worker.pseudonym for worker in workers]
        plan = Deal({name: tuple(has.get(name, ())) for name in names})
        groups = None if numbers is None else [numbers[int(pair)] for pair in fresh]
        if fresh:
            plan = deal_evenly(fresh, names, overlap, rng, groups=groups, earlier=plan)
        # A pair that c workers have is dealt once more in overlap - c of these steps.
        for step in range(1, overlap):
            again = [pair for pair in others if 0 < count[pair] <= overlap - step]
            plan = deal_again(plan, again, names, rng, seen=had)
        plan = mix_gold(plan, _numbers(project, gold=True), gold_share, rng)
        if (project.overlap, project.gold_share) != (overlap, gold_share):
            project.overlap, project.gold_share = overlap, gold_share
            project.save(update_fields=["overlap", "gold_share"])
            rows = [stated(project, "overlap", "gold_share")]
            append(by, "set dealing", f"project {project.pk}", rows=rows)
        return _dealt(plan, project, workers, has, by)


def take_pairs_back(by: Account, project: Project, worker: Account) -> int:
    """Take from a worker the pairs that are not decided, and tell how many.

    Raises
    ------
    Stop
        If they may not.
    """
    with locked(by, Action.DEAL, project.pk):
        return _take(by, project, worker)[0]


def deal_pairs_again(
    by: Account, project: Project, worker: Account, others: Sequence[Account]
) -> int:
    """Give the pairs that a worker has not decided to others who have not had them.

    Raises
    ------
    Stop
        If they may not.
    """
    if any(other.pk in (project.manager_id, worker.pk) for other in others) or not others:
        raise Stop(409, "Choose other workers who get the pairs.")
    with locked(by, Action.DEAL, project.pk):
        _, pairs = _take(by, project, worker)
        # Gold pairs measure one worker each: they are mixed in by share, and not passed on.
        gold = set(_numbers(project, gold=True))
        has, had = _piles(project)
        names = [other.pseudonym for other in others]
        plan = Deal({name: tuple(has.get(name, ())) for name in names})
        moved = [pair for pair in pairs if pair not in gold]
        plan = deal_again(plan, moved, names, np.random.default_rng(), seen=had)
        return _dealt(plan, project, others, has, by)


def _take(by: Account, project: Project, worker: Account) -> tuple[int, list[str]]:
    open_ones = Dealt.objects.filter(
        project=project, worker=worker, answer=0, taken_back__isnull=True
    ).order_by("place")
    numbers = list(open_ones.values_list("pair__number", flat=True))
    return (take_back(project, worker, numbers, by) if numbers else 0), [str(n) for n in numbers]


def _numbers(project: Project, *, gold: bool) -> list[str]:
    pairs = StoredPair.objects.filter(project=project, gold=gold).order_by("number")
    return [str(number) for number in pairs.values_list("number", flat=True)]


def _piles(project: Project) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """By pseudonym, the pairs that somebody has, and those that they have or have had."""
    has: dict[str, list[str]] = {}
    had: dict[str, set[str]] = {}
    dealt = Dealt.objects.filter(project=project).order_by("place")
    for name, number, back in dealt.values_list("worker__pseudonym", "pair__number", "taken_back"):
        had.setdefault(name, set()).add(str(number))
        if back is None:
            has.setdefault(name, []).append(str(number))
    return has, had


def _dealt(
    plan: Deal, project: Project, workers: Sequence[Account], has: dict[str, list[str]], by: Account
) -> int:
    """Deal what each of the workers does not have yet; the number of pairs."""
    count = 0
    for worker in workers:
        before = set(has.get(worker.pseudonym, ()))
        new = [int(pair) for pair in plan.pairs_of[worker.pseudonym] if pair not in before]
        if new:
            count += deal(project, worker, new, by)
    return count


def _record_groups(project: Project) -> list[int]:
    review = review_of(project)
    groups: list[int] = of_one_record(review.left, review.right).tolist()
    return groups
