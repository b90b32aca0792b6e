"""Which records agree on all quasi-identifiers: equivalence classes by packed keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.kernels.grouping import number_by_first_appearance

LARGEST_SPACE = 1 << 62
"""Packed keys stay below this, so that they fit a signed 64-bit integer."""


def group(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[npt.NDArray[np.int32], int]:
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
    sizes
        Number of possible codes of each column, missing not counted.

    Returns
    -------
    tuple
        The class of each record, shape (records,), numbered from 0 by first appearance, and
        the number of classes.

    Raises
    ------
    InputError
        If there is no column.
    """
    if not columns:
        raise InputError(
            "parameter columns", "must name what records are grouped by", found="no column"
        )
    keys = columns[0].astype(np.int64) + 1
    space = sizes[0] + 1
    for codes, size in zip(columns[1:], sizes[1:], strict=True):
        width = size + 1
        if space * width > LARGEST_SPACE:
            dense, space = number_by_first_appearance(keys, space)
            keys = dense.astype(np.int64)
        keys *= width
        keys += codes
        keys += 1
        space *= width
    return number_by_first_appearance(keys, space)
