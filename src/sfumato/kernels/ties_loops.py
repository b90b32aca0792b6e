"""Fixed hashes that order what is otherwise equal, compiled; the twin is ``ties_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.choose import compiled
from sfumato.kernels.ties_twin import BASIS, FIRST, PRIME, SECOND, SHIFT, Bytes, Ints


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> SHIFT)) * FIRST
    word = (word ^ (word >> SHIFT)) * SECOND
    return word ^ (word >> SHIFT)


@compiled
def of_texts(offsets: npt.NDArray[np.integer], data: Bytes) -> Ints:
    """The hash of each text; see ``ties.of_texts``."""
    ties = np.empty(len(offsets) - 1, np.int64)
    for row in range(len(ties)):
        word = BASIS
        for place in range(offsets[row], offsets[row + 1]):
            word = (word ^ np.uint64(data[place])) * PRIME
        ties[row] = np.int64(_mixed(word))
    return ties


@compiled
def extended(ties: Ints, values: Ints) -> Ints:
    """The hashes of tuples with one more value each; see ``ties.extended``."""
    longer = np.empty(len(ties), np.int64)
    for row in range(len(ties)):
        longer[row] = np.int64(_mixed((np.uint64(ties[row]) ^ np.uint64(values[row])) * PRIME))
    return longer
