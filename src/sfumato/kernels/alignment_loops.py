"""The alignment of two sequences, compiled; the twin is ``alignment_twin``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.alignment_twin import DELETED, EQUAL, INSERTED, SUBSTITUTED, TRANSPOSED
from sfumato.kernels.choose import compiled

Codes = npt.NDArray[np.int64]
Steps = npt.NDArray[np.int8]


@compiled
def steps(one: Codes, other: Codes) -> Steps:
    """The steps from the one sequence to the other, from their beginning."""
    best = _best(one, other)
    rows, columns = len(one), len(other)
    found = np.empty(rows + columns, np.int8)
    size = i = j = 0
    while i < rows or j < columns:
        step = best[i, j]
        found[size] = step
        size += 1
        if step == TRANSPOSED:
            i, j = i + 2, j + 2
        else:
            i, j = i + (step != INSERTED), j + (step != DELETED)
    return found[:size]


@compiled
def _best(one: Codes, other: Codes) -> Steps:
    """The step to take at each place; costs are kept of three rows only."""
    rows, columns = len(one), len(other)
    edit = rows + columns + 1
    best = np.empty((rows + 1, columns + 1), np.int8)
    costs = np.zeros((3, columns + 1), np.int64)
    for i in range(rows, -1, -1):
        here, below, second = costs[i % 3], costs[(i + 1) % 3], costs[(i + 2) % 3]
        for j in range(columns, -1, -1):
            if i < rows and j < columns and one[i] == other[j]:
                best[i, j], here[j] = EQUAL, below[j + 1]
                continue
            step, cost = EQUAL, 0
            if i < rows and j < columns:
                step, cost = SUBSTITUTED, edit + 2 + below[j + 1]
                crossed = i + 1 < rows and j + 1 < columns
                crossed = crossed and one[i] == other[j + 1] and one[i + 1] == other[j]
                if crossed and edit + 4 + second[j + 2] <= cost:
                    step, cost = TRANSPOSED, edit + 4 + second[j + 2]
            if i < rows and (step == EQUAL or edit + 1 + below[j] < cost):
                step, cost = DELETED, edit + 1 + below[j]
            if j < columns and (step == EQUAL or edit + 1 + here[j + 1] < cost):
                step, cost = INSERTED, edit + 1 + here[j + 1]
            best[i, j], here[j] = step, cost
    return best
