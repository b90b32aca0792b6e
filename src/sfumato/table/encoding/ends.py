"""Where the top and bottom coding of a column begins, as codes of its domain."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from math import ceil, floor

import numpy as np

from sfumato.core.errors import InputError
from sfumato.schema import Kind, QuasiIdentifier
from sfumato.table.columns import EPOCH, EPOCH_TIME, CodedEnds, Domain, NumberDomain

LARGEST = np.iinfo(np.int64).max
MICROSECONDS = 10**6
_NUMBER = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?")


def coded_ends(quasi: QuasiIdentifier, kind: Kind, domain: Domain, column: str) -> CodedEnds | None:
    """Find the codes that are bottom- and top-coded; ``None`` where none is.

    Parameters
    ----------
    quasi
        What the schema says.
    kind, domain
        The column's kind and values.
    column
        The column's name, for errors.

    Raises
    ------
    InputError
        If the column is categorical, a bound is not of the kind of the column, or the two
        bounds overlap.
    """
    if quasi.bottom is None and quasi.top is None:
        return None
    if kind is Kind.CATEGORICAL:
        raise InputError(
            f"column '{column}'",
            "must be numeric or ordered to be top- or bottom-coded",
            found="a categorical one",
            advice="declare it as kind = \"ordered\", or leave out 'top' and 'bottom'",
        )
    bottom, top = -1, domain.size
    bottom_label = top_label = ""
    if quasi.bottom is not None:
        _, bottom, bottom_label = _place(quasi.bottom, quasi, domain, column, "bottom")
    if quasi.top is not None:
        top, _, top_label = _place(quasi.top, quasi, domain, column, "top")
    if bottom >= top:
        raise InputError(
            f"column '{column}'",
            "must have a 'bottom' below its 'top'",
            found="values that are bottom-coded and top-coded",
        )
    if bottom < 0 and top == domain.size:
        return None
    return CodedEnds(bottom, top, bottom_label, top_label)


def _place(
    bound: float | str, quasi: QuasiIdentifier, domain: Domain, column: str, field: str
) -> tuple[int, int, str]:
    """The first code at or above a bound, the last one at or below it, and how it prints."""
    if isinstance(domain, NumberDomain):
        point = _point(bound, domain, column, field)
        first = np.searchsorted(domain.points, min(max(ceil(point), -LARGEST), LARGEST), "left")
        last = np.searchsorted(domain.points, min(max(floor(point), -LARGEST), LARGEST), "right")
        whole = point == floor(point)
        text = domain.format(floor(point), domain.decimals) if whole else str(bound)
        return int(first), int(last) - 1, text
    order = quasi.order or domain.labels
    if str(bound) not in order:
        raise InputError(
            f"column '{column}'",
            f"must have a category as its '{field}'",
            found="another text",
            accepted="a category of its 'order', or one that occurs",
        )
    place = order.index(str(bound))
    ranks = [order.index(label) for label in domain.labels]
    first = np.searchsorted(ranks, place, "left")
    return int(first), int(np.searchsorted(ranks, place, "right")) - 1, str(bound)


def _point(bound: float | str, domain: NumberDomain, column: str, field: str) -> Decimal:
    """A bound on the integer scale of the domain's points, perhaps between two of them."""
    point = _scaled(bound, domain.decimals) if domain.unit == "number" else _days(bound, domain)
    if point is None:
        raise InputError(
            f"column '{column}'",
            f"must have a '{field}' of its own kind",
            found="something else",
            accepted="a number" if domain.unit == "number" else "a date in ISO form",
        )
    return point


def _scaled(bound: float | str, decimals: int) -> Decimal | None:
    if isinstance(bound, str) and _NUMBER.fullmatch(bound) is None:
        return None
    return Decimal(str(bound)).scaleb(decimals)


def _days(bound: float | str, domain: NumberDomain) -> Decimal | None:
    """Days, or microseconds for a column of datetimes, since 1970."""
    try:
        if domain.unit == "date":
            return Decimal((date.fromisoformat(str(bound)) - EPOCH).days)
        moment = datetime.fromisoformat(str(bound)).replace(tzinfo=UTC) - EPOCH_TIME
    except ValueError:
        return None
    seconds = moment.days * 86_400 + moment.seconds
    return Decimal(seconds * MICROSECONDS + moment.microseconds)
