"""What is counted in the nodes of a tree, and the search for their cuts.

A node is a segment ``order[low:high]`` of an order of the persons; the segments of a call are
disjoint, ascending and not empty. Every function is O(persons and values in the nodes), times the
ordered attributes where it reads them, and the axes where it searches. The first functions count
for a cut at the median or for given sides, the ``scan_`` ones at every place of the nodes; the
arrays of these have an entry per person. `best_cuts` and `subtree_losses` are for promises that
are thresholds of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

import sfumato.kernels._classes as _classes
import sfumato.kernels._tree as _tree
from sfumato.kernels.class_counts import cumulated
from sfumato.kernels.loop_calls import (
    Arrays,
    Bools,
    Codes,
    Floats,
    Integers,
    Ints,
    Sides,
    as_declared,
    floats,
    in_threads,
    ints,
    parts,
    typed,
)

WORTH_A_THREAD = 20_000
"""Persons in the nodes of a call from which it is divided among the processors."""


def _runs(low: Ints, high: Ints) -> list[slice]:
    """Runs of nodes, one for each thread's turn."""
    return parts(np.cumsum(high - low), WORTH_A_THREAD)


def _of_nodes(
    loop: Callable[..., Any], order: Codes, nodes: Sequence[npt.NDArray[Any]], *others: object
) -> Any:
    """The array or arrays that a loop gives for all nodes.

    Parameters
    ----------
    loop
        A loop whose parameters are the order, arrays with an entry per node, and the rest.
    order, nodes, others
        Its arguments; ``nodes`` are low, high and perhaps more.
    """
    runs = _runs(nodes[0], nodes[1])
    found = in_threads(
        [partial(loop, order, *(node[run] for node in nodes), *others) for run in runs]
    )
    # Loops that write in place give nothing to join.
    if len(found) == 1 or found[0] is None:
        return found[0]
    if isinstance(found[0], tuple):
        return tuple(map(np.concatenate, zip(*found, strict=True)))
    return np.concatenate(found)


def _members(runs: list[slice], found: list[Arrays]) -> Any:
    """What the runs give per node and column, the nodes numbered over all runs."""
    nodes = [part[0] + run.start for part, run in zip(found, runs, strict=True)]
    return tuple(map(np.concatenate, (nodes, *zip(*[part[1:] for part in found], strict=True))))


@as_declared
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
    total, square, present
        Sum and sum of squares of each person's normalised values, and their number.

    Returns
    -------
    tuple
        Per node: persons, records and squared record counts on the left (zero persons: no
        cut), and the population variance of the values over records.
    """
    return _of_nodes(
        _tree.ordered_cuts,
        order,
        (low, high, node_records),
        *(records, position, missing_position, strict, total, square, present),
    )


@as_declared
def ordered_spreads(
    order: Codes, low: Ints, high: Ints, lowest: Codes, highest: Codes
) -> tuple[Codes, Codes]:
    """Lowest and highest code that occurs in each node, from each person's own."""
    return _of_nodes(_tree.ordered_spreads, order, (low, high), lowest, highest)


@as_declared
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
    runs = _runs(low, high)
    given = (records, member, offsets, values, counts, columns)
    tasks = [partial(_tree.indicator_cuts, order, low[run], high[run], *given) for run in runs]
    return _members(runs, in_threads(tasks))


@as_declared
def mark_cut(order: Codes, low: Ints, high: Ints, end: Ints, side: Sides) -> None:
    """Set ``side`` of the persons at and behind place ``end`` of each node to 1, else 0."""
    _of_nodes(_tree.mark_cut, order, (low, high, end), side)


@as_declared
def mark_members(
    order: Codes, low: Ints, high: Ints, column: Codes, member: Codes, side: Sides
) -> None:
    """Set ``side`` of the members of each node's ``column`` to 1, of the others to 0."""
    _of_nodes(_tree.mark_members, order, (low, high, column), member, side)


@as_declared
def partition(order: Codes, low: Ints, high: Ints, side: Sides) -> None:
    """Move the persons of side 0 before those of side 1 in each node, in place, stably."""
    _of_nodes(_tree.partition, order, (low, high), side)


@as_declared
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

    Returns
    -------
    tuple
        Persons of the most shared value, and number of distinct values; shape (nodes, 2).
    """
    return _of_nodes(_tree.side_affiliations, order, (low, high), side, offsets, values, size)


@as_declared
def side_sharing(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    records: Integers,
) -> Ints:
    """The fewest persons who share a number of records, on both sides of each node.

    O(persons in the nodes).

    Parameters
    ----------
    order, low, high
        As in `ordered_cuts`.
    side
        0 or 1 of each person.

    Returns
    -------
    array
        Shape (nodes, 2); 0 on a side without persons.
    """
    # Not in threads: one node's counts share this array, which is cleared by undoing and not anew.
    seen = np.zeros((2, int(records.max()) + 1), dtype=np.int64)
    fewest = np.zeros((len(low), 2), dtype=np.int64)
    _classes.side_sharing(order, low, high, side, ints(records), seen, fewest)
    return fewest


@as_declared
def scan_sharing(order: Codes, low: Ints, high: Ints, records: Integers) -> tuple[Ints, Ints]:
    """The fewest persons who share a number of records, on both sides of every place.

    O(persons in the nodes): one person more changes the fewest by one, or makes it one.

    Parameters
    ----------
    order, low, high
        As in `ordered_cuts`.

    Returns
    -------
    tuple
        Among the persons of the node up to the place, and among those behind it (0 where there
        is nobody); shape (persons,) each, 0 outside the nodes.
    """
    seen = np.zeros(int(records.max()) + 1, dtype=np.int64)
    numbers = np.zeros(len(order) + 1, dtype=np.int64)
    fewest = np.zeros((2, len(order)), dtype=np.int64)
    _classes.scan_sharing(order, low, high, ints(records), seen, numbers, fewest)
    return fewest[0], fewest[1]


@as_declared
def side_distances(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    file: Ints,
) -> Floats:
    """The equal distance on both sides of each node: O(values in the nodes).

    Parameters
    ----------
    order, low, high
        As in `ordered_cuts`.
    side
        0 or 1 of each person.
    offsets, values, counts
        Per person (CSR) the distinct values, and the number of records with each.

    Returns
    -------
    array
        Shape (nodes, 2).
    """
    if not file.any():
        return np.zeros((len(low), 2))
    share = floats(file / file.sum())
    return _of_nodes(
        _classes.side_distances, order, (low, high), side, offsets, values, counts, share
    )


@as_declared
def side_ordered_distances(
    order: Codes,
    low: Ints,
    high: Ints,
    side: Sides,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    file: Ints,
    rank: Codes,
) -> Floats:
    """The ordered distance on both sides of each node: O(v log r) for v values in the nodes.

    Parameters
    ----------
    order, low, high, side, offsets, values, counts, file
        As in `side_distances`.
    rank
        Rank of each value, from 0 without a gap.

    Returns
    -------
    array
        Shape (nodes, 2).
    """
    # No value in the file: distributions of nothing do not differ.
    if not file.any():
        return np.zeros((len(low), 2))
    given = (side, offsets, values, counts, rank, *cumulated(file, rank))
    return _of_nodes(_classes.side_ordered_distances, order, (low, high), *given)


def _of_runs(
    loop: Callable[..., Any], order: Codes, low: Ints, high: Ints, *others: object
) -> tuple[list[slice], list[slice], list[Any]]:
    """Divide the nodes into runs for the threads.

    Parameters
    ----------
    loop
        A loop whose parameters are the order, both ends of its nodes, and the rest.

    Returns
    -------
    tuple
        Of each run: its nodes, its places, and what the loop gives, its first place being 0.
    """
    runs = _runs(low, high)
    spans = [slice(*_ends(low[run], high[run])) for run in runs]
    # `order` is cut for each run, so that its results
    # have the length of the run and not of the file.
    tasks = [
        partial(loop, order[span], low[run] - span.start, high[run] - span.start, *others)
        for run, span in zip(runs, spans, strict=True)
    ]
    return runs, spans, in_threads(tasks)


def _ends(low: Ints, high: Ints) -> tuple[int, int]:
    return (int(low[0]), int(high[-1])) if len(low) else (0, 0)


def _joined(spans: list[slice], found: list[Arrays], places: int) -> Arrays:
    """Put what the runs give per place where it belongs; 0 at places outside the nodes."""
    joined = tuple(np.zeros(places, dtype=part.dtype) for part in found[0])
    for span, arrays in zip(spans, found, strict=True):
        for array, part in zip(joined, arrays, strict=True):
            array[span] = part
    return joined


@as_declared
def scan_affiliations(
    order: Codes, low: Ints, high: Ints, offsets: Ints, values: Codes, size: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Count the persons who share a sensitive value, on both sides of a cut behind each place.

    Parameters
    ----------
    order
        Persons; shape (persons,).
    low, high
        Segment of each node; shape (nodes,).
    offsets, values
        Per person (CSR) the distinct sensitive values.

    Returns
    -------
    tuple
        Persons of the most shared value on the left (the place's person included) and on the
        right, and number of distinct values on the left and on the right; shape (persons,),
        0 at places outside the nodes.
    """
    _, spans, found = _of_runs(_tree.scan_affiliations, order, low, high, offsets, values, size)
    left, right, left_distinct, right_distinct = _joined(spans, found, len(order))
    return left, right, left_distinct, right_distinct


@as_declared
def scan_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
) -> tuple[Floats, Floats]:
    """Sum the squared distances from the means, of nodes and of their sides at each place.

    Over n records, m of which hold an ordered attribute, the distance is the sum of squares less
    the squared sum over m; that of a 0/1 column that holds for c of them is c - c²/n.

    Parameters
    ----------
    order, low, high
        As in `scan_affiliations`.
    records
        Number of records of each person; shape (persons,).
    totals
        Sum of each person's values; shape (persons, attributes).
    squares
        Sum of each person's squared values, over all ordered attributes.
    presents
        Number of each person's values; shape (persons, attributes).
    offsets, values, counts
        Per person (CSR) the 0/1 columns that hold for any of their records, and for how many.
    weights
        Weight of the squared distance of each 0/1 column; the loops sum weighted squared counts
        exactly if weights have few binary digits (0.5, 1.25).

    Returns
    -------
    tuple
        Loss of each node whole; loss of both sides together when the node is cut behind each
        place, shape (persons,), 0 at the last place of a node and outside the nodes.
    """
    given = (records, totals, squares, presents, offsets, values, counts, weights)
    runs, spans, found = _of_runs(_tree.scan_losses, order, low, high, *given)
    whole = _joined(runs, [each[:1] for each in found], len(low))[0]
    after = _joined(spans, [each[1:] for each in found], len(order))[0]
    return whole, after


@as_declared
def member_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    member: Codes,
    columns: int,
    records: Ints,
    totals: Floats,
    squares: Floats,
    presents: Ints,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    weights: Floats,
) -> tuple[Ints, Codes, Ints, Ints, Ints, Floats]:
    """Cut the members of every 0/1 column of one axis off each node that has any.

    Costs O(nodes · columns) beside the persons and values.

    Parameters
    ----------
    order, low, high
        As in `scan_affiliations`.
    member
        The column of this axis to which each person belongs, -1 for none; shape (persons,).
    columns
        Number of 0/1 columns of this axis.
    records, totals, squares, presents, offsets, values, counts, weights
        As in `scan_losses`, over the columns of all axes.

    Returns
    -------
    tuple
        Per found (node, column), ascending by node and then by column: node, column, persons,
        records and squared record counts on the right (members), and the loss of both sides
        together; that of the node whole where all its persons are members.
    """
    given = (records, totals, squares, presents, offsets, values, counts, weights)
    members = member.reshape(1, -1)
    runs, _, found = _of_runs(_tree.member_losses, order, low, high, members, columns, *given)
    return _members(runs, found)


@as_declared
def leaf_losses(
    order: Codes,
    low: Ints,
    high: Ints,
    records: Ints,
    totals: Floats,
    presents: Ints,
    lowest: Floats,
    highest: Floats,
    attribute_weights: Floats,
    offsets: Ints,
    values: Codes,
    counts: Codes,
    axis_of: Codes,
    error_weights: Floats,
    width_weights: Floats,
    width_scales: Floats,
) -> Floats:
    """Sum absolute error and width of the values that each node would release, over records.

    An ordered attribute has the width of its range, or its full one where a record misses it.
    An indicator axis has the width of its categories beyond the first, being missing one of
    them, up to 1; its absolute error over n records is c (1 - c/n) of each column that holds for
    c of them.

    Parameters
    ----------
    order, low, high
        As in `scan_affiliations`.
    records, totals, presents
        As in `scan_losses`.
    lowest, highest
        Least and greatest value of each person, inf and -inf where there is none; shape
        (persons, attributes).
    attribute_weights
        Weight of each ordered attribute, and its full width, in the unit of the totals.
    offsets, values, counts
        As in `scan_losses`.
    axis_of
        Indicator axis of each 0/1 column.
    error_weights, width_weights, width_scales
        Per indicator axis: weight of the absolute error, weight of the width, and the width of
        each category beyond the first.

    Returns
    -------
    NDArray
        Loss of each node; shape (nodes,).
    """
    _, _, found = _of_runs(
        _tree.leaf_losses,
        *(order, low, high, records, totals, presents, lowest, highest, attribute_weights),
        *(offsets, values, counts, axis_of, error_weights, width_weights, width_scales),
    )
    return np.concatenate(found)


_Found = TypeVar("_Found")


class Known(NamedTuple):
    """What is known of each person.

    Attributes
    ----------
    records
        Number of records; shape (persons,).
    positions
        Rank along each ordered axis; shape (ordered axes, persons).
    members
        Column of each indicator axis that the person belongs to, -1 for none; shape
        (indicator axes, persons).
    totals, presents, lowest, highest
        Sum of the values of each ordered attribute, their number, least and greatest; shape
        (persons, attributes).
    squares
        Sum of the squared values, over all ordered attributes.
    offsets, values, counts
        Per person (CSR) the 0/1 columns of all indicator axes that hold, and for how many
        records.
    sensitive_offsets, sensitive
        Per person (CSR) the distinct sensitive values of all attributes.
    """

    records: Ints
    positions: Codes
    members: Codes
    totals: Floats
    presents: Ints
    lowest: Floats
    highest: Floats
    squares: Floats
    offsets: Ints
    values: Codes
    counts: Codes
    sensitive_offsets: Ints
    sensitive: Codes


class Axes(NamedTuple):
    """What is known of the axes and of what their values weigh.

    Attributes
    ----------
    strict
        Whether equal positions of an ordered axis stay together.
    missing
        Position of persons without a value, per ordered axis.
    columns
        Number of 0/1 columns of each indicator axis.
    complete
        Whether all records have all values of the ordered attributes.
    attribute_weights, weights, axis_of, error_weights, width_weights, width_scales
        As in `node_counts.scan_losses` and `node_counts.leaf_losses`.
    """

    strict: Bools
    missing: Ints
    columns: Ints
    complete: bool
    attribute_weights: Floats
    weights: Floats
    axis_of: Codes
    error_weights: Floats
    width_weights: Floats
    width_scales: Floats


class Limits(NamedTuple):
    """What every class must keep; a class of fewer persons than it says cannot.

    Attributes
    ----------
    squares
        Largest sum of the persons' squared numbers of records, as a share of the square of all.
    affiliation
        Largest share of persons who share a value, per sensitive attribute; infinite for any.
    distinct
        Least number of distinct values, per sensitive attribute.
    sharing
        Least number of persons who share each number of records that occurs; 1 for any.
    """

    records: int
    persons: int
    squares: float
    attribute_of: Codes
    affiliation: Floats
    distinct: Ints
    sharing: int


class Chosen(NamedTuple):
    """One cut per node (or per share of a node); every array has one entry each.

    Attributes
    ----------
    axis
        Index of the axis: the ordered ones first, then the indicators; -1 where nothing is cut.
    column
        The 0/1 column of an indicator; 0 for ordered axes.
    """

    axis: Ints
    column: Codes
    left: Ints
    left_records: Ints
    left_squares: Ints
    lost: Floats


@as_declared
def best_cuts(
    orders: Codes, low: Ints, high: Ints, shares: Floats, known: Known, axes: Axes, limits: Limits
) -> Chosen:
    """The best cut of each node.

    Parameters
    ----------
    orders
        One order of the persons per ordered axis, or one in any order; shape (orders, persons).
    low, high
        Segment of each node; shape (nodes,).
    shares
        The share α of each node.
    """
    flat, most = orders.ravel(), _most(known, limits)
    given = (typed(known), typed(axes), typed(limits), most)

    def found(run: slice) -> Chosen:
        own = (low[run], high[run], shares[run])
        return Chosen(*_tree.best_cuts(flat, orders.shape[1], *own, *given))

    return Chosen(*map(np.concatenate, zip(*_by_work(found, low, high), strict=True)))


@as_declared
def subtree_losses(
    orders: Codes, low: Ints, high: Ints, shares: Floats, known: Known, axes: Axes, limits: Limits
) -> Floats:
    """Loss of the classes below each node at each share; shape (nodes, shares).

    Parameters
    ----------
    orders, low, high
        As in `best_cuts`.
    shares
        The shares α that are tried, ascending.
    known, axes, limits
        As in `best_cuts`.
    """
    flat, most = orders.ravel(), _most(known, limits)
    given = (typed(known), typed(axes), typed(limits))

    def found(run: slice) -> Floats:
        own = (flat, orders.shape[1], low[run], high[run])
        return _tree.subtree_losses(*own, *given, shares, most)

    return np.concatenate(_by_work(found, low, high))


def _by_work(found: Callable[[slice], _Found], low: Ints, high: Ints) -> list[_Found]:
    runs = parts(np.cumsum(high - low), WORTH_A_THREAD)
    return in_threads([partial(found, run) for run in runs])


def _most(known: Known, limits: Limits) -> int:
    """The largest number of records of a person, where it is asked for."""
    # A pass over all persons that nobody needs where any number of records may be alone.
    return int(known.records.max()) if limits.sharing > 1 else 0
