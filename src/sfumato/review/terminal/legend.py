"""The help: what the keys do and what the signs mean."""

from __future__ import annotations

from itertools import zip_longest

from sfumato.review.modes import Mode
from sfumato.review.terminal.look import Look
from sfumato.review.terminal.signs import MEANING, MODES
from sfumato.review.terminal.styled import EMPTY, Line, Span, Style, fitted, flowed, padded
from sfumato.review.values import Mark, Rarity

KEYS = (
    ("arrows, Tab", "select an attribute"),
    ("Enter", "open more of it"),
    ("p   o", "open it partly, in full"),
    ("N", "open more of the name"),
    ("a   A", "open all partly, in full"),
    ("1 2 3", "different: high, medium, low"),
    ("4 5 6", "same: low, medium, high"),
    ("s", "put the pair off"),
    ("f", "flag it, or take the flag off"),
    ("u", "take the last answer back"),
    ("n   b", "next, previous pair"),
    ("g", "next undecided pair"),
    ("h", "hint: what to open next"),
    ("q", "save and leave"),
)
"""The keys, and what each does."""
LEFT = 43
"""Columns of the keys."""
_EDITS = (Mark.INSERTED, Mark.DELETED, Mark.SUBSTITUTED, Mark.TRANSPOSED)
_TEXT = (
    "KAPR says how far what shows narrows down who the persons are: 0 for nothing,",
    "1 for all. A cost is the most that an opening can add to it. What is opened",
    "stays open and paid for. Every key is saved before the next screen.",
)


def draw_legend(look: Look) -> tuple[Line, ...]:
    """The help, as many lines as the terminal has.

    Parameters
    ----------
    look
        The terminal.
    """
    lines: list[Line] = [
        (Span(f" sfumato review {look.signs.dot} help".ljust(look.width), Style.TITLE),),
        EMPTY,
    ]
    for one, two in zip_longest(_keys(), _signs(look), fillvalue=EMPTY):
        lines.append((*padded(one, LEFT), *two))
    lines += [EMPTY, *((Span(f" {text}", Style.QUIET),) for text in _TEXT)]
    lines = [fitted(line, look.width, more=look.signs.more) for line in lines][: look.height - 1]
    lines += [EMPTY] * (look.height - 1 - len(lines))
    last: Line = (Span(" any key", Style.KEY), Span(" goes back", Style.QUIET))
    return (*lines, fitted(last, look.width, more=look.signs.more))


def short_legend(look: Look) -> tuple[Line, ...]:
    """What the signs mean, in a few lines.

    Parameters
    ----------
    look
        The terminal.
    """
    signs = look.signs
    rows = [
        ("*", Style.MASKED, "masked"),
        ("@ &", Style.DIFFERING, "masked, only in row 1, 2"),
        ("?", Style.MASKED, "no value"),
        *((signs.marks[mark], Style.MARK, MEANING[mark]) for mark in (Mark.IDENTICAL, *_EDITS)),
        *((signs.rarity[band].strip(), Style.RARITY, band.value) for band in Rarity),
        *((signs.modes[mode], Style.QUIET, MODES[mode]) for mode in Mode),
    ]
    items = [(Span(sign, style), Span(f" {words}", Style.QUIET)) for sign, style, words in rows]
    return tuple((Span(" "), *line) for line in flowed(items, look.width - 2, "   "))


def _keys() -> list[Line]:
    return [(Span(f" {key:<12}", Style.KEY), Span(words)) for key, words in KEYS]


def _signs(look: Look) -> list[Line]:
    signs = look.signs
    rows: list[tuple[str, Style, str]] = [
        ("*", Style.MASKED, "masked character"),
        ("@ &", Style.DIFFERING, "masked, only in row 1, row 2"),
        ("?", Style.MASKED, "no value"),
    ]
    shown = (Mark.IDENTICAL, Mark.DIFFERENT, *_EDITS)
    rows += [(signs.marks[mark], Style.MARK, MEANING[mark]) for mark in shown]
    rows += [(signs.rarity[band], Style.RARITY, f"{band.value} value") for band in Rarity]
    modes = ", ".join(f"{signs.modes[mode]} {MODES[mode]}" for mode in Mode)
    lines: list[Line] = [(Span(f"{sign:<8}", style), Span(words)) for sign, style, words in rows]
    return [*lines, (Span(modes),), (Span(f"{signs.hint:<8}", Style.HINT), Span("the hint"))]
