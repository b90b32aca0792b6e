"""A manager's answers where workers differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max, Min

from sfumato.review.pair_view import PairView, Standing
from sfumato.review.review_decisions import Answer
from sfumato.review.review_settings import Mode
from sfumato.review.worker_state import Charge, Cost, Opening, Refusal, WorkerState
from sfumato.server.audit_log import append
from sfumato.server.error_pages import Stop
from sfumato.server.live import live_projects
from sfumato.server.live.worker_actions import standing_of
from sfumato.server.live.worker_tasks import Task, begin, modes_text, plain_state
from sfumato.server.permissions import Action, decide
from sfumato.server.proofs import check_all, check_proved, proofs
from sfumato.server.stated_rows import added, added_digits, stated
from sfumato.server.store import models

Modes = tuple[Mode, ...]


@dataclass(frozen=True)
class Shown:
    """A conflict as its manager may see it now.

    Attributes
    ----------
    refusal
        Why nothing more is shown, where that is so.
    """

    view: PairView
    standing: Standing
    exact: bool
    refusal: Refusal | None = None


def show_conflict(account: models.Account, project: models.Project, number: int) -> Shown:
    """Show a conflict or a flagged pair; the first time its starting state is charged."""
    with _resolving(account, project, number) as (task, resolution):
        refusal = _show(task, resolution)
        return _shown(task, resolution, refusal)


def open_conflict(
    account: models.Account,
    project: models.Project,
    number: int,
    attributes: Sequence[int],
    mode: int,
) -> Shown:
    """Open cells of a conflict that some worker of the pair has opened as far."""
    with _resolving(account, project, number) as (task, resolution):
        refusal = _show(task, resolution)
        if refusal is not None:
            return _shown(task, resolution, refusal)
        most = union_of(project, number)
        if not most:
            raise Stop(403, "No worker was shown this pair.")
        if mode not in (Mode.PARTIAL, Mode.FULL) or not attributes:
            raise Stop(400, "Cells are opened partly or in full.")
        if any(not 0 <= place < len(most) for place in attributes):
            raise Stop(400, "There is no such attribute.")
        opening = Opening(tuple(dict.fromkeys(attributes)), Mode(mode))
        if not _within(opening, most):
            raise Stop(403, "No worker of this pair has opened as much of it.")
        # Opening again what is open costs nothing, and is no entry.
        before = task.state.modes(number)
        # Memory is ahead of the database from here on: if the rest fails, it is dropped.
        task.changed = True
        answer = task.state.open(number, opening)
        if isinstance(answer, Refusal) or task.state.modes(number) != before:
            names = [task.live.review.attributes[place].name for place in opening.attributes]
            _book(
                task, resolution, answer, "open", attributes=names, mode=opening.mode.name.lower()
            )
        return _shown(task, resolution, answer if isinstance(answer, Refusal) else None)


def resolve(account: models.Account, project: models.Project, number: int, answer: int) -> None:
    """Decide a conflict; the answer holds in place of the workers'.

    Parameters
    ----------
    answer
        One of the six answers; 0 to let the workers' hold again.
    """
    if answer and answer not in set(Answer):
        raise Stop(400, "A pair is decided by one of the six answers.")
    with _resolving(account, project, number) as (task, resolution):
        # The same answer again is no entry: a page may be sent twice.
        if resolution.answer != answer:
            resolution.answer = answer
            resolution.by = account
            resolution.save(update_fields=["answer", "by", "time"])
            detail = {"answer": answer} if answer else {}
            rows = [stated(resolution, "answer", "by_id", "time")]
            action = "resolve" if answer else "reopen"
            append(account, action, _resource(task, number), detail, rows=rows)


def union_of(project: models.Project, number: int) -> Modes:
    """The most that any worker of a pair has been shown of each attribute."""
    shown = models.Dealt.objects.filter(project=project, pair__number=number).exclude(modes="")
    # Modes are digits in order of what they show.
    return tuple(
        Mode(int(max(digits)))
        for digits in zip(*shown.values_list("modes", flat=True), strict=True)
    )


def disagree(project: models.Project, number: int) -> bool:
    """Whether the answers of a pair that stand are of both sides."""
    answers = models.Dealt.objects.filter(project=project, pair__number=number).exclude(answer=0)
    return len({answer > 0 for answer in answers.values_list("answer", flat=True)}) > 1


def is_flagged(project: models.Project, number: int) -> bool:
    """Whether a worker asks the manager to look at a pair."""
    return models.Dealt.objects.filter(project=project, pair__number=number, flagged=True).exists()


@contextmanager
def _resolving(
    account: models.Account, project: models.Project, number: int
) -> Iterator[tuple[Task, models.Resolution]]:
    """The manager's own task, for one request, locked and in one transaction as a worker's."""
    # The lock before the transaction: whoever waits for it must hold nothing in the database.
    with live_projects.lock_of(project.pk):
        live_projects.live_of(project)
        task: Task | None = None
        done = False
        try:
            # Durable: nothing may be shown whose charge a surrounding transaction could take back.
            with transaction.atomic(durable=True):
                locked = models.Project.objects.select_for_update(no_key=True).get(pk=project.pk)
                proofs().follow()
                pair = _conflict(account, locked, number)
                live_projects.live_of(locked).check_pair(pair.pk, number)
                resolution, new = models.Resolution.objects.get_or_create(
                    pair=pair, defaults={"by": account}
                )
                shown = models.Dealt.objects.filter(project=locked, pair=pair)
                for row in [*shown, *([] if new else [resolution])]:
                    check_proved(row)
                task = _task(account, locked, new=resolution if new else None)
                yield task, resolution
            done = True
        finally:
            if not done and task is not None and task.changed:
                live_projects.forget_states(project.pk)


def _conflict(account: models.Account, project: models.Project, number: int) -> models.StoredPair:
    """The pair, where workers disagree about it and this account may resolve it."""
    permission = decide(account, Action.RESOLVE, project)
    if not permission.allowed:
        raise Stop(403, permission.reason)
    pair = models.StoredPair.objects.filter(project=project, number=number).first()
    # A resolution stays open to its manager, even if workers agree by now.
    known = pair is not None and models.Resolution.objects.filter(pair=pair).exists()
    if pair is None or not (known or disagree(project, number) or is_flagged(project, number)):
        raise Stop(404, "Workers agree about such a pair, and none flagged it.")
    # Who decided a pair would settle a disagreement with themselves.
    if models.Dealt.objects.filter(project=project, worker=account).exists():
        raise Stop(409, "Who works on a project does not resolve its conflicts.")
    return pair


def _task(
    account: models.Account, project: models.Project, *, new: models.Resolution | None
) -> Task:
    """The manager's task: every conflict that there is or was; its rows never get fewer."""
    live = live_projects.live_of(project)
    resolutions = models.Resolution.objects.filter(pair__project=project)
    before = resolutions if new is None else resolutions.exclude(pk=new.pk)
    check_all(before, ("pair_id", "modes"), pair_id=set(live.keys))
    pairs = {}
    for key, place, modes in resolutions.values_list("pair_id", "pair__number", "modes"):
        live.check_pair(key, place)
        pairs[place] = modes
    allowance, spent = begin(project, account, live_projects.settings_of(project).budget)
    for row in (allowance, spent):
        check_proved(row)
    # Never fewer: with fewer rows, what was shown before would be a larger share.
    rows = max(allowance.rows, 2 * len(_in_conflict(project) | set(pairs)))
    if new is not None or allowance.rows != rows:
        dealt = models.Dealt.objects.filter(project=project)
        check_all(dealt, ("pair_id", "answer"), project_id=[str(project.pk)])
        told = [added(allowance, rows=rows - allowance.rows, version=1)]
        allowance.rows, allowance.version = rows, allowance.version + 1
        allowance.save(update_fields=["rows", "version"])
        live.combined_version += 1
        told += [] if new is None else [stated(new)]
        append(account, "take up conflicts", f"project {project.pk}", rows=told)
    task = Task(
        account, project, live, allowance, spent, _manager_state(live, account, allowance, pairs)
    )
    budget = allowance.budget
    # What other projects of the same source cost is off the budget: people in them are the same.
    left = None if budget is None else max(0.0, budget - task.elsewhere)
    if task.state.review.settings.budget != left or task.state.review.settings.project_budget:
        task.state.review = live.review.with_budgets(left, None)  # workers have paid the project's
    return task


def _in_conflict(project: models.Project) -> set[int]:
    """Numbers of the pairs with answers of both sides."""
    sides = models.Dealt.objects.filter(project=project).exclude(answer=0).values("pair__number")
    sides = sides.annotate(least=Min("answer"), most=Max("answer"))
    return set(sides.filter(least__lt=0, most__gt=0).values_list("pair__number", flat=True))


def _manager_state(
    live: live_projects.Live,
    account: models.Account,
    allowance: models.Allowance,
    pairs: dict[int, str],
) -> live_projects.KeptState:
    """The manager's state; beside the workers' it is kept under minus its key."""
    # Under minus the key, which no worker has: it is no part of the workers' combined state.
    held = live.workers.get(-account.pk)
    if held is None or held.version != allowance.version:
        state = plain_state(pairs, allowance.rows)
        restored = WorkerState.restored(live.review.with_budgets(None, None), state)
        held = live.workers[-account.pk] = live_projects.KeptState(allowance.version, restored)
    return held


def _show(task: Task, resolution: models.Resolution) -> Refusal | None:
    if resolution.modes or not union_of(task.project, resolution.pair.number):
        return None
    task.changed = True
    answer = task.state.show(resolution.pair.number)
    _book(task, resolution, answer, "show")
    return answer if isinstance(answer, Refusal) else None


def _book(
    task: Task,
    resolution: models.Resolution,
    answer: Charge | Refusal,
    action: str,
    **detail: object,
) -> None:
    number = resolution.pair.number
    if isinstance(answer, Refusal):
        append(
            task.account,
            action,
            _resource(task, number),
            {**detail, "refused": answer.reason.value},
        )
        return
    before, resolution.modes = resolution.modes, modes_text(task.state.modes(number))
    resolution.save(update_fields=["modes"])
    told = {**detail, "cost": answer.cost, "modes": resolution.modes}
    charge, rows = task.charge(answer)
    rows.append(added(resolution, modes=added_digits(before, resolution.modes)))
    append(task.account, action, _resource(task, number), told, charge, rows)


def _shown(task: Task, resolution: models.Resolution, refusal: Refusal | None) -> Shown:
    number, shown = resolution.pair.number, bool(resolution.modes)
    most = union_of(task.project, number)
    costs: tuple[Cost, ...] = ()
    if shown:
        # Only what some worker of the pair paid for is offered: a conflict shows nobody anything
        # new.
        costs = tuple(cost for cost in task.state.costs(number) if _within(cost.opening, most))
    view = PairView(
        token=str(number),
        place=number + 1,
        rendered=task.state.render(number) if shown else None,
        costs=costs,
        refused=None if shown else refusal,
        hint=None,
        answer=resolution.answer,
        skipped=False,
        flagged=False,
        note="",
    )
    exact = task.live.review.settings.costs.value == "exact"
    return Shown(view, _standing(task), exact, refusal)


def _standing(task: Task) -> Standing:
    resolutions = models.Resolution.objects.filter(pair__project=task.project)
    return standing_of(task, resolutions.count(), resolutions.exclude(answer=0).count())


def _within(opening: Opening, most: Modes) -> bool:
    return bool(most) and all(most[place] >= opening.mode for place in opening.attributes)


def _resource(task: Task, number: int) -> str:
    return f"project {task.project.pk}/conflict {number}"
