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


def percent(
    share: float, digits: int = 1, space: str = NARROW, *, limit: float | None = None
) -> str:
    """A share as a percentage, alike wherever it stands; 0 and 100 only if it is exactly that.

    Parameters
    ----------
    share
        In [0, 1]; differences may lie outside.
    digits
        Decimal places from 1 % on; below that two significant digits.
    limit
        A share that is compared with it has as many more digits as show its side.
    """
    if not isfinite(share):
        return NONE
    value = 100.0 * share
    if near := _near_an_end(value, 99.9 if digits < 2 else 99.9999, space):
        return near
    # Products of shares miss whole numbers by rounding errors.
    if round(value, 9).is_integer():
        return Figure(f"{value:.0f}{space}%")
    form, digits = ("g", 2) if abs(value) < 1 else ("f", digits)
    text = f"{value:.{digits}{form}}"
    # At its limit a share is written as the limit is: more digits show no side.
    bound = 100 * share if limit is None or abs(share - limit) < 1e-9 else 100 * limit
    while digits < 9 and _misleads(float(text), value, bound):
        digits += 1
        text = f"{value:.{digits}{form}}"
    return Figure(f"{text}{space}%")


def _misleads(said: float, value: float, limit: float) -> bool:
    """Whether a rounded percentage claims all, or the other side of its limit."""
    return said == 100 or (limit != value and (said > limit) != (value > limit))


def percentage(share: float, digits: int = 1) -> str:
    """The same with a usual space, for a terminal and for messages, which people search."""
    return percent(share, digits, " ")


def share_text(share: float, limit: float | None = None) -> str:
    """The same beside a limit, whose side it shows."""
    return percent(share, space=" ", limit=limit)


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
