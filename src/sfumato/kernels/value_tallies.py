"""How many records of a set have each value."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels import value_tallies_twin
from sfumato.kernels.choose import worth_compiling


def tallies(
    postings: npt.NDArray[np.uint32], edges: npt.NDArray[np.int64], flags: npt.NDArray[np.uint8]
) -> npt.NDArray[np.int64]:
    """Number of records of a set that have each value.

    Parameters
    ----------
    postings
        The records of each value, one value after the other.
    edges
        Where those of each value start and end; shape (values + 1,).
    flags
        1 for each record of the set, else 0; shape (records,).

    Returns
    -------
    NDArray
        Shape (values,).
    """
    if not worth_compiling(len(flags)):
        return value_tallies_twin.tallies(postings, edges, flags)
    from sfumato.kernels import value_tallies_loops

    return value_tallies_loops.tallies(postings, edges, flags)


def smallest_tally(
    postings: npt.NDArray[np.uint32],
    edges: npt.NDArray[np.int64],
    flags: npt.NDArray[np.uint8],
    order: npt.NDArray[np.int64],
    best: int,
) -> int:
    """The smallest number of records of a set that have a value, if any; at most ``best``.

    The compiled loops look at few records of a value that more than the smallest number have:
    rare values first, they need not read most records.

    Parameters
    ----------
    postings, edges, flags
        As for `tallies`.
    order
        All values, in the order in which they are looked at; shape (values,).
    best
        What is known to be no less than the answer, at least 1.
    """
    if not worth_compiling(len(flags)):
        return value_tallies_twin.smallest_tally(postings, edges, flags, order, best)
    from sfumato.kernels import value_tallies_loops

    return int(value_tallies_loops.smallest_tally(postings, edges, flags, order, best))
