"""What releasing class means does to the correlations between quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.utility.class_means import class_means, full_range, steps
from sfumato.schema import Kind
from sfumato.table.columns import MISSING, CodedColumn, Codes

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
    chosen = [each for each in columns if _has_scale(each)]
    scales = [steps(each) / full_range(steps(each)) for each in chosen]
    means = [class_means(each, class_of, classes) / full_range(steps(each)) for each in chosen]
    before = _Moments([np.append(scale, 0.0) for scale in scales])
    after = _Moments(means)
    for start in range(0, len(class_of), CHUNK):
        part = slice(start, start + CHUNK)
        known = [each.codes[part] != MISSING for each in chosen]
        before.add([each.codes[part] for each in chosen], known)
        after.add([class_of[part]] * len(chosen), known)
    one, other = before.correlations(), after.correlations()
    change = np.abs(other - one)[np.triu_indices(len(chosen), 1)]
    return CorrelationChange(
        tuple(each.name for each in chosen),
        tuple(map(tuple, one.tolist())),
        tuple(map(tuple, other.tolist())),
        float(change.mean()) if len(change) else 0.0,
        float(change.max()) if len(change) else 0.0,
    )


def _has_scale(column: CodedColumn) -> bool:
    return column.domain.size == 2 or (
        column.kind is not Kind.CATEGORICAL and column.domain.size > 1
    )


class _Moments:
    """Sums over records of values, squares and products, for each pair of columns.

    Values are taken from the mean of the first records, so that little is lost by subtraction.
    """

    def __init__(self, values: list[Floats]) -> None:
        self.values = values
        shape = (len(values), len(values))
        self.count, self.total = np.zeros(shape), np.zeros(shape)
        self.square, self.product = np.zeros(shape), np.zeros(shape)
        self.centre: Floats | None = None

    def add(self, indices: list[Codes], known: list[npt.NDArray[np.bool_]]) -> None:
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
        self.count += present.T @ present
        self.total += x.T @ present
        self.square += (x * x).T @ present
        self.product += x.T @ x

    def correlations(self) -> Floats:
        """Pearson correlations; 1 on the diagonal."""
        count = np.maximum(self.count, 1)
        mean = self.total / count
        variance = self.square / count - mean**2
        covariance = self.product / count - mean * mean.T
        varies = (variance > NO_VARIANCE) & (variance.T > NO_VARIANCE)
        scale = np.sqrt(np.where(varies, variance * variance.T, 1.0))
        matrix = np.clip(np.where(varies, covariance / scale, 0.0), -1.0, 1.0)
        np.fill_diagonal(matrix, 1.0)
        return matrix
