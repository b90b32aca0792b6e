"""Numbers as people read them."""

from __future__ import annotations

from math import isfinite

from sfumato.core.measure import Measure, Position

NARROW = "\u202f"
"""Narrow space that does not break, between a number and its unit."""
NONE = "–"
MOST_DIGITS = 6


def count(value: float) -> str:
    """A count with separators of thousands; a count that is no whole number with one decimal."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def percent(share: float, digits: int = 1) -> str:
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
        return f"{value:.0f}{NARROW}%"
    if 0 < abs(value) < 1:
        text = f"{value:.2g}" if abs(value) >= 1e-4 else "below 0.0001"
        return f"{text}{NARROW}%"
    while round(value, digits) in (0, 100) and digits < MOST_DIGITS:
        digits += 1
    return f"{value:.{digits}f}{NARROW}%"


def number(value: float) -> str:
    """A number with four significant digits; an infinite one as words of recursive diversity."""
    if not isfinite(value):
        return "no c" if value > 0 else NONE
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def beside(value: float, threshold: float, share: bool) -> str:
    """A value with as many digits as it takes to tell it from its threshold.

    Parameters
    ----------
    value
        What was reached.
    threshold
        What was asked.
    share
        Whether both print as percentages.
    """
    shown = percent(value) if share else number(value)
    if abs(value - threshold) < 1e-9:
        return percent(threshold) if share else number(threshold)
    digits = 2
    while shown == (percent(threshold) if share else number(threshold)) and digits < 9:
        shown = f"{100 * value:.{digits}f}{NARROW}%" if share else f"{value:.{digits + 3}g}"
        digits += 1
    return shown


def measured(measure: Measure, share: bool) -> str:
    """A measure, with its interval and estimator when it is an estimate."""
    show = percent if share else number
    low, high = measure.low, measure.high
    if measure.estimator is None or low is None or high is None or low == high:
        return show(measure.value)
    return f"{show(measure.value)} ({show(low)} to {show(high)}, {measure.estimator})"


def place(where: Position | None) -> str:
    """A position in words."""
    if where is None:
        return ""
    return f"class {count(where.equivalence_class)}, row {count(where.row)}"


def listed(names: tuple[str, ...]) -> str:
    """Names as a phrase: ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
