"""What a change of a pair's modes would disclose of each record behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sfumato.review.attributes import AttributeKind
from sfumato.review.modes import Mode
from sfumato.review.settings import MaskWidth, Policy
from sfumato.review.state.facts import NOTHING, Facts, Modes, Side
from sfumato.review.state.review import Review
from sfumato.review.values import Knowledge, Positions, Seen

Row = tuple[int, int]
"""A row that is shown: the number of its pair, and 0 for row 1 or 1 for row 2."""
Groups = dict[int, Positions | None]
"""By attribute, the places that would become known; ``None`` for the whole value."""
NO_PLACES: Positions = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """What a change of a pair's modes would disclose of the record of one row.

    Attributes
    ----------
    holder
        Whose anonymity set it concerns: the record, or under the paper's policy the row.
    record
        The record.
    row
        The row of the pair that shows it.
    knowledge
        What would be known of it.
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
    knowledge: Knowledge
    news: dict[int, Seen]
    groups: Groups
    masks: bool
    share: Fraction
    foreseen: Fraction


def steps_of(
    review: Review,
    pair: int,
    before: Modes | None,
    after: Modes,
    known: Callable[[int], Knowledge | None],
) -> tuple[Step, ...]:
    """What a change of modes would disclose, of the records of row 1 and of row 2.

    Parameters
    ----------
    review
        The pairs and the rules.
    pair
        The pair.
    before
        Its modes now, ``None`` where it is not shown yet.
    after
        Its modes afterwards.
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
    review
        The pairs and the rules.
    pair
        The pair.
    side
        0 for row 1, 1 for row 2.
    """
    if review.settings.policy is Policy.PAPER:
        return 2 * pair + side
    return review.facts(pair).records[side]


def share_of(facts: Facts, modes: Modes, side: int) -> Fraction:
    """Σ_j p_ij, the shares of the characters that a row discloses.

    Parameters
    ----------
    facts
        The pair.
    modes
        Its modes.
    side
        0 for row 1, 1 for row 2.
    """
    open_ = (place for place, mode in enumerate(modes) if mode is not Mode.MASKED)
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
        fixed = self.review.settings.mask_width is MaskWidth.FIXED
        return self.before is None or (fixed and self.before[place] is Mode.MASKED)

    def places(self, place: int, side: int) -> Positions | None:
        """Where characters become known; ``None`` where that may be all, by what shows before."""
        if self.before is None:
            return NO_PLACES if self.review.settings.start is Mode.MASKED else None
        if self.facts.missing(place, side):
            return NO_PLACES
        if self.after[place] is Mode.FULL or self.hides(place):
            return None
        return self.side(place, side).positions

    def share(self, place: int, side: int) -> Fraction:
        """The most that p_ij can be, by what shows before."""
        if self.before is None:
            start, kind = self.review.settings.start, self.review.attributes[place].kind
            never = start is Mode.PARTIAL and kind is AttributeKind.CATEGORY
            return Fraction(0 if start is Mode.MASKED or never else 1)
        hidden = self.changes(place) and self.hides(place) and not self.facts.missing(place, side)
        return Fraction(1) if hidden else self.side(place, side).share


def _step(change: _Change, side: int, holder: int, had: Knowledge) -> Step:
    knowledge, groups = list(had), Groups()
    for place in filter(change.changes, range(len(had))):
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
        change.before is None,
        share_of(change.facts, change.after, side),
        sum((change.share(place, side) for place in every), Fraction(0)),
    )
