"""One person's review of a folder: its rules, what shows of its pairs, the answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.cluster_questions import ClusterQuestions
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.review import review_journal
from sfumato.review.disclosure_account import Review
from sfumato.review.hints import Evidence, evidence_of, hints
from sfumato.review.pair_view import PairView, Standing
from sfumato.review.review_decisions import Answer, Decisions, Event, FlagReason, History
from sfumato.review.review_journal import Journal, folder_lock, modes_text, restored, same_rules
from sfumato.review.review_project import MANIFEST, PAIRS, PROJECT, index_of, review_of
from sfumato.review.review_settings import Settings
from sfumato.review.review_sources import OpenedFolder, open_folder
from sfumato.review.worker_state import Charge, CombinedState, Opening, Refusal, WorkerState


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
        """Take the answer of a pair back, or that it was put off; whether there was one."""
        history = self.history(place)
        if history.present.answer is None and not history.present.skipped:
            return False
        return self._become(place, history.withdraw(self._now()))

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

    def standing(self) -> Standing:
        """How the worker stands."""
        now = [each.present for each in self._histories.values()]
        return Standing(
            score=self.worker.score,
            elsewhere=0.0,
            budget=self.review.settings.budget,
            left=self.worker.left,
            characters=self.worker.characters,
            cells=self.worker.rows * len(self.review.attributes),
            pairs=len(self.tasks),
            decided=sum(each.answer is not None for each in now),
            skipped=sum(each.skipped for each in now),
            flagged=sum(each.flag is not None for each in now),
        )

    def view(self, place: int) -> PairView:
        """A pair as it may be shown now."""
        pair, now = self.tasks[place], self.history(place).present
        shown = self.worker.account.modes(pair) is not None
        wants = self._evidence if shown and now.answer is None else None
        found = () if wants is None else hints(self.worker, pair, wants)
        return PairView(
            token=str(place),
            place=place + 1,
            rendered=self.worker.render(pair) if shown else None,
            costs=self.worker.costs(pair) if shown else (),
            refused=None if shown else self._refused.get(pair),
            hint=found[0].opening if found else None,
            answer=int(now.answer or 0),
            skipped=now.skipped,
            flagged=now.flag is not None,
            in_cluster=self._in_cluster(self._ids[pair]),
            follows=not now.done and self._follows(place),
        )

    def beside(self, place: int, places: Sequence[int]) -> list[int]:
        """Those of some places whose pairs show a record of a pair, or are of its cluster."""
        own, cluster = self._about(place)
        about = {other: self._about(other) for other in places if other != place}
        return [
            other
            for other, (records, number) in about.items()
            if own & records or (number is not None and number == cluster)
        ]

    def _about(self, place: int) -> tuple[set[int], int | None]:
        pair = self.tasks[place]
        return set(self._records_of(pair)), self._cluster_of.get(self._ids[pair])

    def _in_cluster(self, pair: str) -> tuple[int, int] | None:
        number = self._cluster_of.get(pair)
        if number is None:
            return None
        own = self._clusters.pairs[number]
        return own.index(pair) + 1, len(own)

    def _add_shown(self, pair: int) -> None:
        modes = modes_text(self.worker.modes(pair))
        self.journal.add(review_journal.Shown(self._ids[pair], modes, self._now()))

    def _become(self, place: int, after: History) -> bool:
        before = self.history(place)
        new: tuple[Event, ...] = after.events[len(before.events) :]
        for event in new:
            self.journal.add(event)
        if new:
            self._histories[after.pair] = after
        return bool(new)


def begin(
    folder: Path, opened: OpenedFolder, worker: str, given: Mapping[str, Any], progress: Progress
) -> Session:
    """A worker's session in a folder, from the journal where there is one.

    Parameters
    ----------
    folder
        The folder, which is locked.
    given
        Rules of a folder that has none of its own; at a later start the budget alone.

    Raises
    ------
    InputError
        If the journal is of another review.
    """
    project = opened.project
    path = review_journal.journal_path(folder, worker)
    written = review_journal.read_journal(path)
    records = review_journal.records_hash(project.records)
    # A project's rules are its manager's.
    given = {} if opened.rules is not None else given
    if written is None:
        rules = opened.rules or Settings(**given)
        # Without a seed: nobody else must be able to tell the order.
        order = np.random.default_rng().permutation(project.pair_ids).tolist()
        pairs = tuple(project.clusters.together(order))
        first = review_journal.Beginning(worker, rules, pairs, records)
    else:
        first = written.beginning
        review_journal.check_same(first, project.pair_ids, records, path.name)
        budget = review_journal.budget_of(first, written.entries)
        rules = first.settings.model_copy(update={"budget": budget, **given})
    review = review_of(project, rules, index_of(project, rules, progress))
    journal = Journal(path, first)
    # So that the journal says under which budget each cell was opened.
    if rules.budget != review_journal.budget_of(journal.beginning, journal.entries):
        journal.add(review_journal.NewBudget(rules.budget, datetime.now(UTC)))
    evidence = evidence_of(project) if rules.hints else None
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    combined = _others(folder, first, review, number_of)
    return Session(review, project.pair_ids, journal, evidence, combined, clusters=project.clusters)


def _others(
    folder: Path, own: review_journal.Beginning, review: Review, number_of: Mapping[str, int]
) -> CombinedState | None:
    """What the other workers have been shown, where the project has a budget."""
    if review.settings.project_budget is None:
        return None
    combined = CombinedState(review)
    for path in review_journal.journals_in(folder):
        written = review_journal.read_journal(path)
        # One's own is counted by the session itself.
        if written is None or written.beginning.worker == own.worker:
            continue
        if same_rules(written.beginning, own):
            review_journal.restored(review, number_of, written.beginning, written.entries, combined)
    return combined


@dataclass
class OpenReview:
    """A folder that one person reviews.

    Attributes
    ----------
    given
        Rules of a folder that has none of its own.
    lock
        A session is for one request at a time.
    told
        How far the opening is: of what, and which share of it.
    """

    folder: Path
    worker: str = review_journal.WORKER
    given: Mapping[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    told: tuple[str, float] = ("reading the records", 0.0)
    _opening: threading.Thread | None = None
    _left: bool = False
    _fault: Exception | None = None
    _session: Session | None = None
    _held: ExitStack = field(default_factory=ExitStack)
    _stands: int = 0

    def start(self, wait: float | None = None) -> None:
        """Lock the folder, and take up the journal or begin it, beside what else is done.

        Parameters
        ----------
        wait
            Seconds after which it goes on alone; ``None`` to see it through.

        Raises
        ------
        InputError
            If somebody else reviews there, or the journal is of another review.
        """
        self._opening = threading.Thread(target=self._open, daemon=True)
        self._opening.start()
        self._opening.join(wait)
        if not self.opens:
            self.check()

    @property
    def opens(self) -> bool:
        """Whether it is still being opened."""
        return self._opening is not None and self._opening.is_alive()

    def check(self) -> None:
        """Raise why it could not be opened."""
        if self._fault is not None:
            raise self._fault

    def _open(self) -> None:
        try:
            with self.lock, ExitStack() as held:
                self._tell(*self.told)
                held.enter_context(folder_lock(self.folder))
                self._stands = self._pairs()
                self.session(self._tell)
                self._held = held.pop_all()
        except Exception as error:  # noqa: BLE001 - it belongs to who looks at the desk
            self._fault = error

    def _tell(self, stage: str, share: float) -> None:
        self.told = (stage, share)
        self._check_not_left()

    def _check_not_left(self) -> None:
        if self._left:
            raise InputError("the review", "must be open", found="one that was left meanwhile")

    def session(self, progress: Progress = silent) -> Session:
        """What is shown and answered, as the journal has it.

        Raises
        ------
        InputError
            If the pairs are others than at the start, or the folder was given back meanwhile.
        """
        self._check_not_left()
        if self._pairs() != self._stands:
            self.close()
            raise InputError(
                "the review", "must stay in its folder while it is open",
                found="other pairs, as after another linkage", advice="open the desk again",
            )  # fmt: skip
        if self._session is None:
            opened = open_folder(self.folder)
            self._session = begin(self.folder, opened, self.worker, self.given, progress)
        return self._session

    def _pairs(self) -> int:
        """Which file holds the pairs: files are replaced whole."""
        path = self.folder / PAIRS
        return path.stat().st_ino if path.is_file() else 0

    def forget(self) -> None:
        """Read the journal again: what could not be written there was neither shown nor charged."""
        if self._session is not None:
            self._session.journal.close()
        self._session = None

    def close(self) -> None:
        """Give the folder back."""
        self.forget()
        self._held.close()

    def leave(self) -> None:
        """Give the folder back, also while it is being opened."""
        self._left = True
        with self.lock:
            self.close()


def is_reviewed(folder: Path) -> bool:
    """Whether a folder is reviewed without a project: a linkage, or a batch of its pairs."""
    return has_rules(folder) or (folder / MANIFEST).is_file()


def has_rules(folder: Path) -> bool:
    """Whether a folder is one of a review's project, which says what it shows and allows."""
    return (folder / PROJECT).is_file()
