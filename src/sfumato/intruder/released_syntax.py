"""How an intruder reads a released cell: numbers, ranges, dates, sets, the words of a hierarchy."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.intruder.knowledge import MOMENT, NUMBER, days_of, measure_of, number_of


@dataclass(frozen=True, slots=True)
class Exact:
    """One value, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers, or dates in days since 1970-01-01, between two ends; infinite where it is open."""

    low: float
    high: float
    low_in: bool = True
    high_in: bool = True


@dataclass(frozen=True, slots=True)
class Members:
    """One of some values."""

    texts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value, a missing one included."""


@dataclass(frozen=True, slots=True)
class Missing:
    """No value."""


Cell = Exact | Interval | Members | Anything | Missing


_LABEL = r'"(?:[^"]|"")*"'
_QUOTED = re.compile(_LABEL)
_MEMBER = re.compile(rf"\s*({_LABEL}|[^\",{{}}]*)\s*(,|\}})")
_RANGE = re.compile(rf"({_LABEL}|[^\"].*?) to ({_LABEL}|[^\"].*)", re.DOTALL)
_OPEN = re.compile(rf"({_LABEL}|[^\"].*?) or (more|less)", re.DOTALL)


def quoted(text: str) -> str | None:
    """The label that is in double quotes from its first to its last character, else ``None``."""
    return unquoted(text) if _QUOTED.fullmatch(text) else None


def unquoted(text: str) -> str:
    """The label without its quotes, if it has any."""
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def members_of(text: str) -> list[str] | None:
    """The members of ``{a, "b, c"}``; ``None`` for anything else."""
    if not text.startswith("{") or not text.endswith("}"):
        return None
    members, place = [], 1
    while place < len(text):
        found = _MEMBER.match(text, place)
        if found is None or not found[1]:
            return None
        members.append(unquoted(found[1].strip() if found[1][0] != '"' else found[1]))
        place = found.end()
        if found[2] == "}" and place < len(text):
            return None
    return members


def ends_of(text: str) -> tuple[str | None, str | None] | None:
    """The ends of ``a to b``, ``a or more`` or ``b or less``; ``None`` for anything else."""
    found = _RANGE.fullmatch(text)
    if found is not None:
        return unquoted(found[1]), unquoted(found[2])
    found = _OPEN.fullmatch(text)
    if found is None:
        return None
    end = unquoted(found[1])
    return (end, None) if found[2] == "more" else (None, end)


_PART = r"\d{4}-(?:\d{2}|Q[1-4])|\d{4}"
_END_OF_NUMBERS = rf"{NUMBER}|[+-]?(?:inf|infinity|∞)"
_END_OF_DATES = rf"{MOMENT}|{_PART}"
_LAST_MOMENT = 1 - 1 / 86_400_000_000
"""The last microsecond of a day, in days."""
_LAST_MONTH = 12
_OPEN_END = re.compile(
    r"(?P<least>>=|≥)\s*(?P<a>.+)|(?P<more>>)\s*(?P<b>.+)"
    r"|(?P<most><=|≤)\s*(?P<c>.+)|(?P<less><)\s*(?P<d>.+)"
    r"|(?P<e>.+?)(?:\s*\+| (?:or|and) (?:more|over|above|older))"
    r"|(?P<f>.+?) (?:or|and) (?:less|under|below|younger)"
)


def interval_of(text: str, *, dates: bool = False, times: bool = False) -> Interval | None:
    """Read a range of numbers or dates; ``None`` for anything else.

    ``84-86``, ``-5 to 3``, ``20~40``, ``[20, 40)``, ``]20, 40]``, ``[20, 40[``, ``90 or more``,
    ``17 or less``, ``>=90``, ``<18``, ``90+``; with ISO dates at both ends likewise.

    Parameters
    ----------
    dates
        Whether the column holds dates: then ``2005``, ``2005-03``, ``2005-Q1`` and
        ``2000-2009`` are ranges of days.
    times
        Whether its dates have times: then a day lasts until its last microsecond.
    """
    # A true minus sign, as text processors write it.
    plain = text.strip().replace("−", "-")
    if dates and (part := _days(plain, times=times)) is not None:
        return Interval(*part)
    return _bracketed(plain, dates, times) or _between(plain, dates, times) or _open(plain, dates)


def _bracketed(text: str, dates: bool, times: bool) -> Interval | None:
    if len(text) < len("[,]") or text[0] not in "[](" or text[-1] not in "[])":
        return None
    ends = _ends(text[1:-1].strip(), r",|;|~|\.\.|-|–|\bto\b", dates)
    if ends is None:
        return None
    low_in, high_in = text[0] == "[", text[-1] == "]"
    low, high = _low(ends[0], dates), _low(ends[1], dates)
    if high is not None and high_in:
        high = _high(ends[1], dates, times)
    # One number with an open end would be an empty range.
    if low is None or high is None or low > high or (low == high and not (low_in and high_in)):
        return None
    return Interval(low, high, low_in, high_in)


def _between(text: str, dates: bool, times: bool) -> Interval | None:
    ends = _ends(text, r"~|\.\.|-|–|\bto\b", dates)
    if ends is None:
        return None
    low, high = _low(ends[0], dates), _high(ends[1], dates, times)
    return None if low is None or high is None or low > high else Interval(low, high)


def _open(text: str, dates: bool) -> Interval | None:
    """An open range; ends in double quotes are those of a tool that quotes what it must."""
    found = _OPEN_END.fullmatch(text)
    if found is None:
        return None
    end = next(found[name] for name in "abcdef" if found[name] is not None).strip()
    if len(end) > 1 and end[0] == end[-1] == '"':
        end = end[1:-1]
    # A day lasts until its last moment: what is more than it begins after that.
    low, high = _low(end, dates), _high(end, dates, times=True)
    if low is None or high is None:
        return None
    if found["least"] or found["e"] is not None:
        return Interval(low, math.inf)
    if found["more"]:
        return Interval(high, math.inf, low_in=False)
    if found["less"]:
        return Interval(-math.inf, low, high_in=False)
    return Interval(-math.inf, high)


def _ends(text: str, between: str, dates: bool) -> tuple[str, str] | None:
    """The two ends of a range; ``None`` where there are no two."""
    end = rf"{MOMENT}|{_END_OF_DATES if dates else _END_OF_NUMBERS}"
    found = re.fullmatch(rf"({end})\s*(?:{between})\s*({end})", text, re.IGNORECASE)
    return None if found is None else (found[1], found[2])


def _low(text: str, dates: bool) -> float | None:
    return _first_and_last(text, dates=dates, times=False)[0]


def _high(text: str, dates: bool, times: bool) -> float | None:
    return _first_and_last(text, dates=dates, times=times)[1]


def _first_and_last(
    text: str, *, dates: bool, times: bool
) -> tuple[float, float] | tuple[None, None]:
    """The first and the last value that an end stands for."""
    if dates:
        return _days(text, times=times) or (None, None)
    number = number_of(text)
    if number is None and text.lower().lstrip("+-") in ("inf", "infinity", "∞"):
        number = -math.inf if text.startswith("-") else math.inf
    if number is not None:
        return number, number
    return _days(text, times=times, parts=False) or (None, None)


def _days(text: str, *, times: bool, parts: bool = True) -> tuple[float, float] | None:
    """First and last day of a date, month, quarter or year; ``None`` for anything else."""
    day = days_of(text)
    if day is not None:
        whole_day = times and len(text) == len("2005-03-01")
        return day, day + _LAST_MOMENT if whole_day else day
    if not parts or re.fullmatch(_PART, text) is None:
        return None
    year, _, part = text.partition("-")
    if not part:
        first, last = 1, _LAST_MONTH
    elif part[0] == "Q":
        first, last = int(part[1]) * 3 - 2, int(part[1]) * 3
    else:
        first = last = int(part)
    if not 1 <= first <= _LAST_MONTH or int(year) < 1:
        return None
    start = days_of(f"{year}-{first:02d}-01")
    end = days_of(f"{year}-{last:02d}-{monthrange(int(year), last)[1]:02d}")
    if start is None or end is None:
        return None
    return start, end + _LAST_MOMENT if times else end


_DIGITS = re.compile(r"([0-9]+)")
PLAIN = re.compile(r"([0-9]+(?:\.[0-9]+)?)-([0-9]+(?:\.[0-9]+)?)")
"""Two numbers with a hyphen between: a range, or a label that looks like one."""


@dataclass(frozen=True)
class Vocabulary:
    """What an outsider knows of the words of one quasi-identifier.

    Labels go from lowest to highest, where that is declared; else the order is natural (embedded
    numbers by value, case folded).
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
        # Mostly a star is one character; tools that write one for any number of them come second.
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
        # By their length, then by their digits: numbers of any length compare by value.
        value = digits.lstrip("0")
        key.append((text.casefold(), len(value), value))
    return key, label


_DIGITS_HIDDEN = re.compile(r"([0-9]{1,15})(\*{1,15})")


def parse_cell(text: str | None, words: Vocabulary) -> Cell | None:
    """What a cell says, read as an outsider would; ``None`` where it cannot be understood.

    ``None`` or spaces are a missing value.
    """
    if text is None or not text.strip():
        return Missing()
    if text == "*":
        return Anything()
    if words.is_label(text):
        cell = _label(text, words)
        return _either(cell, _by_kind(text, words), words) if words.is_range_too(text) else cell
    if text == "~":
        return Anything()
    return _set_or_quoted(text, words) or _by_kind(text, words)


def _set_or_quoted(text: str, words: Vocabulary) -> Cell | None:
    whole = quoted(text)
    if whole is not None:
        return _label(whole, words)
    members = members_of(text)
    return None if members is None else _members(members, words)


def _by_kind(text: str, words: Vocabulary) -> Cell | None:
    if words.measured:
        return _measure(text, words)
    if words.ordered:
        return _ordered(text, words)
    return _masked(text, words) or _inside(interval_of(text), words) or _label(text, words)


def parse_bounds(low: str | None, high: str | None, words: Vocabulary) -> Cell | None:
    """What two cells with the lowest and the highest value say together.

    One that is missing is an open end of numbers and dates: two of them stand for anything, a
    missing value among it.
    """
    first, last = parse_cell(low, words), parse_cell(high, words)
    if first is None or last is None:
        return None
    if isinstance(first, Missing) and isinstance(last, Missing):
        return Anything() if words.measured else Missing()
    if isinstance(first, Anything) and isinstance(last, Anything):
        return Anything()
    if first == last:
        return first
    if words.measured:
        return _joined(_as_interval(first, -math.inf), _as_interval(last, math.inf))
    bottom, top = _first_label(low, first), _last_label(high, last)
    inside = words.between(bottom, top)
    return None if inside is None else Members(inside)


def _either(one: Cell, other: Cell | None, words: Vocabulary) -> Cell:
    """What a text says that is a label and, with other labels in mind, a range as well."""
    texts: set[str] = set()
    for cell in (one, other):
        if isinstance(cell, Exact):
            texts.add(cell.text)
        elif isinstance(cell, Members):
            texts |= cell.texts
        elif isinstance(cell, Interval):
            texts |= words.within(cell)
    return Members(frozenset(texts)) if len(texts) > 1 else one


def _label(text: str, words: Vocabulary) -> Cell:
    """A label: the values below it, itself among them where it is a value."""
    below = words.above.get(text, frozenset())
    if text in words.values or not below:
        below = below | {text}
    return Exact(text) if below == {text} else Members(below)


def _members(labels: list[str], words: Vocabulary) -> Cell:
    texts: set[str] = set()
    for label in labels:
        cell = _label(label, words)
        texts |= cell.texts if isinstance(cell, Members) else {label}
    return Exact(labels[0]) if texts == {labels[0]} else Members(frozenset(texts))


def _measure(text: str, words: Vocabulary) -> Cell | None:
    if words.dates:
        if measure_of(text) is not None and number_of(text) is None:
            return Exact(text)
        found: Cell | None = interval_of(text, dates=True, times=words.times)
        if found is not None:
            return found
    if number_of(text) is not None or measure_of(text) is not None:
        return Exact(text)
    return interval_of(text) or _hidden_digits(text, words)


def _hidden_digits(text: str, words: Vocabulary) -> Cell | None:
    """``2*`` and ``816**``: the known values that fit, else the range of whole numbers."""
    digits = _masked(text, words)
    found = _DIGITS_HIDDEN.fullmatch(text)
    if digits is not None or found is None:
        return digits
    low, width = int(found[1]) * 10 ** len(found[2]), 10 ** len(found[2])
    return Interval(float(low), float(low + width), high_in=False)


def _inside(interval: Interval | None, words: Vocabulary) -> Cell | None:
    """The known labels that are numbers in a range, where labels are shown by ranges."""
    found = frozenset() if interval is None else words.within(interval)
    return Members(found) if found else None


def _masked(text: str, words: Vocabulary) -> Cell | None:
    hidden = words.masked(text) if "*" in text else frozenset()
    return Members(hidden) if hidden else None


def _ordered(text: str, words: Vocabulary) -> Cell | None:
    """A range of labels, or one label."""
    plain = PLAIN.fullmatch(text)
    ends = ends_of(text)
    if plain is not None:
        ends = (plain[1], plain[2])
    if ends is not None:
        inside = words.between(*ends)
        return None if inside is None else Members(inside)
    if text.startswith('"'):
        return None
    return _masked(text, words) or _label(text, words)


def _as_interval(cell: Cell, open_: float) -> Interval | None:
    if isinstance(cell, Interval):
        return cell
    if isinstance(cell, Missing):
        return Interval(open_, open_)
    if not isinstance(cell, Exact):
        return None
    value = measure_of(cell.text)
    return None if value is None else Interval(value, value)


def _joined(low: Interval | None, high: Interval | None) -> Interval | None:
    if low is None or high is None or low.low > high.high:
        return None
    return Interval(low.low, high.high, low.low_in, high.high_in)


def _first_label(text: str | None, cell: Cell) -> str | None:
    """The lower end that a cell names; ``None`` where it is open."""
    ends = ends_of(text or "")
    if isinstance(cell, Members) and ends is not None:
        return ends[0]
    return unquoted(text or "")


def _last_label(text: str | None, cell: Cell) -> str | None:
    ends = ends_of(text or "")
    if isinstance(cell, Members) and ends is not None:
        return ends[1]
    return unquoted(text or "")
