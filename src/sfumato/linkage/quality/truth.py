"""The pairs of a linkage held against the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.linkage.quality.rates import Rates, rates
from sfumato.linkage.values import Ints

Bools = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class PairQuality:
    """Pairs of records that are one person's: found, true, and both.

    Attributes
    ----------
    right
        Number of pairs found that are true.
    found
        Number of pairs found.
    true
        Number of true pairs.
    """

    right: int
    found: int
    true: int

    @property
    def rates(self) -> Rates:
        """Precision and recall."""
        return rates(self.right, self.found, self.true)


def quality_of_pairs(person: Labels, truth: Labels, source: Labels | None = None) -> PairQuality:
    """Pairs of records of one person as found against those of one person in truth.

    Counted from sizes, never pair by pair: O(N log N).

    Parameters
    ----------
    person
        Person of each record as found; shape (records,).
    truth
        True person of each record, -1 where unknown: such records are left out.
    source
        Source of each record, where only pairs across sources count, as in link-only.
    """
    known = truth >= 0
    own, true = person[known], truth[known]
    both = _joint(own, true)
    sources = None if source is None else source[known]
    return PairQuality(_pairs(both, sources), _pairs(own, sources), _pairs(true, sources))


def quality_of_matches(left: Ints, right: Ints, match: Bools, truth: Labels) -> PairQuality:
    """Candidate pairs called a match against the true ones among the candidates.

    Parameters
    ----------
    left, right
        Records of each candidate pair; shape (pairs,).
    match
        Whether it is called a match.
    truth
        True person of each record, -1 where unknown: pairs of such records are left out.
    """
    known = (truth[left] >= 0) & (truth[right] >= 0)
    true, called = known & (truth[left] == truth[right]), known & match
    right_ones = int(np.count_nonzero(true & called))
    return PairQuality(right_ones, int(np.count_nonzero(called)), int(np.count_nonzero(true)))


def _joint(one: Labels, other: Labels) -> Ints:
    """A number for each combination of two labels."""
    _, one = np.unique(one, return_inverse=True)
    values, other = np.unique(other, return_inverse=True)
    return (one * len(values) + other).astype(np.int64)


def _pairs(label: Labels, source: Labels | None) -> int:
    """Number of pairs of records with one label, across sources where those are given."""
    _, counts = np.unique(label, return_counts=True)
    total = int(np.sum(counts.astype(np.int64) * (counts - 1) // 2))
    return total if source is None else total - _pairs(_joint(label, source), None)
