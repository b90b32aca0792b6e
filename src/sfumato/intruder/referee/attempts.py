"""Which guesses count as attempts against a claim about a maximum, or about a mean over classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_TOLERANCE = 1e-9

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def surest(chance: Floats) -> Bools:
    """Which guesses have the largest chance, by what the intruder himself thinks.

    He does not know which of them are right, so that choosing them does not bend the verdict.

    Parameters
    ----------
    chance
        The intruder's chances, shape (guesses,).
    """
    if not len(chance):
        return np.zeros(0, dtype=np.bool_)
    return np.asarray(chance >= chance.max() * (1 - _TOLERANCE), dtype=np.bool_)


def one_per_class(numbers: Ints, class_of: Ints, rng: np.random.Generator) -> Ints:
    """One of the records, or persons, of each class, drawn at random, ascending.

    Parameters
    ----------
    numbers
        The records or persons, ascending.
    class_of
        The class of each.
    rng
        Draws them.
    """
    mixed = rng.permutation(len(numbers))
    chosen = np.unique(class_of[mixed], return_index=True)[1]
    return np.sort(numbers[mixed[chosen]])
