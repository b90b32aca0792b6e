"""The memory that the compiled search writes to at each node, kept from node to node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels.best_cut_inputs import Axes, Bools, Codes, Floats, Ints, Limits
from sfumato.kernels.choose import compiled


class Scratch(NamedTuple):
    """Arrays of one node; counters are zeros between any two uses.

    Attributes
    ----------
    total, present, own_total, own_present
        Sums and numbers of values of the node and of a part, per ordered attribute.
    held, own_held
        Counters of records per 0/1 column.
    distinct_columns, covered
        Per indicator axis, as `scans_loops.leaf_loss` writes them.
    share, lost
        Per ordered axis and place: share of the records on the smaller side of a cut behind it,
        negative where that is no cut; and the loss of both sides, infinite where it is no cut.
    sharers, most_shared, distinct
        Counters of persons per sensitive value; per attribute, persons of the most shared value,
        and distinct values.
    counts
        Counters of persons per number of records.
    ends, grouped
        The persons by their column of an indicator axis, and where those of a column end.
    entry_axis, entry_column, entry_checked
        Cuts along indicator axes: where, and whether they are known to keep the promises.
    entry_right
        Persons, records and squared record counts of their members; shape (cuts, 3).
    entry_lost
        Loss of both sides, infinite where it is no cut.
    key, place, checked
        Of each ordered axis, at each share: the key of its best place (or a bound of it), and
        the place; and whether its places are known to keep the promises.
    """

    total: Floats
    present: Ints
    own_total: Floats
    own_present: Ints
    held: Ints
    own_held: Ints
    distinct_columns: Ints
    covered: Ints
    share: Floats
    lost: Floats
    sharers: Ints
    most_shared: Ints
    distinct: Ints
    counts: Ints
    ends: Ints
    grouped: Codes
    entry_axis: Ints
    entry_column: Codes
    entry_checked: Bools
    entry_right: Ints
    entry_lost: Floats
    key: Floats
    place: Ints
    checked: npt.NDArray[np.bool_]


@compiled
def plain(number: int) -> int:
    """The same number; a constant in its place would have every callee compiled once more."""
    return number + 0


@compiled
def longest_of(low: Ints, high: Ints) -> int:
    """Persons of the largest node."""
    longest = 0
    for node in range(len(low)):
        longest = max(longest, high[node] - low[node])
    return longest


@compiled
def scratch_for(longest: int, most: int, axes: Axes, limits: Limits, shares: int) -> Scratch:
    """Memory for nodes of up to so many persons.

    ``most`` is the largest number of records of a person.
    """
    ordered, indicators = len(axes.missing), len(axes.columns)
    columns = len(axes.weights)
    entries, widest = 0, 0
    for axis in range(indicators):
        entries += min(axes.columns[axis], longest)
        widest = max(widest, axes.columns[axis])
    return Scratch(
        np.zeros(ordered),
        np.zeros(ordered, np.int64),
        np.zeros(ordered),
        np.zeros(ordered, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(indicators, np.int64),
        np.zeros(indicators, np.int64),
        np.empty((ordered, longest)),
        np.empty((ordered, longest)),
        np.zeros(len(limits.attribute_of), np.int64),
        np.zeros(len(limits.distinct), np.int64),
        np.zeros(len(limits.distinct), np.int64),
        np.zeros(most + 1, np.int64),
        np.zeros(widest + 2, np.int64),
        np.empty(longest, np.int32),
        np.empty(entries, np.int64),
        np.empty(entries, np.int32),
        np.empty(entries, np.bool_),
        np.empty((entries, 3), np.int64),
        np.empty(entries),
        np.empty((ordered, shares)),
        np.empty((ordered, shares), np.int64),
        np.empty(ordered, np.bool_),
    )
