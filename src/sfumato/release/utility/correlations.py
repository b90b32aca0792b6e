"""What releasing class means does to the correlations between quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.utility.class_means import class_means, full_range, steps
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes

Floats = npt.NDArray[np.float64]
Matrix = tuple[tuple[float, ...], ...]
CHUNK = 1 << 18
"""Records that are looked at together."""
NO_VARIANCE = 1e-24
"""Variances up to this are rounding errors of constant columns on the unit scale."""


@dataclass(frozen=True)
class CorrelationChange:
    """Pearson correlations before and after release.

    Attributes
    ----------
    columns
        Names of the columns: numeric, ordered, and categorical with two categories.
    before
        Correlations of the kept records' values.
    after
        Correlations of the same records' class means; 0 where a column has become constant.
    mean_change, max_change
        Mean and maximum of |after - before| over pairs of columns; 0 without a pair.
    """

    columns: tuple[str, ...]
    before: Matrix
    after: Matrix
    mean_change: float
    max_change: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "columns": list(self.columns),
            "before": [list(row) for row in self.before],
            "after": [list(row) for row in self.after],
            "mean_change": self.mean_change,
            "max_change": self.max_change,
        }


def correlation_change(
    columns: Sequence[CodedColumn], class_of: Codes, classes: int
) -> CorrelationChange:
    """Compare the correlation matrices of values and of class means.

    A pair of columns is compared over the records that have a value in both. The correlation
    with a constant column is 0.

    Parameters
    ----------
    columns
        The quasi-identifiers of the kept records.
    class_of
        Class of each kept record; shape (records,).
    classes
        Number of classes.
    """
    chosen = [each for each in columns if has_scale(each)]
    before, after = moments(chosen, class_of, classes)
    return change_of(chosen, before, after)


def moments(
    chosen: Sequence[CodedColumn],
    class_of: Codes,
    classes: int,
    weight: Floats | None = None,
    centre: Floats | None = None,
) -> tuple[Moments, Moments]:
    """Sums over the records' values, and over their class means.

    Those of several groups of whole classes add up where they have one centre.

    Parameters
    ----------
    chosen
        Quasi-identifiers of the kept records that have a scale.
    class_of
        Class of each kept record; shape (records,).
    classes
        Number of classes.
    weight
        How many records each one stands for; shape (records,). One each without it.
    centre
        What values are taken from, about their means; shape (columns,).
    """
    scales = [steps(each) / full_range(steps(each)) for each in chosen]
    means = [
        class_means(each, class_of, classes, weight) / full_range(steps(each)) for each in chosen
    ]
    before = Moments([np.append(scale, 0.0) for scale in scales], centre)
    after = Moments(means, centre)
    for start in range(0, len(class_of), CHUNK):
        part = slice(start, start + CHUNK)
        known = [each.codes[part] != MISSING for each in chosen]
        times = None if weight is None else weight[part]
        before.add([each.codes[part] for each in chosen], known, times)
        after.add([class_of[part]] * len(chosen), known, times)
    return before, after


def change_of(chosen: Sequence[CodedColumn], before: Moments, after: Moments) -> CorrelationChange:
    """The correlations and how they changed.

    Parameters
    ----------
    chosen
        The columns.
    before, after
        Their sums.
    """
    one, other = before.correlations(), after.correlations()
    change = np.abs(other - one)[np.triu_indices(len(chosen), 1)]
    return CorrelationChange(
        tuple(each.name for each in chosen),
        tuple(map(tuple, one.tolist())),
        tuple(map(tuple, other.tolist())),
        float(change.mean()) if len(change) else 0.0,
        float(change.max()) if len(change) else 0.0,
    )


def has_scale(column: CodedColumn) -> bool:
    """Whether a column has values that can be correlated: numbers, ranks or two categories."""
    return column.domain.size == 2 or (
        column.kind is not Kind.CATEGORICAL and column.domain.size > 1
    )


class Moments:
    """Sums over records of values, squares and products, for each pair of columns.

    Values are taken from the mean of the first records, so that little is lost by subtraction.

    Parameters
    ----------
    values
        The values of each column that indices point to.
    centre
        What values are taken from; that of the first records without it.

    Attributes
    ----------
    sums
        Count, total, squares and products; shape (4, columns, columns).
    """

    def __init__(self, values: list[Floats], centre: Floats | None = None) -> None:
        self.values = values
        self.centre = centre
        self.sums = np.zeros((4, len(values), len(values)))

    def add(
        self,
        indices: list[Codes],
        known: list[npt.NDArray[np.bool_]],
        weight: Floats | None = None,
    ) -> None:
        """Add records, given the index of each one's value per column."""
        if not self.values:
            return
        present = np.column_stack(known).astype(np.float64)
        x = np.column_stack(
            [values[index] for values, index in zip(self.values, indices, strict=True)]
        )
        if self.centre is None:
            self.centre = (x * present).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
        x = (x - self.centre) * present
        times = present if weight is None else present * weight[:, None]
        weighed = x if weight is None else x * weight[:, None]
        self.sums += (
            times.T @ present,
            weighed.T @ present,
            (x * weighed).T @ present,
            weighed.T @ x,
        )

    def correlations(self) -> Floats:
        """Pearson correlations; 1 on the diagonal."""
        count, total, square, product = self.sums
        count = np.maximum(count, 1)
        mean = total / count
        variance = square / count - mean**2
        covariance = product / count - mean * mean.T
        varies = (variance > NO_VARIANCE) & (variance.T > NO_VARIANCE)
        scale = np.sqrt(np.where(varies, variance * variance.T, 1.0))
        matrix = np.clip(np.where(varies, covariance / scale, 0.0), -1.0, 1.0)
        np.fill_diagonal(matrix, 1.0)
        return matrix
