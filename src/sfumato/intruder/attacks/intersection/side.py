"""One of two releases, by kinds of units, and the groups of persons who fit them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.intruder.candidates.find import find_candidates
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Side:
    """One release.

    Attributes
    ----------
    file
        The release.
    kind
        Kind of each unit: units that show the same cells; shape (units,).
    group
        Group of each register person, shape (persons,).
    fits
        Whether a unit of a kind fits a group, shape (kinds, groups).
    """

    file: ReleasedFile = field(repr=False)
    kind: Ints = field(repr=False)
    group: Ints = field(repr=False)
    fits: sparse.csr_array = field(repr=False)

    @classmethod
    def of(cls, file: ReleasedFile, knowledge: Knowledge) -> Side:
        """The release as seen by somebody who holds the register.

        Parameters
        ----------
        file
            The release.
        knowledge
            What the intruder holds.
        """
        found = find_candidates(file, knowledge)
        return cls(file, found.kind, found.group, sparse.csr_array(found.fits_kind))

    def fitting(self, groups: Ints, kinds: Ints | None = None) -> sparse.csr_array:
        """Which kinds fit which groups, as 0 and 1; shape (kinds, groups).

        Parameters
        ----------
        groups
            Groups, repeated as they are.
        kinds
            Kinds likewise; each once if not given.
        """
        rows = self.fits if kinds is None else self.fits[kinds]
        return sparse.csr_array(rows[:, groups]).astype(np.float64)
