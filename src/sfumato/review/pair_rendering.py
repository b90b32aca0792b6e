"""What leaves the server of a pair: cells, marks and what they disclose."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    Cell,
    CellKind,
    Comparison,
    Mark,
    MaskWidth,
    Mode,
    Positions,
    Rarity,
    RenderedAttribute,
    RenderedPair,
    Seen,
    Shown,
    Status,
)
from sfumato.review.value_comparison import layout

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


_SYMBOLS = {CellKind.EQUAL: "*", CellKind.MASKED: "*", CellKind.MISSING: "?"}
_DIFFERING = "@&"


def plain(rendered: RenderedAttribute) -> tuple[str, str]:
    """Row 1 and row 2 of an attribute as text (001, Tables 1 and 3 to 5).

    ``*`` is a masked character, ``@`` one that only row 1 has and ``&`` one that only row 2 has;
    ``?`` is a missing value. Where day and month are exchanged each has its own symbol, which
    moves with it: ``*@/*&/****`` and ``*&/*@/****``.

    Parameters
    ----------
    rendered
        The attribute as it may be shown.
    """
    left, right = rendered.rows
    return "".join(symbols(left, 0)), "".join(symbols(right, 1))


def symbols(cells: tuple[Cell, ...], row: int) -> tuple[str, ...]:
    """The text of each cell of a row.

    Parameters
    ----------
    cells
        The cells.
    row
        0 for row 1, 1 for row 2.
    """
    texts: list[str] = []
    part = 0
    swapped: list[int] = []
    for cell in cells:
        if cell.kind is CellKind.SEPARATOR:
            part += 1
        if cell.kind is not CellKind.DIFFERING:
            texts.append(_SYMBOLS.get(cell.kind, cell.text))
            continue
        symbol = row
        if cell.edit is Mark.DAY_MONTH_SWAP:
            swapped.append(part)
            symbol = row ^ (part != swapped[0])
        texts.append(_DIFFERING[symbol])
    return tuple(texts)
