"""What the search weighs at every place of its nodes: one call per axis for all nodes of a level.

A node is a segment ``order[low:high]`` of an order of the persons; the segments of a call are
disjoint, ascending and not empty. Every function is O(persons and values in the nodes), times
the ordered attributes where it reads them; the arrays that it gives have an entry per person.
Small inputs run the NumPy twin, so that a small file never waits for a compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernels import scans_twin
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.cuts import WORTH_A_THREAD
from sfumato.kernels.cuts_twin import Codes, Floats, Ints
from sfumato.kernels.threads import in_threads, parts

_Arrays = tuple[npt.NDArray[Any], ...]
CALLS = 16
"""A search calls each loop so often that the compiled ones pay off for so many fewer persons."""


def _loops(persons: int) -> ModuleType:
    if not worth_compiling(persons * CALLS):
        return scans_twin
    from sfumato.kernels import scans_loops

    return scans_loops


def _of_runs(
    loop: Callable[..., _Arrays], order: Codes, low: Ints, high: Ints, *others: object
) -> tuple[list[slice], list[slice], list[_Arrays]]:
    """Divide the nodes into runs for the threads; the NumPy twin takes all in one.

    Parameters
    ----------
    loop
        A loop whose parameters are the order, both ends of its nodes, and the rest.
    order, low, high, others
        Its arguments.

    Returns
    -------
    tuple
        Of each run: its nodes, its places, and what the loop gives, its first place being 0.
    """
    runs = [slice(0, len(low))]
    if worth_compiling(len(order) * CALLS):
        runs = parts(np.cumsum(high - low), WORTH_A_THREAD)
    spans = [slice(*_ends(low[run], high[run])) for run in runs]
    tasks = [
        partial(loop, order[span], low[run] - span.start, high[run] - span.start, *others)
        for run, span in zip(runs, spans, strict=True)
    ]
    return runs, spans, in_threads(tasks)


def _ends(low: Ints, high: Ints) -> tuple[int, int]:
    return (int(low[0]), int(high[-1])) if len(low) else (0, 0)


def _joined(spans: list[slice], found: list[_Arrays], places: int) -> _Arrays:
    """Put what the runs give per place where it belongs; 0 at places outside the nodes."""
    joined = tuple(np.zeros(places, dtype=part.dtype) for part in found[0])
    for span, arrays in zip(spans, found, strict=True):
        for array, part in zip(joined, arrays, strict=True):
            array[span] = part
    return joined


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
    size
        Number of sensitive values.

    Returns
    -------
    tuple
        Persons of the most shared value on the left (the place's person included) and on the
        right, and number of distinct values on the left and on the right; shape (persons,),
        0 at places outside the nodes.
    """
    _, spans, found = _of_runs(
        _loops(len(order)).scan_affiliations, order, low, high, offsets, values, size
    )
    left, right, left_distinct, right_distinct = _joined(spans, found, len(order))
    return left, right, left_distinct, right_distinct


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
    runs, spans, found = _of_runs(
        _loops(len(order)).scan_losses,
        order,
        low,
        high,
        records,
        totals,
        squares,
        presents,
        offsets,
        values,
        counts,
        weights,
    )
    whole = _joined(runs, [each[:1] for each in found], len(low))[0]
    after = _joined(spans, [each[1:] for each in found], len(order))[0]
    return whole, after


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
    runs, _, found = _of_runs(
        _loops(len(order)).member_losses,
        order,
        low,
        high,
        member,
        columns,
        records,
        totals,
        squares,
        presents,
        offsets,
        values,
        counts,
        weights,
    )
    nodes = [part[0] + run.start for part, run in zip(found, runs, strict=True)]
    node, column, right, right_records, right_squares, after = map(
        np.concatenate, (nodes, *zip(*[part[1:] for part in found], strict=True))
    )
    return node, column, right, right_records, right_squares, after


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
        _single(_loops(len(order)).leaf_losses),
        order,
        low,
        high,
        records,
        totals,
        presents,
        lowest,
        highest,
        attribute_weights,
        offsets,
        values,
        counts,
        axis_of,
        error_weights,
        width_weights,
        width_scales,
    )
    return np.concatenate([losses for (losses,) in found])


def _single(loop: Callable[..., Floats]) -> Callable[..., _Arrays]:
    return lambda *arguments: (loop(*arguments),)
