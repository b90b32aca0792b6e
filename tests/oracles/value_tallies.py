"""Records of a set that have each value, in NumPy: an oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def tallies(
    postings: npt.NDArray[np.uint32], edges: npt.NDArray[np.int64], flags: npt.NDArray[np.uint8]
) -> npt.NDArray[np.int64]:
    """Number of records of a set that have each value."""
    before = np.concatenate([[0], np.cumsum(flags[postings], dtype=np.int64)])
    return np.asarray(before[edges[1:]] - before[edges[:-1]], np.int64)


def smallest_tally(
    postings: npt.NDArray[np.uint32],
    edges: npt.NDArray[np.int64],
    flags: npt.NDArray[np.uint8],
    order: npt.NDArray[np.int64],
    best: int,
) -> int:
    """The smallest number of records of a set that have a value, if any; at most ``best``."""
    found = tallies(postings, edges, flags)[order]
    return int(found[found > 0].min(initial=best))
