"""Number the distinct combinations of several columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def combined(columns: Sequence[Ints], rows: int) -> tuple[Ints, Ints]:
    """Number the combinations of codes in order of appearance; O(columns x rows log rows).

    Parameters
    ----------
    columns
        Codes from 0 on, each of shape (rows,).
    rows
        Number of rows.

    Returns
    -------
    tuple
        The number of each row's combination, shape (rows,), and the first row of each.
    """
    codes = np.zeros(rows, dtype=np.int64)
    for column in columns:
        width = int(column.max(initial=0)) + 1
        codes = np.unique(codes * width + column, return_inverse=True)[1].reshape(-1)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return number[inverse.reshape(-1)], first[order].astype(np.int64)
