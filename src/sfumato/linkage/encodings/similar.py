"""Pairs of encodings whose Dice similarity is high enough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress, silent
from sfumato.kernels.record_pairs import pairs_above
from sfumato.linkage.encodings.blocking import BitSampling, keys_of, sampled_pairs
from sfumato.linkage.encodings.encoded import Encoded, check_comparable

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Scored = tuple[Ints, Ints, Floats]

MOST_COMPARISONS = 200_000_000_000
"""Comparisons that are made without blocking; about an hour of one processor."""
AT_ONCE = 500_000_000
"""Comparisons between two signs of progress, about."""
CHANCE_PAIRS = 10
"""Pairs per record that chance may bring above the lowest similarity that is looked at."""


def similar_pairs(
    left: Encoded,
    right: Encoded,
    least: float,
    *,
    blocking: BitSampling | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Scored:
    """All pairs, or those that blocking brings together, of Dice similarity at least ``least``.

    Parameters
    ----------
    left, right
        Encodings of two sources; the same object twice for pairs within one source, of which
        only those with left below right are given.
    least
        Lowest Dice similarity, above 0.
    blocking
        Compare only what it brings together; all pairs whose numbers of bits allow it if None.
    rng
        Source of randomness, for the bits that blocking samples.
    progress
        Told how far the work is.

    Returns
    -------
    tuple
        Positions in both and similarity of each pair, by left and right; shape (pairs,).

    Raises
    ------
    InputError
        If the encodings cannot be compared, or there are too many pairs to compare all.
    """
    check_comparable(left, right)
    if not 0 < least <= 1:
        raise InputError("the lowest similarity", "must be above 0 and at most 1")
    if blocking is None:
        if len(left) * len(right) > MOST_COMPARISONS:
            raise InputError(
                "the encodings",
                f"must make at most {MOST_COMPARISONS:,} pairs where all are compared",
                found=f"{len(left) * len(right):,}",
                advice="plan their blocking",
            )
        found = [_all(left, right, least, progress)]
    else:
        found = [_in_one_table(left, right, least, blocking.bits, rng)]
        for table in range(1, blocking.tables):
            progress("match", table / blocking.tables)
            found.append(_in_one_table(left, right, least, blocking.bits, rng))
            if sum(len(one) for one, *_ in found[1:]) > len(found[0][0]):
                found = [_distinct(found, len(right))]
    one, other, dice = _distinct(found, len(right))
    if left is right:
        once = one < other
        return one[once], other[once], dice[once]
    return one, other, dice


def chance_similarity(left: Encoded, right: Encoded, rng: np.random.Generator) -> float:
    """The Dice similarity that about ten pairs per record exceed by chance, from a sample."""
    one, other = sampled_pairs(left, right, rng)
    if not len(one):
        return 0.5
    common = np.bitwise_count(left.words[one] & right.words[other]).sum(axis=1, dtype=np.int64)
    bits = np.maximum(left.counts[one] + right.counts[other], 1)
    share = 1 - min(1.0, CHANCE_PAIRS / min(len(left), len(right)))
    return max(float(np.quantile(2 * common / bits, share)), 0.01)


def _all(left: Encoded, right: Encoded, least: float, progress: Progress) -> Scored:
    """All pairs: 2 min(a, b) / (a + b) >= least bounds the numbers of bits, a and b."""
    counts = right.counts
    order = np.argsort(counts, kind="stable")
    bits, slack = left.counts, 1e-9
    low = np.searchsorted(counts[order], bits * (least / (2 - least)) - slack, side="left")
    high = np.searchsorted(counts[order], bits * ((2 - least) / least) + slack, side="right")
    found, words, sorted_words = [], left.words, right.words[order]
    rows = max(1, AT_ONCE // max(len(right), 1))
    for start in range(0, max(len(left), 1), rows):
        progress("match", start / max(len(left), 1))
        part = slice(start, start + rows)
        one, other, dice = pairs_above(words[part], sorted_words, low[part], high[part], least)
        found.append((one + start, order[other], dice))
    if len(found) == 1:
        return found[0]
    one, other, dice = (np.concatenate(each) for each in zip(*found, strict=True))
    return one, other, dice


def _in_one_table(
    left: Encoded, right: Encoded, least: float, bits: int, rng: np.random.Generator
) -> Scored:
    """Pairs that agree in some bits drawn at random."""
    positions = rng.choice(left.length, bits, replace=False)
    mine, theirs = keys_of(left, positions), keys_of(right, positions)
    first, order = np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable")
    low = np.searchsorted(theirs[order], mine[first], side="left")
    high = np.searchsorted(theirs[order], mine[first], side="right")
    one, other, dice = pairs_above(left.words[first], right.words[order], low, high, least)
    return first[one], order[other], dice


def _distinct(found: list[Scored], width: int) -> Scored:
    """Each pair once, by left and right."""
    one, other, dice = (np.concatenate(each) for each in zip(*found, strict=True))
    _, places = np.unique(one * width + other, return_index=True)
    return one[places], other[places], dice[places]
