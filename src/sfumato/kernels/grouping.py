"""Number the distinct keys of an array by first appearance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels import grouping_twin
from sfumato.kernels.choose import worth_compiling

DIRECT_SPACE = 1 << 16
"""Key spaces up to this size are looked up in a table with a place for every key."""


def number_by_first_appearance(
    keys: npt.NDArray[np.int64], space: int
) -> tuple[npt.NDArray[np.int32], int]:
    """Give equal keys equal numbers 0, 1, 2, ... in the order in which they first appear.

    Large inputs take O(records + space) with a direct table while the key space is at most
    twice the records, else O(records) expected with a hash table of 16 bytes a slot, at least
    one slot for eight records and at most four a distinct key beyond that. Small inputs sort:
    O(records log records).

    Parameters
    ----------
    keys
        Shape (records,), each in [0, space).
    space
        Number of possible keys.

    Returns
    -------
    tuple
        The number of each record's key, shape (records,), and how many distinct keys there are.
    """
    if not worth_compiling(len(keys)):
        return grouping_twin.number_by_first_appearance(keys)
    from sfumato.kernels import grouping_loops

    numbers = np.empty(len(keys), dtype=np.int32)
    if space <= max(2 * len(keys), DIRECT_SPACE):
        table = np.full(space, -1, dtype=np.int32)
        return numbers, int(grouping_loops.number_with_table(keys, table, numbers))
    bits = max(1, len(keys) // 4).bit_length()
    return numbers, int(grouping_loops.number_with_hash(keys, bits, numbers))
