"""Whether an original value lies in a released one."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from sfumato.core.errors import InputError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.values import (
    Anything,
    AtLeast,
    AtMost,
    Exact,
    Missing,
    OneOf,
    Range,
    Released,
)
from sfumato.schema import Kind


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
