"""Answers about pairs: their history, what stands, where workers differ, who is right."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from functools import cached_property
from math import ceil, comb

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.phrases import Phrase
from sfumato.table.table_files import write_table


class Answer(IntEnum):
    """Whether the two records are one person's, and how sure the worker is (001, Section 3.1)."""

    DIFFERENT_HIGH = -3
    DIFFERENT_MEDIUM = -2
    DIFFERENT_LOW = -1
    SAME_LOW = 1
    SAME_MEDIUM = 2
    SAME_HIGH = 3

    @property
    def same(self) -> bool:
        """Whether it says that they are one person's."""
        return self > 0

    @property
    def confidence(self) -> Confidence:
        """How sure the worker is."""
        return Confidence(abs(self))

    @property
    def words(self) -> str:
        """As a page shows it: ``"Same, high confidence"``."""
        return _WORDS[self]


_WORDS = {
    Answer.DIFFERENT_HIGH: Phrase("Different, high confidence"),
    Answer.DIFFERENT_MEDIUM: Phrase("Different, medium confidence"),
    Answer.DIFFERENT_LOW: Phrase("Different, low confidence"),
    Answer.SAME_LOW: Phrase("Same, low confidence"),
    Answer.SAME_MEDIUM: Phrase("Same, medium confidence"),
    Answer.SAME_HIGH: Phrase("Same, high confidence"),
}


class Confidence(IntEnum):
    """How sure a worker is."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


class EventKind(StrEnum):
    """What happened."""

    DECIDED = "decided"
    """The first answer, or one after none stood."""
    CHANGED = "changed"
    """Another answer in place of the one that stood."""
    WITHDRAWN = "withdrawn"
    """The answer was taken back."""
    SKIPPED = "skipped"
    """Put off; an answer that stood is taken back."""
    FLAGGED = "flagged"
    """Something is the matter with the pair; an answer may stand beside."""
    FLAG_REMOVED = "flag removed"
    RESOLVED = "resolved"
    """A manager's answer, which holds in place of the workers'."""
    REOPENED = "reopened"
    """The manager's answer was taken back, and the workers' hold again."""


class FlagReason(StrEnum):
    """Why a worker flags a pair."""

    BROKEN = "a record is broken"
    """It is no person's, or several persons' mixed up."""
    TOO_LITTLE = "too little is shown"
    """It cannot be told from what may be opened."""
    KNOWN_PERSON = "I know the person"
    OTHER = "another reason"


REASONS = {
    FlagReason.BROKEN: Phrase("a record is broken"),
    FlagReason.TOO_LITTLE: Phrase("too little is shown"),
    FlagReason.KNOWN_PERSON: Phrase("I know the person"),
    FlagReason.OTHER: Phrase("another reason"),
}
"""What pages say of them."""


ANSWERS = frozenset({EventKind.DECIDED, EventKind.CHANGED, EventKind.RESOLVED})
"""The events that hold an answer."""
OF_MANAGERS = frozenset({EventKind.RESOLVED, EventKind.REOPENED})
"""The events that are a manager's, not a worker's."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a pair.

    Parameters
    ----------
    answer
        The answer, where one was given.
    """

    pair: str
    worker: str
    kind: EventKind
    time: datetime
    answer: Answer | None = None
    reason: FlagReason | None = None

    def __post_init__(self) -> None:
        # Workers may sit in several time zones, and times are compared.
        if self.time.tzinfo is None:
            raise InputError("the time of an event", "must have a time zone", found="none")
        for name, given, wanted in (
            ("answer", self.answer, self.kind in ANSWERS),
            ("reason", self.reason, self.kind is EventKind.FLAGGED),
        ):
            if (given is not None) is not wanted:
                raise InputError(
                    f"an event '{self.kind}'",
                    f"must have {'an' if name == 'answer' else 'a'} {name}"
                    if wanted
                    else f"must have no {name}",
                )


@dataclass(frozen=True, slots=True)
class Present:
    """What holds at present of one pair with one worker.

    Attributes
    ----------
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
        # An answer ends having been put off.
        since, skipped = event.time, False
    elif event.kind is EventKind.FLAGGED:
        flag = event.reason
    elif event.kind is EventKind.FLAG_REMOVED:
        flag = None
    else:
        # Skipping an unanswered pair changes no answer, so that its time stays.
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
    events
        What happened, the earliest first.
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
        """The history with an answer; the one that stands, given again, adds nothing."""
        now = self.present.answer
        # A request that is sent again must not look like a change of mind.
        if now is answer:
            return self
        kind = EventKind.DECIDED if now is None else EventKind.CHANGED
        return self._with(kind, time, answer=answer)

    def withdraw(self, time: datetime) -> History:
        """The history with its answer taken back, or with the pair put off no more."""
        now = self.present
        if now.answer is None and not now.skipped and now.last_answer is not None:
            return self
        return self._with(EventKind.WITHDRAWN, time)

    def skip(self, time: datetime) -> History:
        """The history with the pair put off; an answer that stands is taken back."""
        return self if self.present.skipped else self._with(EventKind.SKIPPED, time)

    def flag(self, reason: FlagReason, time: datetime) -> History:
        """The history with the pair flagged."""
        if self.present.flag is reason:
            return self
        return self._with(EventKind.FLAGGED, time, reason=reason)

    def remove_flag(self, time: datetime) -> History:
        """The history with the flag taken off."""
        return self if self.present.flag is None else self._with(EventKind.FLAG_REMOVED, time)

    def resolve(self, answer: Answer, time: datetime) -> History:
        """The history with a manager's answer, which holds in place of the workers'."""
        if self.present.answer is answer and self.events[-1].kind is EventKind.RESOLVED:
            return self
        return self._with(EventKind.RESOLVED, time, answer=answer)

    def reopen(self, time: datetime) -> History:
        """The history with the manager's answer taken back."""
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
        # A clock that was set back would put the events out of order.
        at = max([time, *(event.time for event in self.events[-1:])])
        event = Event(self.pair, self.worker, kind, at, answer, reason)
        return History(self.pair, self.worker, (*self.events, event))


def _check(now: Present, kind: EventKind, first: EventKind) -> None:
    """Refuse an event that cannot follow what holds."""
    # Who judged a pair must not overrule the others on it.
    if (kind in OF_MANAGERS) is not (first in OF_MANAGERS):
        raise InputError(
            "a pair",
            "must be resolved by a person who has not worked on it",
            found="a worker of the pair",
            advice="let another manager resolve it",
        )
    wrong = {
        EventKind.DECIDED: now.answer is not None,
        EventKind.CHANGED: now.answer is None,
        EventKind.WITHDRAWN: now.answer is None and not now.skipped,
        EventKind.REOPENED: now.answer is None,
        EventKind.FLAG_REMOVED: now.flag is None,
    }
    if wrong.get(kind, False):
        raise InputError(
            f"an event '{kind}'",
            "must follow what it is about",
            found="no answer before it" if kind is not EventKind.DECIDED else "an answer before it",
        )


@dataclass(frozen=True)
class Decisions:
    """All events of a project, in the order in which they happened.

    Parameters
    ----------
    events
        The events; those of one pair and worker are a history.
    """

    events: tuple[Event, ...] = ()

    @classmethod
    def of(cls, histories: Iterable[History]) -> Decisions:
        """The events of some histories, in the order of time.

        Parameters
        ----------
        histories
            The histories, at most one per pair and worker.
        """
        events = [event for history in histories for event in history.events]
        return cls(tuple(sorted(events, key=lambda event: event.time)))

    @cached_property
    def histories(self) -> Mapping[tuple[str, str], History]:
        """The history of each pair with each worker or manager."""
        apart: dict[tuple[str, str], list[Event]] = {}
        for event in self.events:
            apart.setdefault((event.pair, event.worker), []).append(event)
        return {key: History(*key, tuple(events)) for key, events in apart.items()}

    def history(self, pair: str, worker: str) -> History:
        """The history of a pair with a worker; an empty one where nothing has happened."""
        return self.histories.get((pair, worker), History(pair, worker))

    @cached_property
    def present(self) -> Mapping[tuple[str, str], Present]:
        """What holds of each pair with each of its workers; managers are left out."""
        return {
            key: history.present
            for key, history in self.histories.items()
            if history.events[0].kind not in OF_MANAGERS
        }

    @cached_property
    def answers(self) -> Mapping[str, Mapping[str, Answer]]:
        """By pair, the answers of its workers that stand; pairs without one are left out."""
        standing: dict[str, dict[str, Answer]] = {}
        for (pair, worker), now in self.present.items():
            if now.answer is not None:
                standing.setdefault(pair, {})[worker] = now.answer
        return standing

    @cached_property
    def resolutions(self) -> Mapping[str, tuple[str, Answer]]:
        """By pair, who resolved it and the answer that stands; of several managers' the latest."""
        standing: dict[str, dict[str, Answer]] = {}
        for event in self.events:
            # Popped and set again, so that the dictionary's order is that of the latest resolution.
            if event.kind in OF_MANAGERS:
                of_pair = standing.setdefault(event.pair, {})
                of_pair.pop(event.worker, None)
                if event.answer is not None:
                    of_pair[event.worker] = event.answer
        return {pair: list(of_pair.items())[-1] for pair, of_pair in standing.items() if of_pair}


DECISIONS = "decisions.parquet"
"""The name that the linkage's documentation gives to the file."""


def decisions_table(
    decisions: Decisions, pairs: Container[str], *, named: Callable[[str], str] = str
) -> pa.Table:
    """What ``decisions.parquet`` holds: pair, worker, answer, time, withdrawn.

    There is one row for each pair and worker that ever answered: the latest answer, since when
    it stands, or since when it does not. Where a manager has resolved a pair, the resolution is
    a row of the manager's, and the workers' answers are withdrawn: the linkage adds up answers
    as votes, and a resolution holds against any number of them.

    Parameters
    ----------
    pairs
        Ids of the pairs that the linkage knows; answers about others, such as gold pairs of
        another origin, are left out.
    """
    people = dict.fromkeys(worker for _, worker in decisions.histories)
    names = {worker: named(worker) for worker in people}
    if len(set(names.values())) < len(names):
        raise InputError("the workers' pseudonyms", "must differ", found="two that are the same")
    resolved = decisions.resolutions
    rows: list[tuple[str, str, int, datetime, bool]] = []
    for (pair, worker), history in decisions.histories.items():
        now = history.present
        if pair not in pairs or now.last_answer is None or now.since is None:
            continue
        # A resolution takes the votes' place: beside it the others' answers count as withdrawn.
        holds = now.answer is not None and resolved.get(pair, (worker,))[0] == worker
        # The last answer, also where it was withdrawn: the linkage must learn that it no longer
        # stands.
        rows.append((pair, names[worker], int(now.last_answer), now.since, not holds))
    rows.sort(key=lambda row: row[3])
    pair_, worker_, answer, time, withdrawn = zip(*rows, strict=True) if rows else ((),) * 5
    return pa.table(
        {
            "pair": pa.array(pair_, pa.string()),
            "worker": pa.array(worker_, pa.string()),
            "answer": pa.array(answer, pa.int8()),
            "time": pa.array([each.astimezone(UTC) for each in time], pa.timestamp("us", "UTC")),
            "withdrawn": pa.array(withdrawn, pa.bool_()),
        }
    )


def write_decisions(
    decisions: Decisions,
    pairs: Container[str],
    path: str | os.PathLike[str],
    *,
    named: Callable[[str], str] = str,
) -> None:
    """Write ``decisions.parquet``, whole or not at all, readable by its owner only."""
    write_table(decisions_table(decisions, pairs, named=named), path)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair that one worker calls the same person and another one different persons.

    Attributes
    ----------
    resolution
        The manager's answer, where there is one.
    """

    pair: str
    answers: Mapping[str, Answer]
    resolution: Answer | None

    @property
    def distance(self) -> int:
        """How far the answers are apart, in steps of the six points: 1 to 5."""
        points = [_POINT[answer] for answer in self.answers.values()]
        return max(points) - min(points)


_POINT = {answer: number for number, answer in enumerate(Answer)}


def find_conflicts(decisions: Decisions) -> tuple[Conflict, ...]:
    """Pairs with answers of both sides, those without resolution first, the widest apart first.

    Answers of one side are no conflict, however far apart their confidences are.
    """
    resolved = decisions.resolutions
    conflicts = [
        Conflict(pair, answers, resolved[pair][1] if pair in resolved else None)
        for pair, answers in decisions.answers.items()
        if len({answer.same for answer in answers.values()}) > 1
    ]
    return tuple(sorted(conflicts, key=lambda each: (each.resolution is not None, -each.distance)))


_GOLD_WHY = "answers about pairs of known truth; 95 % interval by Wilson"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a worker is right about pairs of known truth.

    Attributes
    ----------
    false_same, false_different
        Number of different persons called the same, and of same ones called different.
    share
        Share of right answers, with Wilson's 95 % interval; ``None`` without an answer.
    by_confidence
        The same of the answers of each confidence; ``None`` where there is none.
    """

    answered: int
    right: int
    false_same: int
    false_different: int
    share: Measure | None
    by_confidence: Mapping[Confidence, Measure | None]


def gold_needed(others: int, share: float, there: int) -> int:
    """How many gold pairs make up a share of all pairs together with the others.

    Parameters
    ----------
    share
        Share of gold pairs among all, in [0, 1).
    there
        Number of pairs of known truth.
    """
    if not 0 <= share < 1:
        raise InputError("parameter share", "must be at least 0 and below 1")
    wanted = ceil(others * share / (1 - share) - 1e-9)
    if wanted > there:
        raise InputError(
            "the gold pairs",
            f"must be {wanted:,} for this share",
            found=f"{there:,} of known truth",
            advice="give more of them, or ask for a smaller share",
        )
    return wanted


# Of readers who begin to err in half, twenty find .89 (.73 of those who come fourth); ten, .60.
RECENT = 20
"""Gold answers of a reader that are held against all before them."""
ALARM = 0.05
"""Chance at most that any reader of a project, all as right as ever, ever raises an alarm."""


def drifts(wrong: Sequence[bool], place: int) -> int | None:
    """After how many gold answers a reader was wrong more often than before; ``None`` if never.

    Each RECENT answers are held against all before them by Fisher's exact test, one-sided. The
    b-th comparison of the i-th reader has the level ALARM / (i (i + 1) b (b + 1)): whoever comes
    later, all levels add up to ALARM at most (Bonferroni), and none changes.

    Parameters
    ----------
    wrong
        Of each gold answer of the reader, in their order, whether it was wrong.
    place
        Which reader of the project it is, in the order in which they came, from 1.
    """
    found = None
    for look in range(1, len(wrong) // RECENT):
        before, now = look * RECENT, (look + 1) * RECENT
        recent, every = sum(wrong[before:now]), sum(wrong[:now])
        # P(at least so many of all the wrong ones are among the recent answers).
        ways = (comb(every, n) * comb(now - every, RECENT - n) for n in range(recent, RECENT + 1))
        chance = sum(ways) / comb(now, RECENT)
        if chance <= ALARM / (place * (place + 1) * look * (look + 1)):
            found = now
    return found


def accuracy(decisions: Decisions, truth: Mapping[str, bool]) -> dict[str, Accuracy]:
    """How often each worker is right; answers that stand count, whatever was resolved."""
    given: dict[str, list[tuple[Answer, bool]]] = {}
    for pair, answers in decisions.answers.items():
        if pair in truth:
            for worker, answer in answers.items():
                given.setdefault(worker, []).append((answer, truth[pair]))
    workers = sorted({worker for _, worker in decisions.present})
    return {worker: _accuracy(given.get(worker, [])) for worker in workers}


def _accuracy(given: Sequence[tuple[Answer, bool]]) -> Accuracy:
    return Accuracy(
        answered=len(given),
        right=sum(answer.same is same for answer, same in given),
        false_same=sum(answer.same and not same for answer, same in given),
        false_different=sum(same and not answer.same for answer, same in given),
        share=_share("accuracy", given),
        by_confidence={
            level: _share(
                f"accuracy, {level.name.lower()} confidence",
                [each for each in given if each[0].confidence is level],
            )
            for level in Confidence
        },
    )


def _share(name: str, given: Sequence[tuple[Answer, bool]]) -> Measure | None:
    if not given:
        return None
    from scipy.stats import binomtest

    right = sum(answer.same is same for answer, same in given)
    ends = binomtest(right, len(given)).proportion_ci(0.95, method="wilson")
    return Measure(
        name,
        right / len(given),
        low=float(ends.low),
        high=float(ends.high),
        estimator="share of a sample",
        why=_GOLD_WHY,
    )
