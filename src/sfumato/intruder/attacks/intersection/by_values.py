"""Two releases without a common pseudonym: sensitive values that do not change must agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.intruder.attacks.intersection.odds import Odds
from sfumato.intruder.attacks.intersection.side import Side
from sfumato.intruder.candidates.sets import distinct_sets
from sfumato.intruder.reading.released_file import TextColumn

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Columns = Sequence[tuple[TextColumn, TextColumn]]

_LEAST = 1e-9
"""Units by chance, where there can be none: the odds stay a number."""


def odds_by_values(here: Side, there: Side, joint: Ints, sizes: Ints, columns: Columns) -> Odds:
    """A unit counts as its values do among the units that fit in the other release.

    Of the m2 units that fit a target in the second release, one is the target's and has the values
    s of the target's unit in the first. Each other of the m1 that fit there is in the second too
    with probability t, the share of the other persons fitting in the first who fit in both; the
    rest of the m2 has s as often as all records have. So if n1 and n2 of them have s, the others
    make about e = t (n1 - 1) + (m2 - 1 - t (m1 - 1)) share(s) of the n2, and as Poisson counts
    give each unit of values s the odds n2 / (t n2 + (1 - t) e): where the same persons fit in
    both, values tell nothing; where nobody else does, n2 over what chance makes. Takes O(sets of
    units x joint groups that fit, and pairs of kinds with a common person).

    Parameters
    ----------
    here, there
        The releases.
    joint
        Groups of persons in both, shape (joint groups, 2).
    sizes
        Persons of each, shape (joint groups,).
    columns
        The sensitive columns of both.
    """
    own, others, count = _alike(here, there, columns)
    sets, set_of = np.unique(np.column_stack([here.kind, own]), axis=0, return_inverse=True)
    fits = here.fitting(joint[:, 0], sets[:, 0])
    first, second = here.fitting(joint[:, 0]), there.fitting(joint[:, 1])
    seen_here = _seen(here.kind, own, first, count)
    seen_there = _seen(there.kind, others, second, count)
    share = np.bincount(others, minlength=count) / max(len(others), 1)
    here_all, there_all = (np.asarray(each.sum(axis=1)).ravel() for each in (seen_here, seen_there))
    common = _common(first, second, sizes.astype(np.float64))
    strangers = np.maximum(there_all - 1 - common * (here_all - 1), 0.0)
    place, target = fits.tocoo().coords
    sign, both = sets[place, 1], common[target]
    found = _at(seen_there, target, sign)
    expected = both * (_at(seen_here, target, sign) - 1) + strangers[target] * share[sign]
    whole = both * found + (1 - both) * expected
    odds = np.where(found > 0, found / np.maximum(whole, _LEAST), 0.0)
    joined = sparse.csr_array((odds, (place, target)), shape=fits.shape)
    joined.eliminate_zeros()
    return Odds(set_of.reshape(-1), fits, joined)


def _seen(kind: Ints, sign: Ints, fits: sparse.csr_array, count: int) -> sparse.csr_array:
    """How many of the units that fit a target have each combination of values."""
    of_kind = sparse.csr_array((np.ones(len(kind)), (kind, sign)), shape=(fits.shape[0], count))
    seen = sparse.csr_array(fits.T @ of_kind)
    seen.sort_indices()
    return seen


def _common(first: sparse.csr_array, second: sparse.csr_array, sizes: Floats) -> Floats:
    """Share of the others fitting the target's kinds of the first release who fit the second's.

    Counted by kinds: who fits several of them with the target counts for each.
    """
    in_both = (first * sizes) @ second.T
    both = np.asarray(((first.T @ in_both).multiply(second.T)).sum(axis=1)).reshape(-1)
    alone = np.asarray(first.T @ (first @ sizes)).reshape(-1)
    kinds = [np.asarray(each.sum(axis=0)).reshape(-1) for each in (first, second)]
    others = alone - kinds[0]
    share = (both - kinds[0] * kinds[1]) / np.where(others > 0, others, 1.0)
    found: Floats = np.where(others > 0, np.clip(share, 0.0, 1.0), 0.0)
    return found


def _at(matrix: sparse.csr_array, rows: Ints, columns: Ints) -> Floats:
    """The entries at some places, by binary search."""
    width = matrix.shape[1]
    every = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * width + matrix.indices
    wanted = rows.astype(np.int64) * width + columns
    place = np.minimum(np.searchsorted(every, wanted), max(len(every) - 1, 0))
    if not len(every):
        return np.zeros(len(wanted))
    found: Floats = np.where(every[place] == wanted, matrix.data[place], 0.0)
    return found


def _alike(here: Side, there: Side, columns: Columns) -> tuple[Ints, Ints, int]:
    """A number for each unit of either release, the same for the same sensitive values."""
    units = len(here.kind)
    numbers = np.zeros(units + len(there.kind), dtype=np.int64)
    owner = np.concatenate([here.file.unit, units + there.file.unit])
    for one, other in columns:
        codes = np.concatenate([one.told, _aligned(one, other)]) + 1
        held, _ = distinct_sets(owner, codes, len(numbers), int(codes.max(initial=0)) + 1)
        both = numbers * (int(held.max(initial=0)) + 1) + held
        numbers = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers[:units], numbers[units:], int(numbers.max(initial=0)) + 1


def _aligned(one: TextColumn, other: TextColumn) -> Ints:
    """The records' texts of the second column as codes of the first, new ones above them."""
    places = {text: place for place, text in enumerate(one.texts)}
    code = [-1 if text is None else places.setdefault(text, len(places)) for text in other.texts]
    return np.array(code, dtype=np.int64)[other.codes]
