"""Matching individuals as a reader counts them who knows how the tuples were generalised."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.kernels.record_pairs import key_individuals
from sfumato.semantics.linkage_anonymity.keys import Ints, packed_keys
from sfumato.semantics.linkage_anonymity.linked import Linked
from sfumato.semantics.linkage_anonymity.local import Local
from sfumato.semantics.linkage_anonymity.measured import mean_risk
from sfumato.semantics.linkage_anonymity.search import least_levels


def informed_matches(
    local: Local,
    codes: Ints,
    levels: npt.NDArray[np.integer],
    weights: tuple[float, ...] | None = None,
) -> npt.NDArray[np.int64]:
    """Individuals who match each tuple and whose own tuple would have been shown like it.

    A reader who knows the hierarchies, weights and k can generalise every local individual as
    the linked ones were, and leave out those who match but would have been shown in more
    detail. What remains may be fewer than k: the least levels hide a person among all who
    match, not among those who were generalised alike.

    Parameters
    ----------
    local
        The local data set; the only one of the release.
    codes
        Leaf codes of the linked tuples, one column per quasi-identifier of ``local``; shape
        (tuples, QIs).
    levels
        Their least levels, shape (tuples, QIs).
    weights
        The share of each quasi-identifier in loss.

    Returns
    -------
    numpy.ndarray
        Individuals, shape (tuples,).
    """
    own = least_levels(local.codes, [local], local.hierarchies, weights)
    found = np.zeros(len(codes), dtype=np.int64)
    vectors, of_vector = np.unique(levels, axis=0, return_inverse=True)
    for number, vector in enumerate(vectors):
        rows = np.flatnonzero(of_vector.ravel() == number)
        keys, asked = packed_keys(local.tables, vector.tolist(), local.codes, codes[rows])
        alike = (own == vector).all(axis=1)
        found[rows] = key_individuals(2 * keys + alike, local.alone, *local.shared, 2 * asked + 1)
    return found


def informed_risk(linked: Linked, levels: npt.NDArray[np.integer]) -> Measure | None:
    """Mean risk of the linked individuals before a reader who knows the method.

    Parameters
    ----------
    linked
        The linked tuples.
    levels
        Their least levels, shape (tuples, QIs).

    Returns
    -------
    Measure or None
        In [0, 1]; ``None`` with several local data sets.
    """
    if len(linked.locals_) != 1:
        return None
    (local,) = linked.locals_
    own = linked.columns_of(local)
    weights = tuple(linked.weights[place] for place in own)
    counts = informed_matches(local, linked.codes[:, own], levels[:, own], weights)
    risks = np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
    return Measure("informed_linkage_risk", mean_risk(linked, risks))
