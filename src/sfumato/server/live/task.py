"""A worker at work on a project: the one transaction in which all of a request happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sfumato.review.state.opening import Charge, Refusal
from sfumato.review.state.worker import WorkerState
from sfumato.server.audit.append import append
from sfumato.server.live.memory import Held, Live, forget_states, kept, lock_of
from sfumato.server.live.reviews import live_of, with_budget
from sfumato.server.live.stop import Stop
from sfumato.server.live.workers import modes_text, state_of
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Account, Allowance, Dealt, Project, Spent

_TINY = 1e-12
"""Differences of sums of scores below this are of their rounding."""


@dataclass
class Task:
    """A worker's task in a project, inside a transaction that holds its rows.

    Attributes
    ----------
    account
        The worker.
    project
        The project.
    live
        What is held of it in memory.
    allowance
        What the worker may be shown of it.
    spent
        What the worker has been shown of its source.
    held
        What the worker has been shown of it.
    changed
        Whether memory is ahead of the database.
    """

    account: Account
    project: Project
    live: Live
    allowance: Allowance
    spent: Spent
    held: Held
    changed: bool = False

    @property
    def state(self) -> WorkerState:
        """What the worker has been shown of the project."""
        return self.held.state

    @property
    def elsewhere(self) -> float:
        """KAPR that the worker spent in other projects of the same source."""
        other = self.spent.score - self.allowance.spent
        return other if other > _TINY else 0.0

    def dealt(self, token: str, action: Action) -> Dealt:
        """A pair of the worker's that may be acted on.

        Parameters
        ----------
        token
            Its id on the worker's page.
        action
            What is to be done with it.

        Raises
        ------
        Stop
            If there is none, or it may not.
        """
        found = Dealt.objects.filter(project=self.project, worker=self.account, token=token)
        dealt = found.select_related("pair").first()
        if dealt is None:
            raise Stop(404, "There is no such pair on your pages.")
        dealt.project = self.project
        permission = decide(self.account, action, dealt)
        if not permission.allowed:
            taken = dealt.taken_back is not None
            raise Stop(409 if taken else 403, permission.reason)
        return dealt

    def show(self, dealt: Dealt) -> Charge | Refusal:
        """Show a pair in its starting state, and charge it; once.

        Parameters
        ----------
        dealt
            The pair.
        """
        if dealt.shown is not None:
            return Charge(0, 0.0)
        self.changed = True
        answer = self.state.show(dealt.pair.number)
        if isinstance(answer, Charge):
            dealt.shown = timezone.now()
        self.book(dealt, answer, "show", {})
        return answer

    def note(self, dealt: Dealt, action: str, detail: dict[str, Any]) -> None:
        """Add an entry on a pair to the audit log.

        Parameters
        ----------
        dealt
            The pair.
        action
            What was done with it.
        detail
            More of it; never a value.
        """
        append(self.account, action, f"project {self.project.id}/pair {dealt.token}", detail)

    def book(
        self, dealt: Dealt, answer: Charge | Refusal, action: str, detail: dict[str, Any]
    ) -> None:
        """Write an answer into the database, which memory holds already.

        Parameters
        ----------
        dealt
            The pair.
        answer
            The charge or the refusal.
        action
            What was done.
        detail
            More of it, for the audit log; never a value.
        """
        if isinstance(answer, Refusal):
            self.note(dealt, action, {**detail, "refused": answer.reason.value})
            return
        dealt.modes = modes_text(self.state.modes(dealt.pair.number))
        dealt.save(update_fields=["modes", "shown"])
        self.charge(answer)
        detail = {**detail, "cost": answer.cost, "modes": dealt.modes}
        if answer.below_k:
            detail["below k"] = True
        self.note(dealt, action, detail)

    def charge(self, answer: Charge) -> None:
        """Write a charge into the database, which memory holds already.

        Parameters
        ----------
        answer
            The charge.
        """
        allowance, spent = self.allowance, self.spent
        allowance.units += answer.units
        allowance.spent += answer.cost
        allowance.version += 1
        allowance.save(update_fields=["units", "spent", "version"])
        self.held.version = allowance.version
        self.live.combined_version += 1
        if answer.units:
            spent.score += answer.cost
            spent.save(update_fields=["score"])
        combined = self.live.combined
        if combined is not None and combined.units != self.project.combined_units:
            self.project.combined_units = combined.units
            self.project.save(update_fields=["combined_units"])


@contextmanager
def task_of(account: Account, project_id: UUID) -> Iterator[Task]:
    """A worker's task, for one request: with its lock, in one transaction.

    All of it is in the database when the block is left, or none of it; where it fails, what is
    held in memory is dropped.

    Parameters
    ----------
    account
        The worker.
    project_id
        The project.

    Yields
    ------
    Task
        The task.

    Raises
    ------
    Stop
        If there is no such project, or the worker may not work on it.
    """
    with lock_of(project_id):
        if kept(project_id) is None:  # reading it takes a while, and no transaction waits for it
            live_of(_permitted(account, project_id, lock=False))
        task: Task | None = None
        begun = done = False
        try:
            with transaction.atomic(durable=True):
                project = _permitted(account, project_id, lock=True)
                begun = True
                task = _task(account, project)
                yield task
            done = True
        finally:
            if begun and not done and (task is None or task.changed):
                forget_states(project_id)


def _permitted(account: Account, project_id: UUID, *, lock: bool) -> Project:
    projects = Project.objects.filter(pk=project_id).defer("attributes", "weights")
    project = (projects.select_for_update(no_key=True) if lock else projects).first()
    permission = decide(account, Action.WORK, project)
    if project is not None and permission.allowed:
        return project
    if project is None or not decide(account, Action.SEE_PROJECT, project).allowed:
        raise Stop(404, "There is no such project, or you do not take part in it.")
    raise Stop(403, permission.reason)


def _task(account: Account, project: Project) -> Task:
    live = live_of(project)
    allowance, _ = Allowance.objects.select_for_update().get_or_create(
        project=project, worker=account, defaults={"budget": live.review.settings.budget}
    )
    spent, _ = Spent.objects.select_for_update().get_or_create(
        fingerprint=project.fingerprint, worker=account.pseudonym
    )
    task = Task(
        account, project, live, allowance, spent, state_of(live, project, account, allowance)
    )
    _set_budget(task)
    return task


def _set_budget(task: Task) -> None:
    """What is left of the worker's budget for the source is the budget in this project."""
    budget = task.allowance.budget
    if budget is not None:
        budget = max(0.0, budget - task.elsewhere)
    if task.state.review.settings.budget != budget:
        task.state.review = with_budget(task.live.review, budget)
