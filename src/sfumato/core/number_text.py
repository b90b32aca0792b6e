"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from textwrap import wrap

from sfumato.core.phrases import Figure, Phrase, Plural, listed

NARROW = "\u202f"
"""Narrow space that does not break, between a number and its unit."""
NONE = "–"
WIDTH = 100
"""Signs of a line of a terminal."""
LEAST = 0.0001
"""Per cent from which a share is printed as a number, which has no exponent from there on."""
MANY_COLUMNS = 6
"""From here on columns stand in one table or are counted, and are not named in a sentence."""
_SEVERAL = {
    "person": "people",
    "class": "classes",
    "match": "matches",
    "entry": "entries",
    "category": "categories",
}


def count(value: float) -> str:
    """A count with separators of thousands; a count that is no whole number with one decimal."""
    return Figure(f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}")


def counted(number: int, one: str, several: str = "") -> str:
    """A number of things: ``1 record``, ``2 people``, ``3 possible matches``.

    More than one are said in full where more than the last word changes.
    """
    before, _, last = one.rpartition(" ")
    several = several or f"{before} {_SEVERAL.get(last, f'{last}s')}".lstrip()
    return Plural(f"{{n}} {one}", f"{{n}} {several}", number, n=count(number))


def named(names: Sequence[str]) -> str:
    """A few names as a phrase; many are counted, and stand in a table."""
    return listed(names) if len(names) < MANY_COLUMNS else counted(len(names), "column")


def wrapped(text: str, first: str = "", later: str = "", width: int = WIDTH) -> list[str]:
    """Lines of a terminal, which never part a number from its sign, or a name at its hyphens."""
    # A space that does not break would stay in what people copy and search for.
    text = text.replace(f"{NARROW}%", "\0%").replace(" %", "\0%")
    lines = wrap(text, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def clause(text: str, room: int) -> str:
    """The longest beginning of a text that says something whole; cut at a word where none fits."""
    if len(text) <= room:
        return text
    for end in ("? ", ". ", "; ", ": ", ", "):
        # A sentence that is cut at a sign keeps the point that it would have had.
        place = text.rfind(end, 0, room)
        if place > 0 and text.count("(", 0, place) == text.count(")", 0, place):
            return f"{text[:place]}{'?' if end == '? ' else '.'}"
    return f"{text[: room - 1].rsplit(' ', 1)[0]}…"


def percent(share: float, digits: int = 1, space: str = NARROW) -> str:
    """A share as a percentage; never 0 or 100 where it is not exactly that.

    Parameters
    ----------
    share
        In [0, 1]; differences may lie outside.
    digits
        Decimal places from 1 % on; below that two significant digits.
    """
    if not isfinite(share):
        return NONE
    value = 100 * share
    if float(value).is_integer():
        return Figure(f"{value:.0f}{space}%")
    if near := _near_an_end(value, 99.9999, space):
        return near
    if abs(value) < 1:
        return Figure(f"{value:.2g}{space}%")
    # 99.96 % printed as 100.0 % would claim what is not so.
    while round(value, digits) == 100 and value < 100:
        digits += 1
    return Figure(f"{value:.{digits}f}{space}%")


def percentage(share: float, digits: int = 1) -> str:
    """The same with a usual space, for a terminal and for messages, which people search."""
    return percent(share, digits, " ")


def share_text(share: float, limit: float | None = None) -> str:
    """A share as a percentage of two digits, and as many more as show its side of a limit.

    0 and 100 stand only for exactly that.
    """
    value = 100 * share
    if value in (0, 100):
        return Figure(f"{value:.0f} %")
    if near := _near_an_end(value, 99.9, " "):
        return near
    digits = 3 if value > 90 else 2
    text = f"{value:.{digits}g}"
    # At its limit a share is written as the limit is: more digits show no side.
    if limit is not None and abs(share - limit) < 1e-9:
        limit = None
    while limit is not None and digits < 9 and (float(text) > 100 * limit) != (share > limit):
        digits += 1
        text = f"{value:.{digits}g}"
    return Figure(f"{text} %")


def _near_an_end(value: float, most: float, space: str) -> Phrase | None:
    """Words for a percentage that would be printed as 0, with an exponent, or as 100."""
    if 0 < abs(value) < LEAST:
        return Phrase("below {share}", share=Figure(f"{LEAST}{space}%"))
    if most < value < 100:
        return Phrase("over {share}", share=Figure(f"{most}{space}%"))
    return None


def number(value: float) -> str:
    """A number with four significant digits; an infinite one as words of recursive diversity."""
    if not isfinite(value):
        return Phrase("no c") if value > 0 else NONE
    return Figure(f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}")


def against_threshold(value: float, threshold: float, share: bool) -> str:
    """A value with as many digits as it takes to tell it from its threshold.

    Shares print as percentages.
    """
    show = percent if share else number
    # Rounding errors: more digits would show a difference that there is not.
    if abs(value - threshold) < 1e-9:
        return show(threshold)
    shown, digits = show(value), 2
    while shown == show(threshold) and digits < 9:
        shown = f"{100 * value:.{digits}f}{NARROW}%" if share else f"{value:.{digits + 3}g}"
        digits += 1
    return shown if isinstance(shown, Phrase) else Figure(shown)
