"""Merge records into clusters, edge after edge, where nothing forbids it.

The edges come in the order in which they count. An edge that joins two records merges their
clusters unless an earlier edge keeps them apart, or both clusters hold a record of the same
limited group (a source with at most one record per person). An edge that keeps two records
apart does so from then on, unless they are together already. Few edges run the Python twin.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels import merging_twin
from sfumato.kernels.choose import worth_compiling

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def merge(left: Ints, right: Ints, joins: Bools, group: Ints) -> tuple[Ints, Bools]:
    """The clusters, and which edges hold in them: O(edges · α) where few edges keep apart.

    Parameters
    ----------
    left, right
        Records of each edge, different ones; shape (edges,).
    joins
        Whether the edge joins them; otherwise it keeps them apart.
    group
        Limited group of each record, -1 for none; shape (records,).

    Returns
    -------
    tuple
        A label per record, the number of one record of its cluster, and whether each edge was
        kept when its turn came.
    """
    if not worth_compiling(len(left)):
        return merging_twin.merge(left, right, joins, group)
    from sfumato.kernels import merging_loops

    cluster, kept = merging_loops.merge(left, right, joins, group)
    return cluster, kept
