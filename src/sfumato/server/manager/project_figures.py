"""How a project stands: progress, agreement, disclosure, answers to be exported.

The project is not purged; `InputError` is raised where one of its files is missing or was changed.
"""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from sfumato.core.measure import Measure
from sfumato.reports.disclosure_report import Agreement, Disclosure, Opened, Person
from sfumato.review import review_decisions, reviewer_agreement
from sfumato.review.disclosure_account import kapr_of
from sfumato.review.review_project import LEFT, RIGHT
from sfumato.review.review_settings import Mode
from sfumato.server.audit_log import head
from sfumato.server.config import Role
from sfumato.server.custodian.project_grants import limit, settings_in_words
from sfumato.server.live import live_projects
from sfumato.server.live.worker_tasks import state_of
from sfumato.server.store import models

if TYPE_CHECKING:
    from sfumato.reports.pictures import Figure


def decisions_of(project: models.Project) -> review_decisions.Decisions:
    """All that workers and the manager decided; pairs by their numbers, people by pseudonyms."""
    return review_decisions.Decisions.of(_histories(project, {}))


def decisions_with_ids(project: models.Project) -> review_decisions.Decisions:
    """The same with the ids that the pairs have in the linkage."""
    ids = live_projects.read_pairs(project)["pair"].to_pylist()
    return review_decisions.Decisions.of(
        _histories(project, {str(place): name for place, name in enumerate(ids)})
    )


def truth_of(project: models.Project) -> dict[str, bool]:
    """By the number of a gold pair, whether its two records are one person's."""
    known = live_projects.read_pairs(project)["gold"].to_pylist()
    return {str(place): same for place, same in enumerate(known) if same is not None}


def generator() -> np.random.Generator:
    """Randomness for intervals: the same answers give the same interval."""
    # The same answers must give the same interval on every page and report.
    return np.random.default_rng(20_260_101)


def _histories(
    project: models.Project, names: dict[str, str]
) -> Iterator[review_decisions.History]:
    # By the key of the event: times may be equal, and a history has an order.
    events = models.DecisionEvent.objects.filter(dealt__project=project).order_by("dealt_id", "pk")
    rows = events.values_list(
        "dealt__pair__number", "dealt__worker__pseudonym", "kind", "answer", "time"
    )
    history: review_decisions.History | None = None
    for number, worker, kind, answer, at in rows.iterator(chunk_size=5000):
        pair = names.get(str(number), str(number))
        if history is None or (history.pair, history.worker) != (pair, worker):
            if history is not None:
                yield history
            history = review_decisions.History(pair, worker)
        history = _after(history, kind, answer, at)
    if history is not None:
        yield history
    resolved = models.Resolution.objects.filter(pair__project=project).exclude(answer=0)
    for number, who, answer, at in resolved.values_list(
        "pair__number", "by__pseudonym", "answer", "time"
    ):
        yield review_decisions.History(names.get(str(number), str(number)), who).resolve(
            review_decisions.Answer(answer), at
        )


def _after(
    history: review_decisions.History, kind: str, answer: int, time: datetime
) -> review_decisions.History:
    if kind == models.EventKind.DECIDED:
        return history.decide(review_decisions.Answer(answer), time)
    if kind == models.EventKind.SKIPPED:
        return history.skip(time)
    if kind == models.EventKind.FLAGGED:
        return history.flag(review_decisions.FlagReason.OTHER, time)
    if kind == models.EventKind.UNFLAGGED:
        return history.remove_flag(time)
    # A pair that was skipped or not decided has nothing to be withdrawn.
    return history if history.present.answer is None else history.withdraw(time)


def rules_in_words(project: models.Project) -> list[tuple[str, str]]:
    """The settings of a project: name and value."""
    return [
        *settings_in_words(project.settings),
        ("Pairs on a page", str(project.page_size)),
        ("Workers for each pair", str(project.overlap)),
        ("Share of gold pairs", f"{project.gold_share:.3g}"),
        ("Attributes", ", ".join(attribute["name"] for attribute in project.attributes)),
    ]


def grant_in_words(grant: models.Grant) -> str:
    """What the custodian has granted."""
    end = "; revoked" if "revoked" in grant.detail else ""
    if grant.kind == models.GrantKind.IDENTITY_EXPORT:
        return f"one export of identities, {'used' if grant.used else 'not used'}{end}"
    before, after = grant.detail.get("before"), grant.detail.get("after")
    if grant.kind == models.GrantKind.K:
        return f"k from {before} to {after}{end}"
    whose = f"of {grant.to.pseudonym}" if grant.to else "of the project"
    return f"budget {whose} from {limit(before)} to {limit(after)}{end}"


def decisions_bytes(project: models.Project) -> bytes:
    """``decisions.parquet`` for the linkage: pairs by its ids, people by pseudonyms."""
    return _bytes(_decisions(project, live_projects.read_project(project).of_linkage))


def identities_bytes(project: models.Project) -> bytes:
    """The decisions with both records of each pair: sources, ids and all values that were shown."""
    review = live_projects.read_project(project)
    table = _decisions(project, frozenset(review.pair_ids))
    place = {pair: number for number, pair in enumerate(review.pair_ids)}
    rows = pa.array([place[pair] for pair in table["pair"].to_pylist()], pa.int64())
    for end, side in (("l", LEFT), ("r", RIGHT)):
        records = review.records.take(review.pairs[side].take(rows))
        for name in records.column_names:
            table = table.append_column(f"{name}_{end}", records[name])
    return _bytes(table)


def _decisions(project: models.Project, pairs: frozenset[str]) -> pa.Table:
    return review_decisions.decisions_table(decisions_with_ids(project), pairs)


def _bytes(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


@dataclass(frozen=True)
class WorkerProgress:
    """How far a worker is.

    Attributes
    ----------
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
    pairs, gold
        Numbers of pairs, gold ones left out and alone.
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


def progress_of(project: models.Project) -> Progress:
    """How far a project is."""
    scores, manager, combined = _scores(project)
    counts = _counts(project)
    seconds = _seconds(project)
    members = models.Member.objects.filter(project=project).select_related("account")
    people = {member.account_id: member.account for member in members}
    workers = []
    for key, account in sorted(people.items(), key=lambda item: item[1].name):
        # Who manages gets no pairs; who lost the role still counts with the pairs that they have.
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
    pairs = models.StoredPair.objects.filter(project=project)
    others = pairs.filter(gold=False)
    active = Q(dealt__taken_back__isnull=True) & Q(dealt__isnull=False)
    return Progress(
        tuple(workers),
        others.count(),
        pairs.count() - others.count(),
        others.annotate(holders=Count("dealt", filter=active)).filter(holders=0).count(),
        sum(worker.decided for worker in workers),
        sum(worker.dealt for worker in workers),
        combined,
        manager,
    )


def last_change(project: models.Project) -> int:
    """A number that grows with every decision in a project."""
    last = models.Dealt.objects.filter(project=project).aggregate(last=Max("events__pk"))["last"]
    return int(last or 0)


def _scores(
    project: models.Project,
) -> tuple[dict[int, tuple[float, float | None, float]], float, float]:
    """By worker, KAPR, budget and share of characters; the manager's KAPR; that of all."""
    rules, attributes = live_projects.settings_of(project), len(project.attributes)
    found: dict[int, tuple[float, float | None, float]] = {}
    manager = 0.0
    with live_projects.lock_of(project.pk):
        live = live_projects.live_of(project)
        with transaction.atomic():
            allowances = list(
                models.Allowance.objects.filter(project=project).select_related("worker")
            )
            # All in one transaction: a version that changes in between would empty every state.
            versions = sum(allowance.version for allowance in allowances)
            for allowance in allowances:
                # The manager pays for conflicts apart: workers have paid for what can be shown
                # there.
                if allowance.worker_id == project.manager_id:
                    manager = _kapr(project, allowance)
                    continue
                state = state_of(live, project, allowance.worker, allowance, versions).state
                found[allowance.worker_id] = (state.score, allowance.budget, state.characters)
    combined = float(kapr_of(project.combined_units, rules.k, project.rows or 1, attributes))
    return found, manager, combined


def _counts(project: models.Project) -> dict[int, dict[str, int]]:
    there = models.Dealt.objects.filter(project=project, taken_back__isnull=True).values("worker")
    rows = there.annotate(
        dealt=Count("pk"),
        decided=Count("pk", filter=~Q(answer=0)),
        skipped=Count("pk", filter=Q(skipped=True)),
        flagged=Count("pk", filter=Q(flagged=True)),
    )
    return {row["worker"]: row for row in rows}


def _seconds(project: models.Project) -> dict[int, float]:
    by_worker: dict[int, list[float]] = {}
    timed = models.Dealt.objects.filter(project=project, seconds__isnull=False)
    for worker, seconds in timed.values_list("worker", "seconds"):
        by_worker.setdefault(worker, []).append(seconds)
    return {worker: median(each) for worker, each in by_worker.items()}


MOST_POINTS = 300
"""Most points of a line."""


@dataclass(frozen=True)
class Plot:
    """A plot on a page."""

    title: str
    svg: SafeString
    note: str


def figures_of(
    project: models.Project, answers: Mapping[str, int], *, by_pseudonym: bool = False
) -> tuple[Figure, ...]:
    """The plots of a project; none before the first answer, or where nothing can draw them."""
    if not any(answers.values()):
        return ()
    try:
        from sfumato.reports.review_plots import answers_figure, disclosure_figure, progress_figure
    except ImportError:
        return ()
    people = models.Account.objects.filter(dealt__project=project).distinct()
    names = {
        person.pseudonym: person.pseudonym if by_pseudonym else person.name for person in people
    }
    decided, spent = _series(project, names)
    return (
        progress_figure(decided),
        disclosure_figure(spent, project.settings.get("budget")),
        answers_figure(answers),
    )


def plots_of(project: models.Project, answers: Mapping[str, int]) -> tuple[Plot, ...]:
    """The same for a page whose policy allows no style attribute."""
    return tuple(
        Plot(each.title, _without_style(str(each.svg)), each.note)
        for each in figures_of(project, answers)
    )


def _without_style(svg: str) -> SafeString:
    """A picture as the page's policy allows it: without style attributes."""
    return mark_safe(re.sub(r' style="[^"]*"', "", svg))  # noqa: S308 - drawn of numbers and names


def _series(
    project: models.Project, names: dict[str, str]
) -> tuple[dict[str, list[tuple[datetime, int]]], dict[str, list[tuple[int, float]]]]:
    """By worker, decided pairs over time, and KAPR over decided pairs, from the audit log."""
    start = f"project {project.pk}/pair "
    wanted = ("show", "open", "decided", "withdrawn", "skipped")
    entries = models.AuditEntry.objects.filter(
        resource__startswith=start, action__in=wanted, actor__in=list(names)
    ).order_by("number")
    done: dict[str, set[str]] = {}
    cost: dict[str, float] = {}
    over_time: dict[str, list[tuple[datetime, int]]] = {}
    spent: dict[str, list[tuple[int, float]]] = {}
    rows = entries.values_list("time", "actor", "action", "resource", "detail")
    for at, actor, action, resource, detail in rows.iterator(chunk_size=5000):
        name, own = names[actor], done.setdefault(actor, set())
        if action in {"show", "open"}:
            cost[actor] = cost.get(actor, 0.0) + json.loads(detail).get("cost", 0.0)
        elif action == "decided":
            own.add(resource)
        else:
            own.discard(resource)
        if action not in {"show", "open"}:
            over_time.setdefault(name, []).append((datetime.fromisoformat(at), len(own)))
        points = spent.setdefault(name, [])
        # A decision that is taken back costs what it did: the line must not go back.
        most = max(len(own), points[-1][0] if points else 0)
        points.append((most, cost.get(actor, 0.0)))
    return (
        {name: _fewer(points) for name, points in sorted(over_time.items())},
        {name: _fewer(_last_of_each(points)) for name, points in sorted(spent.items())},
    )


def _last_of_each(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Of points at the same number of decisions in a row, the last."""
    last = [one for one, two in pairwise(points) if one[0] != two[0]]
    return [*last, *points[-1:]]


def _fewer(points: list[Any]) -> list[Any]:
    """At most so many points as a line needs, the last one among them."""
    step = -(-len(points) // MOST_POINTS)
    # From the end: the last point is what the numbers beside the plot say.
    return points[::-1][::step][::-1] if step > 1 else points


LONGER = 15
"""It is worked out again after so many times the time that it takes."""
MOST_KEPT = 16
"""Number of projects for which it is kept."""
MOST_TWOS, MOST_SHARED = 6, 2_000
"""Twos of workers, and pairs that several answered, up to which there are intervals."""


@dataclass(frozen=True)
class Quality:
    """How good the decisions are.

    Attributes
    ----------
    conflicts, resolved
        Numbers of pairs with answers of both sides, and of those that are resolved.
    drifted
        By worker, after how many gold answers these were wrong more often than before.
    plots
        Plots, none where nothing can draw them.
    """

    twos: tuple[reviewer_agreement.TwoWorkers, ...]
    everyone: reviewer_agreement.AllWorkers
    gold: dict[str, review_decisions.Accuracy]
    answers: dict[str, int]
    conflicts: int
    resolved: int
    drifted: dict[str, int]
    plots: tuple[Plot, ...]
    made: datetime


@dataclass(frozen=True)
class _Kept:
    """What was worked out, of which version, from when to when."""

    version: tuple[int, int]
    begun: float
    ended: float
    quality: Quality

    def holds(self) -> bool:
        """Whether it is so young that the time it takes is not spent again."""
        return time.monotonic() - self.ended < LONGER * (self.ended - self.begun)


_guard = threading.Lock()
_kept: dict[UUID, _Kept] = {}


def quality_of(project: models.Project) -> Quality:
    """How good the decisions of a project are, now, or a moment ago where it takes long."""
    resolved = models.Resolution.objects.filter(pair__project=project).exclude(answer=0).count()
    version = last_change(project), resolved
    kept = _kept.get(project.pk)
    # While another request works it out, the earlier one is good enough: nobody waits.
    if kept is not None and (kept.version == version or kept.holds() or _guard.locked()):
        return kept.quality
    with _guard:
        kept = _kept.get(project.pk)
        if kept is not None and kept.version == version:
            return kept.quality
        begun = time.monotonic()
        made = work_out(project)
        if len(_kept) > MOST_KEPT:
            _kept.clear()
        _kept[project.pk] = _Kept(version, begun, time.monotonic(), made)
        return made


def work_out(project: models.Project, *, with_plots: bool = True) -> Quality:
    """How good the decisions of a project are, now."""
    decisions = decisions_of(project)
    shared = sum(len(answer) > 1 for answer in decisions.answers.values())
    twos = reviewer_agreement.agreement_of_each_two(decisions)
    # Intervals are drawn by resampling, which takes long for many answers.
    if twos and len(twos) <= MOST_TWOS and shared <= MOST_SHARED:
        twos = reviewer_agreement.agreement_of_each_two(decisions, generator())
    given = Counter(answer for each in decisions.answers.values() for answer in each.values())
    answers = {answer.words: given[answer] for answer in sorted(review_decisions.Answer)}
    conflicts, truth = review_decisions.find_conflicts(decisions), truth_of(project)
    quality = Quality(
        twos,
        reviewer_agreement.agreement_of_all(
            decisions, generator() if shared <= MOST_SHARED else None
        ),
        review_decisions.accuracy(decisions, truth),
        answers,
        len(conflicts),
        sum(conflict.resolution is not None for conflict in conflicts),
        drifted_of(project, truth),
        (),
        datetime.now().astimezone(),
    )
    return replace(quality, plots=plots_of(project, answers)) if with_plots else quality


def drifted_of(project: models.Project, truth: Mapping[str, bool]) -> dict[str, int]:
    """By pseudonym, after how many gold answers a worker was wrong more often than before."""
    events = models.DecisionEvent.objects.filter(
        dealt__project=project, kind=models.EventKind.DECIDED, dealt__pair__gold=True
    ).order_by("pk")
    first: dict[str, dict[int, bool]] = {}
    names = ("dealt__worker__pseudonym", "dealt__pair__number", "answer")
    for worker, number, answer in events.values_list(*names):
        # The first answer alone: who thinks again has been told nothing in between.
        if str(number) in truth:
            first.setdefault(worker, {}).setdefault(number, (answer > 0) != truth[str(number)])
    alarms = {
        worker: review_decisions.drifts(list(wrong.values()), place)
        for place, (worker, wrong) in enumerate(first.items(), 1)
    }
    return {worker: after for worker, after in alarms.items() if after is not None}


def changed_afterwards(project: models.Project) -> set[int]:
    """Numbers of pairs whose answer is, by the log, not the first one that the manager gave."""
    given: dict[int, list[int]] = {}
    entries = models.AuditEntry.objects.filter(
        resource__startswith=f"project {project.pk}/conflict ", action__in=("resolve", "reopen")
    )
    for resource, text in entries.order_by("number").values_list("resource", "detail"):
        number, answer = int(resource.rpartition(" ")[2]), json.loads(text).get("answer", 0)
        given.setdefault(number, []).append(answer)
    return {number for number, answers in given.items() if answers[-1] not in (0, answers[0])}


def value_and_interval(measure: Measure | None) -> tuple[str, str]:
    """A number, and its interval."""
    if measure is None:
        return "not defined", ""
    if measure.low is None or measure.high is None:
        return f"{measure.value:.2f}", ""
    return f"{measure.value:.2f}", f"{measure.low:.2f} to {measure.high:.2f}"


def disclosure_of(project: models.Project) -> Disclosure:
    """All numbers of the report on what was disclosed in a project."""
    progress, quality = progress_of(project), work_out(project, with_plots=False)
    people = tuple(_people(project, quality))
    return Disclosure(
        title=project.title,
        project=str(project.pk),
        made=timezone.now().date(),
        created=project.created.date(),
        closed=project.closed.date() if project.closed else None,
        custodian=project.custodian.name,
        manager=project.manager.name,
        records=live_projects.review_of(project).index.database.count,
        pairs=progress.pairs + progress.gold,
        gold=progress.gold,
        settings=tuple(rules_in_words(project)),
        k=int(project.settings["k"]),
        people=people,
        combined=progress.combined,
        project_budget=project.settings.get("project_budget"),
        opened=tuple(_opened(project)),
        agreement=tuple(agreement_of(quality, {})),
        conflicts=quality.conflicts,
        resolved=quality.resolved,
        changed=len(changed_afterwards(project)),
        answers=quality.answers,
        grants=tuple(
            (f"{each.created:%Y-%m-%d}", grant_in_words(each))
            for each in project.grants.select_related("to").order_by("created")
        ),
        audit=str(head()),
        figures=figures_of(project, quality.answers, by_pseudonym=True),
    )


def _people(project: models.Project, quality: Quality) -> Iterator[Person]:
    """The workers, and the manager where conflicts were shown to them."""
    refusals, below = _from_log(project)
    progress = {worker.pseudonym: worker for worker in progress_of(project).workers}
    allowances = models.Allowance.objects.filter(project=project).select_related("worker")
    for each in allowances.order_by("worker__pseudonym"):
        name, manages = each.worker.pseudonym, each.worker_id == project.manager_id
        dealt = models.Dealt.objects.filter(project=project, worker=each.worker)
        seen = models.Resolution.objects.filter(pair__project=project).exclude(modes="")
        line = progress.get(name)
        if line is None and not (manages and seen.exists()):
            continue
        spent = models.Spent.objects.filter(fingerprint=project.fingerprint, worker=name).first()
        kapr = line.kapr if line is not None else _kapr(project, each)
        gold: review_decisions.Accuracy | None = quality.gold.get(name)
        yield Person(
            pseudonym=name,
            role="manager" if manages else "worker",
            dealt=0 if line is None else line.dealt,
            shown=(seen if line is None else dealt.exclude(modes="")).count(),
            decided=seen.exclude(answer=0).count() if line is None else line.decided,
            kapr=kapr,
            budget=each.budget,
            # Sums of the same scores in another order differ in their last digits.
            elsewhere=max(0.0, round((spent.score if spent else 0.0) - each.spent, 12)),
            characters=None if line is None else line.characters,
            seconds=None if line is None else line.seconds,
            refusals=dict(sorted(refusals.get(name, Counter()).items())),
            below_k=below[name],
            accuracy=None if gold is None else gold.share,
        )


def _kapr(project: models.Project, allowance: models.Allowance) -> float:
    k, attributes = int(project.settings["k"]), len(project.attributes)
    return float(kapr_of(allowance.units, k, allowance.rows or 1, attributes))


def _from_log(project: models.Project) -> tuple[dict[str, Counter[str]], Counter[str]]:
    """By pseudonym, refusals by reason, and openings that left a row below k."""
    refusals: dict[str, Counter[str]] = {}
    below: Counter[str] = Counter()
    entries = models.AuditEntry.objects.filter(
        resource__startswith=f"project {project.pk}/", action__in=("show", "open")
    )
    for actor, text in entries.values_list("actor", "detail").iterator(chunk_size=5000):
        detail: dict[str, Any] = json.loads(text)
        if "refused" in detail:
            refusals.setdefault(actor, Counter())[str(detail["refused"])] += 1
        below[actor] += bool(detail.get("below k"))
    return refusals, below


def _opened(project: models.Project) -> Iterator[Opened]:
    shown = models.Dealt.objects.filter(project=project).exclude(modes="")
    rows = list(shown.values_list("pair_id", "modes"))
    resolved = models.Resolution.objects.filter(pair__project=project).exclude(modes="")
    rows += list(resolved.values_list("pair_id", "modes"))
    for place, attribute in enumerate(project.attributes):
        modes = [(pair, Mode(int(text[place]))) for pair, text in rows]
        count = Counter(mode for _, mode in modes)
        yield Opened(
            attribute["name"],
            attribute["kind"],
            len(modes),
            count[Mode.PARTIAL],
            count[Mode.FULL],
            len({pair for pair, mode in modes if mode is not Mode.MASKED}),
        )


def agreement_of(quality: Quality, names: Mapping[str, str]) -> Iterator[Agreement]:
    """How far all workers agree, and each two of them."""
    everyone = quality.everyone
    yield Agreement(
        "All workers (Krippendorff's α)", everyone.pairs, everyone.sides, everyone.ordinal
    )
    for each in quality.twos:
        one, two = (names.get(worker, worker) for worker in each.workers)
        yield Agreement(f"{one} and {two} (Cohen's κ)", each.pairs, each.sides, each.quadratic)
