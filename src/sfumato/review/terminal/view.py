"""What a screen shows: a pair as it may be shown, and how its worker stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.events import FlagReason
from sfumato.review.state.opening import Cost, Opening, Refusal
from sfumato.review.values import RenderedPair


class Tone(Enum):
    """How something is said."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True)
class Message:
    """What is said of the last key.

    Attributes
    ----------
    text
        The words; never a value of the data.
    tone
        How they are said.
    """

    text: str = ""
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Standing:
    """How a worker stands.

    Attributes
    ----------
    worker
        The pseudonym.
    score, limit
        KAPR that is spent, and that may be; ``None`` for no limit.
    characters
        Share of the characters of the task that show.
    cells
        Rows times attributes of the task.
    pairs, decided, skipped, flagged
        Numbers of pairs.
    exact
        Whether costs are exact and no bounds.
    """

    worker: str
    score: float
    limit: float | None
    characters: float
    cells: int
    pairs: int
    decided: int
    skipped: int
    flagged: int
    exact: bool


@dataclass(frozen=True)
class View:
    """A pair and its worker's standing; of its values it holds what was paid for, and no more.

    Attributes
    ----------
    standing
        How the worker stands.
    place
        The pair's place in the task, from 1.
    rendered
        What it shows; ``None`` where it may not be shown.
    refused
        Why it may not.
    costs
        What more could be opened.
    names
        Places of the given and the family name, where there is one of each.
    hint
        What to open next, where that is told.
    answer, skipped, flag
        The answer that stands, whether the pair was put off, and why it is flagged.
    """

    standing: Standing
    place: int
    rendered: RenderedPair | None
    refused: Refusal | None
    costs: tuple[Cost, ...]
    names: tuple[int, int] | None
    hint: Opening | None
    answer: Answer | None
    skipped: bool
    flag: FlagReason | None
