"""Generalise coded values in array form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy

Ints = npt.NDArray[np.int32]


def generalised(hierarchy: Hierarchy, codes: Ints, levels: int | npt.NDArray[np.integer]) -> Ints:
    """The ancestor of each leaf at a level: its index into the labels of all levels.

    Those are the labels of level 0, then of level 1, and so on, as `all_labels` gives them, so
    that values at several levels have numbers of their own.

    Parameters
    ----------
    hierarchy
        The hierarchy.
    codes
        Leaves, -1 for missing; shape (records,).
    levels
        One level for all, or one per record, shape (records,).

    Returns
    -------
    numpy.ndarray
        Shape (records,); -1 for a missing value below the root.
    """
    first = np.cumsum([0, *(len(labels) for labels in hierarchy.labels[:-1])])
    table = np.column_stack(
        [
            hierarchy.ancestors + first[:, np.newaxis].astype(np.int32),
            np.full(len(first), -1, dtype=np.int32),
        ]
    )
    table[-1, -1] = first[-1]
    found: Ints
    if isinstance(levels, int):
        found = table[levels][codes]
    else:
        found = table.ravel()[levels.astype(np.int64) * table.shape[1] + codes % table.shape[1]]
    return found


def all_labels(hierarchy: Hierarchy) -> tuple[str, ...]:
    """The labels of all levels, the leaves first."""
    return tuple(label for labels in hierarchy.labels for label in labels)
