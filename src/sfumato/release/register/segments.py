"""Where the persons of a register stand: a segment per node and pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of the orders of a register's persons; see `Members` for the patterns.

    Attributes
    ----------
    low, high
        Segment of each pattern and node, empty where there is nobody; shape (patterns, nodes).
        Taken row by row they are ascending and disjoint.
    """

    low: Ints
    high: Ints

    @property
    def sizes(self) -> Ints:
        """Number of persons; shape (patterns, nodes)."""
        sizes: Ints = self.high - self.low
        return sizes

    def take(self, nodes: npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]) -> Segments:
        """Those of some of the nodes."""
        return Segments(self.low[:, nodes], self.high[:, nodes])

    def places(self) -> Ints:
        """Every place of every segment, row by row."""
        sizes = self.sizes.ravel()
        starts = np.cumsum(sizes) - sizes
        places: Ints = np.arange(int(sizes.sum())) + np.repeat(self.low.ravel() - starts, sizes)
        return places

    def divided(self, left: Ints) -> Segments:
        """Two segments for each one, the first with ``left`` persons, side by side."""
        middle = self.low + left
        patterns = len(self.low)
        return Segments(
            np.stack([self.low, middle], axis=2).reshape(patterns, -1),
            np.stack([middle, self.high], axis=2).reshape(patterns, -1),
        )


def joined_segments(parts: Sequence[Segments | None], order: Ints) -> Segments:
    """The segments of several levels, in another order of their nodes."""
    low = np.concatenate([each.low for each in parts if each is not None], axis=1)
    high = np.concatenate([each.high for each in parts if each is not None], axis=1)
    return Segments(low[:, order], high[:, order])
