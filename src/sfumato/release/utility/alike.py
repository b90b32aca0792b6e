"""Records and persons of equal content, counted once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.table.table import Codes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alike:
    """How many records and persons each one stands for.

    Attributes
    ----------
    times
        Records of its person that each record stands for; shape (records,).
    persons
        Persons of the same records that each person stands for; shape (persons,).
    """

    times: Floats
    persons: Floats

    def records(self, person: Codes) -> Floats:
        """How many records of the file each record stands for; shape (records,).

        Parameters
        ----------
        person
            Person of each record; shape (records,).
        """
        stood_for: Floats = self.times * self.persons[person]
        return stood_for
