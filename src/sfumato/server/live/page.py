"""What a worker's page shows: pairs as they may be shown, and how the worker stands."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.review.hints import hints
from sfumato.review.review_settings import RenderedPair
from sfumato.review.worker_state import Cost, Opening, Refusal
from sfumato.server.live.project_files import key_of
from sfumato.server.live.rows import count_pile
from sfumato.server.live.task import Task
from sfumato.server.store.models import Dealt
from sfumato.server.vault.sealed import unseal


@dataclass(frozen=True)
class PairView:
    """A pair on a worker's page; of its values it holds what was paid for, and nothing else.

    Attributes
    ----------
    token
        Its id on this page.
    place
        Its place in the worker's pile, from 1.
    rendered
        What it shows, ``None`` where it may not be shown.
    costs
        What more could be opened.
    refused
        Why it may not be shown.
    hint
        What to open next, where hints are given and the pair is not decided.
    answer
        The decision, 0 where there is none.
    skipped, flagged
        Whether it is.
    note
        The worker's note.
    """

    token: str
    place: int
    rendered: RenderedPair | None
    costs: tuple[Cost, ...]
    refused: Refusal | None
    hint: Opening | None
    answer: int
    skipped: bool
    flagged: bool
    note: str


@dataclass(frozen=True)
class Standing:
    """How a worker stands.

    Attributes
    ----------
    score
        KAPR spent in this project.
    elsewhere
        KAPR spent in other projects of the same source.
    budget
        KAPR that may be spent of the source, ``None`` for no limit.
    left
        KAPR that is left, ``None`` for no limit.
    characters
        Share of the characters of the task that were opened.
    cells
        Rows times attributes of the task, which one cell's cost is a share of.
    pairs, decided, skipped, flagged
        Numbers of pairs.
    """

    score: float
    elsewhere: float
    budget: float | None
    left: float | None
    characters: float
    cells: int
    pairs: int
    decided: int
    skipped: int
    flagged: int

    @property
    def spent(self) -> float:
        """KAPR spent of the source, in all projects."""
        return self.score + self.elsewhere


def pair_view(task: Task, dealt: Dealt, place: int, refused: Refusal | None = None) -> PairView:
    """A pair as its worker may see it now.

    Parameters
    ----------
    task
        The worker's task.
    dealt
        The pair.
    place
        Its place in the worker's pile, from 1.
    refused
        Why it may not be shown.
    """
    number, state = dealt.pair.number, task.state
    shown = dealt.shown is not None
    return PairView(
        token=dealt.token,
        place=place,
        rendered=state.render(number) if shown else None,
        costs=state.costs(number) if shown else (),
        refused=refused,
        hint=_hint(task, number) if shown and not dealt.answer else None,
        answer=dealt.answer,
        skipped=dealt.skipped,
        flagged=dealt.flagged,
        note=_note(task, dealt),
    )


def standing(task: Task) -> Standing:
    """How a worker stands.

    Parameters
    ----------
    task
        The worker's task.
    """
    return standing_and_place(task, -1)[0]


def standing_and_place(task: Task, place: int) -> tuple[Standing, int]:
    """How a worker stands, and the place of a pair among those of the pile, from 1.

    Parameters
    ----------
    task
        The worker's task.
    place
        The pair's place as it was dealt.
    """
    pairs, decided, skipped, flagged, before = count_pile(task.project, task.account, place)
    state, budget = task.state, task.allowance.budget
    score, elsewhere = state.score, task.elsewhere
    found = Standing(
        score=score,
        elsewhere=elsewhere,
        budget=budget,
        left=None if budget is None else max(0.0, budget - elsewhere - score),
        characters=state.characters,
        cells=max(1, state.rows * len(task.live.review.attributes)),
        pairs=pairs,
        decided=decided,
        skipped=skipped,
        flagged=flagged,
    )
    return found, before + 1


def note_purpose(token: str) -> bytes:
    """What a note is encrypted for.

    Parameters
    ----------
    token
        The id of the pair that it is on.
    """
    return b"note on pair " + token.encode()


def _note(task: Task, dealt: Dealt) -> str:
    sealed = bytes(dealt.note)
    if not sealed:
        return ""
    return unseal(sealed, key_of(task.project), note_purpose(dealt.token)).decode()


def _hint(task: Task, number: int) -> Opening | None:
    evidence = task.live.evidence
    if evidence is None or not task.live.review.settings.hints:
        return None
    found = hints(task.state, number, evidence)
    return found[0].opening if found else None
