"""The generalised tuples that a release showed, with how often it showed each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Shown:
    """The distinct generalised tuples of one release.

    Attributes
    ----------
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    codes
        A leaf below each shown value, -1 for missing; shape (tuples, attributes).
    levels
        Level that each value is shown at; shape (tuples, attributes).
    counts
        How many individuals (or records: what is counted, support is a share of) were shown as
        each tuple; shape (tuples,).

    Raises
    ------
    InputError
        If the arrays differ in shape, or a count is below 0.
    """

    hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    codes: Ints = field(repr=False)
    levels: npt.NDArray[np.integer] = field(repr=False)
    counts: npt.NDArray[np.integer] = field(repr=False)

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        shape = (len(self.counts), len(self.hierarchies))
        if self.codes.shape != shape or self.levels.shape != shape:
            raise InputError(
                "a release's tuples", "must have a code and a level for every tuple and attribute"
            )
        if len(self.counts) and int(self.counts.min()) < 0:
            raise InputError("a release's counts", "must not be negative")

    def at(self, column: int, level: int) -> Ints:
        """What each tuple tells about an attribute at a level.

        Parameters
        ----------
        column
            Number of the attribute.
        level
            The level.

        Returns
        -------
        numpy.ndarray
            Index into ``labels[level]``; -1 where the tuple shows a coarser value, or none;
            shape (tuples,).
        """
        hierarchy = tuple(self.hierarchies.values())[column]
        codes = self.codes[:, column]
        if not hierarchy.leaves:
            return np.full(len(codes), -1, dtype=np.int32)
        lowest = equal_levels(hierarchy)[0]
        told = (lowest[self.levels[:, column], codes] <= level) & (codes >= 0)
        return np.where(told, hierarchy.ancestors[level][codes], -1).astype(np.int32, copy=False)


def equal_levels(hierarchy: Hierarchy) -> tuple[Ints, Ints]:
    """The lowest and the highest level at which a value has the same leaves below it.

    Who is shown the only branch of a value knows the value below it, too.

    Parameters
    ----------
    hierarchy
        The hierarchy of one attribute.

    Returns
    -------
    tuple
        The levels for each level and leaf, each of shape (levels, leaves).
    """
    below = np.stack(
        [
            hierarchy.leaf_counts(level)[ancestors]
            for level, ancestors in enumerate(hierarchy.ancestors)
        ]
    )
    fewer = (below[np.newaxis] < below[:, np.newaxis]).sum(axis=1)
    at_most = (below[np.newaxis] <= below[:, np.newaxis]).sum(axis=1)
    return fewer.astype(np.int32), (at_most - 1).astype(np.int32)
