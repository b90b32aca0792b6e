"""A linkage held against the truth: pairs, clusters, and what blocking has lost."""

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
        """Precision, recall and F1."""
        return rates(self.right, self.found, self.true)


@dataclass(frozen=True, slots=True)
class BlockingLoss:
    """True pairs that no blocking rule brought together.

    Attributes
    ----------
    true
        Number of true pairs.
    lost
        Number of those that are no candidate pairs.
    """

    true: int
    lost: int

    @property
    def recall(self) -> float:
        """The highest recall that any score can reach: the share of true pairs kept."""
        return 1 - self.lost / self.true if self.true else 1.0


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


def quality_of_clusters(person: Labels, truth: Labels) -> Rates:
    """B-cubed precision and recall (Bagga and Baldwin 1998, COLING-ACL, algorithm B³).

    Of each record: the share of the records of its person as found that are truly its person's,
    and the share of its true person's records that were found; averaged over the records.

    Parameters
    ----------
    person
        Person of each record as found; shape (records,).
    truth
        True person of each record, -1 where unknown: such records are left out.
    """
    known = truth >= 0
    own, true = person[known], truth[known]
    if not len(own):
        return Rates(1.0, 1.0)
    both = _sizes(_joint(own, true))
    return Rates(float(np.mean(both / _sizes(own))), float(np.mean(both / _sizes(true))))


def lost_in_blocking(
    left: Ints, right: Ints, truth: Labels, source: Labels | None = None
) -> BlockingLoss:
    """True pairs that are not among the candidate pairs.

    Parameters
    ----------
    left, right
        Records of each candidate pair, no pair twice; shape (pairs,).
    truth
        True person of each record, -1 where unknown: such records are left out.
    source
        Source of each record, where only pairs across sources count.
    """
    true = quality_of_pairs(truth, truth, source).true
    kept = (truth[left] == truth[right]) & (truth[left] >= 0)
    if source is not None:
        kept &= source[left] != source[right]
    return BlockingLoss(true, true - int(np.count_nonzero(kept)))


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


def _sizes(label: Labels) -> Ints:
    """Number of records with each record's label."""
    _, inverse, counts = np.unique(label, return_inverse=True, return_counts=True)
    return counts[inverse].astype(np.int64)


def _pairs(label: Labels, source: Labels | None) -> int:
    """Number of pairs of records with one label, across sources where those are given."""
    _, counts = np.unique(label, return_counts=True)
    total = int(np.sum(counts.astype(np.int64) * (counts - 1) // 2))
    return total if source is None else total - _pairs(_joint(label, source), None)
