"""SSE/SST: the share of a column's variance that lies within the classes, and so is lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.release.utility.class_means import category_shares, class_means, full_range, steps
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class SquaredError(NamedTuple):
    """Sums of squares over the records that have a value, on the unit scale.

    Attributes
    ----------
    sse
        Sum of squared distances from the class mean.
    sst
        Sum of squared distances from the mean of all kept records.
    """

    sse: float
    sst: float

    @property
    def ratio(self) -> float:
        """SSE/SST in [0, 1]; 0 when the column does not vary."""
        return self.sse / self.sst if self.sst > 0 else 0.0


def squared_error(column: CodedColumn, class_of: Codes, classes: int) -> SquaredError:
    """SSE and SST of one quasi-identifier (Domingo-Ferrer & Mateo-Sanz 2002).

    A categorical attribute is one 0/1 column per category. Over a class of n records with the
    shares p_c their squared distances add up to n(1 - Σ p_c²), the sum of 1 - p over its
    records, p being the share of the record's category. Half of it is taken, so that two
    categories weigh as much as their single 0/1 column.

    Parameters
    ----------
    column
        The quasi-identifier of the kept records.
    class_of
        Class of each kept record; shape (records,).
    classes
        Number of classes.
    """
    counts = np.bincount(column.codes[column.codes != MISSING], minlength=column.domain.size)
    return SquaredError(sse(column, class_of, classes), sst(column, counts))


def sse(column: CodedColumn, class_of: Codes, classes: int, weight: Floats | None = None) -> float:
    """Sum of squared distances from the class mean; those of groups of whole classes add up.

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
    times = None if weight is None else weight[known]
    if not len(codes):
        return 0.0
    if column.kind is Kind.CATEGORICAL:
        within = 1 - category_shares(codes, of, column.domain.size, classes, times)
        return float(within.sum() if times is None else within @ times) / 2
    values = steps(column)
    squares = np.square(values[codes] - class_means(column, class_of, classes, weight)[of])
    return float(squares.sum() if times is None else squares @ times) / full_range(values) ** 2


def sst(column: CodedColumn, counts: Ints) -> float:
    """Sum of squared distances from the mean of all records.

    Parameters
    ----------
    column
        The quasi-identifier.
    counts
        Records with each code; shape (domain size,).
    """
    records = int(counts.sum())
    if not records:
        return 0.0
    if column.kind is Kind.CATEGORICAL:
        return float((counts * (1 - counts / records)).sum()) / 2
    values = steps(column)
    squares = np.square(values - float(counts @ values) / records)
    return float(counts @ squares) / full_range(values) ** 2
