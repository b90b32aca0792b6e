"""What a worker's click does: a page, an opening, an answer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from sfumato.review.disclosure_account import kapr_of
from sfumato.review.hints import hints
from sfumato.review.pair_view import PairView, Standing
from sfumato.review.review_decisions import Answer as Decision
from sfumato.review.review_settings import Costs, MaskWidth, Mode
from sfumato.review.worker_state import Charge, Opening, Refusal, modes_after, openings_of
from sfumato.server.error_pages import Stop
from sfumato.server.live.live_projects import key_of
from sfumato.server.live.pair_queue import pair_taken, take_up
from sfumato.server.live.worker_tasks import Task, count_pile, task_of
from sfumato.server.permissions import Action
from sfumato.server.proofs import check_proved
from sfumato.server.stated_rows import stated
from sfumato.server.store.models import Account, Dealt, DecisionEvent, EventKind
from sfumato.server.vault import seal, unseal


def standing_of(
    task: Task, pairs: int, decided: int, skipped: int = 0, flagged: int = 0
) -> Standing:
    """How somebody stands who has so many pairs."""
    state, budget = task.state, task.allowance.budget
    score, elsewhere = state.score, task.elsewhere
    return Standing(
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


def pair_view(task: Task, dealt: Dealt, place: int, refused: Refusal | None = None) -> PairView:
    """A pair as its worker may see it now.

    Parameters
    ----------
    place
        Its place in the worker's pile, from 1.
    refused
        Why it may not be shown.
    """
    number, state = dealt.pair.number, task.state
    # Costs are told of what is shown: those of a closed pair would tell of its values.
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
    """How a worker stands."""
    return standing_and_place(task, -1)[0]


def standing_and_place(task: Task, place: int) -> tuple[Standing, int]:
    """How a worker stands, and the place of a pair among those of the pile, from 1."""
    *counts, before = count_pile(task.project, task.account, place)
    # Of how many the worker may take, not of those taken so far: that would always be nearly all.
    counts[0] = max(counts[0], task.allowance.rows // 2)
    return standing_of(task, *counts), before + 1


def note_purpose(token: str) -> bytes:
    """What a note is encrypted for."""
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


MOST_OTHERS = 64
"""Pairs with the same records whose costs are told anew after an opening."""
# Costs travel as texts and back: less than this is no higher price.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Page:
    """A page of pairs.

    Attributes
    ----------
    number, pages
        Which page it is, from 1, of how many; 0 of 0 where there is no pair.
    """

    title: str
    names: tuple[str, ...]
    number: int
    pages: int
    pairs: tuple[PairView, ...]
    standing: Standing
    exact: bool
    fixed: bool
    hints: bool


@dataclass(frozen=True)
class Answer:
    """The answer to a request about one pair.

    Attributes
    ----------
    refusal
        Why nothing more is shown, where that is so.
    repriced
        Whether nothing more is shown because it would cost more than the worker was told.
    others
        Other pairs of the worker's that show the same records, whose costs may have changed.
    """

    pair: PairView
    standing: Standing
    exact: bool
    refusal: Refusal | None = None
    repriced: bool = False
    others: tuple[PairView, ...] = ()


def show_page(account: Account, project_id: UUID, number: int | None = None) -> Page:
    """Show a page of a worker's pairs; what is shown the first time is charged.

    Parameters
    ----------
    number
        Which page, from 1; without it pairs are taken from the queue, and it is the first with
        one that is still to be decided.
    """
    with task_of(account, project_id) as task:
        while number is None and take_up(task):
            pass
        pile = Dealt.objects.filter(project=task.project, worker=account, taken_back__isnull=True)
        pile = pile.order_by("place")
        size = task.project.page_size
        pages = -(-pile.count() // size)
        # A page may be full of decided pairs: work goes on where something is left.
        if number is None:
            number = min(pages, _first_undecided(pile) // size + 1)
        elif not 1 <= number <= max(pages, 1):
            raise Stop(404, gettext("Your pairs are on pages 1 to %(pages)s.") % {"pages": pages})
        first = max(0, number - 1) * size
        page = list(pile.select_related("pair")[first : first + size])
        for dealt in page:
            check_proved(dealt)
            task.live.check_pair(dealt.pair_id, dealt.pair.number)
        refusals = [_refusal(task.show(dealt)) for dealt in page]  # before any costs are told
        rules = task.live.review.settings
        found = Page(
            title=task.project.title,
            names=tuple(attribute.name for attribute in task.live.review.attributes),
            number=min(number, pages),
            pages=pages,
            pairs=tuple(
                pair_view(task, dealt, first + place, refusal)
                for place, (dealt, refusal) in enumerate(zip(page, refusals, strict=True), 1)
            ),
            standing=standing(task),
            exact=rules.costs is Costs.EXACT,
            fixed=rules.mask_width is MaskWidth.FIXED,
            hints=rules.hints,
        )
    pair_taken.send(None, project_id=project_id)
    return found


def next_pair(account: Account, project_id: UUID) -> Answer | None:
    """Take the next pair from the queue and show it; ``None`` where there is none now."""
    with task_of(account, project_id) as task:
        dealt = take_up(task)
        found = None if dealt is None else answer(task, dealt, _refusal(task.show(dealt)))
    pair_taken.send(None, project_id=project_id)
    return found


def show_pair(account: Account, project_id: UUID, token: str) -> Answer:
    """Show one pair, as after a lost connection."""
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.SEE_PAIR)
        return answer(task, dealt, _refusal(task.show(dealt)))


def open_cells(
    account: Account,
    project_id: UUID,
    token: str,
    attributes: Sequence[int],
    mode: int,
    told: float | None = None,
) -> Answer:
    """Open cells of a pair; what is open already costs nothing and shows the same.

    What would cost more than the worker was told is not opened: a page may be older than
    openings of the same records in other pairs.

    Parameters
    ----------
    told
        The cost that the worker was told, in KAPR.
    """
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.OPEN_CELL)
        shown = task.show(dealt)
        if isinstance(shown, Refusal):
            return answer(task, dealt, shown)
        opening = _checked(task, dealt.pair.number, attributes, mode)
        if told is not None and _cost(task, dealt.pair.number, opening) > told + _ROUNDING:
            return replace(answer(task, dealt), repriced=True)
        # Nothing new is open if the same was sent twice: it is neither charged nor an entry.
        before = task.state.modes(dealt.pair.number)
        task.changed = True
        result = task.state.open(dealt.pair.number, opening)
        after = task.state.modes(dealt.pair.number)
        if isinstance(result, Refusal) or after != before:
            names = [task.live.review.attributes[place].name for place in opening.attributes]
            detail = {"attributes": names, "mode": opening.mode.name.lower()}
            task.book(dealt, result, "open", detail)
        found = answer(task, dealt, _refusal(result))
        return found if after == before else replace(found, others=_others(task, dealt))


def answer(task: Task, dealt: Dealt, refusal: Refusal | None = None) -> Answer:
    """The answer to a request about one pair."""
    exact = task.live.review.settings.costs is Costs.EXACT
    now, place = standing_and_place(task, dealt.place)
    return Answer(pair_view(task, dealt, place, refusal), now, exact, refusal)


def _cost(task: Task, pair: int, opening: Opening) -> float:
    """What an opening would cost, as its worker is told it; 0 for what is not offered as one."""
    facts, modes = task.live.review.facts(pair), task.state.modes(pair)
    after = modes_after(facts, modes, opening)
    changed = tuple(place for place, mode in enumerate(after) if mode != modes[place])
    if Opening(changed, opening.mode) not in openings_of(facts, modes, task.live.review.names):
        return 0.0
    account, settings = task.state.account, task.state.review.settings
    steps = account.steps(pair, after)
    price = account.exact(steps) if settings.costs is Costs.EXACT else account.bound(steps)
    attributes = len(task.live.review.attributes)
    return float(kapr_of(price.units, settings.k, task.state.rows or 1, attributes))


def _others(task: Task, dealt: Dealt) -> tuple[PairView, ...]:
    """The worker's other pairs with a record of a pair."""
    review, number = task.live.review, dealt.pair.number
    records = (review.left[number], review.right[number])
    sharing = np.isin(review.left, records) | np.isin(review.right, records)
    sharing[number] = False
    numbers = np.flatnonzero(sharing)
    if not len(numbers):
        return ()
    others = Dealt.objects.filter(
        project=task.project,
        worker=task.account,
        taken_back__isnull=True,
        shown__isnull=False,
        # All of them would make an answer long where thousands of pairs share a record.
        pair__number__in=numbers[:MOST_OTHERS].tolist(),
    ).select_related("pair")
    pile = Dealt.objects.filter(project=task.project, worker=task.account, taken_back__isnull=True)
    places = sorted(pile.values_list("place", flat=True)) if others else []
    for other in others:
        check_proved(other)
        task.live.check_pair(other.pair_id, other.pair.number)
    return tuple(pair_view(task, other, bisect_left(places, other.place) + 1) for other in others)


def _checked(task: Task, pair: int, attributes: Sequence[int], mode: int) -> Opening:
    """An opening that the pair offers, or has offered before it was opened."""
    offered = task.live.review.facts(pair).offered
    if mode not in (Mode.PARTIAL, Mode.FULL):
        raise Stop(400, gettext("Cells are opened partly or in full."))
    if not attributes or len(set(attributes)) < len(attributes):
        raise Stop(400, gettext("Name the attributes to open, each once."))
    if any(not 0 <= place < len(offered) for place in attributes):
        raise Stop(400, gettext("There is no such attribute."))
    if any(Mode(mode) not in offered[place] for place in attributes):
        raise Stop(400, gettext("This attribute cannot be opened in that way."))
    return Opening(tuple(attributes), Mode(mode))


def _refusal(answer: Charge | Refusal) -> Refusal | None:
    return answer if isinstance(answer, Refusal) else None


def _first_undecided(pile: QuerySet[Dealt]) -> int:
    """Place of the first pair that is neither decided nor skipped, else not decided, else 0."""
    found = list(pile.values_list("answer", "skipped"))
    for skipped_too in (False, True):
        for place, (answer, skipped) in enumerate(found):
            if not answer and (skipped_too or not skipped):
                return place
    return 0


NOTE_LENGTH = 2000
"""Most characters of a note."""
_MARKS: dict[EventKind, dict[str, int | bool]] = {
    EventKind.WITHDRAWN: {"answer": 0, "skipped": False},
    EventKind.SKIPPED: {"answer": 0, "skipped": True},
    EventKind.FLAGGED: {"flagged": True},
    EventKind.UNFLAGGED: {"flagged": False},
}


def decide_pair(account: Account, project_id: UUID, token: str, decision: int) -> Answer:
    """Decide a pair; the same decision again changes nothing."""
    if decision not in set(Decision):
        raise Stop(400, gettext("A pair is decided by one of the six answers."))
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.DECIDE)
        if dealt.shown is None:
            raise Stop(409, gettext("Look at the pair first; it was not shown yet."))
        if dealt.answer != decision or dealt.skipped:
            # The first decision alone: later changes of mind say nothing of how long it takes.
            written = ["answer", "skipped"]
            if dealt.seconds is None:
                dealt.seconds = _seconds(task, dealt.shown)
                written.append("seconds")
            dealt.answer, dealt.skipped = decision, False
            dealt.save(update_fields=written)
            _happened(task, dealt, EventKind.DECIDED, written, decision)
        return answer(task, dealt)


def mark(account: Account, project_id: UUID, token: str, kind: EventKind) -> Answer:
    """Withdraw a decision or a skip, skip a pair, flag it, or take the flag away.

    A skip takes a decision back that stood; a flag asks the manager to look. What is so already
    changes nothing.
    """
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.DECIDE)
        wanted = _MARKS[kind]
        if any(getattr(dealt, name) != value for name, value in wanted.items()):
            for name, value in wanted.items():
                setattr(dealt, name, value)
            dealt.save(update_fields=list(wanted))
            _happened(task, dealt, kind, list(wanted))
        return answer(task, dealt)


def write_note(account: Account, project_id: UUID, token: str, text: str) -> Answer:
    """Write a note on a pair; it is encrypted with the project's key.

    Parameters
    ----------
    text
        The note; an empty one removes it.
    """
    text = text.replace("\r\n", "\n").strip()
    if len(text) > NOTE_LENGTH:
        raise Stop(400, gettext("A note has %(most)s characters at most.") % {"most": NOTE_LENGTH})
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.DECIDE)
        # A note may repeat what was paid to see, so that it is stored as the records are.
        key, purpose = key_of(task.project), note_purpose(dealt.token)
        dealt.note = seal(text.encode(), key, purpose) if text else b""
        dealt.save(update_fields=["note"])
        task.note(dealt, "note", {"removed": not text}, rows=[stated(dealt, "note")])
        return answer(task, dealt)


def _happened(
    task: Task, dealt: Dealt, kind: EventKind, written: list[str], decision: int = 0
) -> None:
    event = DecisionEvent.objects.create(dealt=dealt, kind=kind, answer=decision)
    rows = [stated(dealt, *written), stated(event)]
    task.note(dealt, kind.value, {"answer": decision} if decision else {}, rows=rows)


def _seconds(task: Task, shown: datetime) -> float:
    """Time since the pair was shown or the decision before, whichever came last."""
    events = DecisionEvent.objects.filter(
        dealt__worker=task.account, dealt__project=task.project, kind=EventKind.DECIDED
    )
    last = events.aggregate(last=Max("time"))["last"]
    since = max(shown, last) if last else shown
    # Longer pauses are no work: nobody may be idle longer without being logged out.
    return min((timezone.now() - since).total_seconds(), settings.SFUMATO.idle_minutes * 60.0)
