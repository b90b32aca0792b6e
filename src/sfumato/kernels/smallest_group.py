"""Size of the smallest group of records that agree in some values or characters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernels import smallest_group_twin
from sfumato.kernels.choose import worth_compiling

WHOLE = -1
"""In the place of a character: the value as a whole."""


def smallest_group(
    members: npt.NDArray[np.uint32],
    codes: npt.NDArray[np.int32],
    start: npt.NDArray[np.int64],
    characters: npt.NDArray[np.unsignedinteger[Any]],
    columns: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
) -> int:
    """Size of the smallest group of records that agree in every item.

    An item is a column and a place of a character in its value, or `WHOLE`. Records whose value
    is missing or ends before the place agree with each other. The compiled loops take O(members
    x items) expected; a database of few records runs the twin, which sorts.

    Parameters
    ----------
    members
        Numbers of the records; shape (members,), at least one.
    codes
        The value of each record, -1 where it is missing; shape (records, columns).
    start
        Where the characters of each value start; shape (values + 1,).
    characters
        The characters of all values, one value after the other.
    columns, places
        The items; each of shape (items,).
    weights
        How often each member counts, at least once; shape (members,), or empty for once.
    """
    if not worth_compiling(max(len(codes), len(start))):
        return smallest_group_twin.smallest_group(
            members, codes, start, characters, columns, places, weights
        )
    from sfumato.kernels import smallest_group_loops

    return int(
        smallest_group_loops.smallest_group(
            members, codes, start, characters, columns, places, weights
        )
    )
