"""The values that the stages of a linkage pass on; no attribute of a record is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Outcome(StrEnum):
    """What is said of a pair of records."""

    MATCH = "match"
    POSSIBLE_MATCH = "possible match"
    NON_MATCH = "non-match"


@dataclass(frozen=True, eq=False)
class Records:
    """Whose records are linked. A record's number counts through the sources in their order.

    Attributes
    ----------
    sources
        Names of the sources.
    ids
        Per source, the id of each of its records, as text and distinct within the source.
    """

    sources: tuple[str, ...]
    ids: tuple[pa.Array, ...]

    @property
    def starts(self) -> Ints:
        """Number of the first record of each source, and the number of all; (sources + 1,)."""
        return np.concatenate([[0], np.cumsum([len(each) for each in self.ids])]).astype(np.int64)

    @property
    def count(self) -> int:
        """Number of all records."""
        return int(self.starts[-1])

    def source_of(self, record: Ints) -> Ints:
        """Index of the source of each record."""
        return np.searchsorted(self.starts, record, side="right").astype(np.int64) - 1


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs of records; every array has shape (pairs,).

    Attributes
    ----------
    left, right
        Numbers of the two records, left below right.
    score
        Probability that they are one person's, in [0, 1].
    levels
        Per compared attribute, the comparison level: -1 where a value is missing, 0 for
        entirely different, the highest for equal.
    block
        Index of the blocking rule that brought them together first.
    """

    left: Ints
    right: Ints
    score: Floats
    levels: Mapping[str, npt.NDArray[np.int8]]
    block: npt.NDArray[np.int16]

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.left)
