"""Which pairs of encodings are a one-to-one assignment, and the best pairs beside them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.record_pairs import merge
from sfumato.linkage.encodings.similar import Scored

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def assigned(pairs: Scored, left: int, right: int) -> Bools:
    """Whether each pair is one of a one-to-one assignment, the most similar pairs first.

    Parameters
    ----------
    pairs
        Positions and similarities.
    left, right
        Number of records of both sources.
    """
    one, other, dice = pairs
    order = np.argsort(-dice, kind="stable")
    # A cluster has at most one record of each limited group: here, of each source.
    group = (np.arange(left + right) >= left).astype(np.int64)
    joins = np.ones(len(order), np.bool_)
    _, kept = merge(one[order], other[order] + left, joins, group)
    result = np.zeros(len(order), np.bool_)
    result[order] = kept
    return result


def runners_up(pairs: Scored, own: Bools, left: int) -> Floats:
    """Score of the best pair of each left record that is not its own, where there is one.

    Parameters
    ----------
    pairs
        Positions and similarities.
    own
        Whether each pair is the record's own, as `assigned` says.
    left
        Number of left records.
    """
    best = np.zeros(left)
    np.maximum.at(best, pairs[0][~own], pairs[2][~own])
    return best[best > 0]
