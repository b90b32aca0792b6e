"""What the search minimises, in the flat arrays that its kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.kernels import node_counts, person_values
from sfumato.release.person_table import IndicatorAxis, PersonTable
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossSpace:
    """Each person's share in the loss of a class.

    The loss of a cut is the sum of squared distances from the class means, weighted by the
    quasi-identifiers' weights; a categorical attribute is its 0/1 columns, each squared distance
    halved, so that it counts like a numeric one; being missing is a 0/1 column. The loss of a
    class is its absolute error (ANE) plus the width of its released values (NCP), in records.

    Attributes
    ----------
    totals, presents, lowest, highest
        Per person and ordered attribute: sum of normalised values, their number, least and
        greatest; shape (persons, attributes). Totals carry the root of the weight.
    squares
        Per person the weighted sum of squared values.
    attribute_weights
        Weight of each ordered attribute over the root of it that its totals carry.
    offsets, values, counts
        Per person (CSR) the 0/1 columns of all indicator axes that hold, and for how many
        records.
    weights
        Weight of the squared distance of each 0/1 column.
    axis_of
        Indicator axis of each 0/1 column.
    error_weights, width_weights, width_scales
        Per indicator axis: weight of the absolute error, weight of the width, and the width of
        each category beyond the first.
    """

    totals: Floats
    presents: Ints
    lowest: Floats
    highest: Floats
    squares: Floats
    attribute_weights: Floats
    offsets: Ints
    values: Codes
    counts: Codes
    weights: Floats
    axis_of: Codes
    error_weights: Floats
    width_weights: Floats
    width_scales: Floats

    def take(self, persons: Codes) -> LossSpace:
        """The shares of these persons, in this order."""
        rows = ("totals", "presents", "lowest", "highest", "squares")
        offsets, values, counts = person_values.take_rows(
            self.offsets, self.values, self.counts, persons
        )
        taken = {name: getattr(self, name)[persons] for name in rows}
        return replace(self, **taken, offsets=offsets, values=values, counts=counts)

    def of_classes(self, order: Codes, low: Ints, high: Ints, records: Ints) -> Floats:
        """Loss of each class, a segment of ``order``."""
        columns = self.totals, self.presents, self.lowest, self.highest, self.attribute_weights
        indicators = self.offsets, self.values, self.counts, self.axis_of
        weights = self.error_weights, self.width_weights, self.width_scales
        return node_counts.leaf_losses(order, low, high, records, *columns, *indicators, *weights)

    def scanned(self, order: Codes, low: Ints, high: Ints, records: Ints) -> tuple[Floats, Floats]:
        """Squared distances of nodes, and of their sides when cut behind each place of an order."""
        return node_counts.scan_losses(order, low, high, records, *self._of_squares())

    def without_members(
        self, axis: IndicatorAxis, order: Codes, low: Ints, high: Ints, records: Ints
    ) -> tuple[Ints, Codes, Ints, Ints, Ints, Floats]:
        """Squared distances when the members of each 0/1 column of an axis are cut off."""
        member, columns = axis.member, axis.indicators.size
        return node_counts.member_losses(
            order, low, high, member, columns, records, *self._of_squares()
        )

    def _of_squares(self) -> tuple[Floats, Floats, Ints, Ints, Codes, Codes, Floats]:
        """What the squared distances are summed from."""
        indicators = self.offsets, self.values, self.counts, self.weights
        return self.totals, self.squares, self.presents, *indicators


def loss_space(
    persons: PersonTable, quasi_identifiers: Sequence[CodedColumn], *, sets: bool
) -> LossSpace:
    """Gather each person's share in the loss.

    Parameters
    ----------
    persons
        What is known of the persons.
    quasi_identifiers
        Their kinds and weights.
    sets
        Whether categories are released as sets, whose width is the number of their members;
        otherwise a class with more than one category has the full width.
    """
    roots = np.sqrt([quasi_identifiers[axis.column].weight for axis in persons.ordered])
    ordered = persons.ordered
    none = np.zeros((persons.persons, 0))
    empty = [axis.present == 0 for axis in ordered]
    lowest = [
        np.where(gone, np.inf, axis.normalized[np.minimum(axis.lowest, len(axis.normalized) - 1)])
        for axis, gone in zip(ordered, empty, strict=True)
    ]
    highest = [
        np.where(gone, -np.inf, axis.normalized[axis.highest])
        for axis, gone in zip(ordered, empty, strict=True)
    ]
    totals = np.column_stack([none, *(axis.total for axis in ordered)]) * roots
    squares = np.zeros(persons.persons)
    for axis, root in zip(ordered, roots, strict=True):
        squares += axis.square * root**2
    columns = [_Columns(axis, quasi_identifiers[axis.column], sets) for axis in persons.indicators]
    starts = np.cumsum([0, *(each.size for each in columns)])
    owner = np.concatenate([np.empty(0, np.int64), *(each.owner for each in columns)])
    by_owner = np.argsort(owner, kind="stable")
    values = [each.indicators.values + start for each, start in zip(columns, starts, strict=False)]
    counts = [each.indicators.counts for each in columns]
    offsets = np.zeros(persons.persons + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=persons.persons), out=offsets[1:])
    sizes = [each.size for each in columns]
    return LossSpace(
        totals=np.ascontiguousarray(totals),
        presents=np.column_stack([none, *(axis.present for axis in ordered)]).astype(np.int64),
        lowest=np.column_stack([none, *lowest]) * roots,
        highest=np.column_stack([none, *highest]) * roots,
        squares=squares,
        attribute_weights=roots,
        offsets=offsets,
        values=np.concatenate([np.empty(0), *values])[by_owner].astype(np.int32),
        counts=np.concatenate([np.empty(0), *counts])[by_owner].astype(np.int32),
        weights=np.repeat([each.square_weight for each in columns], sizes).astype(np.float64),
        axis_of=np.repeat(np.arange(len(columns)), sizes).astype(np.int32),
        error_weights=np.array([each.error_weight for each in columns], dtype=np.float64),
        width_weights=np.array([each.width_weight for each in columns], dtype=np.float64),
        width_scales=np.array([each.width_scale for each in columns], dtype=np.float64),
    )


class _Columns:
    """The 0/1 columns of one indicator axis, with what they weigh."""

    def __init__(self, axis: IndicatorAxis, column: CodedColumn, sets: bool) -> None:
        self.indicators = axis.indicators
        self.size = axis.indicators.size
        self.owner = np.repeat(
            np.arange(len(axis.indicators.offsets) - 1), np.diff(axis.indicators.offsets)
        )
        single = self.size == 1
        self.square_weight = column.weight * (1.0 if single else 0.5)
        of_missing = column.kind is not Kind.CATEGORICAL
        self.error_weight = 0.0 if of_missing else 2 * self.square_weight
        self.width_weight = 0.0 if of_missing else column.weight
        self.width_scale = 1 / max(column.domain.size - 1, 1) if sets else 1.0
