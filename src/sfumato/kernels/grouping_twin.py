"""Number the distinct keys of an array by first appearance: the readable twin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def number_by_first_appearance(
    keys: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int32], int]:
    """Sort the distinct keys, then rank them by the position of their first appearance."""
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(len(distinct), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(distinct), dtype=np.int32)
    return rank[inverse], len(distinct)
