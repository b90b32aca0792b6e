"""How many persons of a class share a number of records: what an intruder who counts can use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels import sharing_twin
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.scans import CALLS
from sfumato.kernels.summaries import ClassOrder

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]


class SharingCounts(NamedTuple):
    """What the numbers of records in each class give away; every array has shape (classes,).

    The number of records of an id is called its size here. With one id per person, the share of
    the ids of a size that are one person's is 1 / (persons who have that number of records).

    Attributes
    ----------
    fewest
        Over the sizes that occur, the fewest persons who have an id of one size.
    fewest_row
        0-based first row with such a size.
    alone
        Number of persons who have an id of a size that nobody else of the class has.
    risk
        Largest share of the ids of one size that are one person's.
    risk_row
        0-based first row of an id with that share.
    risk_total
        Sum over persons of the largest such share of each.
    """

    fewest: Integers
    fewest_row: Integers
    alone: Integers
    risk: Floats
    risk_row: Integers
    risk_total: Floats


def count_sharing(order: ClassOrder, person: Codes) -> SharingCounts:
    """Count in each class the persons who share a number of records: O(records).

    Parameters
    ----------
    order
        Records of some classes, none of them empty, by the ids that they show.
        Ids are the persons themselves, unless a person has several, which are then numbered one
        after the other.
    person
        Index of each record's person, in that order, shape (records,).
    """
    rows, starts, shown, compiled = order
    if not compiled:
        return SharingCounts(*sharing_twin.count_sharing(rows, starts, person, shown))
    from sfumato.kernels import sharing_loops

    counts = np.empty((4, len(starts) - 1), dtype=np.int32)
    risks = np.empty((2, len(starts) - 1))
    scratch = np.zeros((6, int(sharing_loops.longest_run(shown)) + 1), dtype=np.int64)
    runs = np.empty((3, int(np.diff(starts).max())), dtype=np.int32)
    sharing_loops.count_sharing(rows, starts, person, shown, scratch, runs, counts, risks)
    fewest, fewest_row, alone, risk_row = counts
    return SharingCounts(fewest, fewest_row, alone, risks[0], risk_row, risks[1])


def side_sharing(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    records: npt.NDArray[np.integer],
) -> Counts:
    """The fewest persons who share a number of records, on both sides of each node.

    O(persons in the nodes).

    Parameters
    ----------
    order, low, high
        As in `cuts.ordered_cuts`.
    side
        0 or 1 of each person.
    records
        Number of records of each person.

    Returns
    -------
    array
        Shape (nodes, 2); 0 on a side without persons.
    """
    if not worth_compiling(len(order)):
        return sharing_twin.side_sharing(order, low, high, side, records)
    from sfumato.kernels import sharing_loops

    seen = np.zeros((2, int(records.max()) + 1), dtype=np.int64)
    fewest = np.zeros((len(low), 2), dtype=np.int64)
    sharing_loops.side_sharing(order, low, high, side, records, seen, fewest)
    return fewest


def scan_sharing(
    order: Codes, low: Counts, high: Counts, records: npt.NDArray[np.integer]
) -> tuple[Counts, Counts]:
    """The fewest persons who share a number of records, on both sides of every place.

    O(persons in the nodes): one person more changes the fewest by one, or makes it one.

    Parameters
    ----------
    order, low, high
        As in `cuts.ordered_cuts`.
    records
        Number of records of each person.

    Returns
    -------
    tuple
        Among the persons of the node up to the place, and among those behind it (0 where there
        is nobody); shape (persons,) each, 0 outside the nodes.
    """
    if not worth_compiling(len(order) * CALLS):
        return sharing_twin.scan_sharing(order, low, high, records)
    from sfumato.kernels import sharing_loops

    seen = np.zeros(int(records.max()) + 1, dtype=np.int64)
    numbers = np.zeros(len(order) + 1, dtype=np.int64)
    fewest = np.zeros((2, len(order)), dtype=np.int64)
    sharing_loops.scan_sharing(order, low, high, records, seen, numbers, fewest)
    return fewest[0], fewest[1]
