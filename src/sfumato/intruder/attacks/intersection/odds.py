"""From odds of units to guesses of a unit and of its values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_EQUAL = 1e-9
"""Share by which two odds differ that are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Odds:
    """How likely each unit is the target's, by sets of units and kinds of targets.

    Attributes
    ----------
    set_of
        The set of each unit, shape (units,).
    fits
        Whether the units of a set fit a kind of target in the first release, (sets, targets).
    joined
        The odds of each unit of a set by both releases, shape (sets, targets).
    """

    set_of: Ints = field(repr=False)
    fits: sparse.csr_array = field(repr=False)
    joined: sparse.csr_array = field(repr=False)

    def settled(self) -> sparse.csc_array:
        """The odds, those of the first release where both together leave nobody."""
        units = self.units()
        nobody = (np.asarray(self.joined.T @ units).reshape(-1) <= 0).astype(np.float64)
        odds = sparse.csc_array(self.joined + self.fits.multiply(nobody[np.newaxis, :]))
        odds.eliminate_zeros()
        odds.sort_indices()
        return odds

    def units(self) -> Floats:
        """Units of each set, shape (sets,)."""
        return np.bincount(self.set_of, minlength=self.fits.shape[0]).astype(np.float64)

    def draw(self, of_person: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """For each target one of the likeliest units, -1 where there is none, and its chance.

        Takes O(targets log sets + units log units) beside the odds.

        Parameters
        ----------
        of_person
            The kind of each target.
        rng
            Draws one of those that are as likely.
        """
        odds = self.settled()
        whole = np.asarray(odds.T @ self.units()).reshape(-1)
        best = odds.max(axis=0).toarray().reshape(-1)
        of_column = np.repeat(np.arange(odds.shape[1]), np.diff(odds.indptr))
        odds.data = (odds.data >= best[of_column] * (1 - _EQUAL)).astype(np.float64)
        odds.eliminate_zeros()
        members = np.argsort(self.set_of, kind="stable")
        sizes = self.units().astype(np.int64)
        starts = np.cumsum(sizes) - sizes
        below = np.concatenate([[0], np.cumsum(sizes[odds.indices])]).astype(np.int64)
        begin = below[odds.indptr[:-1]][of_person]
        count = below[odds.indptr[1:]][of_person] - begin
        some = count > 0
        drawn = begin[some] + rng.integers(0, count[some])
        place = np.searchsorted(below, drawn, side="right") - 1
        unit = np.full(len(of_person), -1, dtype=np.int64)
        unit[some] = members[starts[odds.indices[place]] + drawn - below[place]]
        chance = best / np.where(whole > 0, whole, 1.0)
        return unit, np.where(some, chance[of_person], 0.0)

    def values(self, units: Ints, codes: Ints, count: int) -> tuple[Ints, Floats]:
        """For each kind of target the likeliest value, -1 where there is none, and its chance.

        Parameters
        ----------
        units, codes
            A unit and a value that it has, once for each; shape (pairs,).
        count
            Number of values.
        """
        pairs = np.unique(np.column_stack([units, codes]), axis=0)
        pairs = pairs[pairs[:, 1] >= 0]
        held = sparse.csr_array(
            (np.ones(len(pairs)), (self.set_of[pairs[:, 0]], pairs[:, 1])),
            shape=(self.fits.shape[0], count),
        )
        odds = self.settled()
        weights = sparse.csr_array(odds.T @ held)
        whole = np.asarray(odds.T @ self.units()).reshape(-1)
        value = np.asarray(weights.argmax(axis=1)).reshape(-1).astype(np.int64)
        top = weights.max(axis=1).toarray().reshape(-1)
        return np.where(top > 0, value, -1), top / np.where(whole > 0, whole, 1.0)
