"""Styled text: what a screen is made of, before anything is printed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size


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
    """Columns of the terminal that a line takes.

    Parameters
    ----------
    line
        The line.
    """
    return sum(cell_len(span.text) for span in line)


def fitted(line: Line, width: int, *, more: str = "…") -> Line:
    """A line cut to a width; what is cut ends in a sign of more.

    Parameters
    ----------
    line
        The line.
    width
        Columns.
    more
        The sign.
    """
    if width_of(line) <= width:
        return line
    room, kept = width - cell_len(more), []
    for text, style in line:
        taken = text if cell_len(text) <= room else set_cell_size(text, max(room, 0))
        kept.append(Span(taken, style))
        room -= cell_len(taken)
        if taken != text or room <= 0:
            break
    return (*kept, Span(more, Style.QUIET))


def padded(line: Line, width: int) -> Line:
    """A line with spaces behind it up to a width.

    Parameters
    ----------
    line
        The line.
    width
        Columns.
    """
    missing = width - width_of(line)
    return (*line, Span(" " * missing)) if missing > 0 else line


def flowed(items: Iterable[Line], width: int, between: str) -> tuple[Line, ...]:
    """Items one behind the other, on as many lines as they need.

    Parameters
    ----------
    items
        The items; none is divided.
    width
        Columns of a line.
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
