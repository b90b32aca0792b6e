"""Which records agree on all quasi-identifiers: equivalence classes by packed keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from sfumato.core.arrays import Codes, Ints
from sfumato.core.errors import InputError
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.kernels.loop_calls import PARTS, in_threads

_Column = tuple[Codes, int]

LARGEST_SPACE = 1 << 62
"""Packed keys stay below this, so that they fit a signed 64-bit integer."""
WORTH_THREADS = 50_000
"""Records whose keys are packed by several threads."""
BLOCK = 1 << 14
"""Records whose keys are packed together, so that they stay in a cache."""


def group(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, int]:
    """Number the equivalence classes of records that agree on every column.

    The codes of a record are packed into one 64-bit key (mixed radix); where the product of
    the sizes would pass 2**62, the keys so far are numbered densely first. Cost: one pass over
    each column and one numbering of the keys, O(columns x records) in time; one 64-bit key a
    record, and the table of the numbering, in memory.

    Parameters
    ----------
    columns
        Codes of each column, shape (records,) each, in [-1, size); -1 is missing, which is a
        value of its own here.

    Returns
    -------
    tuple
        The class of each record, shape (records,), numbered from 0 by first appearance, and
        the number of classes.
    """
    if not columns:
        raise InputError(
            "parameter columns", "must name what records are grouped by", found="no column"
        )
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    space, waiting = 1, list[_Column]()
    for codes, size in zip(columns, sizes, strict=True):
        width = size + 1
        # Numbered densely, the keys need as many numbers as
        # there are classes, and leave room for more columns.
        if space * width > LARGEST_SPACE:
            _pack(keys, waiting)
            dense, space = number_by_first_appearance(keys, space)
            keys, waiting = dense.astype(np.int64), list[_Column]()
        waiting.append((codes, width))
        space *= width
    _pack(keys, waiting)
    return number_by_first_appearance(keys, space)


def _pack(keys: Ints, columns: Sequence[_Column]) -> None:
    """Extend the keys by more columns, of so many codes each (missing included)."""

    def pack(start: int, stop: int) -> None:
        for begin in range(start, stop, BLOCK):
            own = keys[begin : min(begin + BLOCK, stop)]
            for codes, width in columns:
                # In place and block by block: the keys of a
                # block stay in the cache while all columns pass.
                own *= width
                own += codes[begin : begin + len(own)]
                # Missing is -1, and so 0 in the key: a value of its own.
                own += 1

    # Parts are disjoint, so that threads write without locks.
    edges = np.linspace(0, len(keys), PARTS + 1).astype(np.int64).tolist()
    if len(keys) > WORTH_THREADS:
        in_threads([partial(pack, *edge) for edge in pairwise(edges)])
    else:
        pack(0, len(keys))
