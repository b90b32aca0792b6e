"""Each column's distribution before and after release, for plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.utility.bars import Bars, make_bars
from sfumato.release.utility.cells import Cells
from sfumato.schema import Kind
from sfumato.table.table import MISSING, CodedColumn, Codes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MISSING_LABEL = "missing"


@dataclass(frozen=True)
class Distribution:
    """How a column's records are distributed before and after release.

    Attributes
    ----------
    column
        Name of the quasi-identifier.
    kind
        Its kind.
    labels
        What each bar is called; a numeric column's first and last are open ends.
    before
        Share of the original records in each bar.
    after
        Share of the kept records in each bar, each record spread evenly over the values that
        its released cell may stand for.
    edges
        Numeric columns: where one bar ends and the next begins, in the column's own unit
        (numbers; days, or microseconds for datetimes, since 1970).
    edge_labels
        The edges as printed values, dates in ISO form.
    has_missing
        Whether the last bar is that of the missing values.
    """

    column: str
    kind: Kind
    labels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    edges: tuple[float, ...] = ()
    edge_labels: tuple[str, ...] = ()
    has_missing: bool = False

    @property
    def total_variation(self) -> float:
        """Total variation between the two, over the bars: half their L1 distance, in [0, 1]."""
        apart = np.abs(np.asarray(self.before) - np.asarray(self.after))
        return float(apart.sum()) / 2

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "column": self.column,
            "kind": self.kind.value,
            "labels": list(self.labels),
            "before": list(self.before),
            "after": list(self.after),
            "edges": list(self.edges),
            "edge_labels": list(self.edge_labels),
            "has_missing": self.has_missing,
            "total_variation": self.total_variation,
        }


def distribution(column: CodedColumn, person: Codes, cells: Cells, sizes: Ints) -> Distribution:
    """The distribution of one quasi-identifier before and after release.

    Parameters
    ----------
    column
        The quasi-identifier before release.
    person
        Person of each original record; shape (records,).
    cells
        The released cells.
    sizes
        Number of kept records of each class; shape (classes,).
    """
    known = column.codes != MISSING
    before = np.bincount(column.codes[known], minlength=column.domain.size)
    missing = len(column.codes) - int(np.count_nonzero(known))
    after = cells.spread_evenly(sizes)
    kept = int(sizes.sum())
    return distribution_of(column, make_bars(column, person), (before, missing), after, kept)


def distribution_of(
    column: CodedColumn,
    bars: Bars,
    before: tuple[Ints, int],
    after: tuple[Floats, float],
    kept: int,
) -> Distribution:
    """The distribution of one quasi-identifier, from counts alone.

    Parameters
    ----------
    column
        The quasi-identifier; its codes are not looked at.
    bars
        Its bars.
    before
        Records with each code, shape (domain size,), and the records without one.
    after
        What the released cells weigh on each code, shape (domain size,), and on none.
    kept
        Number of kept records.
    """
    count, labels = len(bars.labels), bars.labels
    (codes, missing), (by_code, missing_after) = before, after
    one = np.bincount(bars.of_code, weights=codes, minlength=count)
    other = np.bincount(bars.of_code, weights=by_code, minlength=count)
    if missing:
        labels = (*labels, MISSING_LABEL)
        one, other = np.append(one, missing), np.append(other, missing_after)
    return Distribution(
        column.name,
        column.kind,
        labels,
        tuple((one / (codes.sum() + missing)).tolist()),
        tuple((other / kept).tolist()),
        bars.edges,
        bars.edge_labels,
        missing > 0,
    )
