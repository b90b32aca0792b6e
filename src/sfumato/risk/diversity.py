"""l-diversity of Machanavajjhala et al. (2006), over records: distinct, entropy, recursive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure, Position
from sfumato.risk.classes import ClassSummary, Floats, Integers

Codes = npt.NDArray[np.int32]

RECURSIVE_L = (2, 3)
"""The l of recursive (c, l)-diversity that are always measured."""
ROUNDING = 2.0**-52
"""Largest relative error of a logarithm, an exponential, a product or a sum."""


def entropy_l(summary: ClassSummary, attribute: str) -> Floats:
    """The l of entropy l-diversity of each class, exp(entropy of its values), shape (classes,).

    At most the number of distinct values, and 0 in a class without a value, as distinct
    l-diversity has it. Where rounding alone may have kept it from a whole number, it is that
    number: seven equally common values give 7, not 6.999999999999998.

    Parameters
    ----------
    summary
        The classes.
    attribute
        Name of the sensitive attribute.
    """
    distinct = summary.distinct[attribute].astype(np.float64)
    entropy = summary.entropy[attribute]
    found = np.minimum(np.exp(entropy), distinct)
    whole = np.rint(found)
    close = np.abs(found - whole) <= found * entropy_l_error(entropy, distinct)
    return np.where(close, whole, found)


def entropy_l_error(entropy: Any, distinct: Any) -> Any:
    """How far, relatively, rounding can move exp(entropy).

    H = -Σ p ln p over d values: a rounded p and its logarithm err by (1 + 2 |ln p|) ε each, which
    adds up to (1 + 2 H) ε over the values; d sums of at most H add d H ε; the exponential turns
    the whole into a relative error and adds ε. It holds for columns of Spark as well.

    Parameters
    ----------
    entropy
        H.
    distinct
        d.
    """
    return ROUNDING * (2 + (distinct + 2) * entropy)


def checked_l(asked: Iterable[object]) -> tuple[int, ...]:
    """The l of recursive (c, l)-diversity that are asked for beside 2 and 3, ascending.

    Raises
    ------
    InputError
        If one is no whole number of at least 2.
    """
    found: set[int] = set()
    for each in asked:
        if isinstance(each, bool) or not isinstance(each, int | np.integer) or each < 2:
            raise InputError(
                "parameter recursive_l", "must name whole numbers", accepted="2 or more"
            )
        found.add(int(each))
    return tuple(sorted(found.difference(RECURSIVE_L)))


def recursive_c(summary: ClassSummary, attribute: str, l: int) -> Floats:  # noqa: E741
    """The bound on c of recursive (c, l)-diversity of each class, shape (classes,).

    With r_1 >= r_2 >= ... the records of the class's values, (c, l)-diversity asks for
    r_1 < c (r_l + r_(l+1) + ...): it holds for every c above the number given here. Infinite
    where fewer than l values occur.

    Parameters
    ----------
    summary
        The classes.
    attribute
        Name of the sensitive attribute.
    l
        2 or 3; `recursive_measures` takes any.

    Raises
    ------
    InputError
        If ``l`` is neither 2 nor 3.
    """
    if l not in RECURSIVE_L:
        raise InputError("parameter l", "must be 2 or 3")
    commonest = summary.commonest[attribute]
    return _bound(commonest[:, 0], summary.valued[attribute] - commonest[:, : l - 1].sum(axis=1))


def recursive_measures(
    class_of: Codes, classes: int, codes: Codes, asked: Iterable[int]
) -> dict[int, Measure]:
    """The bound of `recursive_c` for any l, at its worst class.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,); no class is empty.
    classes
        Number of classes.
    codes
        Codes of a sensitive attribute, from 0, -1 for missing; shape (records,).
    asked
        The l.
    """
    valued = codes >= 0
    width = int(codes.max()) + 1
    pairs, records = np.unique(
        class_of[valued].astype(np.int64) * width + codes[valued], return_counts=True
    )
    owner = pairs // max(width, 1)
    order = np.lexsort((-records, owner))
    starts = np.searchsorted(owner, np.arange(classes + 1))
    first, last = starts[:-1], starts[1:]
    before = np.concatenate([[0], np.cumsum(records[order])])
    commonest = before[np.minimum(first + 1, last)] - before[first]
    found = {}
    for each in asked:
        rest = before[last] - before[np.minimum(first + each - 1, last)]
        bound = _bound(commonest, rest)
        at = int(bound.argmax())
        where = Position(int((class_of == at).argmax()) + 1, at + 1)
        found[each] = Measure(f"recursive_{each}", float(bound[at]), where=where)
    return found


def _bound(commonest: Integers, rest: Integers) -> Floats:
    bound = np.full(len(rest), np.inf)
    np.divide(commonest, rest, out=bound, where=rest > 0)
    return bound
