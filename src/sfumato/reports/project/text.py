"""Told numbers as people read them."""

from __future__ import annotations

from typing import Any

from sfumato.reports import numbers

COUNT, SHARE, NUMBER = "count", "share", "number"
_WHOLE = 10
"""From here on estimated counts are told as whole numbers."""
_WORDS = {
    "fewer_than": "fewer than ",
    "below": "below ",
    "above": "above ",
    "about": "about ",
    "at_most": "at most ",
    "more_than": "more than ",
}


def told(value: Any, scale: str) -> str:
    """A told number, with its interval where it is an estimate.

    Parameters
    ----------
    value
        What an audience is told: a number, words about one, or an object with an interval.
    scale
        ``count``, ``share`` or ``number``.
    """
    if value is None:
        return numbers.NONE
    if not isinstance(value, dict):
        return _printed(value, scale)
    for key, word in _WORDS.items():
        if key in value:
            return f"{word}{_printed(value[key], scale, coarse=True)}"
    return f"{told(value.get('value'), scale)}{_interval(value, scale)}"


def at_most(value: Any) -> str:
    """A largest chance as it stands in a sentence.

    Parameters
    ----------
    value
        What an audience is told.
    """
    exact = isinstance(value, (int, float)) or (isinstance(value, dict) and "value" in value)
    return f"at most {told(value, SHARE)}" if exact else told(value, SHARE)


def is_small(value: Any) -> bool:
    """Whether a number is told as fewer than some.

    Parameters
    ----------
    value
        What an audience is told.
    """
    return isinstance(value, dict) and "fewer_than" in value


def some(value: Any, one: str, several: str) -> str:
    """A told number of things: ``1 record``, ``fewer than 10 records``.

    Parameters
    ----------
    value
        What an audience is told.
    one, several
        The thing.
    """
    return f"{told(value, COUNT)} {one if value == 1 else several}"


def _interval(value: dict[str, Any], scale: str) -> str:
    low, high = value.get("low"), value.get("high")
    by = value.get("estimator")
    if low is None or high is None or low == high:
        return ""
    if any(isinstance(end, dict) and "about" not in end for end in (low, high)):
        return f" ({by})" if by else ""
    ends = " to ".join(
        _printed(end["about"], scale, coarse=True)
        if isinstance(end, dict)
        else _printed(end, scale)
        for end in (low, high)
    )
    return f" ({ends}, {by})" if by else f" ({ends})"


def _printed(value: float, scale: str, *, coarse: bool = False) -> str:
    if scale == COUNT:
        return numbers.count(round(value, 1) if value < _WHOLE else round(value))
    if scale == SHARE:
        return numbers.percent(value, 0) if coarse else numbers.percent(value)
    return numbers.number(value)
