"""A worker's session: every disclosure and answer is in the journal before it can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.decisions import Decisions
from sfumato.review.decisions.events import Event, FlagReason
from sfumato.review.decisions.history import History
from sfumato.review.hints.evidence import Evidence
from sfumato.review.hints.hint import Hint, hints
from sfumato.review.settings import Costs
from sfumato.review.state.combined import CombinedState
from sfumato.review.state.opening import Charge, Opening, Refusal
from sfumato.review.state.review import Review
from sfumato.review.state.worker import WorkerState
from sfumato.review.terminal.entries import Entry, Shown
from sfumato.review.terminal.journal import Journal
from sfumato.review.terminal.standing import modes_text, restored
from sfumato.review.terminal.view import Standing, View


def _now() -> datetime:
    return datetime.now(UTC)


class Session:
    """One worker's pairs, what shows of them, and the answers; kept in a journal.

    Parameters
    ----------
    review
        The pairs and the rules.
    ids
        Ids of the review's pairs.
    journal
        Where all of it is kept; what it holds is done again.
    evidence
        What agreement on each attribute says, for hints; ``None`` for none.
    combined
        What the other workers have been shown, where the project has a budget.
    now
        Tells the time.

    Raises
    ------
    InputError
        If the journal is not of this review.
    """

    def __init__(
        self,
        review: Review,
        ids: Sequence[str],
        journal: Journal,
        evidence: Evidence | None = None,
        combined: CombinedState | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self.review, self.journal = review, journal
        self._evidence, self._now = evidence, now
        number_of = {pair: number for number, pair in enumerate(ids)}
        self._ids = tuple(ids)
        self.worker: WorkerState
        self.worker, self._histories = restored(
            review, number_of, journal.beginning, journal.entries, combined
        )
        self.tasks = self.worker.pairs
        self._refused: dict[int, Refusal] = {}

    @property
    def decisions(self) -> Decisions:
        """All answers so far, with their history."""
        return Decisions.of(self._histories.values())

    def show(self, place: int) -> None:
        """Show a pair of the task, and charge it, once; it may be refused.

        Parameters
        ----------
        place
            Its place in the task, from 0.

        Raises
        ------
        InputError
            If it cannot be written down.
        """
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
        """Open some attributes of a pair, and charge it.

        Parameters
        ----------
        place
            Its place in the task, from 0.
        opening
            What to open.

        Raises
        ------
        InputError
            If it cannot be written down.
        """
        pair = self.tasks[place]
        before = self.worker.modes(pair)
        answer = self.worker.open(pair, opening)
        if isinstance(answer, Charge) and self.worker.modes(pair) != before:
            self._add_shown(pair)
        return answer

    def decide(self, place: int, answer: Answer) -> None:
        """Answer a pair that is shown.

        Parameters
        ----------
        place
            Its place in the task, from 0.
        answer
            The answer.

        Raises
        ------
        InputError
            If it is not shown, or cannot be written down.
        """
        self.worker.modes(self.tasks[place])
        self._become(place, self.history(place).decide(answer, self._now()))

    def withdraw(self, place: int) -> bool:
        """Take the answer of a pair back, or else its flag; whether there was one.

        Parameters
        ----------
        place
            Its place in the task, from 0.

        Raises
        ------
        InputError
            If it cannot be written down.
        """
        history = self.history(place)
        if history.present.answer is not None:
            return self._become(place, history.withdraw(self._now()))
        return self._become(place, history.remove_flag(self._now()))

    def skip(self, place: int) -> None:
        """Put a pair off.

        Parameters
        ----------
        place
            Its place in the task, from 0.

        Raises
        ------
        InputError
            If it cannot be written down.
        """
        self._become(place, self.history(place).skip(self._now()))

    def flag(self, place: int, reason: FlagReason) -> None:
        """Flag a pair.

        Parameters
        ----------
        place
            Its place in the task, from 0.
        reason
            Why.

        Raises
        ------
        InputError
            If it cannot be written down.
        """
        self._become(place, self.history(place).flag(reason, self._now()))

    def remove_flag(self, place: int) -> None:
        """Take the flag off a pair.

        Parameters
        ----------
        place
            Its place in the task, from 0.

        Raises
        ------
        InputError
            If it cannot be written down.
        """
        self._become(place, self.history(place).remove_flag(self._now()))

    def history(self, place: int) -> History:
        """What happened to a pair.

        Parameters
        ----------
        place
            Its place in the task, from 0.
        """
        pair = self._ids[self.tasks[place]]
        return self._histories.get(pair, History(pair, self.journal.beginning.worker))

    def undecided(self, after: int) -> int | None:
        """The next pair about which there is something to do: those put off come last.

        Parameters
        ----------
        after
            Its place comes after this one, or from the first again.
        """
        count = len(self.tasks)
        order = [(after + step) % count for step in range(1, count + 1)]
        now = {place: self.history(place).present for place in order}
        left = [place for place in order if not now[place].done]
        fresh = [place for place in left if not now[place].skipped]
        return next(iter(fresh or left), None)

    def hint(self, place: int) -> Hint | None:
        """What to open next, where hints are given and something is worth it.

        Parameters
        ----------
        place
            Its place in the task, from 0.
        """
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
        """A pair as it may be shown now.

        Parameters
        ----------
        place
            Its place in the task, from 0.
        """
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
        )

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
