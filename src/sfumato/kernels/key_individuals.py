"""How many individuals have a key, where an individual may have several."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels import key_individuals_twin
from sfumato.kernels.choose import worth_compiling


def key_individuals(
    keys: npt.NDArray[np.int64],
    alone: npt.NDArray[np.int64],
    tuple_of: npt.NDArray[np.int32],
    person_of: npt.NDArray[np.int32],
    asked: npt.NDArray[np.int64],
    times: int = 1,
) -> npt.NDArray[np.int64]:
    """How many distinct individuals have a tuple with each of some keys.

    The compiled loops take O(tuples + entries + asked) expected; few tuples run the twin, which
    sorts.

    Parameters
    ----------
    keys
        The key of each tuple, not negative; shape (tuples,).
    alone
        How many individuals have this tuple and no other; shape (tuples,).
    tuple_of, person_of
        The tuples of every individual who has several, ordered by individual; each of shape
        (entries,).
    asked
        The keys asked for, not negative; shape (asked,).
    times
        How often the caller will ask: many calls pay for the compiler together.

    Returns
    -------
    numpy.ndarray
        Individuals, shape (asked,).
    """
    size = len(keys) + len(tuple_of) + len(asked)
    if not worth_compiling(size * times, key_individuals_twin.PATIENCE):
        return key_individuals_twin.key_individuals(keys, alone, tuple_of, person_of, asked)
    from sfumato.kernels import key_individuals_loops

    return key_individuals_loops.key_individuals(keys, alone, tuple_of, person_of, asked)
