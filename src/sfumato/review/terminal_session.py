"""A review in the terminal: its folder opened, and a worker's session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING

from sfumato.core.cluster_questions import ClusterQuestions
from sfumato.review.disclosure_account import Review
from sfumato.review.hints import Evidence, Hint, hints
from sfumato.review.review_decisions import Answer, Decisions, Event, FlagReason, History
from sfumato.review.review_journal import Entry, Journal, Shown, modes_text, restored
from sfumato.review.review_settings import Costs, RenderedPair
from sfumato.review.worker_state import Charge, CombinedState, Cost, Opening, Refusal, WorkerState

if TYPE_CHECKING:
    pass


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
    """

    text: str = ""
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Standing:
    """How a worker stands.

    Attributes
    ----------
    score, limit
        KAPR that is spent, and that may be; ``None`` for no limit.
    characters
        Share of the characters of the task that show.
    cells
        Rows times attributes of the task.
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
    place
        The pair's place in the task, from 1.
    rendered
        What it shows; ``None`` where it may not be shown.
    refused
        Why it may not.
    names
        Places of the given and the family name, where there is one of each.
    hint
        What to open next, where that is told.
    answer, skipped, flag
        The answer that stands, whether the pair was put off, and why it is flagged.
    in_cluster
        Which pair of its cluster it is, from 1, and of how many; ``None`` where it is in none.
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
    in_cluster: tuple[int, int] | None = None


def _now() -> datetime:
    return datetime.now(UTC)


class Session:
    """One worker's pairs, what shows of them, and the answers; kept in a journal.

    A pair is named by its place in the task, from 0. What shows or says something of one raises
    `InputError` where it cannot be written down.

    Parameters
    ----------
    journal
        Where all of it is kept; what it holds is done again.
    evidence
        What agreement on each attribute says, for hints; ``None`` for none.
    combined
        What the other workers have been shown, where the project has a budget.
    """

    def __init__(
        self,
        review: Review,
        ids: Sequence[str],
        journal: Journal,
        evidence: Evidence | None = None,
        combined: CombinedState | None = None,
        now: Callable[[], datetime] = _now,
        clusters: ClusterQuestions | None = None,
    ) -> None:
        self.review, self.journal = review, journal
        self._evidence, self._now = evidence, now
        self._number_of = {pair: number for number, pair in enumerate(ids)}
        self._ids = tuple(ids)
        self.worker: WorkerState
        self.worker, self._histories = restored(
            review, self._number_of, journal.beginning, journal.entries, combined
        )
        self.tasks = self.worker.pairs
        self._refused: dict[int, Refusal] = {}
        self._clusters = ClusterQuestions() if clusters is None else clusters
        self._cluster_of = self._clusters.cluster_of()

    @property
    def decisions(self) -> Decisions:
        """All answers so far, with their history."""
        return Decisions.of(self._histories.values())

    def show(self, place: int) -> None:
        """Show a pair of the task, and charge it, once; it may be refused."""
        pair = self.tasks[place]
        if self.worker.account.modes(pair) is not None:
            return
        answer = self.worker.show(pair)
        if isinstance(answer, Refusal):
            self._refused[pair] = answer
            return
        self._refused.pop(pair, None)
        self._add_shown(pair)

    def open(self, place: int, opening: Opening) -> Charge | Refusal:
        """Open some attributes of a pair, and charge it."""
        pair = self.tasks[place]
        before = self.worker.modes(pair)
        answer = self.worker.open(pair, opening)
        if isinstance(answer, Charge) and self.worker.modes(pair) != before:
            self._add_shown(pair)
        return answer

    def decide(self, place: int, answer: Answer) -> None:
        """Answer a pair that is shown."""
        # Raises where the pair does not show: nobody may judge what he has not seen.
        self.worker.modes(self.tasks[place])
        self._become(place, self.history(place).decide(answer, self._now()))

    def withdraw(self, place: int) -> bool:
        """Take the answer of a pair back, or else its flag; whether there was one."""
        history = self.history(place)
        if history.present.answer is not None:
            return self._become(place, history.withdraw(self._now()))
        return self._become(place, history.remove_flag(self._now()))

    def skip(self, place: int) -> None:
        """Put a pair off."""
        self._become(place, self.history(place).skip(self._now()))

    def flag(self, place: int, reason: FlagReason) -> None:
        """Flag a pair."""
        self._become(place, self.history(place).flag(reason, self._now()))

    def remove_flag(self, place: int) -> None:
        """Take the flag off a pair."""
        self._become(place, self.history(place).remove_flag(self._now()))

    def history(self, place: int) -> History:
        """What happened to a pair."""
        pair = self._ids[self.tasks[place]]
        return self._histories.get(pair, History(pair, self.journal.beginning.worker))

    def undecided(self, after: int) -> int | None:
        """The next pair about which there is something to do: those put off come last.

        Nothing is to do about a pair of a cluster whose answer follows from others there.

        Parameters
        ----------
        after
            Its place comes after this one, or from the first again.
        """
        count = len(self.tasks)
        order = [(after + step) % count for step in range(1, count + 1)]
        now = {place: self.history(place).present for place in order}
        left = [place for place in order if not (now[place].done or self._follows(place))]
        # Those put off come last, or the worker would be led back to them at once.
        fresh = [place for place in left if not now[place].skipped]
        return next(iter(fresh or left), None)

    def _follows(self, place: int) -> bool:
        """Whether answers to other pairs of its cluster say what a pair's answer is."""
        number = self._cluster_of.get(self._ids[self.tasks[place]])
        if number is None:
            return False
        person: dict[int, int] = {}
        different: list[tuple[int, int]] = []
        for pair in self._clusters.pairs[number]:
            answer = self._histories.get(pair, History(pair, "")).present.answer
            if answer is None:
                continue
            sides = self._records_of(self._number_of[pair])
            if not answer.same:
                different.append(sides)
                continue
            one, other = (person.setdefault(each, each) for each in sides)
            # Groups are small, so that renaming all of one is simpler than a union-find.
            person |= {record: one for record, own in person.items() if own == other}
        one, other = (person.get(each, each) for each in self._records_of(self.tasks[place]))
        apart = [{person.get(a, a), person.get(b, b)} for a, b in different]
        return one == other or {one, other} in apart

    def _records_of(self, pair: int) -> tuple[int, int]:
        return int(self.review.left[pair]), int(self.review.right[pair])

    def hint(self, place: int) -> Hint | None:
        """What to open next, where hints are given and something is worth it."""
        pair = self.tasks[place]
        if self._evidence is None or self.worker.account.modes(pair) is None:
            return None
        return next(iter(hints(self.worker, pair, self._evidence)), None)

    @property
    def hinted(self) -> bool:
        """Whether hints are given."""
        return self._evidence is not None

    def standing(self) -> Standing:
        """How the worker stands."""
        settings, now = self.review.settings, [each.present for each in self._histories.values()]
        return Standing(
            worker=self.journal.beginning.worker,
            score=self.worker.score,
            limit=settings.budget,
            characters=self.worker.characters,
            cells=self.worker.rows * len(self.review.attributes),
            pairs=len(self.tasks),
            decided=sum(each.answer is not None for each in now),
            skipped=sum(each.skipped for each in now),
            flagged=sum(each.flag is not None for each in now),
            exact=settings.costs is Costs.EXACT,
        )

    def view(self, place: int) -> View:
        """A pair as it may be shown now."""
        pair, now = self.tasks[place], self.history(place).present
        shown = self.worker.account.modes(pair) is not None
        hint = self.hint(place)
        return View(
            standing=self.standing(),
            place=place + 1,
            rendered=self.worker.render(pair) if shown else None,
            refused=None if shown else self._refused.get(pair),
            costs=self.worker.costs(pair) if shown else (),
            names=self.review.names,
            hint=None if hint is None else hint.opening,
            answer=now.answer,
            skipped=now.skipped,
            flag=now.flag,
            in_cluster=self._in_cluster(self._ids[pair]),
        )

    def _in_cluster(self, pair: str) -> tuple[int, int] | None:
        number = self._cluster_of.get(pair)
        if number is None:
            return None
        own = self._clusters.pairs[number]
        return own.index(pair) + 1, len(own)

    def _add_shown(self, pair: int) -> None:
        modes = modes_text(self.worker.modes(pair))
        self._add(Shown(self._ids[pair], modes, self._now()))

    def _become(self, place: int, after: History) -> bool:
        before = self.history(place)
        new: tuple[Event, ...] = after.events[len(before.events) :]
        for event in new:
            self._add(event)
        if new:
            self._histories[after.pair] = after
        return bool(new)

    def _add(self, entry: Entry) -> None:
        self.journal.add(entry)
