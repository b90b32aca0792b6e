"""What a worker says of a pair: decisions, skips, flags and notes, each with its history."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from sfumato.review.review_decisions import Answer as Decision
from sfumato.server.live.opening import Answer, answer
from sfumato.server.live.page import note_purpose
from sfumato.server.live.project_files import key_of
from sfumato.server.live.stop import Stop
from sfumato.server.live.task import Task, task_of
from sfumato.server.permissions.rules import Action
from sfumato.server.store.models import Account, Dealt, DecisionEvent, EventKind
from sfumato.server.vault.sealed import seal

NOTE_LENGTH = 2000
"""Most characters of a note."""
_MARKS: dict[EventKind, dict[str, int | bool]] = {
    EventKind.WITHDRAWN: {"answer": 0, "skipped": False},
    EventKind.SKIPPED: {"answer": 0, "skipped": True},
    EventKind.FLAGGED: {"flagged": True},
    EventKind.UNFLAGGED: {"flagged": False},
}


def decide_pair(account: Account, project_id: UUID, token: str, decision: int) -> Answer:
    """Decide a pair; the same decision again changes nothing.

    Parameters
    ----------
    account
        The worker.
    project_id
        The project.
    token
        The pair's id on the worker's page.
    decision
        One of the six answers.

    Raises
    ------
    Stop
        If there is no such pair or answer, or it is not shown yet.
    """
    if decision not in set(Decision):
        raise Stop(400, "A pair is decided by one of the six answers.")
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.DECIDE)
        if dealt.shown is None:
            raise Stop(409, "Look at the pair first; it was not shown yet.")
        if dealt.answer != decision or dealt.skipped:
            if dealt.seconds is None:
                dealt.seconds = _seconds(task, dealt.shown)
            dealt.answer, dealt.skipped = decision, False
            dealt.save(update_fields=["answer", "skipped", "seconds"])
            _happened(task, dealt, EventKind.DECIDED, decision)
        return answer(task, dealt)


def mark(account: Account, project_id: UUID, token: str, kind: EventKind) -> Answer:
    """Withdraw a decision or a skip, skip a pair, flag it, or take the flag away.

    A skip takes a decision back that stood; a flag asks the manager to look. What is so already
    changes nothing.

    Parameters
    ----------
    account
        The worker.
    project_id
        The project.
    token
        The pair's id on the worker's page.
    kind
        Which of them.

    Raises
    ------
    Stop
        If there is no such pair, or it may not be decided.
    """
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.DECIDE)
        wanted = _MARKS[kind]
        if any(getattr(dealt, name) != value for name, value in wanted.items()):
            for name, value in wanted.items():
                setattr(dealt, name, value)
            dealt.save(update_fields=list(wanted))
            _happened(task, dealt, kind)
        return answer(task, dealt)


def write_note(account: Account, project_id: UUID, token: str, text: str) -> Answer:
    """Write a note on a pair; it is encrypted with the project's key.

    Parameters
    ----------
    account
        The worker.
    project_id
        The project.
    token
        The pair's id on the worker's page.
    text
        The note; an empty one removes it.

    Raises
    ------
    Stop
        If there is no such pair, it may not be decided, or the note is too long.
    """
    text = text.replace("\r\n", "\n").strip()
    if len(text) > NOTE_LENGTH:
        raise Stop(400, f"A note has {NOTE_LENGTH} characters at most.")
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.DECIDE)
        key, purpose = key_of(task.project), note_purpose(dealt.token)
        dealt.note = seal(text.encode(), key, purpose) if text else b""
        dealt.save(update_fields=["note"])
        task.note(dealt, "note", {"removed": not text})
        return answer(task, dealt)


def _happened(task: Task, dealt: Dealt, kind: EventKind, decision: int = 0) -> None:
    DecisionEvent.objects.create(dealt=dealt, kind=kind, answer=decision)
    task.note(dealt, kind.value, {"answer": decision} if decision else {})


def _seconds(task: Task, shown: datetime) -> float:
    """Time since the pair was shown or the decision before, whichever came last."""
    events = DecisionEvent.objects.filter(
        dealt__worker=task.account, dealt__project=task.project, kind=EventKind.DECIDED
    )
    last = events.aggregate(last=Max("time"))["last"]
    since = max(shown, last) if last else shown
    return min((timezone.now() - since).total_seconds(), settings.SFUMATO.idle_minutes * 60.0)
