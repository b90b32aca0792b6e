"""Keys in order, and how long their runs are, as NumPy has it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def sort_with_places(keys: Ints) -> tuple[Ints, Ints]:
    """The keys ascending, and the places they come from, equal keys in their order."""
    order = np.argsort(keys, kind="stable")
    return keys[order], order


def run_lengths(starts: Ints, total: int) -> Ints:
    """Length of each run, the last one ending at ``total``."""
    return np.diff(starts, append=total)
