"""Where the parts and the separators of a displayed date stand."""

from __future__ import annotations

from functools import cache

from sfumato.review.attributes import DateOrder
from sfumato.review.values import Mark

_PARTS = {
    DateOrder.YEAR_MONTH_DAY: (Mark.YEAR, Mark.MONTH, Mark.DAY),
    DateOrder.DAY_MONTH_YEAR: (Mark.DAY, Mark.MONTH, Mark.YEAR),
    DateOrder.MONTH_DAY_YEAR: (Mark.MONTH, Mark.DAY, Mark.YEAR),
}
_WIDTH = {Mark.YEAR: 4, Mark.MONTH: 2, Mark.DAY: 2}
WHOLE = 8
"""Digits of a date with day, month and year."""
MONTH_AND_YEAR = 6
"""Digits of a date without its day."""


def parts(order: DateOrder, count: int = WHOLE) -> dict[Mark, range]:
    """The places of each part of a date, in the order of display; empty if it has none.

    Parameters
    ----------
    order
        The order of display.
    count
        The number of digits: 8, or 6 without a day.
    """
    left_out = {WHOLE: set[Mark](), MONTH_AND_YEAR: {Mark.DAY}}.get(count)
    if left_out is None:
        return {}
    found, start = {}, 0
    for part in _PARTS[order]:
        if part not in left_out:
            found[part] = range(start, start + _WIDTH[part])
            start += _WIDTH[part]
    return found


@cache
def layout(order: DateOrder, count: int) -> tuple[int | str, ...]:
    """Places and separators of a date, which follow from the number of its characters alone.

    So a masked date, drawn in it, tells no more than that number.

    Parameters
    ----------
    order
        The order of display.
    count
        The number of characters.
    """
    separator = "-" if order is DateOrder.YEAR_MONTH_DAY else "/"
    found: list[int | str] = []
    for places in parts(order, count).values():
        found += [separator, *places] if found else places
    return tuple(found) or tuple(range(count))
