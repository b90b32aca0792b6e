"""Blocking: the register's rows that are likeliest for each released class at first sight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.shared_options import Progress, silent
from sfumato.intruder.attacks.probabilistic.levels import Levels

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FIRST = np.array([0.03, 0.07, 0.90])
"""m before anything is estimated: far, near, inside."""
MOST = 200
"""Rows kept for a class, and those that are as likely as the last of them."""
APART = 12.0
"""Bits below the likeliest row of a class under which a row is left out."""


def likely_pairs(
    columns: Sequence[Levels],
    cells: Ints,
    rows: Ints,
    *,
    most: int = MOST,
    progress: Progress = silent,
) -> tuple[Ints, Ints]:
    """Pairs of a released class and a distinct register row to compare.

    Each class is held against all distinct rows by m / u of the first guess; the likeliest are
    kept. That takes O(classes x rows x quasi-identifiers) additions and the memory of one class:
    about 1 ms for a class and 60,000 distinct rows.

    Parameters
    ----------
    columns
        How far the known values are from the cells.
    cells
        The cells of each class, shape (classes, columns).
    rows
        The places of the values of each distinct row, shape (rows, columns).
    most
        How many rows to keep for a class.
    progress
        Told how far it is.

    Returns
    -------
    tuple
        Class and row of each pair, classes ascending.
    """
    chances = [column.by_chance for column in columns]
    found: list[Ints] = []
    for number in range(len(cells)):
        if number % 256 == 0:
            progress("candidate pairs", number / len(cells))
        total = np.zeros(len(rows), dtype=np.float32)
        for place, column in enumerate(columns):
            levels = column.of_cell(int(cells[number, place]))
            if levels is not None:
                weight = np.log2(FIRST / chances[place][cells[number, place]])
                of_value = np.append(weight[levels], 0.0).astype(np.float32)
                total += of_value[rows[:, place]]
        kept = np.flatnonzero(total >= total.max(initial=-np.inf) - APART)
        if len(kept) > most:
            least = np.partition(total[kept], len(kept) - most)[len(kept) - most]
            kept = kept[total[kept] >= least - 1e-4]
        found.append(kept)
    progress("candidate pairs", 1.0)
    counts = np.array([len(kept) for kept in found], dtype=np.int64)
    every = np.concatenate([np.empty(0, dtype=np.int64), *found])
    return np.repeat(np.arange(len(cells)), counts), every
