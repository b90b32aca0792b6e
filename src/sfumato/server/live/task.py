"""A worker at work on a project: the one transaction in which all of a request happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sfumato.review.worker_state import Charge, Refusal, WorkerState
from sfumato.server.audit.append import append
from sfumato.server.live.memory import Held, Live, forget_states, kept, lock_of
from sfumato.server.live.reviews import live_of
from sfumato.server.live.rows import Rows, read_rows, write_charge, write_shown
from sfumato.server.live.stop import Stop
from sfumato.server.live.workers import modes_text, state_of
from sfumato.server.permissions.rules import Action, decide
from sfumato.server.store.models import Account, Allowance, Dealt, Project, Spent
from sfumato.server.store.statements import Statement

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
    asked
        The pair that the request is about, ``None`` where the worker has none of that id.
    changed
        Whether memory is ahead of the database.
    """

    account: Account
    project: Project
    live: Live
    allowance: Allowance
    spent: Spent
    held: Held
    asked: Dealt | None = None
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

    def dealt(self, action: Action) -> Dealt:
        """The pair that the request is about, where it may be acted on.

        Parameters
        ----------
        action
            What is to be done with it.

        Raises
        ------
        Stop
            If there is none, or it may not.
        """
        dealt = self.asked
        if dealt is None:
            raise Stop(404, "There is no such pair on your pages.")
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

    def note(
        self,
        dealt: Dealt,
        action: str,
        detail: dict[str, Any],
        along: Sequence[Statement] = (),
    ) -> None:
        """Add an entry on a pair to the audit log.

        Parameters
        ----------
        dealt
            The pair.
        action
            What was done with it.
        detail
            More of it; never a value.
        along
            What it tells of, where that is still to be written.
        """
        resource = f"project {self.project.id}/pair {dealt.token}"
        append(self.account, action, resource, detail, along)

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
        along = [write_shown(dealt), *self.charge(answer)]
        detail = {**detail, "cost": answer.cost, "modes": dealt.modes}
        if answer.below_k:
            detail["below k"] = True
        self.note(dealt, action, detail, along)

    def charge(self, answer: Charge) -> list[Statement]:
        """Statements that write a charge into the database, which memory holds already.

        Parameters
        ----------
        answer
            The charge.
        """
        allowance, combined = self.allowance, self.live.combined
        allowance.units += answer.units
        allowance.spent += answer.cost
        allowance.version += 1
        self.held.version = allowance.version
        self.live.combined_version += 1
        if answer.units:
            self.spent.score += answer.cost
        if combined is None or combined.units == self.project.combined_units:
            return write_charge(None, allowance, self.spent)
        self.project.combined_units = combined.units
        return write_charge(self.project, allowance, self.spent)


@contextmanager
def task_of(account: Account, project_id: UUID, token: str = "") -> Iterator[Task]:
    """A worker's task, for one request: with its lock, in one transaction.

    All of it is in the database when the block is left, or none of it; where it fails, what is
    held in memory is dropped.

    Parameters
    ----------
    account
        The worker.
    project_id
        The project.
    token
        The id on the worker's page of the pair that the request is about.

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
            live_of(_permitted(account, read_rows(account, project_id)).project)
        task: Task | None = None
        begun = done = False
        try:
            with transaction.atomic(durable=True):
                rows = _permitted(account, read_rows(account, project_id, token))
                begun = True
                task = _task(account, rows)
                yield task
            done = True
        finally:
            if begun and not done and (task is None or task.changed):
                forget_states(project_id)


def _permitted(account: Account, rows: Rows | None) -> Rows:
    project = rows.project if rows else None
    permission = decide(account, Action.WORK, project)
    if rows is not None and permission.allowed:
        return rows
    if project is None or not decide(account, Action.SEE_PROJECT, project).allowed:
        raise Stop(404, "There is no such project, or you do not take part in it.")
    raise Stop(403, permission.reason)


def _task(account: Account, rows: Rows) -> Task:
    project, allowance, spent = rows.project, rows.allowance, rows.spent
    live = live_of(project)
    if allowance is None:
        allowance, _ = Allowance.objects.select_for_update().get_or_create(
            project=project, worker=account, defaults={"budget": live.review.settings.budget}
        )
    if spent is None:
        spent, _ = Spent.objects.select_for_update().get_or_create(
            fingerprint=project.fingerprint, worker=account.pseudonym
        )
    held = state_of(live, project, account, allowance, rows.versions)
    task = Task(account, project, live, allowance, spent, held, rows.dealt)
    _set_budget(task)
    return task


def _set_budget(task: Task) -> None:
    """What is left of the worker's budget for the source is the budget in this project."""
    budget = task.allowance.budget
    if budget is not None:
        budget = max(0.0, budget - task.elsewhere)
    if task.state.review.settings.budget != budget:
        review = task.live.review
        task.state.review = review.with_budgets(budget, review.settings.project_budget)
