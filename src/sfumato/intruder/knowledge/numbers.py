"""Numbers and dates from what is written."""

from __future__ import annotations

import re
from datetime import date
from datetime import time as time_of_day

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
MOMENT = (
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?"
)
_NUMBER = re.compile(NUMBER)
_MOMENT = re.compile(MOMENT)
_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()


def number_of(text: str) -> float | None:
    """The number that is written (``12``, ``-3.50``, ``.5``, ``1e-3``); ``None`` without one."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def days_of(text: str) -> float | None:
    """Days from 1970-01-01 to the date, or the date-time as it is written without its zone.

    ``None`` for anything but a date of the calendar in ISO form.
    """
    text = text.strip()
    if _MOMENT.fullmatch(text) is None:
        return None
    day, time = text[:10], text[11:]
    try:
        days = date.fromisoformat(day).toordinal() - _EPOCH
        return float(days) if not time else days + _part_of_day(time)
    except ValueError:
        return None


def measure_of(text: str) -> float | None:
    """The number, or the date in days, that is written; ``None`` for anything else."""
    number = number_of(text)
    return days_of(text) if number is None else number


def _part_of_day(time: str) -> float:
    """The share of the day that has passed; fractions of a microsecond are cut off."""
    clock = re.split(r"[ Z+-]", time, maxsplit=1)[0]
    whole, _, fraction = clock.partition(".")
    moment = time_of_day.fromisoformat(whole)
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    return (seconds * 1_000_000 + int(fraction[:6].ljust(6, "0"))) / _DAY
