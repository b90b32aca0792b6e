"""How far the sensitive values of a class, or of a side of a cut, are from those of the file.

Distributions are over records that have a value. The equal distance is the total variation
distance; the ordered one is the earth mover's distance when neighbouring ranks lie
1 / (ranks - 1) apart (Li, Li & Venkatasubramanian 2007, Section 4). Both are 0 where there is
no value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType

import numpy as np
import numpy.typing as npt

from sfumato.kernels import distances_twin
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.distances_twin import Codes, Counts, Floats
from sfumato.kernels.threads import in_threads, parts

WORTH_A_THREAD = 20_000
"""Persons or records of a call from which it is divided among the processors."""


def _loops(length: int) -> ModuleType:
    if not worth_compiling(length):
        return distances_twin
    from sfumato.kernels import distances_loops

    return distances_loops


def _in_runs(
    loop: Callable[..., Floats], order: Codes, low: Counts, high: Counts, *others: object
) -> Floats:
    runs = [slice(0, len(low))]
    if worth_compiling(len(order)):
        runs = parts(np.cumsum(high - low), WORTH_A_THREAD)
    return np.concatenate(
        in_threads([partial(loop, order, low[run], high[run], *others) for run in runs])
    )


def side_distances(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    offsets: Counts,
    values: Codes,
    counts: Codes,
    file: Counts,
) -> Floats:
    """The equal distance on both sides of each node: O(values in the nodes).

    Parameters
    ----------
    order, low, high
        As in `cuts.ordered_cuts`.
    side
        0 or 1 of each person.
    offsets, values, counts
        Per person (CSR) the distinct values, and the number of records with each.
    file
        Number of records of the file with each value.

    Returns
    -------
    array
        Shape (nodes, 2).
    """
    if not file.any():
        return np.zeros((len(low), 2))
    loop, share = _loops(len(order)).side_distances, file / file.sum()
    return _in_runs(loop, order, low, high, side, offsets, values, counts, share)


def side_ordered_distances(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    offsets: Counts,
    values: Codes,
    counts: Codes,
    file: Counts,
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
    if not file.any():
        return np.zeros((len(low), 2))
    loop = _loops(len(order)).side_ordered_distances
    below, sums = cumulated(file, rank)
    return _in_runs(loop, order, low, high, side, offsets, values, counts, rank, below, sums)


def class_ordered_distances(
    rows: Codes, starts: Counts, codes: Codes, file: Counts, rank: Codes
) -> Floats:
    """The ordered distance of each class: O(v log r) for the v values of the classes.

    The equal one is counted with the values, by `summaries.count_values`.

    Parameters
    ----------
    rows, starts
        As `summaries.class_order` gave them.
    codes
        Value of each record, -1 for missing, shape (records,).
    file
        Number of records of the file with each value.
    rank
        Rank of each value, from 0 without a gap.

    Returns
    -------
    array
        Shape (classes,).
    """
    if not file.any():
        return np.zeros(len(starts) - 1)
    loop = _loops(len(rows)).class_ordered_distances
    below, sums = cumulated(file, rank)
    return _in_runs(loop, rows, starts[:-1], starts[1:], codes, rank, below, sums)


def cumulated(file: Counts, rank: Codes) -> tuple[Floats, Floats]:
    """The file's share at or below each rank but the last, and the sums of those before each.

    Parameters
    ----------
    file
        Number of records of the file with each value, not all 0.
    rank
        Rank of each value, from 0 without a gap.
    """
    below = np.cumsum(np.bincount(rank, weights=file))[:-1] / file.sum()
    return below, np.concatenate([[0.0], np.cumsum(below)])
