"""What several workers have been shown together, what that is worth, and the project's budget."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sfumato.core.errors import InputError
from sfumato.review.kapr.units import kapr_of, row_units, units_of
from sfumato.review.modes import Mode
from sfumato.review.settings import MaskWidth
from sfumato.review.state.account import Account
from sfumato.review.state.facts import Modes
from sfumato.review.state.review import Review
from sfumato.review.state.step import Step, holder_of


class CombinedState:
    """What the workers of a project would know if they told each other everything.

    Of every pair the most that any of them has been shown counts, and of every record the union
    of what any of them knows. It only grows: what a worker has seen stays seen.

    Parameters
    ----------
    review
        The pairs and the rules.
    rows
        n of the whole project; two for each of the review's pairs without it.

    Raises
    ------
    InputError
        If the rows are fewer than those of the review's pairs.
    """

    def __init__(self, review: Review, rows: int | None = None) -> None:
        self.review = review
        self.rows = 2 * review.pairs if rows is None else rows
        if self.rows < 2 * review.pairs:
            raise InputError("the rows of a project", "must be two for each pair, or more")
        self._account = Account(review)

    @property
    def units(self) -> int:
        """The project's units."""
        return self._account.units

    @property
    def score(self) -> float:
        """KAPR of the combined state.

        It may exceed 1, even where no worker's does: the floor k holds for what each worker
        knows, not for what they know together.
        """
        return float(self.kapr(self.units))

    def kapr(self, units: int) -> Fraction:
        """The KAPR of the project that a number of units is.

        Parameters
        ----------
        units
            Units.
        """
        review = self.review
        return kapr_of(units, review.settings.k, self.rows or 1, len(review.attributes))

    def modes(self, pair: int) -> Modes | None:
        """The most that any worker has been shown of a pair; ``None`` for nothing.

        Parameters
        ----------
        pair
            Its number.
        """
        return self._account.modes(pair)

    def add(self, shown: Iterable[tuple[int, Modes]]) -> None:
        """Count what a worker has been shown.

        Parameters
        ----------
        shown
            Pairs and their modes.
        """
        for pair, modes in shown:
            self.take(pair, modes)

    def take(self, pair: int, modes: Modes) -> int:
        """Count one pair that a worker has been shown, and tell the units that this adds.

        Parameters
        ----------
        pair
            The pair.
        modes
            Its modes for that worker.
        """
        after = self._with(pair, modes)
        if after == self._account.modes(pair):
            return 0
        return self._account.raise_to(pair, after)

    def holds(self, units: int) -> bool:
        """Whether the project's budget holds more units, beside those that are spent.

        Parameters
        ----------
        units
            The units to add.
        """
        settings = self.review.settings
        if settings.project_budget is None:
            return True
        attributes = len(self.review.attributes)
        limit = units_of(settings.project_budget, settings.k, self.rows, attributes)
        return self.units + units <= limit

    def exact(self, pair: int, modes: Modes) -> int:
        """The units that one worker's opening would add.

        Parameters
        ----------
        pair
            The pair.
        modes
            Its modes for that worker afterwards.
        """
        after = self._with(pair, modes)
        if after == self._account.modes(pair):
            return 0
        return self._account.exact(self._account.steps(pair, after)).units

    def bound(self, worker: Account, steps: tuple[Step, ...], pair: int, modes: Modes) -> int:
        """The most units that one worker's opening could add, by what this worker sees.

        Where nobody else has been shown more of the records concerned, it is the worker's own
        bound. Where others have, the worker must not learn from it what they saw: then every
        attribute that anybody has opened counts with the largest share it can have as far as
        this worker sees, the anonymity set as the smallest that any value of it leaves in this
        worker's set, and nothing is taken off but what this worker's rows are worth in this
        worker's set. That is never below the true increase. It depends on which cells others
        have opened, not on what they saw there.

        Parameters
        ----------
        worker
            What the worker has been shown.
        steps
            What the opening would disclose to the worker.
        pair
            The pair.
        modes
            Its modes for the worker afterwards.
        """
        after = self._with(pair, modes)
        if after == self._account.modes(pair):
            return 0
        return sum(
            max(0, worker.bound([step]).units)
            if self._alone(worker, step.holder)
            else self._most(worker, step.holder, pair, after)
            for step in steps
        )

    def _with(self, pair: int, modes: Modes) -> Modes:
        had = self._account.modes(pair)
        return modes if had is None else tuple(map(max, had, modes))

    def _alone(self, worker: Account, holder: int) -> bool:
        """Whether nobody else has been shown more of a record than a worker."""
        pairs = {pair for pair, _side in self._account.rows(holder)}
        return all(worker.modes(pair) == self._account.modes(pair) for pair in pairs)

    def _most(self, worker: Account, holder: int, pair: int, after: Modes) -> int:
        rows = {*self._account.rows(holder), *worker.rows(holder)}
        rows |= {(pair, side) for side in (0, 1) if holder_of(self.review, pair, side) == holder}
        shares = [
            self._largest(worker, each, after if each == pair else self._account.modes(each), side)
            for each, side in rows
        ]
        if not any(shares):
            return 0
        least, size = worker.least_value(holder), len(worker.members(holder))
        worth = sum(row_units(share, size) for share in worker.rows(holder).values())
        return sum(row_units(share, least) for share in shares) - worth

    def _largest(self, worker: Account, pair: int, modes: Modes | None, side: int) -> Fraction:
        """The most that Σ_j p_ij of a row can be, by the modes and what a worker sees."""
        if modes is None:
            return Fraction(0)
        total, facts, seen = Fraction(0), self.review.facts(pair), worker.modes(pair)
        fixed = self.review.settings.mask_width is MaskWidth.FIXED
        for place, mode in enumerate(modes):
            if mode is Mode.MASKED:
                continue
            hidden = seen is None or (fixed and seen[place] is Mode.MASKED)
            missing = seen is not None and facts.missing(place, side)
            total += 1 if hidden and not missing else facts.sides[place][mode][side].share
        return total
