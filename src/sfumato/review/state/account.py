"""What has been shown, to one worker or to several together, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from pyroaring import BitMap

from sfumato.review.anonymity.shapes import least_shape
from sfumato.review.kapr.units import row_units
from sfumato.review.settings import MaskWidth
from sfumato.review.state.facts import NOTHING, Modes
from sfumato.review.state.review import Review
from sfumato.review.state.step import Groups, Row, Step, steps_of
from sfumato.review.values import Knowledge


class Price(NamedTuple):
    """What a change of a pair's modes would add, exactly or at most.

    Attributes
    ----------
    units
        Units.
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
    record
        The record.
    knowledge
        What is disclosed of it.
    members
        Its anonymity set.
    rows
        Σ_j p_ij of each row that shows it.
    sizes, groups
        Sizes of narrower sets and of smallest groups that were asked for before.
    """

    record: int
    knowledge: Knowledge
    members: BitMap
    rows: dict[Row, Fraction] = field(default_factory=dict)
    sizes: dict[object, int] = field(default_factory=dict)
    groups: dict[object, int] = field(default_factory=dict)

    def units(self) -> int:
        """The values of its rows in units."""
        size = len(self.members)
        return sum(row_units(share, size) for share in self.rows.values())


class Account:
    """What has been shown, and its units; an opening touches the rows of two records only.

    Parameters
    ----------
    review
        The pairs and the rules.
    """

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
        """The modes of a pair, ``None`` where it is not shown.

        Parameters
        ----------
        pair
            Its number.
        """
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
        """The anonymity set of a record; everyone where nothing of it is shown.

        Parameters
        ----------
        holder
            The record, under the paper's policy the row.
        """
        known = self._known.get(holder)
        return self.review.everyone if known is None else known.members

    def steps(self, pair: int, after: Modes) -> tuple[Step, ...]:
        """What a change of a pair's modes would disclose.

        Parameters
        ----------
        pair
            The pair.
        after
            Its modes afterwards.
        """
        return steps_of(self.review, pair, self._modes.get(pair), after, self._knowledge)

    def exact(self, steps: Iterable[Step]) -> Price:
        """What a change adds.

        Parameters
        ----------
        steps
            What it discloses.
        """
        return _total(
            self._price(step, step.share, bool(step.news), self._size_after) for step in steps
        )

    def bound(self, steps: Iterable[Step]) -> Price:
        """The most that a change could add, over all values consistent with what is seen.

        Every record of the present anonymity set could be the one that is shown: the smallest
        group into which what becomes known divides the set counts. It depends on nothing else of
        the database than that set, which is the same whichever of its records is shown.

        Parameters
        ----------
        steps
            What the change discloses.
        """
        return _total(
            self._price(step, step.foreseen, bool(step.groups) or step.masks, self._least_after)
            for step in steps
        )

    def least_value(self, holder: int) -> int:
        """The smallest group of records with equal values in a record's anonymity set.

        Parameters
        ----------
        holder
            The record, under the paper's policy the row.
        """
        return self._least(holder, dict.fromkeys(range(len(self.review.attributes))))

    def raise_to(self, pair: int, after: Modes) -> int:
        """Show more of a pair, and tell the units that this adds.

        Parameters
        ----------
        pair
            The pair.
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
        before = known.units()
        self.characters += step.share - known.rows.get(step.row, 0)
        known.rows[step.row] = step.share
        if step.news:
            known.knowledge = step.knowledge
            known.members = review.index.members(
                step.record, step.knowledge, review.settings.policy
            )
            known.sizes.clear()
            known.groups.clear()
        return known.units() - before

    def _knowledge(self, holder: int) -> Knowledge | None:
        known = self._known.get(holder)
        return None if known is None else known.knowledge

    def _price(
        self,
        step: Step,
        share: Fraction,
        more: bool,
        size_of: Callable[[Step], int],
    ) -> Price:
        known = self._known.get(step.holder)
        had: Mapping[Row, Fraction] = {} if known is None else known.rows
        rows = {**had, step.row: share}
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
            lengths = self.review.settings.mask_width is MaskWidth.TRUE
            return least_shape(self.review.index.database, members, lengths=lengths)
        return self._least(step.holder, step.groups)

    def _least(self, holder: int, groups: Groups) -> int:
        known = self._known.get(holder)
        if known is None:
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
            sizes.append(price.least)
    return Price(units, min(sizes, default=None))
