"""The levels of least loss at which enough individuals of every local data set match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.linkage_anonymity.keys import Ints, packed_keys, shown_table
from sfumato.semantics.linkage_anonymity.local import Local
from sfumato.semantics.linkage_anonymity.loss import Floats, normalised_weights, penalty_table
from sfumato.semantics.linkage_anonymity.matches import matches_at

MOST_VECTORS = 1_000_000
"""Vectors of levels that a search goes through at most."""
EQUAL = 1e-9
"""Losses that differ by less count as equal."""

Levels = npt.NDArray[np.int8]


def least_levels(
    codes: Ints,
    locals_: Sequence[Local],
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
) -> Levels:
    """Generalise each tuple as little as enough matching individuals allow.

    Of all vectors of levels at which every local data set has, on its own quasi-identifiers, at
    least ``k`` individuals who match the tuple (paper 002, Section 1), the one of least weighted
    NCP over the quasi-identifiers of the local data sets; of equal losses the one that leaves the
    first quasi-identifier at its lowest level, then the second, and so on. Quasi-identifiers in
    no local data set stay at level 0.

    The vectors are visited in ascending order of their mean loss, all tuples together: of the L
    vectors, one is skipped where it would not improve any tuple, and costs otherwise one count
    of the distinct local tuples. O(L (linked + local)) expected time for distinct tuples, and
    O(L + linked + local) memory; with several local data sets one bit more per distinct linked
    tuple, local data set and vector of its levels.

    Parameters
    ----------
    codes
        Leaf codes of the linked tuples, -1 for missing; shape (tuples, QIs).
    locals_
        The local data sets, each with its k.
    hierarchies
        The hierarchy of each quasi-identifier.
    weights
        The share of each in loss, relative to the others; equal without them.
    quasi_identifiers
        The name of each column; without it those of the one local data set.

    Returns
    -------
    numpy.ndarray
        The level of each value, shape (tuples, QIs).

    Raises
    ------
    InputError
        If a quasi-identifier of a local data set is not among the columns or has another
        hierarchy there, or the hierarchies have too many vectors of levels.
    """
    places = [_places(local, quasi_identifiers, hierarchies) for local in locals_]
    used = sorted({place for own in places for place in own})
    shown = [hierarchies[place] for place in used]
    levels = np.zeros(codes.shape, dtype=np.int8)
    if not used or not len(codes):
        return levels
    shape = tuple(hierarchy.height + 1 for hierarchy in shown)
    if np.prod(shape, dtype=np.float64) > MOST_VECTORS:
        raise InputError(
            "the hierarchies of the linkage quasi-identifiers",
            f"must have at most {MOST_VECTORS:,} combinations of levels",
            found=f"{float(np.prod(shape, dtype=np.float64)):,.0f}",
            advice="use hierarchies with fewer levels, or fewer quasi-identifiers",
        )
    tables = [shown_table(hierarchy) for hierarchy in shown]
    (keys,) = packed_keys(tables, [0] * len(used), codes[:, used])
    _, first, tuple_of = np.unique(keys, return_index=True, return_inverse=True)
    tuples = np.asfortranarray(codes[first][:, used])
    given = np.ones(len(hierarchies)) if weights is None else np.asarray(weights)
    shares = normalised_weights(given[used].tolist(), len(used))
    losses = [share * penalty_table(each) for share, each in zip(shares, shown, strict=True)]
    checks = [
        _Check.of(local, tuples, [used.index(place) for place in own], len(locals_) > 1)
        for local, own in zip(locals_, places, strict=True)
    ]
    found = _search(tuples, losses, shape, checks)
    levels[:, used] = np.column_stack(np.unravel_index(found, shape))[tuple_of]
    return levels


def _places(
    local: Local, names: Sequence[str] | None, hierarchies: Sequence[Hierarchy]
) -> list[int]:
    """The column of each quasi-identifier of a local data set."""
    columns = list(local.quasi_identifiers if names is None else names)
    for name, hierarchy in zip(local.quasi_identifiers, local.hierarchies, strict=True):
        if name not in columns or len(columns) != len(hierarchies):
            raise InputError(
                f"quasi-identifier '{name}' of local data '{local.name}'",
                "must be a column of the linked data",
            )
        other = hierarchies[columns.index(name)]
        if other is not hierarchy and other.leaves != hierarchy.leaves:
            raise InputError(
                f"quasi-identifier '{name}' of local data '{local.name}'",
                "must have the same hierarchy as in the linked data",
            )
    return [columns.index(name) for name in local.quasi_identifiers]


@dataclass
class _Check:
    """Whether enough individuals of one local data set match."""

    local: Local
    columns: list[int]
    tuples: Ints
    number: npt.NDArray[np.int64]
    remember: bool
    known: dict[tuple[int, ...], npt.NDArray[np.uint8]] = field(default_factory=dict)

    @classmethod
    def of(cls, local: Local, tuples: Ints, columns: list[int], remember: bool) -> _Check:
        """With ``remember`` it decides once for all tuples that differ in its own columns."""
        own = np.asfortranarray(tuples[:, columns])
        number = np.arange(len(tuples))
        if remember:
            (keys,) = packed_keys(local.tables, [0] * len(columns), own)
            _, first, number = np.unique(keys, return_index=True, return_inverse=True)
            own = np.asfortranarray(own[first])
        return cls(local, columns, own, number, remember)

    def met(self, vector: Sequence[int], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether at least k individuals match each of some tuples, shown at these levels."""
        own = tuple(vector[column] for column in self.columns)
        if not self.remember:
            counts = matches_at(self.local, self.tuples[rows], list(own))
            return counts >= self.local.k
        if own not in self.known:
            counts = matches_at(self.local, self.tuples, list(own))
            self.known[own] = np.packbits(counts >= self.local.k)
        enough = np.unpackbits(self.known[own], count=len(self.tuples)).astype(np.bool_)
        return enough[self.number[rows]]


def _search(
    tuples: Ints, losses: Sequence[Floats], shape: tuple[int, ...], checks: Sequence[_Check]
) -> npt.NDArray[np.int64]:
    """The flat index of the best vector of levels of each tuple, shape (tuples,).

    A vector comes behind all vectors below it, so that what lies above a vector that holds for a
    tuple costs as much or more and is not counted for it again.
    """
    columns = range(len(losses))
    means = _sums([loss[:, tuples[:, q]].mean(axis=1) for q, loss in enumerate(losses)])
    root = len(means) - 1
    best = np.full(len(tuples), root)
    cost = np.sum([loss[-1, tuples[:, q]] for q, loss in enumerate(losses)], axis=0)
    for rank in np.argsort(means, kind="stable").tolist():
        if rank == root:
            continue
        vector = [int(level) for level in np.unravel_index(rank, shape)]
        here = losses[0][vector[0]][tuples[:, 0]]
        for q in columns[1:]:
            here += losses[q][vector[q]][tuples[:, q]]
        better = (here < cost - EQUAL) | ((here <= cost + EQUAL) & (rank < best))
        rows = np.flatnonzero(better)
        for check in checks:
            if not len(rows):
                break
            rows = rows[check.met(vector, rows)]
        best[rows] = rank
        cost[rows] = here[rows]
    return best


def _sums(parts: Sequence[Floats]) -> Floats:
    """The sum of one entry of each part, for all combinations, the last part fastest."""
    total = np.zeros(1)
    for part in parts:
        total = (total[:, np.newaxis] + part).ravel()
    return total
