"""The class means that every measure compares the records with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.table.table import MISSING, CodedColumn, Codes, NumberDomain

Floats = npt.NDArray[np.float64]


def steps(column: CodedColumn) -> Floats:
    """Each code as a whole number: its distance from the lowest value, or its rank.

    Divided by the last one they are the unit scale of paper 003, Section 4; kept whole, the
    sums of equal values give exactly their mean.

    Parameters
    ----------
    column
        A numeric or ordered quasi-identifier, or one with two categories.

    Returns
    -------
    array
        Shape (domain size,), ascending from 0.
    """
    domain = column.domain
    if isinstance(domain, NumberDomain):
        return (domain.points - domain.points[:1]).astype(np.float64)
    return np.arange(domain.size, dtype=np.float64)


def full_range(values: Floats) -> float:
    """The last of the steps; 1 for a constant column, so that one can divide by it."""
    return float(values[-1]) if len(values) > 1 else 1.0


def class_means(
    column: CodedColumn, class_of: Codes, classes: int, weight: Floats | None = None
) -> Floats:
    """Mean of each class over its records that have a value, in steps; 0 without any.

    Parameters
    ----------
    column
        The quasi-identifier of the kept records.
    class_of
        Class of each kept record; shape (records,).
    classes
        Number of classes.
    weight
        How many records each one stands for; shape (records,). One each without it.
    """
    known = column.codes != MISSING
    codes, of = column.codes[known], class_of[known]
    x, times = steps(column)[codes], None if weight is None else weight[known]
    total = np.bincount(of, weights=x if times is None else x * times, minlength=classes)
    return total / np.maximum(np.bincount(of, weights=times, minlength=classes), 1)


def category_shares(
    codes: Codes, class_of: Codes, size: int, classes: int, weight: Floats | None = None
) -> Floats:
    """Share of each record's category among the records of its class.

    O(records), by numbering the pairs of class and category.

    Parameters
    ----------
    codes
        Category of each record, none missing; shape (records,).
    class_of
        Class of each record; shape (records,).
    size
        Number of categories.
    classes
        Number of classes.
    weight
        How many records each one stands for; shape (records,). One each without it.
    """
    pair, pairs = number_by_first_appearance(
        class_of.astype(np.int64) * size + codes, classes * size
    )
    together = np.bincount(pair, weights=weight, minlength=pairs)
    records = np.bincount(class_of, weights=weight, minlength=classes)
    shares: Floats = together[pair] / records[class_of]
    return shares
