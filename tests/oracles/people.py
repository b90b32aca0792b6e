"""What the records of each person say, in NumPy: an oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
LIMB = 26
"""Bits of a limb: points have at most 53 bits and are summed in two limbs."""


def group_rows(person: Codes, persons: int) -> tuple[Codes, Ints]:
    """The rows of each person; see ``people.group_rows``."""
    starts = np.zeros(persons + 1, dtype=np.int64)
    np.cumsum(np.bincount(person, minlength=persons), out=starts[1:])
    return np.argsort(person, kind="stable").astype(np.int32), starts


def _owners(starts: Ints) -> Codes:
    return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))


def sums(
    rows: Codes, starts: Ints, codes: Codes, values: Floats
) -> tuple[Floats, Floats, Ints, Codes, Codes]:
    """Sums of each person's values; see ``people.sums``."""
    own, owner, persons = codes[rows], _owners(starts), len(starts) - 1
    own = own[np.lexsort((own, owner))]
    known = own >= 0
    unit = np.where(known, values[own], 0.0)
    lowest = np.where(known, own, np.iinfo(np.int32).max).astype(np.int32)
    return (
        np.bincount(owner, unit, persons).astype(np.float64),
        np.bincount(owner, unit * unit, persons).astype(np.float64),
        np.bincount(owner[known], minlength=persons).astype(np.int64),
        np.minimum.reduceat(lowest, starts[:-1]),
        np.maximum.reduceat(own, starts[:-1]),
    )


def exact_means(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, Floats]:
    """Each person's mean above the lowest point, as whole part and fraction; see `mean_ranks`."""
    own = codes[rows]
    known = own >= 0
    count = np.maximum(np.add.reduceat(known.astype(np.int64), starts[:-1]), 1)
    shifted = np.where(known, points[own] - points[0], 0)
    high = np.add.reduceat(shifted >> LIMB, starts[:-1])
    low = np.add.reduceat(shifted & ((1 << LIMB) - 1), starts[:-1])
    high_floor, high_rest = np.divmod(high + (low >> LIMB), count)
    low_floor, rest = np.divmod((high_rest << LIMB) + (low & ((1 << LIMB) - 1)), count)
    return (high_floor << LIMB) + low_floor, rest / count


def mean_ranks(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, int]:
    """Rank of each person's mean, compared exactly.

    The mean of integers is floor + remainder/count. The floor is an integer; two different
    remainders over counts below 2**26 differ by more than the spacing of doubles in [0, 1),
    and equal ones divide to the same double, so the pair orders exactly.
    """
    floor, fraction = exact_means(rows, starts, codes, points)
    by_mean = np.lexsort((fraction, floor))
    changes = np.zeros(len(floor), dtype=np.int64)
    changes[1:] = (np.diff(floor[by_mean]) != 0) | (np.diff(fraction[by_mean]) != 0)
    rank = np.empty(len(floor), dtype=np.int64)
    rank[by_mean] = np.cumsum(changes)
    return rank, int(changes.sum()) + 1


def modes(rows: Codes, starts: Ints, codes: Codes, size: int) -> Codes:
    """Each person's most frequent code; see ``people.modes``."""
    offsets, values, counts = distinct(rows, starts, codes)
    owner = _owners(offsets)
    ranked = np.lexsort((values, -counts, owner))
    first = np.ones(len(ranked), dtype=bool)
    first[1:] = owner[ranked][1:] != owner[ranked][:-1]
    found = np.full(len(starts) - 1, size, dtype=np.int32)
    found[owner[ranked[first]]] = values[ranked[first]]
    return found


def distinct(rows: Codes, starts: Ints, codes: Codes) -> tuple[Ints, Codes, Codes]:
    """The distinct codes of each person; see ``people.distinct``."""
    own, owner, width = codes[rows], _owners(starts), max(int(codes.max()) + 1, 1)
    known = own >= 0
    pairs, counts = np.unique(
        owner[known].astype(np.int64) * width + own[known], return_counts=True
    )
    offsets = np.zeros(len(starts), dtype=np.int64)
    np.cumsum(np.bincount(pairs // width, minlength=len(starts) - 1), out=offsets[1:])
    return offsets, (pairs % width).astype(np.int32), counts.astype(np.int32)


def take_rows(
    offsets: Ints, values: Codes, counts: Codes, chosen: Codes
) -> tuple[Ints, Codes, Codes]:
    """Some compressed rows; see ``people.take_rows``."""
    lengths = np.diff(offsets)[chosen]
    taken = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(lengths, out=taken[1:])
    places = np.arange(taken[-1]) + np.repeat(offsets[chosen] - taken[:-1], lengths)
    return taken, values[places], counts[places]
