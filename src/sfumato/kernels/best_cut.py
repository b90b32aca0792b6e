"""The search in compiled loops: the best cuts of nodes, and what is lost below them.

They give what ``sfumato.release.best_cuts`` gives in NumPy, their twin, for promises that are
thresholds of numbers. A node is a segment of all orders of the persons; the segments of a call
are disjoint, ascending and not empty. O(persons and values in the nodes), times the ordered
attributes and the axes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from sfumato.kernels.best_cut_inputs import Axes, Chosen, Codes, Floats, Ints, Known, Limits
from sfumato.kernels.choose import worth_compiling
from sfumato.kernels.cuts import WORTH_A_THREAD
from sfumato.kernels.scans import CALLS
from sfumato.kernels.threads import in_threads, parts

_Found = TypeVar("_Found")


def worth_searching(persons: int) -> bool:
    """Whether so many persons are to be searched by the compiled loops."""
    return worth_compiling(persons * CALLS)


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
    from sfumato.kernels import best_cut_loops

    def found(run: slice) -> Chosen:
        return best_cut_loops.best_cuts(
            orders, low[run], high[run], shares[run], known, axes, limits, _most(known, limits)
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
    from sfumato.kernels import subtree_loops

    def found(run: slice) -> Floats:
        return subtree_loops.subtree_losses(
            orders, low[run], high[run], known, axes, limits, shares, _most(known, limits)
        )

    return np.concatenate(_of_runs(found, low, high))


def _of_runs(found: Callable[[slice], _Found], low: Ints, high: Ints) -> list[_Found]:
    runs = parts(np.cumsum(high - low), WORTH_A_THREAD)
    return in_threads([partial(found, run) for run in runs])


def _most(known: Known, limits: Limits) -> int:
    """The largest number of records of a person, where it is asked for."""
    return int(known.records.max()) if limits.sharing > 1 else 0
