"""Dates in several spellings, as ISO text; what is no date is missing."""

from __future__ import annotations

PIVOT = 30
"""Years of two digits from here on are of the twentieth century."""

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_GAP = "[-/. ]"
_YEAR_FIRST = f"^(\\d{{4}}){_GAP}(\\d{{1,2}}){_GAP}(\\d{{1,2}})$"
_COMPACT = "^(1[89]|20)(\\d\\d)(\\d\\d)(\\d\\d)$"
_COMPACT_LAST = "^(\\d\\d)(\\d\\d)((?:1[89]|20)\\d\\d)$"
_YEAR_LAST = f"^(\\d{{1,2}}){_GAP}(\\d{{1,2}}){_GAP}(\\d{{4}})$"
_SHORT_YEAR = f"^(\\d{{1,2}}){_GAP}(\\d{{1,2}}){_GAP}(\\d{{2}})$"
_DAY_MONTH = "^(\\d{1,2})(?:st|nd|rd|th)?[-/., ]*([a-z]{3})[a-z]*[-/., ]*(\\d{4}|\\d{2})$"
_MONTH_DAY = "^([a-z]{3})[a-z]*[-/., ]*(\\d{1,2})(?:st|nd|rd|th)?[-/., ]+(\\d{4})$"
_TIME = "[t ]\\d{1,2}:\\d\\d.*$"


def date_sql(column: str, *, day_first: bool) -> str:
    """A date as ISO text, missing where there is no such date, as SQL.

    ``1980-03-04``, ``19800304``, ``4/3/1980``, ``04.03.80``, ``4 Mar 1980`` and ``March 4, 1980``
    are read, a time of day behind them left out. Where day and month can only be the other way
    round they are.

    Parameters
    ----------
    column
        The date, as SQL.
    day_first
        Whether the day stands before the month where both are numbers before a year.
    """
    text = f"trim(regexp_replace(lower({column}), '{_TIME}', ''))"
    compact = f"try_cast(regexp_replace({text}, '{_COMPACT}', '\\1\\2-\\3-\\4') AS DATE)"
    ways = [
        f"WHEN regexp_matches({text}, '{_YEAR_FIRST}') THEN {_put(text, _YEAR_FIRST, '1-2-3')}",
        f"WHEN regexp_matches({text}, '{_COMPACT}') THEN {compact}",
    ]
    for pattern in (_YEAR_LAST, _COMPACT_LAST):
        orders = ("3-2-1", "3-1-2") if day_first else ("3-1-2", "3-2-1")
        either = ", ".join(_put(text, pattern, order) for order in orders)
        ways.append(f"WHEN regexp_matches({text}, '{pattern}') THEN coalesce({either})")
    ways += [_short_year(text, day_first), _day_month(text), _month_day(text)]
    return f"CAST(CASE {' '.join(ways)} END AS VARCHAR)"


def day_first_sql(column: str) -> str:
    """Whether the day or the month stands first in a date of numbers before a year, as SQL.

    1 if only the day can, -1 if only the month can, 0 if both; missing for other dates.

    Parameters
    ----------
    column
        The date, as SQL.
    """
    text = f"trim(regexp_replace(lower({column}), '{_TIME}', ''))"
    pattern = f"^(\\d{{1,2}}){_GAP}(\\d{{1,2}}){_GAP}(?:\\d{{4}}|\\d{{2}})$"
    first, second = (
        f"try_cast(regexp_extract({text}, '{pattern}', {n}) AS INTEGER)" for n in (1, 2)
    )
    return f"CASE WHEN {first} > 12 THEN 1 WHEN {second} > 12 THEN -1 WHEN {first} > 0 THEN 0 END"


def _put(text: str, pattern: str, order: str) -> str:
    groups = "-".join(f"\\{number}" for number in order.split("-"))
    return f"try_cast(regexp_replace({text}, '{pattern}', '{groups}') AS DATE)"


def _year(digits: str) -> str:
    return (
        f"CASE WHEN length({digits}) = 4 THEN {digits} "
        f"WHEN {digits} >= '{PIVOT}' THEN '19' || {digits} ELSE '20' || {digits} END"
    )


def _short_year(text: str, day_first: bool) -> str:
    one, two, year = (f"regexp_extract({text}, '{_SHORT_YEAR}', {n})" for n in (1, 2, 3))
    pairs = ((two, one), (one, two)) if day_first else ((one, two), (two, one))
    either = ", ".join(
        f"try_cast(({_year(year)}) || '-' || {month} || '-' || {day} AS DATE)"
        for month, day in pairs
    )
    return f"WHEN regexp_matches({text}, '{_SHORT_YEAR}') THEN coalesce({either})"


def _month(word: str) -> str:
    months = ", ".join(f"'{month}'" for month in _MONTHS.split())
    return f"CAST(list_position([{months}], {word}) AS VARCHAR)"


def _day_month(text: str) -> str:
    day, month, year = (f"regexp_extract({text}, '{_DAY_MONTH}', {n})" for n in (1, 2, 3))
    return (
        f"WHEN regexp_matches({text}, '{_DAY_MONTH}') "
        f"THEN try_cast(({_year(year)}) || '-' || {_month(month)} || '-' || {day} AS DATE)"
    )


def _month_day(text: str) -> str:
    month, day, year = (f"regexp_extract({text}, '{_MONTH_DAY}', {n})" for n in (1, 2, 3))
    return (
        f"WHEN regexp_matches({text}, '{_MONTH_DAY}') "
        f"THEN try_cast({year} || '-' || {_month(month)} || '-' || {day} AS DATE)"
    )
