"""How many individuals of a local data set match each generalised tuple."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.record_pairs import key_individuals
from sfumato.semantics.linkage_anonymity.keys import Ints, packed_keys
from sfumato.semantics.linkage_anonymity.local import Local


def matches(local: Local, codes: Ints, levels: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Individuals of the local data who match each generalised tuple.

    An individual matches if one of its tuples shows the same as the generalised tuple in every
    quasi-identifier, at the levels of the generalised tuple. Individuals are counted, not
    records. A missing value matches a missing value and ``*`` alone.

    Takes O(V (local tuples) + tuples) for V distinct vectors of levels.

    Parameters
    ----------
    local
        The local data set.
    codes
        Leaf codes, one column per quasi-identifier of ``local``, -1 for missing; shape
        (tuples, QIs).
    levels
        Level that each value is shown at; shape (tuples, QIs).

    Returns
    -------
    numpy.ndarray
        Individuals, shape (tuples,).
    """
    found = np.zeros(len(codes), dtype=np.int64)
    if not len(codes):
        return found
    vectors, of_vector = np.unique(levels, axis=0, return_inverse=True)
    order = np.argsort(of_vector.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(of_vector.ravel(), minlength=len(vectors)))
    for vector, rows in zip(vectors, np.split(order, ends[:-1]), strict=True):
        found[rows] = matches_at(local, codes[rows], vector.tolist())
    return found


def matches_at(local: Local, codes: Ints, vector: list[int]) -> npt.NDArray[np.int64]:
    """Individuals of the local data who match each tuple, all shown at the same levels.

    Parameters
    ----------
    local
        The local data set.
    codes
        Leaf codes, shape (tuples, QIs).
    vector
        The level of each quasi-identifier.

    Returns
    -------
    numpy.ndarray
        Individuals, shape (tuples,).
    """
    keys, asked = packed_keys(local.tables, vector, local.codes, codes)
    return key_individuals(keys, local.alone, *local.shared, asked)
