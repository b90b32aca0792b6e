"""How far each worker is, and what they have been shown: read from the database each time."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from django.db import transaction
from django.db.models import Count, Max, Q

from sfumato.review.disclosure_account import kapr_of
from sfumato.server.live.memory import lock_of
from sfumato.server.live.project_files import settings_of
from sfumato.server.live.reviews import live_of
from sfumato.server.live.workers import state_of
from sfumato.server.store.models import Allowance, Dealt, Member, Project, Role, StoredPair


@dataclass(frozen=True)
class WorkerProgress:
    """How far a worker is.

    Attributes
    ----------
    name, pseudonym
        Who it is.
    dealt, decided, skipped, flagged
        Numbers of pairs.
    kapr
        KAPR spent in this project.
    budget
        KAPR that may be spent, ``None`` for no limit.
    characters
        Share of the characters of the task that were opened.
    seconds
        Median time per pair, ``None`` before the first decision.
    """

    name: str
    pseudonym: str
    dealt: int
    decided: int
    skipped: int
    flagged: int
    kapr: float
    budget: float | None
    characters: float
    seconds: float | None

    @property
    def share(self) -> int:
        """Decided pairs in percent of those dealt."""
        return round(100 * self.decided / self.dealt) if self.dealt else 0

    @property
    def characters_percent(self) -> float:
        """Share of the characters that were opened, in percent."""
        return 100 * self.characters

    @property
    def spent(self) -> int | None:
        """KAPR spent in percent of the budget; ``None`` without one."""
        return None if not self.budget else round(100 * self.kapr / self.budget)


@dataclass(frozen=True)
class Progress:
    """How far a project is.

    Attributes
    ----------
    workers
        Each worker who takes part.
    pairs, gold
        Numbers of pairs, gold ones left out and alone.
    waiting
        Pairs that nobody has.
    decided, wanted
        Decisions that stand, and that there will be.
    combined
        KAPR of what all workers together have been shown.
    manager
        KAPR of what the manager has been shown in conflicts.
    """

    workers: tuple[WorkerProgress, ...]
    pairs: int
    gold: int
    waiting: int
    decided: int
    wanted: int
    combined: float
    manager: float

    @property
    def share(self) -> int:
        """Decisions in percent of those wanted."""
        return round(100 * self.decided / self.wanted) if self.wanted else 0


def progress_of(project: Project) -> Progress:
    """How far a project is.

    Parameters
    ----------
    project
        The project, not purged.

    Raises
    ------
    InputError
        If a file of the project is missing or was changed.
    """
    scores, manager, combined = _scores(project)
    counts = _counts(project)
    seconds = _seconds(project)
    members = Member.objects.filter(project=project).select_related("account")
    people = {each.account_id: each.account for each in members}
    workers = []
    for key, account in sorted(people.items(), key=lambda item: item[1].name):
        if key == project.manager_id or not (key in counts or account.has_role(Role.WORKER)):
            continue
        count = counts.get(key, {})
        kapr, budget, characters = scores.get(key, (0.0, None, 0.0))
        workers.append(
            WorkerProgress(
                account.name,
                account.pseudonym,
                count.get("dealt", 0),
                count.get("decided", 0),
                count.get("skipped", 0),
                count.get("flagged", 0),
                kapr,
                budget,
                characters,
                seconds.get(key),
            )
        )
    pairs = StoredPair.objects.filter(project=project)
    others = pairs.filter(gold=False)
    active = Q(dealt__taken_back__isnull=True) & Q(dealt__isnull=False)
    return Progress(
        tuple(workers),
        others.count(),
        pairs.count() - others.count(),
        others.annotate(holders=Count("dealt", filter=active)).filter(holders=0).count(),
        sum(each.decided for each in workers),
        sum(each.dealt for each in workers),
        combined,
        manager,
    )


def last_change(project: Project) -> int:
    """A number that grows with every decision in a project.

    Parameters
    ----------
    project
        The project.
    """
    last = Dealt.objects.filter(project=project).aggregate(last=Max("events__pk"))["last"]
    return int(last or 0)


def _scores(
    project: Project,
) -> tuple[dict[int, tuple[float, float | None, float]], float, float]:
    """By worker, KAPR, budget and share of characters; the manager's KAPR; that of all."""
    rules, attributes = settings_of(project), len(project.attributes)
    found: dict[int, tuple[float, float | None, float]] = {}
    manager = 0.0
    with lock_of(project.pk):
        live = live_of(project)
        with transaction.atomic():
            allowances = list(Allowance.objects.filter(project=project).select_related("worker"))
            versions = sum(each.version for each in allowances)
            for each in allowances:
                if each.worker_id == project.manager_id:
                    manager = float(kapr_of(each.units, rules.k, each.rows or 1, attributes))
                    continue
                state = state_of(live, project, each.worker, each, versions).state
                found[each.worker_id] = (state.score, each.budget, state.characters)
    combined = float(kapr_of(project.combined_units, rules.k, project.rows or 1, attributes))
    return found, manager, combined


def _counts(project: Project) -> dict[int, dict[str, int]]:
    there = Dealt.objects.filter(project=project, taken_back__isnull=True).values("worker")
    rows = there.annotate(
        dealt=Count("pk"),
        decided=Count("pk", filter=~Q(answer=0)),
        skipped=Count("pk", filter=Q(skipped=True)),
        flagged=Count("pk", filter=Q(flagged=True)),
    )
    return {row["worker"]: row for row in rows}


def _seconds(project: Project) -> dict[int, float]:
    by_worker: dict[int, list[float]] = {}
    timed = Dealt.objects.filter(project=project, seconds__isnull=False)
    for worker, seconds in timed.values_list("worker", "seconds"):
        by_worker.setdefault(worker, []).append(seconds)
    return {worker: median(each) for worker, each in by_worker.items()}
