"""Units and register persons in blocks that fit each other alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.core.errors import InputError
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Units of one kind fit persons of one group, all of them or none.

    Attributes
    ----------
    kind
        Kind of each released unit, shape (units,).
    group
        Group of each register person, shape (persons,).
    fits
        Which kinds fit which groups, shape (kinds, groups), sparse, indices sorted.
    """

    kind: Ints
    group: Ints
    fits: sparse.csr_array

    @property
    def units(self) -> Ints:
        """Units of each kind, shape (kinds,)."""
        return np.bincount(self.kind, minlength=self.fits.shape[0]).astype(np.int64)

    @property
    def sizes(self) -> Ints:
        """Persons of each group, shape (groups,)."""
        return np.bincount(self.group, minlength=self.fits.shape[1]).astype(np.int64)

    def turned(self) -> Blocks:
        """The same seen from the register: persons in the place of units."""
        fits = sparse.csr_array(self.fits.T)
        fits.sort_indices()
        return Blocks(self.group, self.kind, fits)


def blocks_of(file: ReleasedFile, knowledge: Knowledge, candidates: Candidates) -> Blocks:
    """The blocks by class and, where the intruder knows it, by number of records.

    Parameters
    ----------
    file
        The released file.
    knowledge
        What the intruder knows; with ``counts`` a person fits only units with as many records.
    candidates
        Which persons fit which class.

    Raises
    ------
    InputError
        If the candidates are those of other persons than the intruder knows.
    """
    if len(candidates.group) != knowledge.persons or len(candidates.kind) != file.persons:
        raise InputError("the candidates", "must be those of the same file and register")
    if knowledge.counts is None:
        return Blocks(candidates.kind, candidates.group, candidates.fits_kind)
    records = np.bincount(file.unit, minlength=file.persons).astype(np.int64)
    width = int(max(records.max(initial=0), knowledge.counts.max(initial=0))) + 1
    kinds, kind = np.unique(candidates.kind * width + records, return_inverse=True)
    groups, group = np.unique(candidates.group * width + knowledge.counts, return_inverse=True)
    fits = _split(candidates.fits_kind, kinds, groups, width)
    return Blocks(kind.reshape(-1), group.reshape(-1), fits)


def _split(fits: sparse.csr_array, kinds: Ints, groups: Ints, width: int) -> sparse.csr_array:
    """The pairs that fit, each with every number of records that both sides have."""
    shape = (len(kinds), len(groups))
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    kind_count, group_count = kinds % width, groups % width
    for count in np.intersect1d(kind_count, group_count).tolist():
        these, those = np.flatnonzero(kind_count == count), np.flatnonzero(group_count == count)
        part = fits[kinds[these] // width][:, groups[those] // width].tocoo()
        rows.append(these[part.coords[0]])
        columns.append(those[part.coords[1]])
    places = (np.concatenate(rows), np.concatenate(columns))
    split = sparse.csr_array((np.ones(len(places[0]), np.bool_), places), shape=shape)
    split.sort_indices()
    return split
