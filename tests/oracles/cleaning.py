"""Numbers and dates read one by one, as a person would, with Python's own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta


def number(text: str, decimal: str, thousands: str | None) -> float | None:
    """The number that a text of ASCII is; ``None`` where it is none."""
    text = text.strip()
    sign = -1.0 if text[:1] == "-" else 1.0
    body = text[1:].lstrip() if text[:1] in ("+", "-") else text
    whole, _, fraction = body.partition(decimal)
    groups = whole.split(thousands) if thousands is not None else [whole]
    if not all(group.isascii() and group.isdigit() for group in groups if group or len(groups) > 1):
        return None
    if len(groups) > 1:
        first, *middle, last = groups
        thousand = all(len(group) == 3 for group in middle) and len(first) <= 3
        lakh = bool(middle) and all(len(group) == 2 for group in middle) and len(first) <= 2
        if len(last) != 3 or not first or not (thousand or lakh):
            return None
    digits = "".join(groups)
    if fraction and not (fraction.isascii() and fraction.isdigit()):
        return None
    if not digits and not fraction:
        return None
    return sign * float(f"{digits or '0'}.{fraction or '0'}") + 0.0


def day(text: str, formats: Sequence[str]) -> date | None:
    """The first date that a text is by one of the formats."""
    for each in formats:
        try:
            return datetime.strptime(text.strip(), each).date()  # noqa: DTZ007
        except ValueError:
            continue
    return None


def age(born: date, at: date) -> int:
    """Birthdays since the birth, counted year by year; that of a 29 February is 1 March else."""
    years = 0
    while True:
        try:
            birthday = born.replace(year=born.year + years + 1)
        except ValueError:
            birthday = date(born.year + years + 1, 3, 1)
        if birthday > at:
            return years
        years += 1


def months(born: date, at: date) -> int:
    """Completed months, counted day by day: one more whenever the day of the month is reached."""
    completed, today, due = 0, born, born.day
    reached = True
    while today < at:
        today += timedelta(days=1)
        if today.day == 1:
            if not reached:
                completed += 1
            reached = False
        if not reached and today.day >= due:
            completed, reached = completed + 1, True
    return completed
