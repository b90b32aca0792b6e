"""One worker's way through the pairs: what is open, what may still be opened, what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple, Self

from sfumato.core.errors import InputError
from sfumato.core.phrases import Phrase
from sfumato.review.disclosure_account import (
    Account,
    Facts,
    Modes,
    Price,
    Review,
    Step,
    holder_of,
    kapr_of,
    row_units,
    units_of,
)
from sfumato.review.pair_rendering import more, render_pair
from sfumato.review.review_settings import Costs, Floor, MaskWidth, Mode, RenderedPair


@dataclass(frozen=True, slots=True)
class Opening:
    """One thing to ask for: some attributes of a pair in a mode; both rows change together."""

    attributes: tuple[int, ...]
    mode: Mode


class Reason(StrEnum):
    """Why a disclosure is refused."""

    BUDGET = "the worker's budget does not hold it"
    PROJECT_BUDGET = "the project's budget does not hold it"
    FLOOR = "an anonymity set could fall below k"


REFUSED: Mapping[Reason, str] = {
    Reason.BUDGET: Phrase("more than your budget holds"),
    Reason.PROJECT_BUDGET: Phrase("more than the project's budget holds"),
    Reason.FLOOR: Phrase("it could tell the person apart too well"),
}
"""Why something is refused, in a worker's words."""
LEAST_DIGITS = 4


def kapr_text(value: float, cells: int, *, up: bool = False) -> str:
    """KAPR as text, with as many decimals as one cell of the task needs.

    Parameters
    ----------
    value
        The KAPR.
    cells
        Rows times attributes of the task.
    up
        Whether it is rounded up, as a bound must be.
    """
    # A cell is worth 1 / cells at most: fewer decimals would show a cost of 0.
    step = Decimal(1).scaleb(-max(LEAST_DIGITS, len(str(cells)) + 1))
    number = Decimal(repr(value))
    if up:
        # A cost that is a whole number of steps is not taken up by the last bit of its float.
        number = max(number - Decimal("1e-15"), Decimal(0))
    return str(number.quantize(step, rounding=ROUND_CEILING if up else ROUND_HALF_EVEN))


@dataclass(frozen=True, slots=True)
class Charge:
    """What a disclosure has cost.

    Attributes
    ----------
    cost
        In KAPR of the worker's task.
    below_k
        Whether it left an anonymity set below k, so that KAPR may exceed 1; only where the
        floor is reported and not kept.
    """

    units: int
    cost: float
    below_k: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A disclosure that does not happen; nothing is charged and nothing is shown.

    Attributes
    ----------
    cost
        The cost in KAPR that it was decided by, the one that `costs` shows.
    """

    reason: Reason
    cost: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What an opening would cost, as a worker is told before it.

    Attributes
    ----------
    cost
        In KAPR: the dearest over all values consistent with what the worker sees, or the exact
        one where the settings say so.
    refusal
        Why it would be refused, ``None`` where it would not.
    """

    opening: Opening
    cost: float
    refusal: Refusal | None


def modes_after(facts: Facts, modes: Modes, opening: Opening) -> Modes:
    """The modes of a pair once an opening is granted; what is open stays open.

    Parameters
    ----------
    opening
        What is asked for. An attribute that does not offer the mode stays as it is.
    """
    asked = set(opening.attributes)
    return tuple(
        opening.mode
        # Never down: what was seen cannot be unseen, and closing must not give budget back.
        if place in asked and opening.mode > mode and opening.mode in facts.offered[place]
        else mode
        for place, mode in enumerate(modes)
    )


def openings_of(facts: Facts, modes: Modes, names: tuple[int, int] | None) -> tuple[Opening, ...]:
    """Every opening that would show more: each cell, the name, everything; each once.

    Parameters
    ----------
    names
        Places of the given and the family name, where there is one of each.
    """
    return tuple(dict.fromkeys(_openings(facts, modes, names)))


def _openings(facts: Facts, modes: Modes, names: tuple[int, int] | None) -> Iterator[Opening]:
    everything = tuple(range(len(modes)))
    groups = [(place,) for place in everything]
    # Names together, as a swap of both shows in the two of them only.
    for group in (*groups, *([tuple(sorted(names))] if names else []), everything):
        for mode in (Mode.PARTIAL, Mode.FULL):
            changed = tuple(
                place for place in group if mode in more(facts.comparisons[place], modes[place])
            )
            if changed:
                yield Opening(changed, mode)


_SUBJECT = "the state of a worker"


def written_state(pairs: tuple[int, ...], rows: int, shown: Mapping[int, Modes]) -> dict[str, Any]:
    """Plain values: no value of the data and no score, which the modes determine."""
    # Pairs sorted: one state has one text, so that its copies can be compared.
    modes = {str(pair): "".join(str(int(mode)) for mode in shown[pair]) for pair in sorted(shown)}
    return {"pairs": list(pairs), "rows": rows, "modes": modes}


def read_state(
    state: Mapping[str, Any], review: Review
) -> tuple[tuple[int, ...], int, dict[int, Modes]]:
    """The pairs of the task, n, and the modes of each pair that is shown.

    Parameters
    ----------
    state
        What `written_state` gave.
    """
    pairs, rows, modes = (state.get(key) for key in ("pairs", "rows", "modes"))
    if not isinstance(pairs, list) or not isinstance(modes, Mapping) or not _whole(rows):
        raise InputError(_SUBJECT, "must have pairs, rows and modes")
    if not all(_whole(pair) for pair in pairs):
        raise InputError(_SUBJECT, "must name pairs by whole numbers")
    shown = {}
    for name, text in modes.items():
        # Other scripts' digits count as digits, too, and would make two names of one pair.
        if not isinstance(name, str) or not (name.isascii() and name.isdigit()):
            raise InputError(_SUBJECT, "must name pairs by whole numbers")
        shown[int(name)] = _modes(review, int(name), text)
    return tuple(pairs), int(str(rows)), shown


def _whole(number: object) -> bool:
    # In Python true is an int, and in JSON it is not.
    return isinstance(number, int) and not isinstance(number, bool)


def _modes(review: Review, pair: int, text: object) -> Modes:
    offered = review.facts(pair).offered
    if not isinstance(text, str) or len(text) != len(offered) or not set(text) <= set("012"):
        raise InputError(_SUBJECT, "must have a mode of 0, 1 or 2 per attribute")
    modes = tuple(Mode(int(each)) for each in text)
    if any(
        mode is not Mode.MASKED and mode not in each
        for mode, each in zip(modes, offered, strict=True)
    ):
        raise InputError(_SUBJECT, "must have modes that the pair offers")
    return modes


class CombinedState:
    """What the workers of a project would know if they told each other everything.

    Of every pair the most that any of them has been shown counts, and of every record the union
    of what any of them knows. It only grows: what a worker has seen stays seen.

    Parameters
    ----------
    rows
        n of the whole project; two for each of the review's pairs without it.
    """

    def __init__(self, review: Review, rows: int | None = None) -> None:
        self.review = review
        self.rows = 2 * review.pairs if rows is None else rows
        if self.rows < 2 * review.pairs:
            # n below the rows there are would raise KAPR, which is per row.
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
        """The KAPR of the project that a number of units is."""
        review = self.review
        return kapr_of(units, review.settings.k, self.rows or 1, len(review.attributes))

    def modes(self, pair: int) -> Modes | None:
        """The most that any worker has been shown of a pair; ``None`` for nothing."""
        return self._account.modes(pair)

    def add(self, shown: Iterable[tuple[int, Modes]]) -> None:
        """Count what a worker has been shown."""
        for pair, modes in shown:
            self.take(pair, modes)

    def take(self, pair: int, modes: Modes) -> int:
        """Count one pair that a worker has been shown, and tell the units that this adds."""
        after = self._with(pair, modes)
        # Another worker has seen as much: the project learns nothing, and pays nothing.
        if after == self._account.modes(pair):
            return 0
        return self._account.raise_to(pair, after)

    def holds(self, units: int) -> bool:
        """Whether the project's budget holds more units, beside those that are spent."""
        settings = self.review.settings
        if settings.project_budget is None:
            return True
        attributes = len(self.review.attributes)
        # Units and not KAPR: whole numbers meet a limit exactly.
        limit = units_of(settings.project_budget, settings.k, self.rows, attributes)
        return self.units + units <= limit

    def exact(self, pair: int, modes: Modes) -> int:
        """The units that one worker's opening would add."""
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
        # Of all pairs that show the record: what is known of it comes of each.
        return all(worker.modes(pair) == self._account.modes(pair) for pair in pairs)

    def _most(self, worker: Account, holder: int, pair: int, after: Modes) -> int:
        rows = {*self._account.rows(holder), *worker.rows(holder)}
        # Under the paper's policy only this pair's row is the holder's, else both may be of one
        # record.
        rows |= {(pair, side) for side in (0, 1) if holder_of(self.review, pair, side) == holder}
        shares = [
            self._largest(worker, each, after if each == pair else self._account.modes(each), side)
            for each, side in rows
        ]
        if not any(shares):
            return 0
        least, size = worker.least_value(holder), len(worker.members(holder))
        worth = sum(row_units(share, size) for share in worker.rows(holder).values())
        # Largest shares over the smallest set, less what this worker's own rows show already: an
        # upper bound.
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
            # How much of a value others saw depends on its length, which this worker does not see.
            hidden = seen is None or (fixed and seen[place] is Mode.MASKED)
            missing = seen is not None and facts.missing(place, side)
            total += 1 if hidden and not missing else facts.sides[place][mode][side].share
        return total


class RowDisclosure(NamedTuple):
    """What one row discloses.

    Attributes
    ----------
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
    rows
        n, the fixed number of rows of the task; two for each pair without it.
    combined
        What all workers have been shown, which this one's openings are added to; needed where
        the project has a budget.
    """

    def __init__(
        self,
        review: Review,
        pairs: Sequence[int],
        rows: int | None = None,
        combined: CombinedState | None = None,
    ) -> None:
        self.review = review
        # A pair twice in a task would be counted twice in n, and lower KAPR.
        self.pairs = tuple(dict.fromkeys(int(pair) for pair in pairs))
        self.rows = 2 * len(self.pairs) if rows is None else rows
        self.account = Account(review)
        self._mine = frozenset(self.pairs)
        self._combined = combined
        if self.pairs and not 0 <= min(self.pairs) <= max(self.pairs) < review.pairs:
            raise InputError("the pairs of a task", "must be the review's")
        # n below the rows there are would raise the score above 1, against Property 4.3 of 001.
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
        # Where the floor is only reported KAPR may truly exceed 1, and hiding that would be wrong.
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
        # A budget may have been lowered below what is spent.
        return None if limit is None else float(self._kapr(max(0, limit - self.units)))

    def take_up(self, pair: int) -> None:
        """A pair more to the task, whose rows stay as many as they are."""
        if pair in self._mine:
            return
        if not 0 <= pair < self.review.pairs or self.rows < 2 * len(self.pairs) + 2:
            raise InputError("a pair more", "must be the review's, and have rows in the task")
        self.pairs, self._mine = (*self.pairs, pair), self._mine | {pair}

    def show(self, pair: int) -> Charge | Refusal:
        """Show a pair in its starting state, and charge it; nothing where it is shown already.

        A masked row discloses no character: it is worth 0 whatever its anonymity set, and the
        floor k does not apply to it. It may narrow the anonymity set of a record of which other
        rows disclose characters; these are charged, and to them the floor applies.
        """
        self._check(pair)
        # A page that is loaded again costs nothing, and gives nothing back.
        if self.account.modes(pair) is not None:
            return Charge(0, 0.0)
        return self._change(pair, self.review.start(pair))

    def modes(self, pair: int) -> Modes:
        """How much of each attribute of a pair shows."""
        self._check(pair)
        modes = self.account.modes(pair)
        if modes is None:
            raise InputError("the pair", "must be shown first")
        return modes

    def render(self, pair: int) -> RenderedPair:
        """A pair as it shows."""
        modes, facts = self.modes(pair), self.review.facts(pair)
        return render_pair(
            self.review.attributes,
            facts.comparisons,
            modes,
            self.review.settings.mask_width,
            facts.rarity,
        )

    def costs(self, pair: int) -> tuple[Cost, ...]:
        """What each of the openings of a pair would cost, and whether it would be refused."""
        modes, facts = self.modes(pair), self.review.facts(pair)
        costs = []
        for opening in openings_of(facts, modes, self.review.names):
            after = modes_after(facts, modes, opening)
            steps = self.account.steps(pair, after)
            # The same price decides and is shown: two prices would tell the difference between
            # them.
            price = self._price(steps)
            refusal = self._refusal(pair, after, steps, price)
            costs.append(Cost(opening, self._cost(price.units), refusal))
        return tuple(costs)

    def open(self, pair: int, opening: Opening) -> Charge | Refusal:
        """Open some attributes of a pair and charge it; what is open already costs nothing.

        Parameters
        ----------
        opening
            What to open. An attribute that does not offer the mode stays as it is.
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
        state
            What `state` gave.
        combined
            What all workers have been shown; this worker's openings are counted in it once.
        """
        pairs, rows, shown = read_state(state, review)
        worker = cls(review, pairs, rows, combined)
        for pair, modes in shown.items():
            worker._check(pair)
            # Without budget or floor: it was granted before, and stays seen under any later
            # settings.
            worker.account.raise_to(pair, modes)
        if combined is not None:
            combined.add(shown.items())
        return worker

    def _check(self, pair: int) -> None:
        # A client may send any number: what is not in the task must not show, whatever the page
        # offers.
        if pair not in self._mine:
            raise InputError("the pair", "must be one of the worker's task")

    def _change(self, pair: int, after: Modes) -> Charge | Refusal:
        steps = self.account.steps(pair, after)
        refusal = self._refusal(pair, after, steps, self._price(steps))
        if refusal is not None:
            return refusal
        # Before `raise_to`, which makes the steps part of what is known.
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
        # Before the budget, as no budget can allow it.
        if refuses and price.least is not None and price.least < settings.k:
            return Refusal(Reason.FLOOR, cost)
        if limit is not None and self.units + price.units > limit:
            return Refusal(Reason.BUDGET, cost)
        if settings.project_budget is None or self._combined is None:
            return None
        if settings.costs is Costs.EXACT:
            units = self._combined.exact(pair, after)
        else:
            # A refusal by the exact number would tell this worker what others have opened.
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
