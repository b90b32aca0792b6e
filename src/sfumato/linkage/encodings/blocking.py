"""Blocking on encodings: only those are compared that agree in some bits drawn at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.linkage.encodings.encoded import Encoded, check_comparable

MOST_BITS = 63
_SAMPLE = 100_000
_KEY_COST = 50.0
"""Cost of making and sorting a record's key, as a multiple of a comparison of two encodings."""


@dataclass(frozen=True, slots=True)
class BitSampling:
    """Locality-sensitive hashing by bit sampling (Indyk and Motwani 1998, STOC, Section 4).

    Two encodings are compared if they agree in all sampled bits of at least one of the tables.

    Attributes
    ----------
    bits
        Positions sampled for each table.
    tables
        Number of tables.
    similarity, miss
        What it was planned for: a pair of this Dice similarity, with as many bits as 95 % of the
        encodings have at most, is never compared with at most this probability.
    comparisons
        Expected number of comparisons, a pair counted in every table that brings it together.
    """

    bits: int
    tables: int
    similarity: float
    miss: float
    comparisons: float


def plan_blocking(
    left: Encoded,
    right: Encoded,
    *,
    similarity: float,
    miss: float = 0.01,
    rng: np.random.Generator,
) -> BitSampling | None:
    """Choose bits and tables that miss few similar pairs, at the least expected cost.

    A pair with Hamming distance h agrees in s of l bits, drawn without replacement, with
    probability p = C(l - h, s) / C(l, s), and is missed by T tables with (1 - p)^T. With a and b
    bits and Dice similarity d, h = (a + b)(1 - d). How often other pairs come together is
    estimated from a sample of pairs. None where comparing all pairs is expected to cost less.

    Parameters
    ----------
    left, right
        What will be compared; the same object twice for pairs within one source.
    similarity
        Dice similarity, in (0, 1), from which pairs must not be missed.
    miss
        Probability, in (0, 1), with which such a pair may be missed.
    rng
        Source of randomness, for the sample.

    Raises
    ------
    InputError
        If a parameter is out of range, there are no encodings, or they cannot be compared.
    """
    check_comparable(left, right)
    for name, value in (("similarity", similarity), ("miss", miss)):
        if not 0 < value < 1:
            raise InputError(f"parameter {name}", "must be above 0 and below 1", found=f"{value}")
    if not len(left) or not len(right):
        raise InputError("the encodings", "must hold records to plan their blocking")
    length = left.length
    many = max(float(np.quantile(each.counts, 0.95)) for each in (left, right))
    distance = min(math.ceil(2 * many * (1 - similarity)), length - 1)
    shares = _distances(left, right, rng)
    best: BitSampling | None = None
    least = float(len(left) * len(right))
    for bits in range(1, min(MOST_BITS, length - distance) + 1):
        agree = float(agreement(np.array([distance]), bits, length)[0])
        tables = max(1, math.ceil(math.log(miss) / math.log1p(-agree))) if agree < 1 else 1
        together = float(agreement(np.arange(length + 1), bits, length) @ shares)
        comparisons = len(left) * len(right) * together * tables
        cost = comparisons + _KEY_COST * tables * (len(left) + len(right))
        if cost < least:
            least = cost
            best = BitSampling(bits, tables, similarity, miss, comparisons)
    return best


def agreement(distances: npt.NDArray[np.int64], bits: int, length: int) -> npt.NDArray[np.float64]:
    """Probability that patterns of some Hamming distances agree in ``bits`` sampled bits.

    C(length - h, bits) / C(length, bits): the sample is drawn without replacement.

    Parameters
    ----------
    distances
        Hamming distances, h.
    bits
        Bits sampled.
    length
        Bits of a pattern.
    """
    drawn = np.arange(bits)
    kept = np.maximum(length - distances[:, None] - drawn, 0) / (length - drawn)
    return np.asarray(kept.prod(axis=1), dtype=np.float64)


def _distances(left: Encoded, right: Encoded, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Share of each Hamming distance, from 0 to the length, among pairs drawn at random."""
    one, other = sampled_pairs(left, right, rng)
    length = left.length
    found = np.bitwise_count(left.words[one] ^ right.words[other]).sum(axis=1, dtype=np.int64)
    counts = np.bincount(found, minlength=length + 1)
    return np.asarray(counts / max(len(found), 1), dtype=np.float64)


def sampled_pairs(
    left: Encoded, right: Encoded, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Records of pairs drawn at random, none of a record with itself."""
    one = rng.integers(0, len(left), _SAMPLE)
    if left is not right:
        return one, rng.integers(0, len(right), _SAMPLE)
    if len(left) == 1:
        return one[:0], one[:0]
    return one, (one + rng.integers(1, len(left), _SAMPLE)) % len(left)


def keys_of(encoded: Encoded, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The bits at some positions as one number per record.

    Parameters
    ----------
    encoded
        The encodings.
    positions
        At most 63 of them.
    """
    keys = np.zeros(len(encoded), np.int64)
    for position in positions.tolist():
        bit = (encoded.bits[:, position // 8] >> np.uint8(7 - position % 8)) & np.uint8(1)
        keys <<= 1
        keys |= bit
    return keys
