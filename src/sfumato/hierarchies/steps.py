"""Distance in a hierarchy: the steps between its values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import Hierarchy

Ints = npt.NDArray[np.int32]


def steps_raised(hierarchy: Hierarchy) -> Ints:
    """Steps from each leaf up to its ancestor at each level.

    A level at which a branch repeats its label over the same leaves is no step: a code that
    stands alone below the root is one step away from it, however deep other branches are.

    Parameters
    ----------
    hierarchy
        The hierarchy.

    Returns
    -------
    numpy.ndarray
        Shape (levels, leaves); the last row is the number of steps from leaf to root.
    """
    steps = np.zeros(hierarchy.ancestors.shape, dtype=np.int32)
    for level in range(1, len(steps)):
        above, below = hierarchy.ancestors[level], hierarchy.ancestors[level - 1]
        names = np.array(hierarchy.labels[level], dtype=object)
        under = np.array(hierarchy.labels[level - 1], dtype=object)
        same = (names[above] == under[below]).astype(np.bool_)
        same &= hierarchy.leaf_counts(level)[above] == hierarchy.leaf_counts(level - 1)[below]
        steps[level] = steps[level - 1] + ~same
    return steps


def common_levels(hierarchy: Hierarchy, one: Ints, other: Ints) -> Ints:
    """The level of the lowest ancestor that each pair of leaves shares.

    Parameters
    ----------
    hierarchy
        The hierarchy.
    one, other
        Leaves, each of shape (pairs,).

    Returns
    -------
    numpy.ndarray
        Shape (pairs,); 0 where both are the same leaf.
    """
    apart = hierarchy.ancestors[:, one] != hierarchy.ancestors[:, other]
    levels: Ints = apart.sum(axis=0, dtype=np.int32)
    return levels


def distances(hierarchy: Hierarchy, one: Ints, other: Ints) -> Ints:
    """Steps on the way between each pair of leaves, over their lowest common ancestor.

    Parameters
    ----------
    hierarchy
        The hierarchy.
    one, other
        Leaves, each of shape (pairs,).

    Returns
    -------
    numpy.ndarray
        Shape (pairs,).
    """
    level = common_levels(hierarchy, one, other)
    raised = steps_raised(hierarchy)
    apart: Ints = raised[level, one] + raised[level, other]
    return apart
