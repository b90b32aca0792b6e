"""What the words of a column can mean: its labels, their order, and the labels above them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.intruder.knowledge.numbers import measure_of
from sfumato.intruder.reading.cell import Interval
from sfumato.intruder.reading.quotes import ends_of

_DIGITS = re.compile(r"([0-9]+)")
PLAIN = re.compile(r"([0-9]+(?:\.[0-9]+)?)-([0-9]+(?:\.[0-9]+)?)")
"""Two numbers with a hyphen between: a range, or a label that looks like one."""


@dataclass(frozen=True)
class Vocabulary:
    """What an outsider knows of the words of one quasi-identifier.

    Attributes
    ----------
    measured
        Whether its values are numbers or dates.
    dates, times
        Whether they are dates, and whether those have times.
    ordered
        Whether its labels have an order.
    order
        Its labels from lowest to highest, where that is declared; else the order is natural
        (embedded numbers by value, case folded).
    values
        The values that are known to exist.
    above
        The values below each label of a hierarchy.
    """

    measured: bool = False
    dates: bool = False
    times: bool = False
    ordered: bool = False
    order: tuple[str, ...] | None = None
    values: Collection[str] = ()
    above: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def is_label(self, text: str) -> bool:
        """Whether a text is a known label as it stands, such as ``10-19``."""
        if text in self.above:
            return True
        return not self.measured and (text in self.values or text in (self.order or ()))

    def is_range_too(self, text: str) -> bool:
        """Whether both ends of what may be a range are labels: ``10-19`` where 10 and 19 are."""
        plain = PLAIN.fullmatch(text)
        ends = (plain[1], plain[2]) if plain else ends_of(text)
        return ends is not None and all(end is None or self.is_label(end) for end in ends)

    def between(self, low: str | None, high: str | None) -> frozenset[str] | None:
        """The labels from one to another, ``None`` being no end.

        ``None`` where an end has no place in the order.
        """
        if self.order is None:
            return self._between_by_nature(low, high)
        for end in (low, high):
            if end is not None and end not in self.order:
                return None
        first = 0 if low is None else self.order.index(low)
        last = len(self.order) - 1 if high is None else self.order.index(high)
        return frozenset(self.order[first : last + 1]) if first <= last else None

    def _between_by_nature(self, low: str | None, high: str | None) -> frozenset[str] | None:
        first = None if low is None else _natural(low)
        last = None if high is None else _natural(high)
        if first is not None and last is not None and first > last:
            return None
        inside = {end for end in (low, high) if end is not None}
        for value in self.values:
            key = _natural(value)
            if (first is None or first <= key) and (last is None or key <= last):
                inside.add(value)
        return frozenset(inside)

    def within(self, interval: Interval) -> frozenset[str]:
        """The known values that are numbers or dates in a range."""
        found = set()
        for value, number in self._numbers:
            above = interval.low < number or (interval.low_in and interval.low == number)
            below = number < interval.high or (interval.high_in and interval.high == number)
            if above and below:
                found.add(value)
        return frozenset(found)

    @cached_property
    def _numbers(self) -> list[tuple[str, float]]:
        numbers = ((value, measure_of(value)) for value in self.values)
        return [(value, number) for value, number in numbers if number is not None]

    def masked(self, text: str) -> frozenset[str]:
        """The known values that a text with stars in place of characters (``816**``) can hide."""
        parts = [re.escape(part) for part in text.split("*")]
        for hidden in (".", ".*"):
            pattern = re.compile(hidden.join(parts), re.DOTALL)
            found = frozenset(value for value in self.values if pattern.fullmatch(value))
            if found:
                return found
        return frozenset()


def _natural(label: str) -> tuple[list[tuple[str, int, str]], str]:
    """Texts sort with case folded and embedded numbers by value."""
    parts = _DIGITS.split(label)
    texts, numbers = parts[::2], [*parts[1::2], ""]
    key = []
    for text, digits in zip(texts, numbers, strict=True):
        value = digits.lstrip("0")
        key.append((text.casefold(), len(value), value))
    return key, label
