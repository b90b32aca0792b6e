"""Which register persons fit which released class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Which register persons fit which released class, by groups of persons who look alike.

    Attributes
    ----------
    group
        Group of each register person, shape (persons,): persons of whom the intruder knows the
        same.
    groups
        Number of groups.
    fits
        Whether the persons of a group fit a class, shape (classes, groups), sparse, indices
        sorted.
    sizes
        Persons of each group, shape (groups,).
    of_class
        Register persons who fit each class, shape (classes,).
    kind
        Kind of each released unit, shape (units,): units that show the same classes. It is the
        class itself where every unit shows one.
    fits_kind
        Whether the persons of a group fit all classes that units of a kind show, shape
        (kinds, groups), sparse; ``fits`` itself where every unit shows one class.
    """

    group: Ints
    groups: int
    fits: sparse.csr_array
    sizes: Ints
    of_class: Ints
    kind: Ints
    fits_kind: sparse.csr_array

    def persons_of(self, number: int) -> Ints:
        """The register persons who fit the class of this number, ascending."""
        start, stop = self.fits.indptr[number], self.fits.indptr[number + 1]
        chosen = np.zeros(self.groups, dtype=np.bool_)
        chosen[self.fits.indices[start:stop]] = True
        return np.flatnonzero(chosen[self.group])

    def fit(self, number: Ints, group: Ints) -> npt.NDArray[np.bool_]:
        """Whether each group fits the class beside it, by binary search; shape (pairs,).

        Parameters
        ----------
        number, group
            Pairs of a class and a group.
        """
        rows = np.repeat(np.arange(self.fits.shape[0]), np.diff(self.fits.indptr))
        keys = rows * self.groups + self.fits.indices
        wanted = number * self.groups + group
        at = np.searchsorted(keys, wanted)
        found = np.append(keys, -1)[at] == wanted
        return np.asarray(found, dtype=np.bool_)

    def of_unit(self) -> Ints:
        """Register persons who fit each released unit, shape (units,)."""
        of_kind: Ints = np.asarray(self.fits_kind.astype(np.int64) @ self.sizes)
        return of_kind[self.kind]
