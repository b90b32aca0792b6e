"""How many individuals have a key, by sorting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

PATIENCE = 40
"""So many times the usual number of tuples take less than the start of the compiled loops."""


def key_individuals(
    keys: npt.NDArray[np.int64],
    alone: npt.NDArray[np.int64],
    tuple_of: npt.NDArray[np.int32],
    person_of: npt.NDArray[np.int32],
    asked: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """How many distinct individuals have a tuple with each of some keys."""
    if not len(keys):
        return np.zeros(len(asked), dtype=np.int64)
    distinct, group = np.unique(keys, return_inverse=True)
    counts = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(counts, group, alone)
    persons = int(person_of.max(initial=0)) + 1
    pairs = np.unique(group[tuple_of] * persons + person_of)
    counts += np.bincount(pairs // persons, minlength=len(distinct))
    place = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
    return np.where(distinct[place] == asked, counts[place], 0)
