"""Each column's distribution before and after release, for plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.release.utility.bars import make_bars
from sfumato.release.utility.cells import Cells
from sfumato.schema import Kind
from sfumato.table.columns import MISSING, CodedColumn, Codes

Ints = npt.NDArray[np.int64]
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
    bars = make_bars(column, person)
    count = len(bars.labels)
    known = column.codes != MISSING
    missing = len(column.codes) - int(np.count_nonzero(known))
    before = np.bincount(bars.of_code[column.codes[known]], minlength=count)
    by_code, missing_after = cells.spread_evenly(sizes)
    after = np.bincount(bars.of_code, weights=by_code, minlength=count)
    labels = bars.labels
    if missing:
        labels = (*labels, MISSING_LABEL)
        before, after = np.append(before, missing), np.append(after, missing_after)
    return Distribution(
        column.name,
        column.kind,
        labels,
        tuple((before / len(column.codes)).tolist()),
        tuple((after / sizes.sum()).tolist()),
        bars.edges,
        bars.edge_labels,
        missing > 0,
    )
