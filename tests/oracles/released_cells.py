"""Released values read back, and whether an original value lies in one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal, InvalidOperation

from sfumato.core.errors import InputError
from sfumato.hierarchies import (
    Anything,
    AtLeast,
    AtMost,
    Exact,
    Hierarchy,
    Missing,
    OneOf,
    Range,
    Released,
)
from sfumato.hierarchies.released_values import ANYTHING
from sfumato.schema import Kind

_TO = " to "
_OR_MORE, _OR_LESS = " or more", " or less"
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_MEMBER = re.compile(r'"(?:[^"]|"")*"|[^",{}]+')


def parse_released(text: str | None, kind: Kind, labels: Collection[str] | None = None) -> Released:
    """Read a cell of a release; the inverse of `format_released` for the same kind and labels.

    Parameters
    ----------
    text
        The cell; ``None`` or empty for a missing value.
    kind
        The kind of the quasi-identifier.
    labels
        The labels that `format_released` was given.

    Raises
    ------
    InputError
        If a set or a quoted label is not closed or not well-formed.
    """
    if not text:
        return Missing()
    if text == ANYTHING:
        return Anything()
    if text.startswith("{"):
        return OneOf(tuple(_parse_members(text)))
    if kind is Kind.CATEGORICAL:
        return Exact(_parse_label(text) if text.startswith('"') else text)
    ends = _plain_ends(text)
    if ends is not None:
        return Exact(text) if _is_label(text, labels) else Range(*ends)
    return _parse_open_range(text, labels) or _parse_label_or_range(text)


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _parse_open_range(text: str, labels: Collection[str] | None) -> Released | None:
    """An open range, or the label that is written like one; ``None`` for anything else."""
    if not _is_open_range(text):
        return None
    end, words = text[: -len(_OR_MORE)], text[-len(_OR_MORE) :]
    if text.startswith('"'):
        if _QUOTED.fullmatch(end) is None:
            return None
    elif labels is not None and text in labels:
        return Exact(text)
    elif not end:
        return None
    return AtLeast(_unquoted(end)) if words == _OR_MORE else AtMost(_unquoted(end))


def _parse_label_or_range(text: str) -> Released:
    if not text.startswith('"'):
        low, to, high = text.partition(_TO)
        return Range(low, _parse_label(high)) if to else Exact(text)
    first = _QUOTED.match(text)
    if first is None:
        raise _malformed("a double quote that is not closed")
    rest = text[first.end() :]
    if not rest:
        return Exact(_unquoted(text))
    if not rest.startswith(_TO):
        raise _malformed("text behind a closing double quote")
    return Range(_unquoted(first[0]), _parse_label(rest[len(_TO) :]))


def _parse_label(text: str) -> str:
    """A label that is bare or quoted from its first to its last character."""
    if text.startswith('"') and _QUOTED.fullmatch(text) is None:
        raise _malformed("double quotes that are not closed or not doubled")
    return _unquoted(text)


def _parse_members(text: str) -> Iterator[str]:
    place = 1
    last = len(text) - 1
    while place != last or text[place] != "}":
        if place > 1:
            if text[place : place + 1] != ",":
                raise _malformed("a set without a comma between members or without an end")
            place += 1
            while text[place : place + 1] == " ":
                place += 1
        member = _MEMBER.match(text, place)
        if member is None:
            raise _malformed("a set with a member that is empty or needs quotes")
        yield _unquoted(member[0])
        place = member.end()


def _malformed(found: str) -> InputError:
    return InputError(
        "a released value",
        "must be written as a release writes it",
        found=found,
        accepted='a label, "a label", 84-86, a to b, 84 or more, 86 or less, {a, b}, * '
        "or an empty cell",
    )


def contains(
    value: Released,
    label: str | None,
    kind: Kind,
    *,
    order: Sequence[str] = (),
    hierarchy: Hierarchy | None = None,
) -> bool:
    """Whether an original value lies in a released one.

    Numbers compare by value and dates as ISO text; ordered labels by their place in ``order``;
    single labels by equality or, with a hierarchy, by lying below the released label.

    Parameters
    ----------
    value
        What was released.
    label
        The original value; ``None`` when missing.
    kind
        The kind of the quasi-identifier.
    order
        The categories from lowest to highest, for ranges of ordered quasi-identifiers.
    hierarchy
        The hierarchy of the quasi-identifier, where it has one.

    Raises
    ------
    InputError
        If an end of an ordered range is not in ``order``, or a range is categorical.
    """
    match value:
        case Anything():
            return True
        case Missing():
            return label is None
        case Exact(released):
            return label is not None and _is_or_is_below(label, released, kind, hierarchy)
        case OneOf(members):
            return label is not None and any(
                _is_or_is_below(label, member, kind, hierarchy) for member in members
            )
        case Range(low, high):
            return label is not None and _is_between(label, low, high, kind, order)
        case AtLeast(low):
            return label is not None and _is_between(label, low, None, kind, order)
        case AtMost(high):
            return label is not None and _is_between(label, None, high, kind, order)


def _is_or_is_below(label: str, released: str, kind: Kind, hierarchy: Hierarchy | None) -> bool:
    if label == released or (hierarchy is not None and hierarchy.is_below(label, released)):
        return True
    if kind is not Kind.NUMERIC:
        return False
    one, other = _number(label), _number(released)
    return one is not None and one == other


def _is_between(
    label: str, low: str | None, high: str | None, kind: Kind, order: Sequence[str]
) -> bool:
    """Whether a label lies between two ends; an end that is ``None`` is open."""
    ends = [end for end in (low, high) if end is not None]
    if kind is Kind.NUMERIC:
        return _is_between_numbers(label, low, high)
    if kind is Kind.CATEGORICAL:
        raise InputError("a range", "is for numeric and ordered quasi-identifiers only")
    if any(end not in order for end in ends):
        raise InputError(
            "an ordered range",
            "must have ends that are in the order",
            found="an end that is not",
            advice="pass the order of the categories",
        )
    first = 0 if low is None else order.index(low)
    last = len(order) - 1 if high is None else order.index(high)
    return label in order and first <= order.index(label) <= last


def _is_between_numbers(label: str, low: str | None, high: str | None) -> bool:
    """Compare numbers by value, and dates as ISO text."""
    ends = [_number(end) for end in (low, high) if end is not None]
    number = _number(label)
    if number is None and not any(end is not None for end in ends):
        return (low is None or low <= label) and (high is None or label <= high)
    if number is None or any(end is None for end in ends):
        return False
    lowest, highest = _number(low or ""), _number(high or "")
    return (lowest is None or lowest <= number) and (highest is None or number <= highest)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _is_open_range(text: str) -> bool:
    return text.endswith((_OR_MORE, _OR_LESS))


def _plain_ends(text: str) -> tuple[str, str] | None:
    """The two ends of ``84-86``; ``None`` for anything else."""
    low, dash, high = text.partition("-")
    if dash and _PLAIN.fullmatch(low) and _PLAIN.fullmatch(high):
        return low, high
    return None


def _is_label(text: str, labels: Collection[str] | None) -> bool:
    """Whether ``10-19`` is itself a label and cannot be a range of two labels."""
    if labels is None or text not in labels:
        return False
    low, _, high = text.partition("-")
    return low not in labels or high not in labels
