"""Dates in their usual spellings, as digits in the order of display."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from sfumato.review.attributes import DateOrder
from sfumato.review.display.date_layout import WHOLE, parts
from sfumato.review.values import Mark

PIVOT = 30
"""Years of two digits from here on are of the twentieth century, as in linkage."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_GAP = r"(?: ?[-/.,] ?| )"
_LOOSE = r"[-/., ]*"
_WORD = r"([a-z]{3,9})"
_DAY = r"(\d{1,2})"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(\d{4}|\d{2})"

_TIME = re.compile(r"[t ]\d{1,2}:\d\d.*$")
_YEAR_FIRST = re.compile(rf"(\d{{4}}){_GAP}{_DAY}{_GAP}{_DAY}")
_YEAR_LAST = re.compile(rf"{_DAY}{_GAP}{_DAY}{_GAP}{_YEAR}")
_COMPACT = re.compile(r"((?:1[89]|20)\d\d)(\d\d)(\d\d)")
_COMPACT_LAST = re.compile(r"(\d\d)(\d\d)((?:1[89]|20)\d\d)")
_DAY_WORD = re.compile(rf"{_NTH}{_LOOSE}{_WORD}{_LOOSE}{_YEAR}")
_WORD_DAY = re.compile(rf"{_WORD}{_LOOSE}{_NTH}{_GAP}(\d{{4}})")
_YEAR_MONTH = re.compile(rf"(\d{{4}}){_GAP}(?:{_DAY}|{_WORD})")
_MONTH_YEAR = re.compile(rf"(?:{_DAY}|{_WORD}){_GAP}(\d{{4}})")
_YEAR_ALONE = re.compile(r"\d{4}")


class _Reading(NamedTuple):
    year: int
    month: int | None = None
    day: int | None = None


def digits(text: str, order: DateOrder) -> str | None:
    """The digits of a date in the order of display; ``None`` for what is no date.

    ``1980-03-04``, ``19800304``, ``4/3/1980``, ``04.03.80``, ``4 Mar 1980``, ``March 4th, 1980``
    are read, a time of day behind them left out: 8 digits. A month and a year give 6 digits, a
    year 4. Of two numbers before a year the day comes first if it does in `order`, else the
    month; where only the other reading is a date it is taken. Dates that do not exist
    (``31/02/1980``) keep their numbers.

    Parameters
    ----------
    text
        A cleaned text.
    order
        The order of display.
    """
    day_first = order is DateOrder.DAY_MONTH_YEAR
    bare = _TIME.sub("", text.lower()).strip(" ,.")
    readings = list(_whole(bare, day_first=day_first)) or list(_partial(bare))
    if not readings:
        return None
    return _written(next((each for each in readings if _exists(each)), readings[0]), order)


def _written(reading: _Reading, order: DateOrder) -> str:
    if reading.month is None:
        return f"{reading.year:04}"
    text = {Mark.YEAR: f"{reading.year:04}", Mark.MONTH: f"{reading.month:02}"}
    if reading.day is not None:
        text[Mark.DAY] = f"{reading.day:02}"
    return "".join(text[part] for part in parts(order) if part in text)


def _exists(reading: _Reading) -> bool:
    try:
        date(reading.year, reading.month or 1, reading.day or 1)
    except ValueError:
        return False
    return reading.month != 0 and reading.day != 0


def _whole(text: str, *, day_first: bool) -> Iterator[_Reading]:
    for pattern in (_YEAR_FIRST, _COMPACT):
        if match := pattern.fullmatch(text):
            yield _Reading(int(match[1]), int(match[2]), int(match[3]))
    for pattern in (_YEAR_LAST, _COMPACT_LAST):
        if match := pattern.fullmatch(text):
            one, two, year = int(match[1]), int(match[2]), _century(match[3])
            as_day_first, as_month_first = _Reading(year, two, one), _Reading(year, one, two)
            yield as_day_first if day_first else as_month_first
            yield as_month_first if day_first else as_day_first
    if (match := _DAY_WORD.fullmatch(text)) and (month := _month(match[2])):
        yield _Reading(_century(match[3]), month, int(match[1]))
    if (match := _WORD_DAY.fullmatch(text)) and (month := _month(match[1])):
        yield _Reading(int(match[3]), month, int(match[2]))


def _partial(text: str) -> Iterator[_Reading]:
    if match := _YEAR_MONTH.fullmatch(text):
        year, number, word = match.groups()
    elif match := _MONTH_YEAR.fullmatch(text):
        number, word, year = match.groups()
    else:
        if _YEAR_ALONE.fullmatch(text):
            yield _Reading(int(text))
        return
    month = int(number) if number else _month(word)
    if month is not None:
        yield _Reading(int(year), month)


def _century(year: str) -> int:
    if len(year) == 4:
        return int(year)
    return int(year) + (1900 if int(year) >= PIVOT else 2000)


def _month(word: str) -> int | None:
    """The number of a month from its name or the beginning of its name."""
    return next((n for n, name in enumerate(_MONTHS, 1) if name.startswith(word)), None)


def is_whole(characters: tuple[str, ...]) -> bool:
    """Whether these are the digits of a date with day, month and year.

    Parameters
    ----------
    characters
        The characters of a displayed date.
    """
    return len(characters) == WHOLE and all(is_digit(each) for each in characters)


def is_digit(character: str) -> bool:
    """Whether a character is one of the digits that dates are displayed with.

    Parameters
    ----------
    character
        One grapheme.
    """
    return character.isascii() and character.isdigit()
