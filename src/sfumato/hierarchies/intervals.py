"""Hierarchies of numbers and dates by intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise

from sfumato.core.errors import InputError
from sfumato.hierarchies.hierarchy import ROOT, Hierarchy
from sfumato.schema import IntervalHierarchy

_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")


def _month(day: date) -> str:
    return f"{day.year:04d}-{day.month:02d}"


def _quarter(day: date) -> str:
    return f"{day.year:04d}-Q{(day.month + 2) // 3}"


def _year(day: date) -> str:
    return f"{day.year:04d}"


def _decade(day: date) -> str:
    start = day.year // 10 * 10
    return f"{start:04d}-{start + 9:04d}"


DATE_UNITS: dict[str, Callable[[date], str]] = {
    "month": _month,
    "quarter": _quarter,
    "year": _year,
    "decade": _decade,
}
"""The intervals of dates, narrowest first, and how each one prints the interval of a day."""


def interval_hierarchy(spec: IntervalHierarchy, labels: Sequence[str], column: str) -> Hierarchy:
    """Generalise numbers or dates to intervals of growing width, up to the root ``*``.

    Intervals of whole numbers print with both ends inside (``20-29``, ``-10 to -1``); where
    the values, a width or the start have decimals, intervals print without their upper end
    (``[2.5, 5)``). Dates give ``2005-03``, ``2005-Q1``, ``2005`` and ``2000-2009``.

    Parameters
    ----------
    spec
        The widths, narrowest first, and the start.
    labels
        The column's distinct values: printed numbers, or dates or datetimes in ISO form.
    column
        The column's name, for errors.

    Raises
    ------
    InputError
        If the widths are neither all numbers nor all units of dates, do not ascend or do not
        nest, or if the column holds something else than what the widths are for.
    """
    subject = f"hierarchy of column '{column}'"
    if not spec.widths:
        raise InputError(subject, "must have at least one width", accepted="widths = [5, 10]")
    units = [width for width in spec.widths if isinstance(width, str)]
    numbers = [width for width in spec.widths if not isinstance(width, str)]
    if not units:
        above = _number_columns(numbers, spec.start, labels, subject)
    elif not numbers:
        above = _date_columns(units, labels, subject)
    else:
        raise InputError(
            subject,
            "must have widths of one kind",
            found="numbers and words",
            accepted='widths = [5, 10] or widths = ["month", "year"]',
        )
    return Hierarchy.from_columns([labels, *above, [ROOT] * len(labels)], subject)


def _date_columns(units: Sequence[str], labels: Sequence[str], subject: str) -> list[Sequence[str]]:
    ranks = [list(DATE_UNITS).index(unit) if unit in DATE_UNITS else -1 for unit in units]
    ascending = all(below < above for below, above in pairwise(ranks))
    if -1 in ranks or not ascending:
        raise InputError(
            subject,
            "must have widths of dates narrowest first, each once",
            accepted=", ".join(f'"{unit}"' for unit in DATE_UNITS),
        )
    days = [_day(label) for label in labels]
    known = [day for day in days if day is not None]
    if len(known) < len(days):
        raise InputError(
            subject,
            "with widths of dates must be over a column of dates",
            found=f"{len(days) - len(known)} of {len(days)} distinct values that are no dates",
            accepted="dates in ISO form (YYYY-MM-DD), with or without a time",
        )
    return [[DATE_UNITS[unit](day) for day in known] for unit in units]


def _day(label: str) -> date | None:
    try:
        return datetime.fromisoformat(label).date() if label[4:5] == "-" else None
    except ValueError:
        return None


def _number_columns(
    widths: Sequence[float], start: float, labels: Sequence[str], subject: str
) -> list[Sequence[str]]:
    if not all(math.isfinite(number) for number in (*widths, start)):
        raise InputError(subject, "must have finite widths and start")
    steps, origin = [Decimal(str(width)) for width in widths], Decimal(str(start))
    odd = sum(_NUMBER.fullmatch(label) is None for label in labels)
    if odd:
        raise InputError(
            subject,
            "with widths of numbers must be over a column of numbers",
            found=f"{odd} of {len(labels)} distinct values that are no numbers",
            advice='for dates give widths such as "month" and "year"',
        )
    places = max(map(_places, (*steps, origin)), default=0)
    decimals = max([places, *(len(label.partition(".")[2]) for label in labels)])
    scaled = [_scaled(step, decimals) for step in steps]
    if scaled[0] <= 0 or any(above <= below or above % below for below, above in pairwise(scaled)):
        raise InputError(
            subject,
            "must have widths above zero, narrowest first, each a multiple of the one before",
            accepted="widths = [5, 10, 50]",
        )
    points = [_point(label, decimals) for label in labels]
    digits = _padding(labels)
    first = _scaled(origin, decimals)
    return [
        [
            _interval(first + (point - first) // step * step, step, decimals, digits)
            for point in points
        ]
        for step in scaled
    ]


def _places(number: Decimal) -> int:
    """Decimal places that a number needs."""
    exponent = number.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _scaled(number: Decimal, decimals: int) -> int:
    """The number times ``10**decimals``, exactly."""
    numerator, denominator = number.as_integer_ratio()
    return int(numerator * 10**decimals // denominator)


def _point(label: str, decimals: int) -> int:
    whole, _, fraction = label.partition(".")
    return int(whole + fraction.ljust(decimals, "0"))


def _padding(labels: Sequence[str]) -> int:
    """Digits of codes that are padded with zeros (ZIPs) to one length; 0 for plain numbers."""
    lengths = {len(label) for label in labels}
    padded = any(len(label) > 1 and label[0] == "0" and label.isdigit() for label in labels)
    return lengths.pop() if padded and len(lengths) == 1 else 0


def _interval(low: int, step: int, decimals: int, digits: int) -> str:
    if decimals:
        return f"[{_printed(low, decimals)}, {_printed(low + step, decimals)})"
    high = low + step - 1
    if low == high:
        return f"{low:0{digits}d}"
    return f"{low:0{digits}d}-{high:0{digits}d}" if low >= 0 else f"{low} to {high}"


def _printed(point: int, decimals: int) -> str:
    """A scaled number without zeros at the end of its decimals."""
    whole, fraction = divmod(abs(point), 10**decimals)
    text = f"{whole}.{fraction:0{decimals}d}".rstrip("0").rstrip(".")
    return f"-{text}" if point < 0 else text
