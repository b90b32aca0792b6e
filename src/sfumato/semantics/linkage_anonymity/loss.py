"""What generalised tuples lose: certainty penalty and levels raised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies import Hierarchy
from sfumato.hierarchies.hierarchy import steps_raised
from sfumato.semantics.linkage_anonymity.keys import Ints

Floats = npt.NDArray[np.float64]


def penalty_table(hierarchy: Hierarchy) -> Floats:
    """Normalised certainty penalty of each leaf at each level, in [0, 1].

    (Leaves below its ancestor - 1) / (leaves - 1); 0 where there is one leaf. A missing value,
    in the last column, loses nothing below the root and everything at it.

    Parameters
    ----------
    hierarchy
        The hierarchy of one quasi-identifier.

    Returns
    -------
    numpy.ndarray
        Penalties, shape (levels, leaves + 1).
    """
    leaves = len(hierarchy.leaves)
    below = np.stack(
        [
            hierarchy.leaf_counts(level)[ancestors]
            for level, ancestors in enumerate(hierarchy.ancestors)
        ]
    )
    table = np.zeros((hierarchy.height + 1, leaves + 1))
    table[:, :leaves] = (below - 1) / max(leaves - 1, 1)
    table[-1, leaves] = 1.0 if leaves > 1 else 0.0
    return table


def certainty_penalties(
    codes: Ints,
    levels: npt.NDArray[np.integer],
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None = None,
) -> Floats:
    """Weighted mean of the certainty penalties of each tuple (NCP), in [0, 1].

    Parameters
    ----------
    codes
        Leaf codes, -1 for missing; shape (tuples, QIs).
    levels
        Level that each value is shown at; shape (tuples, QIs).
    hierarchies
        The hierarchy of each quasi-identifier.
    weights
        The share of each, relative to the others; equal without them.

    Returns
    -------
    numpy.ndarray
        Shape (tuples,).
    """
    shares = normalised_weights(weights, len(hierarchies))
    total = np.zeros(len(codes))
    for place, (hierarchy, share) in enumerate(zip(hierarchies, shares, strict=True)):
        total += share * penalty_table(hierarchy)[levels[:, place], codes[:, place]]
    return total


def normalised_weights(weights: Sequence[float] | None, count: int) -> Floats:
    """Weights that add up to 1."""
    given = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    return given / given.sum() if count else given


def squared_errors(
    codes: Ints,
    levels: npt.NDArray[np.integer],
    hierarchies: Sequence[Hierarchy],
    counts: npt.NDArray[np.integer] | None = None,
) -> float:
    """SSE / SST of generalised tuples, in [0, 1] (paper 002, Eq. 4).

    The distance of a value is its levels raised / its levels from leaf to root, so that SST,
    where everything is at the root, is individuals x QIs. Levels at which a branch repeats its
    label are none.

    Parameters
    ----------
    codes
        Leaf codes, -1 for missing; shape (tuples, QIs).
    levels
        Level that each value is shown at; shape (tuples, QIs).
    hierarchies
        The hierarchy of each quasi-identifier.
    counts
        Linked individuals of each tuple, shape (tuples,); 1 without them.
    """
    if not codes.size:
        return 0.0
    weights = np.ones(len(codes)) if counts is None else counts.astype(np.float64)
    total = 0.0
    for place, hierarchy in enumerate(hierarchies):
        raised = steps_raised(hierarchy)
        missing = (np.arange(len(raised)) == len(raised) - 1).astype(np.float64)
        share = np.column_stack([raised / np.maximum(raised[-1], 1), missing])
        total += float(weights @ share[levels[:, place], codes[:, place]] ** 2)
    return total / (float(weights.sum()) * len(hierarchies))
