"""Number the distinct keys of an array by first appearance: the readable twin, by sorting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.sorting import run_lengths, run_starts, sort_with_places


def number_by_first_appearance(
    keys: npt.NDArray[np.int64], space: int
) -> tuple[npt.NDArray[np.int32], int]:
    """Sort the keys; of each, the first place says which number it gets."""
    ascending, order = sort_with_places(keys, space)
    starts = run_starts(ascending)
    first = order[starts]
    is_first = np.zeros(len(keys), dtype=np.bool_)
    is_first[first] = True
    number = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    numbers = np.empty(len(keys), dtype=np.int32)
    numbers[order] = np.repeat(number[first], run_lengths(starts, len(keys)))
    return numbers, len(first)
