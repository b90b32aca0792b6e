"""The screen of a pair, as lines of styled text: exactly as many as the terminal has."""

from __future__ import annotations

from sfumato.review.terminal.bands import draw_bands, height_of, place_blocks
from sfumato.review.terminal.choices import next_of_cell
from sfumato.review.terminal.legend import short_legend
from sfumato.review.terminal.look import LEAST_HEIGHT, LEAST_WIDTH, Look
from sfumato.review.terminal.meter import draw_meters
from sfumato.review.terminal.panel import (
    draw_answers,
    draw_costs,
    draw_reasons,
    draw_said,
    draw_selected,
)
from sfumato.review.terminal.signs import REFUSED
from sfumato.review.terminal.styled import EMPTY, Line, Span, Style, fitted, padded, width_of
from sfumato.review.terminal.view import Message, View

_KEYS = (
    ("Enter", "more"),
    ("s", "skip"),
    ("f", "flag"),
    ("u", "undo"),
    ("n b", "pair"),
    ("g", "undecided"),
    ("?", "help"),
    ("q", "leave"),
)
"""The keys at the foot; the help has all."""


def draw_screen(
    view: View, look: Look, selected: int, message: Message, *, flagging: bool = False
) -> tuple[Line, ...]:
    """A pair with its costs, meters and keys.

    Parameters
    ----------
    view
        The pair and its worker's standing.
    look
        The terminal.
    selected
        Place of the selected attribute.
    message
        What is said of the last key.
    flagging
        Whether a reason for a flag is asked for.
    """
    if not look.large_enough:
        return draw_too_small(look)
    hinted = None if view.hint is None else view.hint.attributes[0]
    following = None if view.rendered is None else next_of_cell(view, selected)
    rule = (Span(look.signs.rule * look.width, Style.RULE),)
    head = (
        _title(view, look),
        *draw_meters(view.standing, 0.0 if following is None else following.cost, look),
        rule,
    )
    foot = (
        rule,
        draw_selected(view, selected, look),
        *draw_costs(view, selected, look),
        *(draw_reasons(look) if flagging else (draw_answers(view), draw_said(view, message, look))),
        _keys(look),
    )
    room = look.height - len(head) - len(foot)
    if view.rendered is None:
        body = _refused(view, room)
    else:
        placed = place_blocks(view.rendered, look, selected, hinted)
        legend = short_legend(look)
        explained = room >= height_of(placed) + len(legend) + 3
        lines = draw_bands(placed, room - (len(legend) if explained else 0), selected, look)
        body = [*lines, *legend] if explained else lines
    return tuple(fitted(line, look.width, more=look.signs.more) for line in (*head, *body, *foot))


def draw_too_small(look: Look) -> tuple[Line, ...]:
    """What a terminal shows that is too small for a pair; nothing of the data.

    Parameters
    ----------
    look
        The terminal.
    """
    text = f"Make the window larger: {LEAST_WIDTH} columns and {LEAST_HEIGHT} lines at least."
    lines: list[Line] = [(Span(text[: look.width]),)]
    return tuple(lines + [EMPTY] * (look.height - 1))


def _title(view: View, look: Look) -> Line:
    left = f" sfumato review {look.signs.dot} {view.standing.worker}"
    right = f"pair {view.place} of {view.standing.pairs} "
    line = padded((Span(left, Style.TITLE),), look.width - len(right))
    spaces = look.width - len(right) - width_of(line[:1])
    return (line[0], Span(" " * max(spaces, 1), Style.TITLE), Span(right, Style.TITLE))


def _keys(look: Look) -> Line:
    line: list[Span] = []
    for key, words in _KEYS:
        item = (Span(" "), Span(key, Style.KEY), Span(f" {words} ", Style.QUIET))
        if width_of((*line, *item)) <= look.width:
            line += item
    return tuple(line)


def _refused(view: View, room: int) -> list[Line]:
    why = "" if view.refused is None else f": {REFUSED[view.refused.reason]}"
    said: list[Line] = [EMPTY, (Span(f"   This pair may not be shown{why}.", Style.REFUSED),)]
    return (said + [EMPTY] * room)[:room]
