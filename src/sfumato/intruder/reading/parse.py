"""Read one cell."""

from __future__ import annotations

import re

from sfumato.intruder.knowledge.numbers import measure_of, number_of
from sfumato.intruder.reading.cell import Anything, Cell, Exact, Interval, Members, Missing
from sfumato.intruder.reading.measures import interval_of
from sfumato.intruder.reading.quotes import ends_of, members_of, quoted, unquoted
from sfumato.intruder.reading.vocabulary import PLAIN, Vocabulary

_DIGITS_HIDDEN = re.compile(r"([0-9]{1,15})(\*{1,15})")


def parse_cell(text: str | None, words: Vocabulary) -> Cell | None:
    """What a cell says, read as an outsider would; ``None`` where it cannot be understood.

    Parameters
    ----------
    text
        The cell; ``None`` or spaces for a missing value.
    words
        What is known of the column's words.
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

    Parameters
    ----------
    low, high
        The cells; ``None`` where one is missing.
    words
        What is known of the column's words.
    """
    first, last = parse_cell(low, words), parse_cell(high, words)
    if first is None or last is None:
        return None
    if isinstance(first, Missing) and isinstance(last, Missing):
        return Missing()
    if isinstance(first, Anything) and isinstance(last, Anything):
        return Anything()
    if first == last:
        return first
    if words.measured:
        return _joined(_as_interval(first), _as_interval(last))
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
    known = _masked(text, words)
    found = _DIGITS_HIDDEN.fullmatch(text)
    if known is not None or found is None:
        return known
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


def _as_interval(cell: Cell) -> Interval | None:
    if isinstance(cell, Interval):
        return cell
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
