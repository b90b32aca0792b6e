"""Sets of numbers that several owners have in common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

Ints = npt.NDArray[np.int64]


def distinct_sets(
    owner: Ints, element: Ints, owners: int, elements: int
) -> tuple[Ints, sparse.csr_array]:
    """Number the distinct sets of elements that owners have.

    Parameters
    ----------
    owner, element
        Pairs, each of shape (pairs,).
    owners, elements
        How many of each there are.

    Returns
    -------
    tuple
        The number of each owner's set, shape (owners,), in order of their first owners, and
        what each set holds, shape (sets, elements).
    """
    pairs = np.unique(owner.astype(np.int64) * elements + element)
    who, what = pairs // max(elements, 1), pairs % max(elements, 1)
    if np.array_equal(who, np.arange(owners)):
        used, first, inverse = np.unique(what, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.empty(len(used), dtype=np.int64)
        number[order] = np.arange(len(used))
        return number[inverse.reshape(-1)], _of_lists(used[order], np.ones(len(used)), elements)
    starts = np.searchsorted(who, np.arange(owners + 1))
    places: dict[bytes, int] = {}
    lists: list[Ints] = []
    set_of = np.empty(owners, dtype=np.int64)
    for each in range(owners):
        held = what[starts[each] : starts[each + 1]]
        place = places.setdefault(held.tobytes(), len(places))
        if place == len(lists):
            lists.append(held)
        set_of[each] = place
    lengths = np.array([len(held) for held in lists])
    return set_of, _of_lists(np.concatenate(lists), lengths, elements)


def where_all(fits: sparse.csr_array, members: sparse.csr_array) -> sparse.csr_array:
    """Whether a row of ``fits`` is true for all elements of a set.

    Parameters
    ----------
    fits
        Shape (rows, elements).
    members
        What each set holds, shape (sets, elements).

    Returns
    -------
    scipy.sparse.csr_array
        Shape (rows, sets).
    """
    sizes = np.diff(members.indptr)
    if (sizes == 1).all():
        return _columns(fits, members.indices)
    counts = sparse.csr_array(fits.astype(np.int32) @ members.T.astype(np.int32))
    counts.data = (counts.data == sizes[counts.indices]).astype(np.int32)
    counts.eliminate_zeros()
    counts.sort_indices()
    return counts.astype(np.bool_)


def where_any(fits: sparse.csr_array, members: sparse.csr_array) -> sparse.csr_array:
    """Whether a row of ``fits`` is true for an element of a set.

    Parameters
    ----------
    fits
        Shape (rows, elements).
    members
        What each set holds, shape (sets, elements).

    Returns
    -------
    scipy.sparse.csr_array
        Shape (rows, sets).
    """
    if (np.diff(members.indptr) == 1).all():
        return _columns(fits, members.indices)
    some = sparse.csr_array(fits.astype(np.int32) @ members.T.astype(np.int32))
    some.sort_indices()
    return some.astype(np.bool_)


def _columns(fits: sparse.csr_array, chosen: npt.NDArray[np.integer]) -> sparse.csr_array:
    """The chosen columns, in that order."""
    if len(chosen) == fits.shape[1] and (chosen == np.arange(len(chosen))).all():
        return fits
    found = sparse.csr_array(fits[:, chosen])
    found.sort_indices()
    return found


def _of_lists(
    elements: npt.NDArray[np.integer], lengths: npt.NDArray[np.generic], width: int
) -> sparse.csr_array:
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ones = np.ones(len(elements), dtype=np.bool_)
    return sparse.csr_array((ones, elements, starts), shape=(len(starts) - 1, width))
