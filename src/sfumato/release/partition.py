"""The classes that persons are divided into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.release.register.cells import Cells

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Partition:
    """Which class each person belongs to.

    Attributes
    ----------
    class_of_person
        Index of the class of each person.
    classes
        Number of classes.
    depth
        Number of levels of cuts.
    price
        What a budget's last share saved, in loss; 0 where it was not used up.
    class_of_register
        Class that each person of a register looks like, -1 for none; ``None`` without one.
    cells
        The whole cell of each class, where released cells are to reach to the cuts.
    """

    class_of_person: npt.NDArray[np.int32]
    classes: int
    depth: int
    price: float = 0.0
    class_of_register: npt.NDArray[np.int32] | None = None
    cells: Cells | None = None

    @property
    def population(self) -> Ints:
        """Number of the register's persons who look like each class; empty without one."""
        if self.class_of_register is None:
            return np.empty(0, dtype=np.int64)
        alike = self.class_of_register[self.class_of_register >= 0]
        return np.bincount(alike, minlength=self.classes)

    def gidr(self, records: Ints) -> npt.NDArray[np.float64]:
        """GIDR of each class (paper 003, Section 7), from the persons' numbers of records."""
        largest = np.zeros(self.classes, dtype=np.int64)
        np.maximum.at(largest, self.class_of_person, records)
        risk: npt.NDArray[np.float64] = largest / np.bincount(self.class_of_person, records)
        return risk
