"""One worker's view of the pairs: what shows, what more would cost, and what was spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Self

from sfumato.core.errors import InputError
from sfumato.review.display.render import render_pair
from sfumato.review.kapr.units import kapr_of, units_of
from sfumato.review.settings import Costs, Floor
from sfumato.review.state.account import Account, Price
from sfumato.review.state.combined import CombinedState
from sfumato.review.state.facts import Modes
from sfumato.review.state.opening import (
    Charge,
    Cost,
    Opening,
    Reason,
    Refusal,
    modes_after,
    openings_of,
)
from sfumato.review.state.review import Review
from sfumato.review.state.step import Step, holder_of
from sfumato.review.state.stored import read_state, written_state
from sfumato.review.values import RenderedPair


class RowDisclosure(NamedTuple):
    """What one row discloses.

    Attributes
    ----------
    pair
        Its pair.
    side
        0 for row 1, 1 for row 2.
    shares
        p_ij per attribute.
    set_size
        K_i, the records in its anonymity set.
    """

    pair: int
    side: int
    shares: tuple[Fraction, ...]
    set_size: int


class WorkerState:
    """What one worker has been shown of the pairs of a task, and the budget that is left.

    Nothing seen is ever unseen and nothing is refunded; the modes of the pairs determine the
    score, in whatever order they were opened. Refusals are decided by the bound (with exact
    costs by the exact numbers), so that they tell nothing of what is not shown. Which rows are
    of one record is not hidden: a pair names its records, in whatever pairs they occur. A state
    is for one thread at a time.

    Parameters
    ----------
    review
        What all workers share.
    pairs
        Numbers of the pairs of this worker's task.
    rows
        n, the fixed number of rows of the task; two for each pair without it.
    combined
        What all workers have been shown, which this one's openings are added to; needed where
        the project has a budget.

    Raises
    ------
    InputError
        If a pair is not one of the review's, the rows are too few, or the project has a budget
        and no combined state is given.
    """

    def __init__(
        self,
        review: Review,
        pairs: Sequence[int],
        rows: int | None = None,
        combined: CombinedState | None = None,
    ) -> None:
        self.review = review
        self.pairs = tuple(dict.fromkeys(int(pair) for pair in pairs))
        self.rows = 2 * len(self.pairs) if rows is None else rows
        self.account = Account(review)
        self._mine = frozenset(self.pairs)
        self._combined = combined
        if self.pairs and not 0 <= min(self.pairs) <= max(self.pairs) < review.pairs:
            raise InputError("the pairs of a task", "must be the review's")
        if self.rows < 2 * len(self.pairs):
            raise InputError("the rows of a task", "must be two for each pair, or more")
        if review.settings.project_budget is not None and combined is None:
            raise InputError(
                "setting project_budget", "must come with the combined state of all workers"
            )

    @property
    def units(self) -> int:
        """Units spent."""
        return self.account.units

    @property
    def score(self) -> float:
        """KAPR of what this worker has been shown (001, Definition 4.6).

        In [0, 1] where the floor k is kept (Property 4.3); rounding the rows' values up to units
        does not take it above.
        """
        score = float(self._kapr(self.units))
        return min(score, 1.0) if self.review.settings.k_floor is Floor.REFUSE else score

    @property
    def characters(self) -> float:
        """Share of the characters of the task that show: the mean of p_ij over rows, attributes."""
        cells = self.rows * len(self.review.attributes)
        return float(self.account.characters / cells) if cells else 0.0

    @property
    def left(self) -> float | None:
        """KAPR that the budget still holds; ``None`` without a budget."""
        limit = self._limit()
        return None if limit is None else float(self._kapr(max(0, limit - self.units)))

    def show(self, pair: int) -> Charge | Refusal:
        """Show a pair in its starting state, and charge it; nothing where it is shown already.

        A masked row discloses no character: it is worth 0 whatever its anonymity set, and the
        floor k does not apply to it. It may narrow the anonymity set of a record of which other
        rows disclose characters; these are charged, and to them the floor applies.

        Parameters
        ----------
        pair
            The pair.

        Raises
        ------
        InputError
            If the pair is not one of this worker's.
        """
        self._check(pair)
        if self.account.modes(pair) is not None:
            return Charge(0, 0.0)
        return self._change(pair, self.review.start(pair))

    def modes(self, pair: int) -> Modes:
        """How much of each attribute of a pair shows.

        Parameters
        ----------
        pair
            The pair.

        Raises
        ------
        InputError
            If the pair is not one of this worker's, or not shown.
        """
        self._check(pair)
        modes = self.account.modes(pair)
        if modes is None:
            raise InputError("the pair", "must be shown first")
        return modes

    def render(self, pair: int) -> RenderedPair:
        """A pair as it shows.

        Parameters
        ----------
        pair
            The pair.

        Raises
        ------
        InputError
            If the pair is not one of this worker's, or not shown.
        """
        modes, facts = self.modes(pair), self.review.facts(pair)
        return render_pair(
            self.review.attributes,
            facts.comparisons,
            modes,
            self.review.settings.mask_width,
            facts.rarity,
        )

    def openings(self, pair: int) -> tuple[Opening, ...]:
        """What can be asked for: each cell, the name and everything, partly and in full.

        Parameters
        ----------
        pair
            The pair.

        Raises
        ------
        InputError
            If the pair is not one of this worker's, or not shown.
        """
        return openings_of(self.review.facts(pair), self.modes(pair), self.review.names)

    def costs(self, pair: int) -> tuple[Cost, ...]:
        """What each of the openings of a pair would cost, and whether it would be refused.

        Parameters
        ----------
        pair
            The pair.

        Raises
        ------
        InputError
            If the pair is not one of this worker's, or not shown.
        """
        modes, facts = self.modes(pair), self.review.facts(pair)
        costs = []
        for opening in openings_of(facts, modes, self.review.names):
            after = modes_after(facts, modes, opening)
            steps = self.account.steps(pair, after)
            price = self._price(steps)
            refusal = self._refusal(pair, after, steps, price)
            costs.append(Cost(opening, self._cost(price.units), refusal))
        return tuple(costs)

    def open(self, pair: int, opening: Opening) -> Charge | Refusal:
        """Open some attributes of a pair and charge it; what is open already costs nothing.

        Parameters
        ----------
        pair
            The pair.
        opening
            What to open. An attribute that does not offer the mode stays as it is.

        Raises
        ------
        InputError
            If the pair is not one of this worker's or not shown, or an attribute is not one of
            the review's.
        """
        modes = self.modes(pair)
        if any(not 0 <= place < len(modes) for place in opening.attributes):
            raise InputError("an opening", "must name attributes of the review")
        after = modes_after(self.review.facts(pair), modes, opening)
        return Charge(0, 0.0) if after == modes else self._change(pair, after)

    def disclosed(self) -> tuple[RowDisclosure, ...]:
        """What each row that is shown discloses, exactly; in the order of the task."""
        rows = []
        for pair in self.pairs:
            modes = self.account.modes(pair)
            for side in (0, 1) if modes is not None else ():
                sides = zip(self.review.facts(pair).sides, modes or (), strict=True)
                shares = tuple(each[mode][side].share for each, mode in sides)
                members = self.account.members(holder_of(self.review, pair, side))
                rows.append(RowDisclosure(pair, side, shares, len(members)))
        return tuple(rows)

    def state(self) -> dict[str, Any]:
        """The state as plain values: task, rows and modes. It determines the score."""
        return written_state(self.pairs, self.rows, self.account.shown)

    @classmethod
    def restored(
        cls, review: Review, state: Mapping[str, Any], combined: CombinedState | None = None
    ) -> Self:
        """A worker's state again; the score is computed from it and is what it was.

        Parameters
        ----------
        review
            What all workers share.
        state
            What `state` gave.
        combined
            What all workers have been shown; this worker's openings are counted in it once.

        Raises
        ------
        InputError
            If the state is not one of a worker of this review.
        """
        pairs, rows, shown = read_state(state, review)
        worker = cls(review, pairs, rows, combined)
        for pair, modes in shown.items():
            worker._check(pair)
            worker.account.raise_to(pair, modes)
        if combined is not None:
            combined.add(shown.items())
        return worker

    def _check(self, pair: int) -> None:
        if pair not in self._mine:
            raise InputError("the pair", "must be one of the worker's task")

    def _change(self, pair: int, after: Modes) -> Charge | Refusal:
        steps = self.account.steps(pair, after)
        refusal = self._refusal(pair, after, steps, self._price(steps))
        if refusal is not None:
            return refusal
        least = self.account.exact(steps).least
        units = self.account.raise_to(pair, after)
        if self._combined is not None:
            self._combined.take(pair, after)
        below = least is not None and least < self.review.settings.k
        return Charge(units, self._cost(units), below)

    def _price(self, steps: tuple[Step, ...]) -> Price:
        if self.review.settings.costs is Costs.EXACT:
            return self.account.exact(steps)
        return self.account.bound(steps)

    def _refusal(
        self, pair: int, after: Modes, steps: tuple[Step, ...], price: Price
    ) -> Refusal | None:
        settings, limit = self.review.settings, self._limit()
        cost = self._cost(price.units)
        refuses = settings.k_floor is Floor.REFUSE
        if refuses and price.least is not None and price.least < settings.k:
            return Refusal(Reason.FLOOR, cost)
        if limit is not None and self.units + price.units > limit:
            return Refusal(Reason.BUDGET, cost)
        if settings.project_budget is None or self._combined is None:
            return None
        if settings.costs is Costs.EXACT:
            units = self._combined.exact(pair, after)
        else:
            units = self._combined.bound(self.account, steps, pair, after)
        return None if self._combined.holds(units) else Refusal(Reason.PROJECT_BUDGET, cost)

    def _limit(self) -> int | None:
        """The units that the budget holds; ``None`` where it cannot be reached."""
        settings = self.review.settings
        if settings.budget is None or (settings.budget >= 1 and settings.k_floor is Floor.REFUSE):
            return None
        return units_of(settings.budget, settings.k, self.rows, len(self.review.attributes))

    def _kapr(self, units: int) -> Fraction:
        attributes = len(self.review.attributes)
        return kapr_of(units, self.review.settings.k, self.rows or 1, attributes)

    def _cost(self, units: int) -> float:
        return float(self._kapr(units))
