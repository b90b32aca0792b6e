"""Ranges of numbers and dates, in the ways that release tools write them."""

from __future__ import annotations

import math
import re
from calendar import monthrange

from sfumato.intruder.knowledge.numbers import MOMENT, NUMBER, days_of, number_of
from sfumato.intruder.reading.cell import Interval

_PART = r"\d{4}-(?:\d{2}|Q[1-4])|\d{4}"
_END_OF_NUMBERS = rf"{NUMBER}|[+-]?(?:inf|infinity|∞)"
_END_OF_DATES = rf"{MOMENT}|{_PART}"
_LAST_MOMENT = 1 - 1 / 86_400_000_000
"""The last microsecond of a day, in days."""
_LAST_MONTH = 12
_OPEN = re.compile(
    r"(?P<least>>=|≥)\s*(?P<a>.+)|(?P<more>>)\s*(?P<b>.+)"
    r"|(?P<most><=|≤)\s*(?P<c>.+)|(?P<less><)\s*(?P<d>.+)"
    r"|(?P<e>.+?)(?:\s*\+| (?:or|and) (?:more|over|above|older))"
    r"|(?P<f>.+?) (?:or|and) (?:less|under|below|younger)"
)


def interval_of(text: str, *, dates: bool = False, times: bool = False) -> Interval | None:
    """Read a range of numbers or dates; ``None`` for anything else.

    ``84-86``, ``-5 to 3``, ``20~40``, ``[20, 40)``, ``]20, 40]``, ``[20, 40[``, ``90 or more``,
    ``17 or less``, ``>=90``, ``<18``, ``90+``; with ISO dates at both ends likewise.

    Parameters
    ----------
    text
        The cell.
    dates
        Whether the column holds dates: then ``2005``, ``2005-03``, ``2005-Q1`` and
        ``2000-2009`` are ranges of days.
    times
        Whether its dates have times: then a day lasts until its last microsecond.
    """
    plain = text.strip().replace("−", "-")
    if dates and (part := _days(plain, times=times)) is not None:
        return Interval(*part)
    return _bracketed(plain, dates, times) or _between(plain, dates, times) or _open(plain, dates)


def _bracketed(text: str, dates: bool, times: bool) -> Interval | None:
    if len(text) < len("[,]") or text[0] not in "[](" or text[-1] not in "[])":
        return None
    ends = _ends(text[1:-1].strip(), r",|;|~|\.\.|-|–|\bto\b", dates)
    if ends is None:
        return None
    low_in, high_in = text[0] == "[", text[-1] == "]"
    low, high = _low(ends[0], dates), _low(ends[1], dates)
    if high is not None and high_in:
        high = _high(ends[1], dates, times)
    if low is None or high is None or low > high or (low == high and not (low_in and high_in)):
        return None
    return Interval(low, high, low_in, high_in)


def _between(text: str, dates: bool, times: bool) -> Interval | None:
    ends = _ends(text, r"~|\.\.|-|–|\bto\b", dates)
    if ends is None:
        return None
    low, high = _low(ends[0], dates), _high(ends[1], dates, times)
    return None if low is None or high is None or low > high else Interval(low, high)


def _open(text: str, dates: bool) -> Interval | None:
    """An open range; ends in double quotes are those of a tool that quotes what it must."""
    found = _OPEN.fullmatch(text)
    if found is None:
        return None
    end = next(found[name] for name in "abcdef" if found[name] is not None).strip()
    if len(end) > 1 and end[0] == end[-1] == '"':
        end = end[1:-1]
    low, high = _low(end, dates), _high(end, dates, times=True)
    if low is None or high is None:
        return None
    if found["least"] or found["e"] is not None:
        return Interval(low, math.inf)
    if found["more"]:
        return Interval(high, math.inf, low_in=False)
    if found["less"]:
        return Interval(-math.inf, low, high_in=False)
    return Interval(-math.inf, high)


def _ends(text: str, between: str, dates: bool) -> tuple[str, str] | None:
    """The two ends of a range; ``None`` where there are no two."""
    end = rf"{MOMENT}|{_END_OF_DATES if dates else _END_OF_NUMBERS}"
    found = re.fullmatch(rf"({end})\s*(?:{between})\s*({end})", text, re.IGNORECASE)
    return None if found is None else (found[1], found[2])


def _low(text: str, dates: bool) -> float | None:
    return _first_and_last(text, dates=dates, times=False)[0]


def _high(text: str, dates: bool, times: bool) -> float | None:
    return _first_and_last(text, dates=dates, times=times)[1]


def _first_and_last(
    text: str, *, dates: bool, times: bool
) -> tuple[float, float] | tuple[None, None]:
    """The first and the last value that an end stands for."""
    if dates:
        return _days(text, times=times) or (None, None)
    number = number_of(text)
    if number is None and text.lower().lstrip("+-") in ("inf", "infinity", "∞"):
        number = -math.inf if text.startswith("-") else math.inf
    if number is not None:
        return number, number
    return _days(text, times=times, parts=False) or (None, None)


def _days(text: str, *, times: bool, parts: bool = True) -> tuple[float, float] | None:
    """First and last day of a date, month, quarter or year; ``None`` for anything else."""
    day = days_of(text)
    if day is not None:
        whole_day = times and len(text) == len("2005-03-01")
        return day, day + _LAST_MOMENT if whole_day else day
    if not parts or re.fullmatch(_PART, text) is None:
        return None
    year, _, part = text.partition("-")
    if not part:
        first, last = 1, _LAST_MONTH
    elif part[0] == "Q":
        first, last = int(part[1]) * 3 - 2, int(part[1]) * 3
    else:
        first = last = int(part)
    if not 1 <= first <= _LAST_MONTH or int(year) < 1:
        return None
    start = days_of(f"{year}-{first:02d}-01")
    end = days_of(f"{year}-{last:02d}-{monthrange(int(year), last)[1]:02d}")
    if start is None or end is None:
        return None
    return start, end + _LAST_MOMENT if times else end
