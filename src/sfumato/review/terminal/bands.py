"""The blocks of a pair beside each other, as many as fit, in bands one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

from sfumato.review.terminal.block import Block, draw_block
from sfumato.review.terminal.look import Look
from sfumato.review.terminal.styled import EMPTY, Line, Span, Style, fitted, padded
from sfumato.review.values import RenderedPair

GUTTER = 3
"""Columns before the blocks, where the number of the row stands."""
GAP = 3
"""Columns between two blocks."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a block stands.

    Attributes
    ----------
    band
        Its band, from 0.
    left
        Its first column.
    block
        The block.
    """

    band: int
    left: int
    block: Block


class Direction(Enum):
    """Where an arrow points."""

    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"


def place_blocks(
    rendered: RenderedPair, look: Look, selected: int, hinted: int | None
) -> tuple[Placed, ...]:
    """Each attribute of a pair at its place.

    Parameters
    ----------
    rendered
        The pair as it may be shown.
    look
        The terminal.
    selected
        Place of the selected attribute.
    hinted
        Place of the one to open next.
    """
    room = look.width - GUTTER
    placed: list[Placed] = []
    band, left = 0, GUTTER
    for number, attribute in enumerate(rendered):
        block = draw_block(
            attribute, look, room, selected=number == selected, hinted=number == hinted
        )
        if left > GUTTER and left + block.width > look.width:
            band, left = band + 1, GUTTER
        placed.append(Placed(band, left, block))
        left += block.width + GAP
    return tuple(placed)


def height_of(placed: Sequence[Placed]) -> int:
    """Lines that the blocks take, one empty one between two bands.

    Parameters
    ----------
    placed
        The blocks.
    """
    heights = [0] * (placed[-1].band + 1)
    for each in placed:
        heights[each.band] = max(heights[each.band], len(each.block.lines))
    return sum(heights) + len(heights) - 1


def draw_bands(placed: Sequence[Placed], height: int, selected: int, look: Look) -> list[Line]:
    """The lines of the bands that fit, the selected block's among them.

    Parameters
    ----------
    placed
        The blocks.
    height
        Lines that there are.
    selected
        Place of the selected attribute.
    look
        The terminal.
    """
    last = placed[-1].band
    bands = [_band([each for each in placed if each.band == n]) for n in range(last + 1)]
    loose = height_of(placed) <= height
    starts, lines = [], list[Line]()
    if height_of(placed) + 1 < height:
        lines.append(EMPTY)
    for number, band in enumerate(bands):
        starts.append(len(lines))
        lines += [*band, EMPTY] if loose and number < last else band
    if len(lines) <= height:
        return lines + [EMPTY] * (height - len(lines))
    own = placed[selected].band
    first = min(starts[own], max(0, starts[own] + len(bands[own]) - height))
    shown = lines[first : first + height]
    above, below = first > 0, first + height < len(lines)
    for place, more, sign in ((0, above, look.signs.up), (-1, below, look.signs.down)):
        if more:
            line = padded(fitted(shown[place], look.width - 1, more=""), look.width - 1)
            shown[place] = (*line, Span(sign, Style.HINT))
    return shown


def neighbour(placed: Sequence[Placed], selected: int, direction: Direction) -> int:
    """The attribute that an arrow leads to; the same one where there is none.

    Parameters
    ----------
    placed
        The blocks.
    selected
        Place of the selected attribute.
    direction
        Where the arrow points.
    """
    if direction is Direction.LEFT:
        return max(0, selected - 1)
    if direction is Direction.RIGHT:
        return min(len(placed) - 1, selected + 1)
    own = placed[selected]
    band = own.band + (1 if direction is Direction.DOWN else -1)
    there = [number for number, each in enumerate(placed) if each.band == band]
    return min(there, key=lambda number: abs(placed[number].left - own.left), default=selected)


def _band(placed: Sequence[Placed]) -> list[Line]:
    height = max(len(each.block.lines) for each in placed)
    numbers = {1: "1", 0: "2"}
    lines = []
    for number in range(height):
        row = numbers.get(number % 3, " ") if number else " "
        line: Line = (Span(f" {row} ", Style.QUIET),)
        for each in placed:
            own = each.block.lines[number] if number < len(each.block.lines) else EMPTY
            line = tuple(chain(padded(line, each.left), own))
        lines.append(line)
    return lines
