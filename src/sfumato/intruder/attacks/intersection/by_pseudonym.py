"""Two releases that call a person the same: only units that fit in both are left."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sfumato.intruder.attacks.intersection.odds import Odds
from sfumato.intruder.attacks.intersection.side import Side
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]

LINKED = 0.5
"""Share of the pseudonyms in both files that must fit a common person for them to be the same."""


def pseudonyms(file: ReleasedFile) -> dict[str, int]:
    """The unit of each pseudonym; empty where the file has no person column.

    Parameters
    ----------
    file
        The released file.
    """
    if file.person is None:
        return {}
    for column in file.others:
        pairs = np.unique(np.column_stack([file.person, column.codes]), axis=0)
        if len(pairs) == file.persons == len(np.unique(column.codes)):
            texts = [(column.texts[code], unit) for unit, code in pairs.tolist()]
            return {text: unit for text, unit in texts if text is not None}
    return {}


def shared_units(first: ReleasedFile, second: ReleasedFile) -> Ints:
    """Units of both releases under the same pseudonym, shape (shared, 2).

    Parameters
    ----------
    first, second
        The releases.
    """
    one, other = pseudonyms(first), pseudonyms(second)
    pairs = [(unit, other[text]) for text, unit in one.items() if text in other]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def are_the_same(here: Side, there: Side, shared: Ints, joint: Ints) -> bool:
    """Whether the pseudonyms in both releases are the same persons', by who fits them.

    Parameters
    ----------
    here, there
        The releases.
    shared
        Units of both under the same pseudonym.
    joint
        Groups of persons in both, shape (joint groups, 2).
    """
    if not len(shared) or all(text.isdigit() for text in pseudonyms(here.file)):
        return False
    pairs, counts = np.unique(_kinds(here, there, shared), axis=0, return_counts=True)
    common = np.asarray(_both(here, there, pairs, joint).sum(axis=1)).reshape(-1) > 0
    return bool(counts[common].sum() >= LINKED * counts.sum())


def odds_by_pseudonym(here: Side, there: Side, shared: Ints, joint: Ints) -> Odds:
    """A unit is in question if it fits in both releases under one pseudonym.

    Takes O(pairs of kinds x joint groups that fit).

    Parameters
    ----------
    here, there
        The releases.
    shared
        Units of both under the same pseudonym.
    joint
        Groups of persons in both, shape (joint groups, 2).
    """
    other = np.full(len(here.kind), -1, dtype=np.int64)
    other[shared[:, 0]] = there.kind[shared[:, 1]]
    sets, set_of = np.unique(np.column_stack([here.kind, other]), axis=0, return_inverse=True)
    fits = here.fitting(joint[:, 0], sets[:, 0])
    known = (sets[:, 1] >= 0).astype(np.float64)
    second = there.fitting(joint[:, 1], np.maximum(sets[:, 1], 0))
    odds = fits.multiply(second).multiply(known[:, np.newaxis])
    return Odds(set_of.reshape(-1), sparse.csr_array(fits), sparse.csr_array(odds))


def _kinds(here: Side, there: Side, shared: Ints) -> Ints:
    return np.column_stack([here.kind[shared[:, 0]], there.kind[shared[:, 1]]])


def _both(here: Side, there: Side, pairs: Ints, joint: Ints) -> sparse.csr_array:
    one = here.fitting(joint[:, 0], pairs[:, 0])
    return sparse.csr_array(one.multiply(there.fitting(joint[:, 1], pairs[:, 1])))
