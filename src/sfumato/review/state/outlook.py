"""What rules would do to the pairs of a review, before anybody is shown one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.review.modes import Mode
from sfumato.review.state.opening import Charge, Opening, Reason, Refusal, openings_of
from sfumato.review.state.review import Review
from sfumato.review.state.worker import WorkerState

MOST_PAIRS = 100
"""Pairs that are looked at: of more, so many are drawn at random."""


@dataclass(slots=True)
class AttributeOutlook:
    """What rules would do to one attribute; its cells are those that are not open at first.

    Attributes
    ----------
    name
        The attribute.
    cells
        Number of pairs in which it can be asked for.
    openable
        Those in which the floor k lets it be opened in full.
    cost
        KAPR, at most, of opening it in those, and nothing else.
    opened
        Those in which the budget holds it, too.
    """

    name: str
    cells: int = 0
    openable: int = 0
    cost: float = 0.0
    opened: int = 0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What rules would do to the pairs of a review.

    Attributes
    ----------
    pairs
        Number of pairs that were looked at.
    shown
        Those that may be shown at all.
    workable
        Those of them in which a cell is opened, or none is closed.
    spent
        KAPR of all that is opened.
    attributes
        Each attribute.
    """

    pairs: int
    shown: int
    workable: int
    spent: float
    attributes: tuple[AttributeOutlook, ...]

    @property
    def cells(self) -> int:
        """Number of cells that are not open at first."""
        return sum(each.cells for each in self.attributes)

    @property
    def openable(self) -> int:
        """Those that the floor k lets be opened in full, each on its own."""
        return sum(each.openable for each in self.attributes)

    @property
    def opened(self) -> int:
        """Those that the budget holds, too."""
        return sum(each.opened for each in self.attributes)

    @property
    def opened_per_pair(self) -> float:
        """The same as a mean over the pairs."""
        return self.opened / self.pairs

    @property
    def unworkable(self) -> int:
        """Number of pairs that are not shown, or in which nothing is opened."""
        return self.pairs - self.workable

    @property
    def mostly_unworkable(self) -> bool:
        """Whether these are most."""
        return 2 * self.unworkable > self.pairs

    @property
    def mostly_closed(self) -> bool:
        """Whether the floor k keeps most cells closed, whatever the budget."""
        return 2 * self.openable < self.cells


def outlook(review: Review, rng: np.random.Generator) -> Outlook:
    """What the rules of a review would do to its pairs.

    One worker goes through them and opens in each, the cheapest first, what the rules allow. The
    budget is spread evenly: no pair gets what the pairs behind it need. KAPR is a share of the
    task, so that it holds for whatever part of the pairs a worker is dealt. Of the workers' and
    the project's budget the smaller counts, as if all workers opened the same.

    Parameters
    ----------
    review
        The pairs and the rules.
    rng
        Source of randomness: which pairs are looked at.
    """
    chosen = np.sort(rng.permutation(review.pairs)[:MOST_PAIRS]).tolist()
    budgets = (review.settings.budget, review.settings.project_budget)
    budget = min((each for each in budgets if each is not None), default=None)
    attributes = tuple(AttributeOutlook(each.name) for each in review.attributes)
    whole = review.with_budgets(budget, None)
    worker = WorkerState(whole, chosen)
    shown = workable = 0
    for number, pair in enumerate(chosen, 1):
        closed = [each for each in _openings(review, pair) if _is_cell(each)]
        for each in closed:
            attributes[each.attributes[0]].cells += 1
        worker.review = whole
        if isinstance(worker.show(pair), Refusal):
            continue
        if budget is not None:
            worker.review = review.with_budgets(budget * number / len(chosen), None)
        opened = _open(worker, pair, attributes)
        shown, workable = shown + 1, workable + (opened or not closed)
    return Outlook(len(chosen), shown, workable, worker.score, attributes)


def _openings(review: Review, pair: int) -> tuple[Opening, ...]:
    """What could be asked for of a pair that is shown first."""
    return openings_of(review.facts(pair), review.start(pair), None)


def _is_cell(opening: Opening) -> bool:
    return len(opening.attributes) == 1 and opening.mode is Mode.FULL


def _open(worker: WorkerState, pair: int, attributes: tuple[AttributeOutlook, ...]) -> bool:
    """Open what the rules allow of a pair, and tell whether that is anything."""
    anything = False
    cells = [each for each in worker.costs(pair) if _is_cell(each.opening)]
    for each in sorted(cells, key=lambda cell: cell.cost):
        attribute = attributes[each.opening.attributes[0]]
        if each.refusal is None or each.refusal.reason is not Reason.FLOOR:
            attribute.openable += 1
            attribute.cost += each.cost
        if isinstance(worker.open(pair, each.opening), Charge):
            attribute.opened += 1
            anything = True
    return anything
