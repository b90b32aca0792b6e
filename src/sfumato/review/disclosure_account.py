"""What a review has disclosed, in units of KAPR, and what the next opening would add."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from pyroaring import BitMap

from sfumato.core.arrays import Ints
from sfumato.core.errors import InputError
from sfumato.review import review_settings
from sfumato.review.anonymity_database import least_shape
from sfumato.review.anonymity_index import Index
from sfumato.review.pair_rendering import compare_pair, disclosed, more, seen, share

# Whole numbers, so that a score does not depend on the order in which rows were opened, as floats
# would.
UNITS = 10**9
"""Units of a row value of 1. A row's value is rounded up to whole units."""


def row_units(share: Fraction, set_size: int) -> int:
    """The value of one row, Σ_j p_ij / K_i, in units, rounded up.

    Parameters
    ----------
    set_size
        K_i, at least 1.
    """
    # ⌈p / K⌉ in whole numbers. Up and not down: many small openings must not pass below a budget.
    return -(-share.numerator * UNITS // (share.denominator * set_size))


def kapr_of(units: int, k: int, rows: int, attributes: int) -> Fraction:
    """The KAPR that a number of units is.

    It is above the exact KAPR by less than k/d · 10⁻⁹, as each row's value is rounded up.

    Parameters
    ----------
    units
        Σ_i of the rows' values in units.
    rows, attributes
        n and d of the task.
    """
    # KAPR = k / (n·d) · Σ_i Σ_j p_ij / K_i, exact: a budget is compared with it, and may be met to
    # the digit.
    return Fraction(k * units, rows * attributes * UNITS)


def units_of(budget: float, k: int, rows: int, attributes: int) -> int:
    """The most units that a budget of KAPR holds, rounded down.

    Parameters
    ----------
    budget
        KAPR; the decimal number as it is written, so that a budget of 0.3 holds three rows of 0.1.
    """
    # By its decimal text: the float 0.3 is a little below 0.3 and would hold one row less.
    exact = Fraction(str(budget)) * rows * attributes * UNITS / k
    return exact.numerator // exact.denominator


State = Sequence[Sequence[Fraction]]
"""M of Definition 4.5: per row, per attribute, p_ij / K_i."""


def row_value(share: Fraction | int, set_size: int) -> Fraction:
    """The value of one row, Σ_j p_ij / K_i.

    Parameters
    ----------
    share
        Σ_j p_ij: the shares of the characters of each attribute that the row discloses, added.
    set_size
        K_i, the records in the row's anonymity set; at least 1, the row's own.
    """
    return Fraction(share) / set_size


def disclosure_state(
    shares: Sequence[Sequence[Fraction]], set_sizes: Sequence[int]
) -> tuple[tuple[Fraction, ...], ...]:
    """The information disclosure state M = [p_ij / K_i] (001, Definition 4.5).

    Parameters
    ----------
    shares
        p_ij per row and attribute, in [0, 1].
    """
    return tuple(
        tuple(Fraction(share) / size for share in row)
        for row, size in zip(shares, set_sizes, strict=True)
    )


def kapr(state: State, k: int, rows: int, attributes: int) -> Fraction:
    """KAPR = k / (n·d) · Σ_i Σ_j abs(M_ij), the scaled entrywise L1 norm (001, Definition 4.6).

    Parameters
    ----------
    rows
        n, the rows of the whole task, shown yet or not: else one more masked pair would lower
        the score.
    """
    # The entrywise L1 norm; entries are never negative, so that abs is the formula's and changes
    # nothing.
    total = sum((abs(entry) for row in state for entry in row), Fraction(0))
    return k * total / (rows * attributes)


Modes = tuple[review_settings.Mode, ...]
"""The state of a pair: per attribute, how much of it shows."""
NOTHING = review_settings.Seen()


@dataclass(frozen=True, slots=True)
class Side:
    """What one row shows of one attribute in one mode.

    Attributes
    ----------
    seen
        What it discloses of its record, as far as anonymity sets count it.
    share
        p_ij, the share of the characters.
    """

    seen: review_settings.Seen
    positions: review_settings.Positions
    share: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """A pair, worked out once for all workers; it holds data and stays on the server.

    Attributes
    ----------
    records
        The records of row 1 and row 2.
    rarity
        Per attribute, the rarity of each value, where that is shown.
    offered
        Per attribute, the modes that show more than the masked one.
    sides
        Per attribute, mode (masked and those offered) and row: what shows.
    """

    records: tuple[int, int]
    comparisons: tuple[review_settings.Comparison, ...]
    rarity: tuple[tuple[review_settings.Rarity | None, review_settings.Rarity | None], ...]
    offered: tuple[tuple[review_settings.Mode, ...], ...]
    sides: tuple[dict[review_settings.Mode, tuple[Side, Side]], ...]

    def missing(self, attribute: int, row: int) -> bool:
        """Whether a row has no value of an attribute.

        Parameters
        ----------
        row
            0 for row 1, 1 for row 2.
        """
        comparison = self.comparisons[attribute]
        return (comparison.left, comparison.right)[row] is None


def facts_of(
    attributes: tuple[review_settings.Attribute, ...],
    records: tuple[int, int],
    values: tuple[
        tuple[review_settings.Shown | None, ...], tuple[review_settings.Shown | None, ...]
    ],
    rarity: tuple[tuple[review_settings.Rarity | None, review_settings.Rarity | None], ...],
    mask_width: review_settings.MaskWidth,
    policy: review_settings.Policy,
) -> Facts:
    """Work out a pair.

    Parameters
    ----------
    records
        The records of row 1 and row 2.
    rarity
        Per attribute, the rarity of each value, where that is shown.
    """
    comparisons = compare_pair(attributes, *values)
    offered = tuple(more(comparison, review_settings.Mode.MASKED) for comparison in comparisons)
    sides = tuple(
        {
            mode: _sides(attribute, comparison, mode, mask_width, policy)
            for mode in (review_settings.Mode.MASKED, *modes)
        }
        for attribute, comparison, modes in zip(attributes, comparisons, offered, strict=True)
    )
    return Facts(records, comparisons, rarity, offered, sides)


def _sides(
    attribute: review_settings.Attribute,
    comparison: review_settings.Comparison,
    mode: review_settings.Mode,
    mask_width: review_settings.MaskWidth,
    policy: review_settings.Policy,
) -> tuple[Side, Side]:
    places = disclosed(comparison, mode)
    left, right = (
        Side(_counted(each, policy), positions, share(value, positions))
        for each, positions, value in zip(
            seen(attribute, comparison, mode, mask_width),
            places,
            (comparison.left, comparison.right),
            strict=True,
        )
    )
    return left, right


def _counted(seen: review_settings.Seen, policy: review_settings.Policy) -> review_settings.Seen:
    """The part of what is seen that narrows anonymity sets under a policy."""
    # The paper's rule of sets knows characters and identity marks only, which reproduces its
    # printed sizes.
    if policy is review_settings.Policy.PAPER:
        return review_settings.Seen(twice=seen.twice, positions=seen.positions)
    return seen


KEPT = 4096
"""Number of pairs whose facts are kept in memory, and of smallest groups of large sets."""
# Small sets are quick to group, and few records share one.
LARGE = 4096
"""Members of a set beyond which its smallest groups are kept for other records."""


class Review:
    """The pairs that workers look at, over one database, under one set of rules.

    Parameters
    ----------
    left, right
        Per pair, the records of row 1 and row 2, numbered from 0 in the database.
    """

    def __init__(
        self,
        attributes: Sequence[review_settings.Attribute],
        settings: review_settings.Settings,
        index: Index,
        left: Sequence[int] | Ints,
        right: Sequence[int] | Ints,
    ) -> None:
        self.attributes = tuple(attributes)
        self.settings = settings
        self.index = index
        self.left = np.asarray(left, dtype=np.int64).reshape(-1)
        self.right = np.asarray(right, dtype=np.int64).reshape(-1)
        self.names = review_settings.names_of(self.attributes)
        self._check()
        # One object for all rows of which nothing is known: K of a masked row is the whole
        # database.
        self.everyone = BitMap(range(index.database.count))
        self._least: dict[Hashable, int] = {}
        # Per review and not per class, as a cached method would keep every review alive.
        self._facts = lru_cache(maxsize=KEPT)(self._work_out)

    def _check(self) -> None:
        if not self.attributes:
            raise InputError("the attributes of a review", "must be at least one")
        if self.attributes != tuple(self.index.database.attributes):
            raise InputError("the attributes of a review", "must be those of the database")
        if len(self.left) != len(self.right):
            raise InputError("the pairs of a review", "must have two rows each")
        records = np.concatenate([self.left, self.right])
        if len(records) and not 0 <= records.min() <= records.max() < self.index.database.count:
            raise InputError("the pairs of a review", "must name records of the database")
        # A record beside itself would carry an identity mark that no value of the data explains.
        if (self.left == self.right).any():
            raise InputError("the pairs of a review", "must be of two records each")

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.left)

    def with_budgets(self, budget: float | None, project_budget: float | None) -> Self:
        """The same review under other budgets; all else is shared."""
        # A shallow copy: index and facts are the same for all, and take most of the memory.
        review = copy.copy(self)
        budgets = {"budget": budget, "project_budget": project_budget}
        review.settings = self.settings.model_copy(update=budgets)
        return review

    def facts(self, pair: int) -> Facts:
        """What there is to know of a pair.

        Parameters
        ----------
        pair
            Its number, from 0.
        """
        if not 0 <= pair < self.pairs:
            raise InputError("the pair", "must be one of the review's")
        return self._facts(pair)

    def least(
        self,
        record: int | None,
        knowledge: review_settings.Knowledge,
        members: BitMap,
        groups: Mapping[int, review_settings.Positions | None],
    ) -> int:
        """The size of the smallest group of an anonymity set once more becomes known.

        Large sets of records of which no character is known are those of many records and pairs:
        for them it is worked out once.

        Parameters
        ----------
        record
            The record, ``None`` where nothing of it is known.
        groups
            By attribute, the places that become known, ``None`` for the whole value.
        """
        if not groups:
            return len(members)
        # With a character known the set is hardly another record's, so that keeping it would not
        # pay.
        if len(members) <= LARGE or any(seen.positions for seen in knowledge):
            return self.index.least(members, groups)
        key = (self._mask(record, knowledge), frozenset(groups.items()))
        if key not in self._least:
            if len(self._least) >= KEPT:
                # All at once: which key is used next is unknown, and the cache fills again in a few
                # openings.
                self._least.clear()
            self._least[key] = self.index.least(members, groups)
        return self._least[key]

    def start(self, pair: int) -> Modes:
        """The modes in which a pair is shown first."""
        mode = self.settings.start
        return tuple(
            # A category has no partial mode: where a start is partial it stays masked.
            mode if mode in offered else review_settings.Mode.MASKED
            for offered in self.facts(pair).offered
        )

    def _mask(self, record: int | None, knowledge: review_settings.Knowledge) -> Hashable:
        """What determines the anonymity set of a record of which no character is known."""
        database = self.index.database
        shapes: list[Hashable] = []
        if record is None:
            return ()
        for place, known in enumerate(knowledge):
            code = int(database.codes[record, place])
            held = code >= 0
            length = int(database.start[code + 1] - database.start[code]) if held else -1
            # Only what this worker sees may tell sets apart, or the cache would mix sets of
            # different records.
            band = database.rarity(record, place) if held and known.rarity else None
            shapes.append((known, held, length if known.length else None, band))
        return tuple(shapes)

    def _work_out(self, pair: int) -> Facts:
        database = self.index.database
        left, right = int(self.left[pair]), int(self.right[pair])
        rarity = tuple(
            (database.rarity(left, place), database.rarity(right, place))
            if attribute.rarity
            else (None, None)
            for place, attribute in enumerate(self.attributes)
        )
        return facts_of(
            self.attributes,
            (left, right),
            (database.values(left), database.values(right)),
            rarity,
            self.settings.mask_width,
            self.settings.policy,
        )


Row = tuple[int, int]
"""A row that is shown: the number of its pair, and 0 for row 1 or 1 for row 2."""
Groups = dict[int, review_settings.Positions | None]
"""By attribute, the places that would become known; ``None`` for the whole value."""
NO_PLACES: review_settings.Positions = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """What a change of a pair's modes would disclose of the record of one row.

    Attributes
    ----------
    holder
        Whose anonymity set it concerns: the record, or under the paper's policy the row.
    news
        By attribute of which more would be known, all that would be known.
    groups
        By attribute, what would become known, as far as that can be told before.
    masks
        Whether what masked values show of themselves would become known as well.
    share
        Σ_j p_ij of the row afterwards.
    foreseen
        The most that it can be, as far as that can be told before.
    """

    holder: int
    record: int
    row: Row
    knowledge: review_settings.Knowledge
    news: dict[int, review_settings.Seen]
    groups: Groups
    masks: bool
    share: Fraction
    foreseen: Fraction


def steps_of(
    review: Review,
    pair: int,
    before: Modes | None,
    after: Modes,
    known: Callable[[int], review_settings.Knowledge | None],
) -> tuple[Step, ...]:
    """What a change of modes would disclose, of the records of row 1 and of row 2.

    Parameters
    ----------
    before
        Its modes now, ``None`` where it is not shown yet.
    known
        Tells what is known of a holder; ``None`` for nothing.
    """
    change = _Change(review, pair, review.facts(pair), before, after)
    holders = (holder_of(review, pair, side) for side in (0, 1))
    return tuple(
        _step(change, side, holder, known(holder) or (NOTHING,) * len(after))
        for side, holder in enumerate(holders)
    )


def holder_of(review: Review, pair: int, side: int) -> int:
    """Whose anonymity set a row has: its record's, or under the paper's policy its own.

    Parameters
    ----------
    side
        0 for row 1, 1 for row 2.
    """
    if review.settings.policy is review_settings.Policy.PAPER:
        # By the paper each row has a set of its own, though two rows are one record's.
        return 2 * pair + side
    return review.facts(pair).records[side]


def share_of(facts: Facts, modes: Modes, side: int) -> Fraction:
    """Σ_j p_ij, the shares of the characters that a row discloses."""
    open_ = (place for place, mode in enumerate(modes) if mode is not review_settings.Mode.MASKED)
    return sum((facts.sides[place][modes[place]][side].share for place in open_), Fraction(0))


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of a pair's modes."""

    review: Review
    pair: int
    facts: Facts
    before: Modes | None
    after: Modes

    def changes(self, place: int) -> bool:
        """Whether more of an attribute shows afterwards."""
        return self.before is None or self.before[place] is not self.after[place]

    def side(self, place: int, side: int) -> Side:
        """What shows of an attribute afterwards."""
        return self.facts.sides[place][self.after[place]][side]

    def hides(self, place: int) -> bool:
        """Whether neither the length of a value nor the places of its differences show before."""
        # A mask of fixed width tells neither length nor places, which only the first characters
        # give away.
        fixed = self.review.settings.mask_width is review_settings.MaskWidth.FIXED
        return self.before is None or (fixed and self.before[place] is review_settings.Mode.MASKED)

    def places(self, place: int, side: int) -> review_settings.Positions | None:
        """Where characters become known; ``None`` where that may be all, by what shows before."""
        # Before a pair shows, not even its lengths and marks are known to the worker.
        if self.before is None:
            # The places of a partial start depend on the hidden values: a bound may not know them.
            return NO_PLACES if self.review.settings.start is review_settings.Mode.MASKED else None
        if self.facts.missing(place, side):
            return NO_PLACES
        # How many characters there are is unknown then, so that all of the value counts.
        if self.after[place] is review_settings.Mode.FULL or self.hides(place):
            return None
        foreseen = self.side(place, side)
        # Who sees all characters of a value knows where it ends as well, which is more than its
        # places.
        return None if foreseen.share == 1 else foreseen.positions

    def share(self, place: int, side: int) -> Fraction:
        """The most that p_ij can be, by what shows before."""
        if self.before is None:
            start, kind = self.review.settings.start, self.review.attributes[place].kind
            never = (
                start is review_settings.Mode.PARTIAL
                and kind is review_settings.AttributeKind.CATEGORY
            )
            # A category has no partial mode, so that a partial start cannot disclose it.
            return Fraction(0 if start is review_settings.Mode.MASKED or never else 1)
        hidden = self.changes(place) and self.hides(place) and not self.facts.missing(place, side)
        # p_ij is 1 at most, whatever the hidden length is.
        return Fraction(1) if hidden else self.side(place, side).share


def _step(change: _Change, side: int, holder: int, had: review_settings.Knowledge) -> Step:
    knowledge, groups = list(had), Groups()
    for place in filter(change.changes, range(len(had))):
        # Knowledge is a union: what was seen in another pair of the record stays seen.
        knowledge[place] |= change.side(place, side).seen
        places = change.places(place, side)
        if places is None:
            groups[place] = None
        elif beyond := places - had[place].positions:
            groups[place] = beyond
    every = range(len(had))
    return Step(
        holder,
        change.facts.records[side],
        (change.pair, side),
        tuple(knowledge),
        {place: knowledge[place] for place in every if knowledge[place] != had[place]},
        groups,
        # Masks, and marks upon them, are new to the worker when a pair appears, and only then.
        change.before is None,
        share_of(change.facts, change.after, side),
        sum((change.share(place, side) for place in every), Fraction(0)),
    )


class Price(NamedTuple):
    """What a change of a pair's modes would add, exactly or at most.

    Attributes
    ----------
    least
        The smallest anonymity set that it leaves to a row which discloses characters; ``None``
        where no such row is concerned.
    """

    units: int
    least: int | None


NOTHING_MORE = Price(0, None)


@dataclass(slots=True)
class Known:
    """What is known of one record (under the paper's policy: by one row), and by which rows.

    Attributes
    ----------
    rows
        Σ_j p_ij of each row that shows it.
    sizes, groups
        Sizes of narrower sets and of smallest groups that were asked for before.
    """

    record: int
    knowledge: review_settings.Knowledge
    members: BitMap
    rows: dict[Row, Fraction] = field(default_factory=dict)
    sizes: dict[object, int] = field(default_factory=dict)
    groups: dict[object, int] = field(default_factory=dict)

    def units(self) -> int:
        """The values of its rows in units."""
        size = len(self.members)
        # All rows of a record share K: one opening makes every row of it dearer.
        return sum(row_units(share, size) for share in self.rows.values())


class Account:
    """What has been shown, and its units; an opening touches the rows of two records only."""

    def __init__(self, review: Review) -> None:
        self.review = review
        self.units = 0
        self.characters = Fraction(0)
        self._modes: dict[int, Modes] = {}
        self._known: dict[int, Known] = {}

    @property
    def shown(self) -> Mapping[int, Modes]:
        """The modes of each pair that is shown."""
        return self._modes

    def modes(self, pair: int) -> Modes | None:
        """The modes of a pair, ``None`` where it is not shown."""
        return self._modes.get(pair)

    def rows(self, holder: int) -> Mapping[Row, Fraction]:
        """Σ_j p_ij of each row that shows a record.

        Parameters
        ----------
        holder
            The record, under the paper's policy the row.
        """
        known = self._known.get(holder)
        return {} if known is None else known.rows

    def members(self, holder: int) -> BitMap:
        """The anonymity set of a record; everyone where nothing of it is shown."""
        known = self._known.get(holder)
        return self.review.everyone if known is None else known.members

    def steps(self, pair: int, after: Modes) -> tuple[Step, ...]:
        """What a change of a pair's modes would disclose."""
        return steps_of(self.review, pair, self._modes.get(pair), after, self._knowledge)

    def exact(self, steps: Iterable[Step]) -> Price:
        """What a change adds."""
        return _total(
            self._price(step, step.share, bool(step.news), self._size_after) for step in steps
        )

    def bound(self, steps: Iterable[Step]) -> Price:
        """The most that a change could add, over all values consistent with what is seen.

        Every record of the present anonymity set could be the one that is shown: the smallest
        group into which what becomes known divides the set counts. It depends on nothing else of
        the database than that set, which is the same whichever of its records is shown.
        """
        return _total(
            self._price(step, step.foreseen, bool(step.groups) or step.masks, self._least_after)
            for step in steps
        )

    def least_value(self, holder: int) -> int:
        """The smallest group of records with equal values in a record's anonymity set."""
        return self._least(holder, dict.fromkeys(range(len(self.review.attributes))))

    def raise_to(self, pair: int, after: Modes) -> int:
        """Show more of a pair, and tell the units that this adds.

        Parameters
        ----------
        after
            Its modes afterwards, none below the present one.
        """
        added = 0
        for step in self.steps(pair, after):
            added += self._take(step)
        self.units += added
        self._modes[pair] = after
        return added

    def _take(self, step: Step) -> int:
        review, known = self.review, self._known.get(step.holder)
        if known is None:
            known = Known(step.record, (NOTHING,) * len(step.knowledge), review.everyone)
            self._known[step.holder] = known
        # Taken before the rows change: what is charged is the difference, so that the order of
        # openings is no matter.
        before = known.units()
        # The difference only, as partial disclosure of a row is part of the full one.
        self.characters += step.share - known.rows.get(step.row, 0)
        known.rows[step.row] = step.share
        if step.news:
            known.knowledge = step.knowledge
            known.members = review.index.members(
                step.record, step.knowledge, review.settings.policy
            )
            # They are sizes of sets narrowed from the smaller knowledge, and wrong for the larger
            # one.
            known.sizes.clear()
            known.groups.clear()
        return known.units() - before

    def _knowledge(self, holder: int) -> review_settings.Knowledge | None:
        known = self._known.get(holder)
        return None if known is None else known.knowledge

    def _price(
        self, step: Step, share: Fraction, more: bool, size_of: Callable[[Step], int]
    ) -> Price:
        known = self._known.get(step.holder)
        had: Mapping[Row, Fraction] = {} if known is None else known.rows
        rows = {**had, step.row: share}
        # A row that discloses no character is worth 0 whatever its K: no price and no floor.
        if not any(rows.values()) or (not more and rows == had):
            return NOTHING_MORE
        size = size_of(step)
        units = sum(row_units(share, size) for share in rows.values())
        return Price(units - (0 if known is None else known.units()), size)

    def _size_after(self, step: Step) -> int:
        known = self._known.get(step.holder)
        members = self.review.everyone if known is None else known.members
        if not step.news:
            return len(members)
        cache = {} if known is None else known.sizes
        key = frozenset(step.news.items())
        if key not in cache:
            cache[key] = self.review.index.size_after(
                members, step.record, step.news, self.review.settings.policy
            )
        return cache[key]

    def _least_after(self, step: Step) -> int:
        if step.masks and not step.groups:
            members = self.members(step.holder)
            # A mask of true width gives the length away, one of fixed width only that there is a
            # value.
            lengths = self.review.settings.mask_width is review_settings.MaskWidth.TRUE
            return least_shape(self.review.index.database, members, lengths=lengths)
        return self._least(step.holder, step.groups)

    def _least(self, holder: int, groups: Groups) -> int:
        known = self._known.get(holder)
        if known is None:
            # Nothing is known: the set is everyone, and the answer is the same for all records.
            return self.review.least(None, (), self.review.everyone, groups)
        key = frozenset(groups.items())
        if key not in known.groups:
            known.groups[key] = self.review.least(
                known.record, known.knowledge, known.members, groups
            )
        return known.groups[key]


def _total(prices: Iterator[Price]) -> Price:
    units, sizes = 0, []
    for price in prices:
        units += price.units
        if price.least is not None:
            # The floor k holds for each of both records, so that the smaller set decides.
            sizes.append(price.least)
    return Price(units, min(sizes, default=None))
