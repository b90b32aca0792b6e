"""Number the distinct keys of an array by first appearance."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.kernels import grouping_twin
from sfumato.kernels.choose import ONCE, worth_compiling
from sfumato.kernels.threads import in_threads

Keys = npt.NDArray[np.int64]
DIRECT_SPACE = 1 << 16
"""Key spaces up to this size are looked up in a table with a place for every key."""
PART_BITS = 7
"""Keys are divided into so many parts (as a power of 2) that the table of one fits a cache."""
CHUNKS = 8
"""Runs of records that are divided into parts at the same time."""


def number_by_first_appearance(
    keys: Keys, space: int, *, spent: bool = False
) -> tuple[npt.NDArray[np.int32], int]:
    """Give equal keys equal numbers 0, 1, 2, ... in the order in which they first appear.

    Large inputs take O(records + space) with a direct table while the key space is at most
    twice the records, else O(records) expected: the keys are divided by their hashes into parts
    that are looked up one by one, in hash tables of 16 bytes a slot and at most four slots a
    record, on all processors. Small inputs sort: O(records log records). All ways give the same
    numbers.

    Parameters
    ----------
    keys
        Shape (records,), each in [0, space).
    space
        Number of possible keys.
    spent
        Whether the keys may be overwritten, which saves the memory of a copy.

    Returns
    -------
    tuple
        The number of each record's key, shape (records,), and how many distinct keys there are.
    """
    if not worth_compiling(len(keys), ONCE):
        return grouping_twin.number_by_first_appearance(keys if spent else keys.copy(), space)
    from sfumato.kernels import grouping_loops

    if space <= max(2 * len(keys), DIRECT_SPACE):
        numbers, table = np.empty(len(keys), dtype=np.int32), np.full(space, -1, dtype=np.int32)
        return numbers, int(grouping_loops.number_with_table(keys, table, numbers))
    numbers = _first_rows(keys)
    return numbers, int(grouping_loops.number_first_rows(numbers))


def _first_rows(keys: Keys) -> npt.NDArray[np.int32]:
    """The first row that has each row's key."""
    from sfumato.kernels import grouping_loops

    edges = np.linspace(0, len(keys), CHUNKS + 1).astype(np.int64).tolist()
    counts = np.zeros((CHUNKS, 1 << PART_BITS), dtype=np.int64)
    chunks = list(zip(edges[:-1], edges[1:], counts, strict=True))
    in_threads([partial(grouping_loops.count_parts, keys, *c[:2], PART_BITS, c[2]) for c in chunks])
    ends = np.cumsum(counts.T.ravel()).reshape(-1, CHUNKS)
    places = np.ascontiguousarray((ends - counts.T).T)
    part_keys, part_rows = np.empty_like(keys), np.empty(len(keys), dtype=np.int32)
    in_threads(
        [
            partial(
                grouping_loops.scatter, keys, begin, end, PART_BITS, place, part_keys, part_rows
            )
            for (begin, end, _), place in zip(chunks, places, strict=True)
        ]
    )
    first = np.empty(len(keys), dtype=np.int32)
    stops = [0, *ends[:, -1].tolist()]

    def look_up(start: int, stop: int) -> None:
        slots = np.zeros((2 << max(stop - start, 1).bit_length(), 2), dtype=np.int64)
        grouping_loops.first_rows(part_keys[start:stop], part_rows[start:stop], slots, first)

    in_threads([partial(look_up, *part) for part in pairwise(stops)])
    return first
