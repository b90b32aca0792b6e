"""What the records of each person say: from rows in file order to flat arrays per person.

Every function but the first reads the records through ``rows`` and ``starts``, which `group_rows`
gives: ``rows[starts[p]:starts[p + 1]]`` are the records of person p, in file order. Codes are
-1 where the value is missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels import _classes
from sfumato.kernels.arrays import Codes, Floats, Ints, floats, ints
from sfumato.kernels.arrays import codes as as_codes

LIMB = 26
"""Bits of a limb: points have at most 53 bits and are summed in two limbs."""


class Sums(NamedTuple):
    """The values of each person; shape (persons,).

    Attributes
    ----------
    total, square
        Sum and sum of squares, added up by ascending code, whatever the order of the rows.
    present
        Number of values.
    lowest, highest
        Lowest and highest code; 2**31 - 1 and -1 where there is no value.
    """

    total: Floats
    square: Floats
    present: Ints
    lowest: Codes
    highest: Codes


def group_rows(person: Codes, persons: int) -> tuple[Codes, Ints]:
    """The rows of each person, by one counting sort: O(records + persons).

    Parameters
    ----------
    person
        Person of each record in [0, persons).
    persons
        Number of persons.
    """
    return _classes.group_rows(as_codes(person), persons)


def sums(rows: Codes, starts: Ints, codes: Codes, values: Floats) -> Sums:
    """Add up the ``values`` of each person's codes.

    O(records) and a sort of the codes of each person who has several.
    """
    return Sums(*_classes.sums(as_codes(rows), ints(starts), as_codes(codes), floats(values)))


def mean_ranks(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, int]:
    """Rank of each person's mean, compared exactly, and how many ranks there are.

    Parameters
    ----------
    rows, starts, codes
        The records; a person without a value has the lowest point as mean.
    points
        The integer of each code, ascending.
    """
    most = int(np.diff(starts).max())
    spread = int(points[-1]) - int(points[0])
    if max(spread + 1, most) * most**2 >= 1 << 62:
        return _exact_ranks(rows, starts, codes, points)
    keys = _classes.mean_keys(as_codes(rows), ints(starts), as_codes(codes), ints(points), most)
    by_mean = np.argsort(keys)
    rank = np.empty(len(keys), dtype=np.int64)
    return rank, _classes.rank(keys, ints(by_mean), rank)


def exact_means(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, Floats]:
    """Each person's mean above the lowest point, so that means of several calls compare exactly.

    Parameters
    ----------
    rows, starts, codes
        The records, fewer than 2**26 a person; a person without a value has the lowest point.
    points
        The integer of each code, ascending.

    Returns
    -------
    tuple
        Whole part and fraction; shape (persons,).
    """
    own = codes[rows]
    known = own >= 0
    count = np.maximum(np.add.reduceat(known.astype(np.int64), starts[:-1]), 1)
    shifted = np.where(known, points[own] - points[0], 0)
    high = np.add.reduceat(shifted >> LIMB, starts[:-1])
    low = np.add.reduceat(shifted & ((1 << LIMB) - 1), starts[:-1])
    high_floor, high_rest = np.divmod(high + (low >> LIMB), count)
    low_floor, rest = np.divmod((high_rest << LIMB) + (low & ((1 << LIMB) - 1)), count)
    return (high_floor << LIMB) + low_floor, rest / count


def _exact_ranks(rows: Codes, starts: Ints, codes: Codes, points: Ints) -> tuple[Ints, int]:
    """The ranks of `mean_ranks`, whatever the points.

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
    """Each person's most frequent code, the lowest of ties; ``size`` where there is none."""
    return _classes.modes(as_codes(rows), ints(starts), as_codes(codes), size)


def distinct(rows: Codes, starts: Ints, codes: Codes) -> tuple[Ints, Codes, Codes]:
    """The distinct codes of each person and how often they occur, as compressed rows.

    Parameters
    ----------
    rows, starts, codes
        The records.

    Returns
    -------
    tuple
        Where each person's codes start, shape (persons + 1,); the codes, ascending within a
        person; and the number of records with each.
    """
    return _classes.distinct(as_codes(rows), ints(starts), as_codes(codes))


def take_rows(
    offsets: Ints, values: Codes, counts: Codes, chosen: Codes
) -> tuple[Ints, Codes, Codes]:
    """Some of the compressed rows, in another order."""
    return _classes.take_rows(ints(offsets), as_codes(values), as_codes(counts), as_codes(chosen))
