"""Show pairs and open cells: locked, charged, audited, and answered in one transaction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from django.db.models import QuerySet

from sfumato.review.disclosure_account import kapr_of
from sfumato.review.review_settings import Costs, MaskWidth, Mode
from sfumato.review.worker_state import Charge, Opening, Refusal, modes_after, openings_of
from sfumato.server.live.page import PairView, Standing, pair_view, standing, standing_and_place
from sfumato.server.live.stop import Stop
from sfumato.server.live.task import Task, task_of
from sfumato.server.permissions.rules import Action
from sfumato.server.store.models import Account, Dealt

MOST_OTHERS = 64
"""Pairs with the same records whose costs are told anew after an opening."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Page:
    """A page of pairs.

    Attributes
    ----------
    title
        How the project is called.
    names
        The attributes.
    number, pages
        Which page it is, from 1, of how many; 0 of 0 where there is no pair.
    pairs
        The pairs.
    standing
        How the worker stands.
    exact, fixed, hints
        Whether exact costs show, masks are of fixed width, hints are given.
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
    pair
        The pair as it shows now.
    standing
        How the worker stands now.
    exact
        Whether exact costs show.
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
    account
        The worker.
    project_id
        The project.
    number
        Which page, from 1; without it the first with a pair that is still to be decided.

    Raises
    ------
    Stop
        If there is no such project or page, or the worker may not work on it.
    """
    with task_of(account, project_id) as task:
        pile = Dealt.objects.filter(project=task.project, worker=account, taken_back__isnull=True)
        pile = pile.order_by("place")
        size = task.project.page_size
        pages = -(-pile.count() // size)
        if number is None:
            number = min(pages, _first_undecided(pile) // size + 1)
        elif not 1 <= number <= max(pages, 1):
            raise Stop(404, f"Your pairs are on pages 1 to {pages}.")
        first = max(0, number - 1) * size
        page = list(pile.select_related("pair")[first : first + size])
        refusals = [_refusal(task.show(dealt)) for dealt in page]  # before any costs are told
        rules = task.live.review.settings
        return Page(
            title=task.project.title,
            names=tuple(each.name for each in task.live.review.attributes),
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


def show_pair(account: Account, project_id: UUID, token: str) -> Answer:
    """Show one pair, as after a lost connection.

    Parameters
    ----------
    account
        The worker.
    project_id
        The project.
    token
        The pair's id on the worker's page.

    Raises
    ------
    Stop
        If there is no such pair, or the worker may not see it.
    """
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
    account
        The worker.
    project_id
        The project.
    token
        The pair's id on the worker's page.
    attributes
        Places of the attributes.
    mode
        How much of them.
    told
        The cost that the worker was told, in KAPR.

    Raises
    ------
    Stop
        If there is no such pair, attribute or mode, or the worker may not open it.
    """
    with task_of(account, project_id, token) as task:
        dealt = task.dealt(Action.OPEN_CELL)
        shown = task.show(dealt)
        if isinstance(shown, Refusal):
            return answer(task, dealt, shown)
        opening = _checked(task, dealt.pair.number, attributes, mode)
        if told is not None and _cost(task, dealt.pair.number, opening) > told + _ROUNDING:
            return replace(answer(task, dealt), repriced=True)
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
    """The answer to a request about one pair.

    Parameters
    ----------
    task
        The worker's task.
    dealt
        The pair.
    refusal
        Why nothing more is shown.
    """
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
        pair__number__in=numbers[:MOST_OTHERS].tolist(),
    ).select_related("pair")
    pile = Dealt.objects.filter(project=task.project, worker=task.account, taken_back__isnull=True)
    places = sorted(pile.values_list("place", flat=True)) if others else []
    return tuple(pair_view(task, each, bisect_left(places, each.place) + 1) for each in others)


def _checked(task: Task, pair: int, attributes: Sequence[int], mode: int) -> Opening:
    """An opening that the pair offers, or has offered before it was opened."""
    offered = task.live.review.facts(pair).offered
    if mode not in (Mode.PARTIAL, Mode.FULL):
        raise Stop(400, "Cells are opened partly or in full.")
    if not attributes or len(set(attributes)) < len(attributes):
        raise Stop(400, "Name the attributes to open, each once.")
    if any(not 0 <= place < len(offered) for place in attributes):
        raise Stop(400, "There is no such attribute.")
    if any(Mode(mode) not in offered[place] for place in attributes):
        raise Stop(400, "This attribute cannot be opened in that way.")
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
