"""What an attack ends with: guesses of persons and of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Identification:
    """Guesses that a released person is a certain register person.

    Attributes
    ----------
    unit
        The released unit (person, or record where the file has no person column), shape
        (guesses,); -1 where a register person was looked for and none was named.
    person
        The register person, shape (guesses,); -1 where none was named.
    chance
        The intruder's own probability that the guess is right, shape (guesses,).
    """

    unit: Ints
    person: Ints
    chance: Floats


@dataclass(frozen=True, eq=False)
class Inference:
    """Guesses of a sensitive value of register persons.

    Attributes
    ----------
    attribute
        The sensitive attribute.
    person
        The register person, shape (guesses,).
    value
        The code of the value in the released column's texts, shape (guesses,); -1 for none.
    chance
        The intruder's own probability that the guess is right, shape (guesses,).
    """

    attribute: str
    person: Ints
    value: Ints
    chance: Floats
