"""What can happen to a pair in a worker's hands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sfumato.core.errors import InputError
from sfumato.review.decisions.answers import Answer


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


ANSWERS = frozenset({EventKind.DECIDED, EventKind.CHANGED, EventKind.RESOLVED})
"""The events that hold an answer."""
OF_MANAGERS = frozenset({EventKind.RESOLVED, EventKind.REOPENED})
"""The events that are a manager's, not a worker's."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a pair.

    Parameters
    ----------
    pair
        The pair's id.
    worker
        Pseudonym of who did it.
    kind
        What happened.
    time
        When, with a time zone.
    answer
        The answer, where one was given.
    reason
        Why a pair was flagged.

    Raises
    ------
    InputError
        If the answer or the reason does not go with the kind, or the time has no zone.
    """

    pair: str
    worker: str
    kind: EventKind
    time: datetime
    answer: Answer | None = None
    reason: FlagReason | None = None

    def __post_init__(self) -> None:
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
