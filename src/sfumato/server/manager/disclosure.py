"""Gather the numbers of a project's disclosure report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.utils import timezone

from sfumato.reports.disclosure_report import Agreement, Disclosure, Opened, Person
from sfumato.review.disclosure_account import kapr_of
from sfumato.review.review_decisions import Accuracy
from sfumato.review.review_settings import Mode
from sfumato.server.audit.verify import head
from sfumato.server.live.reviews import review_of
from sfumato.server.manager.plots import figures_of
from sfumato.server.manager.progress import progress_of
from sfumato.server.manager.quality import Quality, work_out
from sfumato.server.manager.words import rules_in_words, told_of_grant
from sfumato.server.store.models import (
    Allowance,
    AuditEntry,
    Dealt,
    Project,
    Resolution,
    Spent,
)


def disclosure_of(project: Project) -> Disclosure:
    """All numbers of the report on what was disclosed in a project.

    Parameters
    ----------
    project
        The project, not purged.

    Raises
    ------
    InputError
        If a file of the project is missing or was changed.
    """
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
        records=review_of(project).index.database.count,
        pairs=progress.pairs + progress.gold,
        gold=progress.gold,
        settings=tuple(rules_in_words(project)),
        k=int(project.settings["k"]),
        people=people,
        combined=progress.combined,
        project_budget=project.settings.get("project_budget"),
        opened=tuple(_opened(project)),
        agreement=tuple(_agreement(quality)),
        conflicts=quality.conflicts,
        resolved=quality.resolved,
        answers=quality.answers,
        grants=tuple(
            (f"{each.created:%Y-%m-%d}", told_of_grant(each))
            for each in project.grants.select_related("to").order_by("created")
        ),
        audit=str(head()),
        figures=figures_of(project, quality.answers, by_pseudonym=True),
    )


def _people(project: Project, quality: Quality) -> Iterator[Person]:
    """The workers, and the manager where conflicts were shown to them."""
    refusals, below = _from_log(project)
    progress = {each.pseudonym: each for each in progress_of(project).workers}
    allowances = Allowance.objects.filter(project=project).select_related("worker")
    for each in allowances.order_by("worker__pseudonym"):
        name, manages = each.worker.pseudonym, each.worker_id == project.manager_id
        dealt = Dealt.objects.filter(project=project, worker=each.worker)
        seen = Resolution.objects.filter(pair__project=project).exclude(modes="")
        line = progress.get(name)
        if line is None and not (manages and seen.exists()):
            continue
        spent = Spent.objects.filter(fingerprint=project.fingerprint, worker=name).first()
        kapr = line.kapr if line is not None else _kapr(project, each)
        gold: Accuracy | None = quality.gold.get(name)
        yield Person(
            pseudonym=name,
            role="manager" if manages else "worker",
            dealt=0 if line is None else line.dealt,
            shown=(seen if line is None else dealt.exclude(modes="")).count(),
            decided=seen.exclude(answer=0).count() if line is None else line.decided,
            kapr=kapr,
            budget=each.budget,
            elsewhere=max(0.0, round((spent.score if spent else 0.0) - each.spent, 12)),
            characters=None if line is None else line.characters,
            seconds=None if line is None else line.seconds,
            refusals=dict(sorted(refusals.get(name, Counter()).items())),
            below_k=below[name],
            accuracy=None if gold is None else gold.share,
        )


def _kapr(project: Project, allowance: Allowance) -> float:
    k, attributes = int(project.settings["k"]), len(project.attributes)
    return float(kapr_of(allowance.units, k, allowance.rows or 1, attributes))


def _from_log(project: Project) -> tuple[dict[str, Counter[str]], Counter[str]]:
    """By pseudonym, refusals by reason, and openings that left a row below k."""
    refusals: dict[str, Counter[str]] = {}
    below: Counter[str] = Counter()
    entries = AuditEntry.objects.filter(
        resource__startswith=f"project {project.pk}/", action__in=("show", "open")
    )
    for actor, text in entries.values_list("actor", "detail").iterator(chunk_size=5000):
        detail: dict[str, Any] = json.loads(text)
        if "refused" in detail:
            refusals.setdefault(actor, Counter())[str(detail["refused"])] += 1
        below[actor] += bool(detail.get("below k"))
    return refusals, below


def _opened(project: Project) -> Iterator[Opened]:
    shown = Dealt.objects.filter(project=project).exclude(modes="")
    rows = list(shown.values_list("pair_id", "modes"))
    resolved = Resolution.objects.filter(pair__project=project).exclude(modes="")
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


def _agreement(quality: Quality) -> Iterator[Agreement]:
    everyone = quality.everyone
    yield Agreement(
        "All workers (Krippendorff's α)", everyone.pairs, everyone.sides, everyone.ordinal
    )
    for each in quality.twos:
        who = f"{each.workers[0]} and {each.workers[1]} (Cohen's κ)"
        yield Agreement(who, each.pairs, each.sides, each.quadratic)
