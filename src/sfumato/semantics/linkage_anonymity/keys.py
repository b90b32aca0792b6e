"""Generalised tuples as single integers, the same for every tuple that shows the same values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Hierarchy

Ints = npt.NDArray[np.int32]
_LARGEST = 1 << 62


def shown_table(hierarchy: Hierarchy) -> Ints:
    """What each leaf is shown as at each level, a missing value in the last column.

    A missing value is a value of its own at every level but the root: a cell that shows nothing
    is matched by a missing value alone, and a missing value matches that cell and ``*`` alone.
    Code -1 picks the last column.

    Parameters
    ----------
    hierarchy
        The hierarchy of one quasi-identifier.

    Returns
    -------
    numpy.ndarray
        Index into ``labels[level]``, or its length for missing; shape (levels, leaves + 1).
    """
    missing = np.array([len(labels) for labels in hierarchy.labels], dtype=np.int32)
    missing[-1] = 0
    return np.column_stack([hierarchy.ancestors, missing])


def packed_keys(
    tables: Sequence[Ints], vector: Sequence[int], *sides: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], ...]:
    """One integer per tuple: equal where the tuples show the same at these levels.

    Parameters
    ----------
    tables
        What `shown_table` gives for each quasi-identifier.
    vector
        The level of each quasi-identifier.
    sides
        Leaf tuples whose keys are comparable with each other; each of shape (tuples, QIs).

    Returns
    -------
    tuple
        The keys of each side, each of shape (tuples,), not negative.
    """
    keys = [np.zeros(len(codes), dtype=np.int64) for codes in sides]
    reach = 1
    for place, (table, level) in enumerate(zip(tables, vector, strict=True)):
        shown = table[level]
        radix = int(shown.max(initial=0)) + 1
        if radix == 1:
            continue
        if reach * radix > _LARGEST:
            keys, reach = _renumbered(keys)
        for side, codes in enumerate(sides):
            keys[side] *= radix
            keys[side] += shown[codes[:, place]]
        reach *= radix
    return tuple(keys)


def _renumbered(keys: Sequence[npt.NDArray[np.int64]]) -> tuple[list[npt.NDArray[np.int64]], int]:
    distinct, numbers = np.unique(np.concatenate(keys), return_inverse=True)
    ends = np.cumsum([len(each) for each in keys])[:-1]
    return [each.copy() for each in np.split(numbers.astype(np.int64), ends)], len(distinct)
