"""Slips of a hand at a keyboard: in a word, in a row of digits, in a date."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

OPERATIONS = ("substitute", "delete", "insert", "transpose")
OPERATION_SHARES = (0.40, 0.25, 0.15, 0.20)
"""How often a typo in a word is each of the operations."""
NEARBY_SHARE = 0.7
"""Share of the substituted or inserted letters that lie beside the right one on the keyboard."""

_UNITS = np.array([1, 10, 100, 1_000, 10_000, 100_000])
"""Of the digits of a date as one number, YYYYMMDD, that can be misread."""
_TRIES = 300
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_DIGITS = "1234567890"


def _keyboard() -> dict[str, str]:
    """Neighbours of each key: beside it in its row, and the two below and above."""
    beside: dict[str, set[str]] = {key: set() for key in _LETTERS + _DIGITS}
    pairs = [(a, b) for row in (*_ROWS, _DIGITS) for a, b in pairwise(row)]
    for upper, lower in pairwise(_ROWS):
        pairs += list(zip(upper, lower, strict=False)) + list(zip(upper[1:], lower, strict=False))
    for one, other in pairs:
        beside[one].add(other)
        beside[other].add(one)
    return {key: "".join(sorted(near)) for key, near in beside.items()}


NEIGHBOURS = _keyboard()
"""The keys beside each key of a keyboard, by key: letters beside letters, digits beside digits."""


def misspelt(words: list[str], rng: np.random.Generator) -> list[str]:
    """Each word with one typo; none is left as it was.

    Parameters
    ----------
    words
        Names of at least two characters.
    rng
        Source of randomness.
    """
    kinds = rng.choice(len(OPERATIONS), len(words), p=OPERATION_SHARES).tolist()
    places, letters, near = (rng.random(len(words)).tolist() for _ in range(3))
    return [
        _misspelt(word, OPERATIONS[kind], place, letter, nearby < NEARBY_SHARE)
        for word, kind, place, letter, nearby in zip(
            words, kinds, places, letters, near, strict=True
        )
    ]


def _misspelt(word: str, operation: str, place: float, letter: float, nearby: bool) -> str:
    text = word.lower()
    at = int(place * len(text))
    if operation == "transpose":
        swapped = _transposed(text, at)
        if swapped != text:
            return swapped.title()
        operation = "substitute"
    if operation == "delete" and len(text) > 2:
        return (text[:at] + text[at + 1 :]).title()
    keys = NEIGHBOURS.get(text[at], "") if nearby else ""
    keys = (keys or _LETTERS).replace(text[at], "")
    key = keys[int(letter * len(keys))]
    end = at if operation == "insert" else at + 1
    return (text[:at] + key + text[end:]).title()


def _transposed(text: str, at: int) -> str:
    at = min(at, len(text) - 2)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def mistyped(numbers: list[str], digits: int, rng: np.random.Generator) -> list[str]:
    """Each text with one slip in its last digits: half of them transpose two, else a neighbour.

    Parameters
    ----------
    numbers
        Texts that end in digits, such as a ZIP or a telephone number.
    digits
        How many digits at the end can be hit, at least two.
    rng
        Source of randomness.
    """
    swaps = (rng.random(len(numbers)) < 0.5).tolist()
    places, keys = (rng.random(len(numbers)).tolist() for _ in range(2))
    return [
        number[:-digits] + _mistyped(number[-digits:], swap, place, key)
        for number, swap, place, key in zip(numbers, swaps, places, keys, strict=True)
    ]


def _mistyped(digits: str, swap: bool, place: float, key: float) -> str:
    at = int(place * len(digits))
    swapped = _transposed(digits, at)
    if swap and swapped != digits:
        return swapped
    near = NEIGHBOURS[digits[at]]
    return digits[:at] + near[int(key * len(near))] + digits[at + 1 :]


def swapped_dates(days: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Each date with day and month exchanged; as it was where the day cannot be a month.

    Parameters
    ----------
    days
        Days since 1970-01-01.
    """
    year, month, day = _parts(days)
    possible = day <= 12
    return np.where(possible, _days(year, day, month), days)


def misread_dates(
    days: npt.NDArray[np.int64], last: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Each date with one of its digits replaced, the century's apart; valid and not late.

    A date to which no such other date exists is left as it was.

    Parameters
    ----------
    days
        Days since 1970-01-01.
    last
        Last day that each result may be, not before ``days``.
    rng
        Source of randomness.
    """
    result = days.copy()
    todo = np.arange(len(days))
    year, month, day = _parts(days)
    number = year * 10_000 + month * 100 + day
    for _ in range(_TRIES):
        unit = _UNITS[rng.integers(0, len(_UNITS), len(todo))]
        own = number[todo]
        new = own + (rng.integers(0, 10, len(todo)) - own // unit % 10) * unit
        found = _days(new // 10_000, new // 100 % 100, new % 100)
        again = _parts(found)
        valid = again[0] * 10_000 + again[1] * 100 + again[2] == new
        valid &= (found <= last[todo]) & (new != own)
        result[todo[valid]] = found[valid]
        todo = todo[~valid]
        if not len(todo):
            break
    return result


def _parts(days: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], ...]:
    """Year, month and day of the month."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    count = months.astype(np.int64)
    day = (dates - months.astype("datetime64[D]")).astype(np.int64) + 1
    return 1970 + count // 12, count % 12 + 1, day


def _days(
    year: npt.NDArray[np.int64], month: npt.NDArray[np.int64], day: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Days since 1970-01-01; months and days that do not exist run on into later ones."""
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    return np.asarray(months.astype("datetime64[D]").astype(np.int64) + day - 1, dtype=np.int64)
