"""What the tree counts in its nodes: one call per axis for all nodes of a level.

A node is a segment ``order[low:high]`` of an order of the persons; the segments of a call are
disjoint, ascending and not empty. Every function is O(persons and values in the nodes).
Small inputs run the NumPy twin, so that a small file never waits for a compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernels import cuts_twin
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.cuts_twin import Codes, Floats, Ints
from sfumato.kernels.threads import in_threads, parts

Sides = npt.NDArray[np.int8]
WORTH_A_THREAD = 20_000
"""Persons in the nodes of a call from which it is divided among the processors."""

_Arrays = tuple[npt.NDArray[Any], ...]


def _loops(persons: int) -> ModuleType:
    if not worth_compiling(persons):
        return cuts_twin
    from sfumato.kernels import cuts_loops

    return cuts_loops


def _runs(order: Codes, low: Ints, high: Ints) -> list[slice]:
    """Runs of nodes, one for each thread's turn; the NumPy twin takes all in one."""
    if not worth_compiling(len(order)):
        return [slice(0, len(low))]
    return parts(np.cumsum(high - low), WORTH_A_THREAD)


def _of_nodes(
    loop: Callable[..., _Arrays | None],
    order: Codes,
    nodes: Sequence[npt.NDArray[Any]],
    *others: object,
) -> _Arrays:
    """The arrays that a loop gives for all nodes.

    Parameters
    ----------
    loop
        A loop whose parameters are the order, arrays with an entry per node, and the rest.
    order, nodes, others
        Its arguments; ``nodes`` are low, high and perhaps more.
    """
    found = in_threads(
        [
            partial(loop, order, *[each[run] for each in nodes], *others)
            for run in _runs(order, nodes[0], nodes[1])
        ]
    )
    if len(found) == 1 or found[0] is None:
        return found[0] or ()
    return tuple(map(np.concatenate, zip(*found, strict=True)))


def ordered_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    node_records: Ints,
    records: Ints,
    position: Codes,
    missing_position: int,
    strict: bool,
    total: Floats,
    square: Floats,
    present: Ints,
) -> tuple[Ints, Ints, Ints, Floats]:
    """Cut every node at the median of one ordered axis (paper 003, Section 5).

    Relaxed: the person who holds the median record (the first whose cumulative record count
    reaches N/2) goes left, or right if nobody would be left there; the missing, who come last,
    are never divided. Strict: between two positions, at the boundary whose cumulative record
    count is nearest N/2, the lower one of two equally near.

    Parameters
    ----------
    order
        Persons, ascending by position within each node; shape (persons,).
    low, high, node_records
        Segment and number of records of each node; shape (nodes,).
    records, position
        Number of records and position of each person; shape (persons,).
    missing_position
        The position of persons without a value, larger than all others.
    strict
        Whether equal positions stay together.
    total, square, present
        Sum and sum of squares of each person's normalised values, and their number.

    Returns
    -------
    tuple
        Per node: persons, records and squared record counts on the left (zero persons: no
        cut), and the population variance of the values over records.
    """
    left, left_records, left_squares, variance = _of_nodes(
        _loops(len(order)).ordered_cuts,
        order,
        (low, high, node_records),
        records,
        position,
        missing_position,
        strict,
        total,
        square,
        present,
    )
    return left, left_records, left_squares, variance


def ordered_spreads(
    order: Codes, low: Ints, high: Ints, lowest: Codes, highest: Codes
) -> tuple[Codes, Codes]:
    """Lowest and highest code that occurs in each node, from each person's own."""
    least, most = _of_nodes(_loops(len(order)).ordered_spreads, order, (low, high), lowest, highest)
    return least, most


def indicator_cuts(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    member: Codes,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    columns: int,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Ints]:
    """Count both sides of every 0/1 column that occurs in each node.

    Parameters
    ----------
    order, low, high, records
        As in `ordered_cuts`.
    member
        The column that holds for most of a person's records, -1 for none.
    offsets, values, counts
        Per person (CSR) the columns that hold for any of their records, and for how many.
    columns
        Number of 0/1 columns.

    Returns
    -------
    tuple
        Per found (node, column): node, column, persons, records and squared record counts on
        the right (members), and the number of records for which the column holds.
    """
    loop, runs = _loops(len(order)).indicator_cuts, _runs(order, low, high)
    found = in_threads(
        [
            partial(
                loop, order, low[run], high[run], records, member, offsets, values, counts, columns
            )
            for run in runs
        ]
    )
    nodes = [part[0] + run.start for part, run in zip(found, runs, strict=True)]
    node, column, right, right_records, right_squares, inside = map(
        np.concatenate, (nodes, *zip(*[part[1:] for part in found], strict=True))
    )
    return node, column, right, right_records, right_squares, inside


def mark_cut(order: Codes, low: Ints, high: Ints, end: Ints, side: Sides) -> None:
    """Set ``side`` of the persons at and behind place ``end`` of each node to 1, else 0."""
    _of_nodes(_loops(len(order)).mark_cut, order, (low, high, end), side)


def mark_members(
    order: Codes, low: Ints, high: Ints, column: Codes, member: Codes, side: Sides
) -> None:
    """Set ``side`` of the members of each node's ``column`` to 1, of the others to 0."""
    _of_nodes(_loops(len(order)).mark_members, order, (low, high, column), member, side)


def partition(order: Codes, low: Ints, high: Ints, side: Sides) -> None:
    """Move the persons of side 0 before those of side 1 in each node, in place, stably."""
    _of_nodes(_loops(len(order)).partition, order, (low, high), side)


def side_affiliations(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    offsets: Ints,
    values: Codes,
    size: int,
) -> tuple[Ints, Ints]:
    """Count the persons who share a sensitive value, on both sides of each node.

    Parameters
    ----------
    order, low, high
        As in `ordered_cuts`.
    side
        0 or 1 of each person.
    offsets, values
        Per person (CSR) the distinct sensitive values.
    size
        Number of sensitive values.

    Returns
    -------
    tuple
        Persons of the most shared value, and number of distinct values; shape (nodes, 2).
    """
    affiliation, distinct = _of_nodes(
        _loops(len(order)).side_affiliations, order, (low, high), side, offsets, values, size
    )
    return affiliation, distinct
