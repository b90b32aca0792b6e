"""Styled text for a terminal: signs, widths, blocks of values, how it looks."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from sfumato.review.pair_rendering import symbols
from sfumato.review.review_settings import Cell, CellKind, Mark, Mode, Rarity, RenderedAttribute


class Style(StrEnum):
    """What a piece of text is; how it looks is for who prints it."""

    PLAIN = "plain"
    QUIET = "quiet"
    STRONG = "strong"
    TITLE = "title"
    RULE = "rule"
    HEADING = "heading"
    SELECTED = "selected"
    MASKED = "masked"
    """A masked character that the other row has too, or of which nothing is said."""
    DIFFERING = "differing"
    """A masked character that the other row has not."""
    DISCLOSED = "disclosed"
    DISCLOSED_DIFFERING = "disclosed and differing"
    MARK = "mark"
    RARITY = "rarity"
    KEY = "key"
    CHOSEN = "chosen"
    REFUSED = "refused"
    HINT = "hint"
    SPENT = "spent"
    NEXT = "next"
    """What the next opening would add to a meter."""
    LEFT = "left"


class Span(NamedTuple):
    """A piece of text in one style."""

    text: str
    style: Style = Style.PLAIN


Line = tuple[Span, ...]
"""A line of the screen."""
EMPTY: Line = ()


def width_of(line: Iterable[Span]) -> int:
    """Columns of the terminal that a line takes."""
    return sum(cell_len(span.text) for span in line)


def fitted(line: Line, width: int, *, more: str = "…") -> Line:
    """A line cut to a width; what is cut ends in a sign of more."""
    if width_of(line) <= width:
        return line
    # By columns and not characters, as East Asian letters take two.
    room, kept = width - cell_len(more), []
    for text, style in line:
        taken = text if cell_len(text) <= room else set_cell_size(text, max(room, 0))
        kept.append(Span(taken, style))
        room -= cell_len(taken)
        if taken != text or room <= 0:
            break
    return (*kept, Span(more, Style.QUIET))


def padded(line: Line, width: int) -> Line:
    """A line with spaces behind it up to a width."""
    missing = width - width_of(line)
    return (*line, Span(" " * missing)) if missing > 0 else line


def flowed(items: Iterable[Line], width: int, between: str) -> tuple[Line, ...]:
    """Items one behind the other, on as many lines as they need.

    Parameters
    ----------
    between
        What stands between two items of a line.
    """
    lines: list[Line] = []
    for item in items:
        gap = (Span(between, Style.QUIET),)
        if lines and width_of((*lines[-1], *gap, *item)) <= width:
            lines[-1] = (*lines[-1], *gap, *item)
        else:
            lines.append(item)
    return tuple(lines)


_LINES = {"Zl", "Zp"}


def visible(text: str, encoding: str, unknown: str) -> str:
    """A text as a terminal may get it: no control character, nothing that turns its direction.

    Parameters
    ----------
    encoding
        The terminal's encoding. Characters that it lacks show as their numbers.
    unknown
        What stands in place of a character that cannot be drawn.
    """
    kept = "".join(
        # Format characters draw nothing themselves, and some turn the direction of what follows.
        "" if unicodedata.category(each) == "Cf" else unknown if _acts(each) else each
        for each in text
    )
    # Printing a character that the terminal lacks would end the program.
    drawn = kept.encode(encoding, errors="backslashreplace").decode(encoding)
    return drawn if cell_len(drawn) else unknown


def _acts(character: str) -> bool:
    category = unicodedata.category(character)
    return category.startswith("C") or category in _LINES


@dataclass(frozen=True)
class Signs:
    """The characters that a terminal is drawn with.

    Attributes
    ----------
    rule, spent, next, left, limit
        The rule between parts, and the parts of a meter.
    hint, more, up, down, dot
        The cell to open next, a cut text, more above and below, and between two words.
    unknown
        In place of a character that cannot be drawn.
    """

    marks: Mapping[Mark, str]
    rarity: Mapping[Rarity, str]
    modes: Mapping[Mode, str]
    rule: str
    spent: str
    next: str
    left: str
    limit: str
    hint: str
    more: str
    up: str
    down: str
    dot: str
    unknown: str


_MARKS = {
    Mark.IDENTICAL: ("✓", "=="),
    Mark.DIFFERENT: ("DIFF", "DIFF"),
    Mark.MISSING: ("missing", "missing"),
    Mark.INSERTED: ("+", "+"),
    Mark.DELETED: ("−", "-"),
    Mark.SUBSTITUTED: ("≠", "!="),
    Mark.TRANSPOSED: ("⇄", "<>"),
    Mark.DAY_MONTH_SWAP: ("⇄ day/month", "<> day/month"),
    Mark.DAY: ("≠ day", "!= day"),
    Mark.MONTH: ("≠ month", "!= month"),
    Mark.YEAR: ("≠ year", "!= year"),
    Mark.NAME_SWAP: ("⇄ names", "<> names"),
}
_RARITY = {
    Rarity.RARE: ("▂  ", "|  "),
    Rarity.UNCOMMON: ("▂▄ ", "|| "),
    Rarity.COMMON: ("▂▄▆", "|||"),
}
_MODES = {Mode.MASKED: ("○", "( )"), Mode.PARTIAL: ("◐", "(/)"), Mode.FULL: ("●", "(o)")}
_SINGLE = ["─-", "█#", "▓+", "░.", "│|", "★!", "…>", "▲^", "▼v", "·,", "�#"]


def _signs(which: int) -> Signs:
    """The signs of Unicode (0) or of ASCII (1)."""
    return Signs(
        {mark: both[which] for mark, both in _MARKS.items()},
        {rarity: both[which] for rarity, both in _RARITY.items()},
        {mode: both[which] for mode, both in _MODES.items()},
        *(both[which] for both in _SINGLE),
    )


UNICODE, ASCII = _signs(0), _signs(1)


def signs_for(encoding: str) -> Signs:
    """The characters that an encoding has."""
    return UNICODE if encoding.lower().replace("-", "").startswith("utf") else ASCII


LEAST_WIDTH, LEAST_HEIGHT = 76, 20
"""The smallest terminal that a pair is drawn on."""


@dataclass(frozen=True)
class Look:
    """What a terminal is like."""

    width: int = 80
    height: int = 24
    encoding: str = "utf-8"

    @cached_property
    def signs(self) -> Signs:
        """The characters that it is drawn with."""
        return signs_for(self.encoding)

    @property
    def large_enough(self) -> bool:
        """Whether a pair can be drawn on it."""
        return self.width >= LEAST_WIDTH and self.height >= LEAST_HEIGHT


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
    room
        Columns that a block may take.
    """
    rows = [_row(cells, row, look) for row, cells in enumerate(rendered.rows)]
    room_of_value = room - (RARITY_WIDTH if any(rendered.rarity) else 0)
    parts = [_parts(row, room_of_value) for row in rows]
    widest = max((width_of(part) for row in parts for part in row), default=0)
    bands = [
        EMPTY if band is None else (Span(look.signs.rarity[band], Style.RARITY),)
        for band in rendered.rarity
    ]
    lines = [_heading(rendered, look, room, selected=selected, hinted=hinted)]
    for number, (one, two) in enumerate(zip_longest(*parts, fillvalue=EMPTY)):
        first = number == 0
        between = _marks(rendered, look) if first else EMPTY
        lines += [
            _with_rarity(one, bands[0] if first else EMPTY, widest),
            fitted(between, room, more=look.signs.more),
            _with_rarity(two, bands[1] if first else EMPTY, widest),
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
        # Divided only where it must be, as the characters of a grapheme belong together.
        for piece in [text] if cell_len(text) <= room else list(text):
            if cell_len(piece) > left:
                parts.append([])
                left = room
            parts[-1].append(Span(piece, style))
            left -= cell_len(piece)
    return [tuple(part) for part in parts]


def _with_rarity(value: Line, rarity: Line, widest: int) -> Line:
    if not rarity:
        return value
    return (*value, Span(" " * (widest - width_of(value) + 1)), *rarity)


def _marks(rendered: RenderedAttribute, look: Look) -> Line:
    text = " ".join(look.signs.marks[mark] for mark in rendered.marks)
    return (Span(text, Style.MARK),)
