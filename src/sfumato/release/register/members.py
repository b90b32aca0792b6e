"""The persons of a register, where the axes of the file's persons put them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Members:
    """Persons of a register who may look like persons of the file.

    Who has no value where nobody of the file lacks one looks like nobody, and is left out.

    Attributes
    ----------
    everybody
        Number of persons of the register, with those who are left out.
    numbers
        Index in the register of each person, by ascending pattern; shape (members,).
    pattern
        Index of each person's pattern of present and missing values; ascending.
    traits
        The traits that each pattern has, shape (patterns, traits): of every quasi-identifier
        that the file misses somewhere, whether there is a value, and whether one is missing.
        A person looks like a class only if the class has all of the person's traits.
    positions
        Position of each person along each ordered axis, on the scale of the file's persons.
    columns
        The 0/1 column of each person for each indicator axis, -1 for none.
    """

    everybody: int
    numbers: Codes
    pattern: Codes
    traits: Bools
    positions: tuple[Codes, ...]
    columns: tuple[Codes, ...]

    @property
    def persons(self) -> int:
        """Number of persons who are not left out."""
        return len(self.numbers)
