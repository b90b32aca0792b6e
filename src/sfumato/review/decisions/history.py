"""The history of one pair with one worker, and what holds at present."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sfumato.core.errors import InputError
from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.events import ANSWERS, OF_MANAGERS, Event, EventKind, FlagReason


@dataclass(frozen=True, slots=True)
class Present:
    """What holds at present of one pair with one worker.

    Attributes
    ----------
    answer
        The answer that stands.
    skipped
        Whether the pair was put off.
    flag
        Why it is flagged, where it is.
    since
        When the answer came to stand or to stand no more; ``None`` where there never was one.
    last_answer
        The latest answer, whether it stands or not.
    """

    answer: Answer | None = None
    skipped: bool = False
    flag: FlagReason | None = None
    since: datetime | None = None
    last_answer: Answer | None = None

    @property
    def done(self) -> bool:
        """Whether the worker has nothing more to do about it."""
        return self.answer is not None or self.flag is not None


def present_of(events: Iterable[Event]) -> Present:
    """What holds after some events; a function of their order, not of their times.

    Parameters
    ----------
    events
        All events of one pair with one worker, the earliest first.
    """
    now = Present()
    for event in events:
        now = _after(now, event)
    return now


def _after(now: Present, event: Event) -> Present:
    answer, skipped, flag = now.answer, now.skipped, now.flag
    since, last = now.since, now.last_answer
    if event.kind in ANSWERS:
        answer = last = event.answer
        since, skipped = event.time, False
    elif event.kind is EventKind.FLAGGED:
        flag = event.reason
    elif event.kind is EventKind.FLAG_REMOVED:
        flag = None
    else:
        since = since if answer is None else event.time
        answer, skipped = None, event.kind is EventKind.SKIPPED
    return Present(answer, skipped, flag, since, last)


@dataclass(frozen=True, slots=True)
class History:
    """All that happened to one pair with one worker; it is only ever added to.

    What is done again without anything between adds nothing, so that a retried request is
    harmless. An event is never earlier than the one before, even where a clock was set back.

    Parameters
    ----------
    pair
        The pair's id.
    worker
        The worker's pseudonym.
    events
        What happened, the earliest first.

    Raises
    ------
    InputError
        If an event is of another pair or worker, is earlier than the one before, or cannot
        follow it.
    """

    pair: str
    worker: str
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        now, before = Present(), None
        for event in self.events:
            if (event.pair, event.worker) != (self.pair, self.worker):
                raise InputError("a history", "must be of one pair and one worker", found="another")
            if before is not None and event.time < before.time:
                raise InputError("a history", "must be in the order of time", found="another")
            _check(now, event.kind, self.events[0].kind)
            now, before = _after(now, event), event

    @property
    def present(self) -> Present:
        """What holds at present."""
        return present_of(self.events)

    def decide(self, answer: Answer, time: datetime) -> History:
        """The history with an answer; the one that stands, given again, adds nothing.

        Parameters
        ----------
        answer
            The answer.
        time
            When.
        """
        now = self.present.answer
        if now is answer:
            return self
        kind = EventKind.DECIDED if now is None else EventKind.CHANGED
        return self._with(kind, time, answer=answer)

    def withdraw(self, time: datetime) -> History:
        """The history with its answer taken back.

        Parameters
        ----------
        time
            When.

        Raises
        ------
        InputError
            If there never was one.
        """
        if self.present.answer is None and self.events and self.present.last_answer is not None:
            return self
        return self._with(EventKind.WITHDRAWN, time)

    def skip(self, time: datetime) -> History:
        """The history with the pair put off; an answer that stands is taken back.

        Parameters
        ----------
        time
            When.
        """
        return self if self.present.skipped else self._with(EventKind.SKIPPED, time)

    def flag(self, reason: FlagReason, time: datetime) -> History:
        """The history with the pair flagged.

        Parameters
        ----------
        reason
            Why.
        time
            When.
        """
        if self.present.flag is reason:
            return self
        return self._with(EventKind.FLAGGED, time, reason=reason)

    def remove_flag(self, time: datetime) -> History:
        """The history with the flag taken off.

        Parameters
        ----------
        time
            When.
        """
        return self if self.present.flag is None else self._with(EventKind.FLAG_REMOVED, time)

    def resolve(self, answer: Answer, time: datetime) -> History:
        """The history with a manager's answer, which holds in place of the workers'.

        Parameters
        ----------
        answer
            The answer.
        time
            When.

        Raises
        ------
        InputError
            If whoever resolves has worked on the pair.
        """
        if self.present.answer is answer and self.events[-1].kind is EventKind.RESOLVED:
            return self
        return self._with(EventKind.RESOLVED, time, answer=answer)

    def reopen(self, time: datetime) -> History:
        """The history with the manager's answer taken back.

        Parameters
        ----------
        time
            When.

        Raises
        ------
        InputError
            If there never was one.
        """
        if self.events and self.events[-1].kind is EventKind.REOPENED:
            return self
        return self._with(EventKind.REOPENED, time)

    def _with(
        self,
        kind: EventKind,
        time: datetime,
        *,
        answer: Answer | None = None,
        reason: FlagReason | None = None,
    ) -> History:
        at = max([time, *(event.time for event in self.events[-1:])])
        event = Event(self.pair, self.worker, kind, at, answer, reason)
        return History(self.pair, self.worker, (*self.events, event))


def _check(now: Present, kind: EventKind, first: EventKind) -> None:
    """Refuse an event that cannot follow what holds."""
    if (kind in OF_MANAGERS) is not (first in OF_MANAGERS):
        raise InputError(
            "a pair",
            "must be resolved by somebody who has not worked on it",
            found="a worker of the pair",
            advice="let another manager resolve it",
        )
    wrong = {
        EventKind.DECIDED: now.answer is not None,
        EventKind.CHANGED: now.answer is None,
        EventKind.WITHDRAWN: now.answer is None,
        EventKind.REOPENED: now.answer is None,
        EventKind.FLAG_REMOVED: now.flag is None,
    }
    if wrong.get(kind, False):
        raise InputError(
            f"an event '{kind}'",
            "must follow what it is about",
            found="no answer before it" if kind is not EventKind.DECIDED else "an answer before it",
        )
