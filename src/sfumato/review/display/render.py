"""A pair as it may be shown: the cells from which a page or a terminal draws."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.review.attributes import Attribute, AttributeKind
from sfumato.review.display.date_layout import layout
from sfumato.review.display.disclosed import disclosed, effective, more
from sfumato.review.modes import Mode
from sfumato.review.settings import MaskWidth
from sfumato.review.values import (
    Cell,
    CellKind,
    Comparison,
    Positions,
    Rarity,
    RenderedAttribute,
    RenderedPair,
    Shown,
    Status,
)

FIXED_WIDTH = 8
"""Cells of a masked value whose width does not show."""

_HIDDEN = {Status.IDENTICAL: CellKind.EQUAL, Status.DIFFERENT: CellKind.DIFFERING}


def render(
    attribute: Attribute,
    comparison: Comparison,
    mode: Mode,
    mask_width: MaskWidth,
    rarity: tuple[Rarity | None, Rarity | None],
) -> RenderedAttribute:
    """One attribute of a pair as it may be shown (001, Table 1); nothing else is in it.

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
    rarity
        How rare each row's value is; left out unless the attribute shows it.
    """
    drawn = effective(comparison, mode)
    values = comparison.left, comparison.right
    bands = [
        band if attribute.rarity and value is not None else None
        for band, value in zip(rarity, values, strict=True)
    ]
    open_places = disclosed(comparison, mode)
    left, right = (
        _cells(attribute, comparison, row, drawn, mask_width, open_places[row]) for row in (0, 1)
    )
    return RenderedAttribute(
        name=attribute.name,
        mode=drawn,
        marks=comparison.marks,
        rows=(left, right),
        rarity=(bands[0], bands[1]),
        more=more(comparison, mode),
    )


def render_pair(
    attributes: Sequence[Attribute],
    comparisons: Sequence[Comparison],
    modes: Sequence[Mode],
    mask_width: MaskWidth,
    rarity: Sequence[tuple[Rarity | None, Rarity | None]],
) -> RenderedPair:
    """A pair as it may be shown.

    Parameters
    ----------
    attributes
        The attributes of the project.
    comparisons
        How the values of each differ.
    modes
        The mode that each is in.
    mask_width
        How wide a masked value is drawn.
    rarity
        How rare each row's value of each attribute is.
    """
    return tuple(
        render(attribute, comparison, mode, mask_width, bands)
        for attribute, comparison, mode, bands in zip(
            attributes, comparisons, modes, rarity, strict=True
        )
    )


def _cells(
    attribute: Attribute,
    comparison: Comparison,
    row: int,
    mode: Mode,
    mask_width: MaskWidth,
    open_places: Positions,
) -> tuple[Cell, ...]:
    value = (comparison.left, comparison.right)[row]
    if value is None:
        return (Cell(CellKind.MISSING),)
    if mode is Mode.MASKED and mask_width is MaskWidth.FIXED:
        width = 1 if attribute.kind is AttributeKind.CATEGORY else FIXED_WIDTH
        return (Cell(_HIDDEN.get(comparison.status, CellKind.MASKED)),) * width
    edits = {place: mark for mark, place in comparison.edits[row]}
    return tuple(
        Cell(CellKind.SEPARATOR, place)
        if isinstance(place, str)
        else Cell(CellKind.CHARACTER, value.characters[place], edits.get(place))
        if place in open_places
        else Cell(_closed(comparison, row, place), edit=edits.get(place))
        for place in _layout(attribute, value, mode)
    )


def _layout(attribute: Attribute, value: Shown, mode: Mode) -> tuple[int | str, ...]:
    """Until all is disclosed, places and separators tell no more than how many places there are."""
    if mode is Mode.FULL:
        return value.layout
    count = len(value.characters)
    if attribute.kind is AttributeKind.DATE:
        return layout(attribute.date_order, count)
    return tuple(range(count))


def _closed(comparison: Comparison, row: int, place: int) -> CellKind:
    if place in comparison.differing[row]:
        return CellKind.DIFFERING
    compared = comparison.left is not None and comparison.right is not None
    return CellKind.EQUAL if compared else CellKind.MASKED
