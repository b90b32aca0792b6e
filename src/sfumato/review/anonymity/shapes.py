"""What a masked value may show of itself: whether it is there, its length, how rare it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from sfumato.review.anonymity.database import Database
from sfumato.review.values import Rarity

_TWICE = 2
_KINDS = 1 + _TWICE * len(Rarity)
"""More than the numbers of a length: twice or not, in each rarity band, from 1."""


def least_shape(database: Database, members: BitMap, *, lengths: bool) -> int:
    """The size of the smallest group of records whose masked values may show alike.

    Records are in one group where each attribute is missing in all or none of them, has the same
    length where lengths show, is in the same rarity band where rarity shows, and occurs at least
    twice in all or none of them (which an identity mark shows).

    Parameters
    ----------
    database
        The records.
    members
        Those to group; at least one.
    lengths
        Whether masked values show their lengths.
    """
    codes = database.codes[np.asarray(members.to_array(), dtype=np.int64)]
    group = np.zeros(len(codes), dtype=np.int64)
    for place in range(codes.shape[1]):
        shape = _shapes(database, codes[:, place], place, lengths=lengths)
        both = group * (int(shape.max()) + 1) + shape
        group = np.unique(both, return_inverse=True)[1].reshape(-1)
    return int(np.bincount(group).min())


def _shapes(
    database: Database, codes: npt.NDArray[np.int32], place: int, *, lengths: bool
) -> npt.NDArray[np.int64]:
    """A number per record, equal for equal shapes; 0 where the value is missing."""
    held = codes >= 0
    values = codes[held]
    count = database.folded_count[values]
    shape = 1 + (count >= _TWICE).astype(np.int64)
    if database.attributes[place].rarity:
        shape += _TWICE * database.bands(count)
    if lengths:
        shape += (database.start[values + 1] - database.start[values]) * _KINDS
    numbers = np.zeros(len(codes), dtype=np.int64)
    numbers[held] = shape
    return numbers
