"""Records of a set that have each value, compiled; the twin is ``value_tallies_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled


@compiled
def tallies(
    postings: npt.NDArray[np.uint32], edges: npt.NDArray[np.int64], flags: npt.NDArray[np.uint8]
) -> npt.NDArray[np.int64]:
    """Number of records of a set that have each value."""
    result = np.zeros(len(edges) - 1, np.int64)
    for value in range(len(result)):
        found = 0
        for place in range(edges[value], edges[value + 1]):
            found += flags[postings[place]]
        result[value] = found
    return result


@compiled
def smallest_tally(
    postings: npt.NDArray[np.uint32],
    edges: npt.NDArray[np.int64],
    flags: npt.NDArray[np.uint8],
    order: npt.NDArray[np.int64],
    best: int,
) -> int:
    """The smallest number of records of a set that have a value, if any; at most ``best``."""
    for value in order:
        found = 0
        for place in range(edges[value], edges[value + 1]):
            found += flags[postings[place]]
            if found == best:
                break
        if 0 < found < best:
            best = found
            if best == 1:
                break
    return best
