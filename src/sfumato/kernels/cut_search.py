"""The search for cuts: the best one of each node, and what is lost below it.

For promises that are thresholds of numbers. A node is a segment of all orders of the persons; the
segments of a call are disjoint, ascending and not empty. O(persons and values in the nodes), times
the ordered attributes and the axes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from sfumato.kernels import _tree
from sfumato.kernels.arrays import Bools, Codes, Floats, Ints, floats, ints
from sfumato.kernels.arrays import codes as as_codes
from sfumato.kernels.threads import in_threads, parts

_Found = TypeVar("_Found")
WORTH_A_THREAD = 20_000
"""Persons in the nodes of a call from which it is divided among the processors."""


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
    records, persons
        Least number of them.
    squares
        Largest sum of the persons' squared numbers of records, as a share of the square of all.
    attribute_of
        Sensitive attribute of each sensitive value.
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
    left, left_records, left_squares
        Persons, records and squared record counts on the left.
    lost
        Squared distance from the means of both sides together.
    """

    axis: Ints
    column: Codes
    left: Ints
    left_records: Ints
    left_squares: Ints
    lost: Floats


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
    known, axes, limits
        The persons, and what is asked.
    """
    flat, given = as_codes(orders).ravel(), (*_typed(known, axes, limits), _most(known, limits))

    def found(run: slice) -> Chosen:
        return Chosen(
            *_tree.best_cuts(
                flat, orders.shape[1], ints(low[run]), ints(high[run]), floats(shares[run]), *given
            )
        )

    return Chosen(*map(np.concatenate, zip(*_of_runs(found, low, high), strict=True)))


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
    flat, given, most = as_codes(orders).ravel(), _typed(known, axes, limits), _most(known, limits)

    def found(run: slice) -> Floats:
        return _tree.subtree_losses(
            flat, orders.shape[1], ints(low[run]), ints(high[run]), *given, floats(shares), most
        )

    return np.concatenate(_of_runs(found, low, high))


def _of_runs(found: Callable[[slice], _Found], low: Ints, high: Ints) -> list[_Found]:
    runs = parts(np.cumsum(high - low), WORTH_A_THREAD)
    return in_threads([partial(found, run) for run in runs])


def _most(known: Known, limits: Limits) -> int:
    """The largest number of records of a person, where it is asked for."""
    return int(known.records.max()) if limits.sharing > 1 else 0


def _typed(known: Known, axes: Axes, limits: Limits) -> tuple[Known, Axes, Limits]:
    """The same, each array as the loops take it."""
    return (
        Known(
            records=ints(known.records),
            positions=as_codes(known.positions),
            members=as_codes(known.members),
            totals=floats(known.totals),
            presents=ints(known.presents),
            lowest=floats(known.lowest),
            highest=floats(known.highest),
            squares=floats(known.squares),
            offsets=ints(known.offsets),
            values=as_codes(known.values),
            counts=as_codes(known.counts),
            sensitive_offsets=ints(known.sensitive_offsets),
            sensitive=as_codes(known.sensitive),
        ),
        Axes(
            strict=np.ascontiguousarray(axes.strict, dtype=np.bool_),
            missing=ints(axes.missing),
            columns=ints(axes.columns),
            complete=axes.complete,
            attribute_weights=floats(axes.attribute_weights),
            weights=floats(axes.weights),
            axis_of=as_codes(axes.axis_of),
            error_weights=floats(axes.error_weights),
            width_weights=floats(axes.width_weights),
            width_scales=floats(axes.width_scales),
        ),
        limits._replace(
            attribute_of=as_codes(limits.attribute_of),
            affiliation=floats(limits.affiliation),
            distinct=ints(limits.distinct),
        ),
    )
