"""The alignment of two sequences in plain Python: an oracle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
Steps = npt.NDArray[np.int8]

EQUAL, TRANSPOSED, SUBSTITUTED, DELETED, INSERTED = range(5)
"""Steps of an alignment, in the order in which they are preferred where costs are equal."""
PLACES = (0, 4, 2, 1, 1)
"""How many places of both sequences each step marks as different."""
TAKEN = ((1, 1), (2, 2), (1, 1), (1, 0), (0, 1))
"""How many elements of the one and of the other sequence each step takes."""


def steps(one: Codes, other: Codes) -> Steps:
    """The steps from the one sequence to the other, from their beginning."""
    left, right = one.tolist(), other.tolist()
    edit = edit_cost(len(left), len(right))
    cost = _costs(left, right, edit)
    found, i, j = [], 0, 0
    while i < len(left) or j < len(right):
        for step in _possible(left, right, i, j):
            next_i, next_j = i + TAKEN[step][0], j + TAKEN[step][1]
            own = edit + PLACES[step] if step != EQUAL else 0
            if own + cost[next_i][next_j] == cost[i][j]:
                found.append(step)
                i, j = next_i, next_j
                break
    return np.array(found, dtype=np.int8)


def edit_cost(rows: int, columns: int) -> int:
    """What an edit costs where a marked place costs 1: more than all places together."""
    return rows + columns + 1


def _costs(left: list[int], right: list[int], edit: int) -> list[list[int]]:
    """The least cost of what remains from each place of the one and of the other.

    Equal elements are never dearer than an edit in their stead.
    """
    rows, columns = len(left), len(right)
    alone, substituted, transposed = edit + 1, edit + 2, edit + 4
    cost = [[0] * (columns + 1) for _ in range(rows + 1)]
    cost[rows] = [alone * (columns - j) for j in range(columns + 1)]
    for i in reversed(range(rows)):
        here, below = cost[i], cost[i + 1]
        here[columns] = alone * (rows - i)
        for j in reversed(range(columns)):
            if left[i] == right[j]:
                here[j] = below[j + 1]
                continue
            least = min(below[j + 1] + substituted, below[j] + alone, here[j + 1] + alone)
            if left[i : i + 2] == right[j : j + 2][::-1]:
                least = min(least, cost[i + 2][j + 2] + transposed)
            here[j] = least
    return cost


def _possible(left: list[int], right: list[int], i: int, j: int) -> list[int]:
    """The steps that can be taken, in the order of preference."""
    found = []
    if i < len(left) and j < len(right):
        if left[i] == right[j]:
            return [EQUAL]
        if left[i : i + 2] == right[j : j + 2][::-1]:
            found.append(TRANSPOSED)
        found.append(SUBSTITUTED)
    if i < len(left):
        found.append(DELETED)
    if j < len(right):
        found.append(INSERTED)
    return found
