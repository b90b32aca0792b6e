"""SSE/SST: the share of a column's variance that lies within the classes, and so is lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.release.utility.class_means import category_shares, class_means, full_range, steps
from sfumato.schema import Kind
from sfumato.table.columns import MISSING, CodedColumn, Codes


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
    known = column.codes != MISSING
    codes, of = column.codes[known], class_of[known]
    if not len(codes):
        return SquaredError(0.0, 0.0)
    if column.kind is Kind.CATEGORICAL:
        within = 1 - category_shares(codes, of, column.domain.size, classes)
        counts = np.bincount(codes)
        whole = float((counts * (1 - counts / len(codes))).sum())
        return SquaredError(float(within.sum()) / 2, whole / 2)
    values = steps(column)
    x = values[codes]
    sse = float(np.square(x - class_means(column, class_of, classes)[of]).sum())
    sst = float(np.square(x - x.mean()).sum())
    return SquaredError(sse / full_range(values) ** 2, sst / full_range(values) ** 2)
