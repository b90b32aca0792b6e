"""What each mode discloses of the values of a pair."""

from __future__ import annotations

from fractions import Fraction

from sfumato.review.attributes import Attribute
from sfumato.review.modes import Mode
from sfumato.review.settings import MaskWidth
from sfumato.review.values import Comparison, Positions, Seen, Shown, Status

_NOTHING: Positions = frozenset()


def effective(comparison: Comparison, mode: Mode) -> Mode:
    """The mode in which an attribute is drawn: masked where there is no partial disclosure.

    Only values that differ in some characters have one: of others the partial state of Table 1
    (001) shows what the masked one does.

    Parameters
    ----------
    comparison
        How the two values differ.
    mode
        The mode that the attribute is in.
    """
    if mode is Mode.PARTIAL and comparison.status is not Status.SIMILAR:
        return Mode.MASKED
    return mode


def disclosed(comparison: Comparison, mode: Mode) -> tuple[Positions, Positions]:
    """Per row, the places of the characters that are disclosed.

    Parameters
    ----------
    comparison
        How the two values differ.
    mode
        The mode that the attribute is in.
    """
    drawn = effective(comparison, mode)
    if drawn is Mode.MASKED:
        return _NOTHING, _NOTHING
    if drawn is Mode.PARTIAL:
        return comparison.differing
    return _all(comparison.left), _all(comparison.right)


def more(comparison: Comparison, mode: Mode) -> tuple[Mode, ...]:
    """The modes that show more than this one.

    It follows from what this mode shows: that partial disclosure would show every character is
    known only when it does, and then full disclosure has nothing to add.

    Parameters
    ----------
    comparison
        How the two values differ.
    mode
        The mode that the attribute is in.
    """
    if mode is Mode.FULL or comparison.status is Status.MISSING_BOTH:
        return ()
    if comparison.status is not Status.SIMILAR:
        return (Mode.FULL,)
    if mode is Mode.MASKED:
        return (Mode.PARTIAL, Mode.FULL)
    everything = disclosed(comparison, Mode.FULL)
    return () if comparison.differing == everything else (Mode.FULL,)


def share(value: Shown | None, positions: Positions) -> Fraction:
    """The share p of a value's characters that is disclosed (001, Definition 4.3).

    Parameters
    ----------
    value
        The value.
    positions
        The places that are disclosed.
    """
    return Fraction(0) if value is None else Fraction(len(positions), len(value.characters))


def seen(
    attribute: Attribute, comparison: Comparison, mode: Mode, mask_width: MaskWidth
) -> tuple[Seen, Seen]:
    """What each row discloses of the attribute of its record.

    Parameters
    ----------
    attribute
        What the values are of.
    comparison
        How they differ.
    mode
        The mode that the attribute is in.
    mask_width
        How wide a masked value is drawn.
    """
    masked = effective(comparison, mode) is Mode.MASKED
    length = mask_width is MaskWidth.TRUE or not masked
    twice = comparison.status is Status.IDENTICAL
    left, right = (
        Seen(
            missingness=True,
            length=length and value is not None,
            rarity=attribute.rarity and value is not None,
            twice=twice,
            positions=positions,
        )
        for value, positions in zip(
            (comparison.left, comparison.right), disclosed(comparison, mode), strict=True
        )
    )
    return left, right


def _all(value: Shown | None) -> Positions:
    return frozenset(range(len(value.characters))) if value else _NOTHING
