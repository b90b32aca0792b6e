"""One attribute of a pair as a block of lines: name, row 1, marks, row 2."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len

from sfumato.review.display.plain import symbols
from sfumato.review.terminal.look import Look
from sfumato.review.terminal.styled import EMPTY, Line, Span, Style, fitted, width_of
from sfumato.review.terminal.visible import visible
from sfumato.review.values import Cell, CellKind, Rarity, RenderedAttribute

_STYLES = {CellKind.DIFFERING: Style.DIFFERING, CellKind.SEPARATOR: Style.QUIET}
RARITY_WIDTH = 4
"""Columns of the rarity behind a row, with the space before it."""


@dataclass(frozen=True, slots=True)
class Block:
    """An attribute as it is drawn.

    Attributes
    ----------
    lines
        Its name; then, for each part of values that are wider than the screen, row 1, what
        stands between, row 2.
    width
        Columns that it takes.
    """

    lines: tuple[Line, ...]
    width: int


def draw_block(
    rendered: RenderedAttribute, look: Look, room: int, *, selected: bool, hinted: bool
) -> Block:
    """An attribute of a pair as a block.

    Parameters
    ----------
    rendered
        The attribute as it may be shown.
    look
        The terminal.
    room
        Columns that a block may take.
    selected
        Whether it is the selected one.
    hinted
        Whether it is the one to open next.
    """
    rows = [_row(cells, row, look) for row, cells in enumerate(rendered.rows)]
    room_of_value = room - (RARITY_WIDTH if any(rendered.rarity) else 0)
    parts = [_parts(row, room_of_value) for row in rows]
    widest = max((width_of(part) for row in parts for part in row), default=0)
    bands = [_rarity(band, look) for band in rendered.rarity]
    lines = [_heading(rendered, look, room, selected=selected, hinted=hinted)]
    for number, (one, two) in enumerate(zip_longest(*parts, fillvalue=EMPTY)):
        first = number == 0
        between = _marks(rendered, look) if first else EMPTY
        lines += [
            _beside(one, bands[0] if first else EMPTY, widest),
            fitted(between, room, more=look.signs.more),
            _beside(two, bands[1] if first else EMPTY, widest),
        ]
    return Block(tuple(lines), max(map(width_of, lines)))


def _heading(
    rendered: RenderedAttribute, look: Look, room: int, *, selected: bool, hinted: bool
) -> Line:
    name = visible(rendered.name.replace("_", " "), look.encoding, look.signs.unknown)
    state = f" {look.signs.modes[rendered.mode]}"
    text = fitted((Span(name),), room - cell_len(state) - 2, more=look.signs.more)
    style = Style.SELECTED if selected else Style.HEADING
    line = (Span("".join(span.text for span in text) + state, style),)
    return (*line, Span(f" {look.signs.hint}", Style.HINT)) if hinted else line


def _row(cells: tuple[Cell, ...], row: int, look: Look) -> Line:
    return tuple(
        Span(_text(cell, symbol, look), _style(cell))
        for cell, symbol in zip(cells, symbols(cells, row), strict=True)
    )


def _text(cell: Cell, symbol: str, look: Look) -> str:
    if cell.kind is CellKind.CHARACTER:
        return visible(cell.text, look.encoding, look.signs.unknown)
    return symbol


def _style(cell: Cell) -> Style:
    if cell.kind is CellKind.CHARACTER:
        return Style.DISCLOSED if cell.edit is None else Style.DISCLOSED_DIFFERING
    return _STYLES.get(cell.kind, Style.MASKED)


def _parts(row: Line, room: int) -> list[Line]:
    """A row in parts that fit; a text that is wider than a whole part is divided."""
    parts: list[list[Span]] = [[]]
    left = room
    for text, style in row:
        for piece in [text] if cell_len(text) <= room else list(text):
            if cell_len(piece) > left:
                parts.append([])
                left = room
            parts[-1].append(Span(piece, style))
            left -= cell_len(piece)
    return [tuple(part) for part in parts]


def _rarity(band: Rarity | None, look: Look) -> Line:
    return EMPTY if band is None else (Span(look.signs.rarity[band], Style.RARITY),)


def _beside(value: Line, rarity: Line, widest: int) -> Line:
    if not rarity:
        return value
    return (*value, Span(" " * (widest - width_of(value) + 1)), *rarity)


def _marks(rendered: RenderedAttribute, look: Look) -> Line:
    text = " ".join(look.signs.marks[mark] for mark in rendered.marks)
    return (Span(text, Style.MARK),)
