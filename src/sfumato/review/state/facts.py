"""What there is to know of a pair, worked out once: what each mode of it would disclose."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato.review.attributes import Attribute
from sfumato.review.display.compare import compare_pair
from sfumato.review.display.disclosed import disclosed, more, seen, share
from sfumato.review.modes import Mode
from sfumato.review.settings import MaskWidth, Policy
from sfumato.review.values import Comparison, Positions, Rarity, Seen, Shown

Modes = tuple[Mode, ...]
"""The state of a pair: per attribute, how much of it shows."""
NOTHING = Seen()


@dataclass(frozen=True, slots=True)
class Side:
    """What one row shows of one attribute in one mode.

    Attributes
    ----------
    seen
        What it discloses of its record, as far as anonymity sets count it.
    positions
        The places of the disclosed characters.
    share
        p_ij, the share of the characters.
    """

    seen: Seen
    positions: Positions
    share: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """A pair, worked out once for all workers; it holds data and stays on the server.

    Attributes
    ----------
    records
        The records of row 1 and row 2.
    comparisons
        Per attribute, how the two values differ.
    rarity
        Per attribute, the rarity of each value, where that is shown.
    offered
        Per attribute, the modes that show more than the masked one.
    sides
        Per attribute, mode (masked and those offered) and row: what shows.
    """

    records: tuple[int, int]
    comparisons: tuple[Comparison, ...]
    rarity: tuple[tuple[Rarity | None, Rarity | None], ...]
    offered: tuple[tuple[Mode, ...], ...]
    sides: tuple[dict[Mode, tuple[Side, Side]], ...]

    def missing(self, attribute: int, row: int) -> bool:
        """Whether a row has no value of an attribute.

        Parameters
        ----------
        attribute
            The place of the attribute.
        row
            0 for row 1, 1 for row 2.
        """
        comparison = self.comparisons[attribute]
        return (comparison.left, comparison.right)[row] is None


def facts_of(
    attributes: tuple[Attribute, ...],
    records: tuple[int, int],
    values: tuple[tuple[Shown | None, ...], tuple[Shown | None, ...]],
    rarity: tuple[tuple[Rarity | None, Rarity | None], ...],
    mask_width: MaskWidth,
    policy: Policy,
) -> Facts:
    """Work out a pair.

    Parameters
    ----------
    attributes
        The attributes that are shown.
    records
        The records of row 1 and row 2.
    values
        Their values.
    rarity
        Per attribute, the rarity of each value, where that is shown.
    mask_width
        How wide masked values are drawn.
    policy
        Which of what is disclosed narrows anonymity sets.
    """
    comparisons = compare_pair(attributes, *values)
    offered = tuple(more(comparison, Mode.MASKED) for comparison in comparisons)
    sides = tuple(
        {
            mode: _sides(attribute, comparison, mode, mask_width, policy)
            for mode in (Mode.MASKED, *modes)
        }
        for attribute, comparison, modes in zip(attributes, comparisons, offered, strict=True)
    )
    return Facts(records, comparisons, rarity, offered, sides)


def _sides(
    attribute: Attribute,
    comparison: Comparison,
    mode: Mode,
    mask_width: MaskWidth,
    policy: Policy,
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


def _counted(seen: Seen, policy: Policy) -> Seen:
    """The part of what is seen that narrows anonymity sets under a policy."""
    if policy is Policy.PAPER:
        return Seen(twice=seen.twice, positions=seen.positions)
    return seen
