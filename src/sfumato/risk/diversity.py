"""l-diversity of Machanavajjhala et al. (2006), over records: distinct, entropy, recursive."""

from __future__ import annotations

import numpy as np

from sfumato.core.errors import InputError
from sfumato.risk.classes import ClassSummary, Floats


def entropy_l(summary: ClassSummary, attribute: str) -> Floats:
    """The l of entropy l-diversity of each class, exp(entropy of its values), shape (classes,).

    At most the number of distinct values, and 0 in a class without a value, as distinct
    l-diversity has it.

    Parameters
    ----------
    summary
        The classes.
    attribute
        Name of the sensitive attribute.
    """
    distinct = summary.distinct[attribute].astype(np.float64)
    return np.minimum(np.exp(summary.entropy[attribute]), distinct)


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
        2 or 3.

    Raises
    ------
    InputError
        If ``l`` is neither 2 nor 3.
    """
    if l not in {2, 3}:
        raise InputError("parameter l", "must be 2 or 3")
    commonest = summary.commonest[attribute]
    rest = summary.valued[attribute] - commonest[:, : l - 1].sum(axis=1)
    bound = np.full(summary.classes, np.inf)
    np.divide(commonest[:, 0], rest, out=bound, where=rest > 0)
    return bound
