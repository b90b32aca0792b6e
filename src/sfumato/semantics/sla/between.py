"""What several releases tell together about the same person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Shown
from sfumato.semantics.linkage_anonymity import Local, matches
from sfumato.semantics.linkage_anonymity.keys import Ints, shown_table

Tuples = tuple[Ints, npt.NDArray[np.integer]]
"""Leaf codes and the levels that they are shown at; each of shape (tuples, attributes)."""


def shown_before(
    shown: Shown, tuple_of: npt.NDArray[np.integer], hierarchies: Mapping[str, Hierarchy]
) -> Tuples:
    """What an earlier release showed of each person, in the columns of the present one.

    Parameters
    ----------
    shown
        The tuples of the earlier release, in terms of the present hierarchies.
    tuple_of
        The tuple of each person, -1 for one that the release did not have; shape (persons,).
    hierarchies
        The hierarchy of each attribute of the present release, in the order of its columns.

    Returns
    -------
    tuple
        Codes and levels, each of shape (persons, attributes); the root where the earlier
        release did not have the attribute or the person.

    Raises
    ------
    InputError
        If a person's tuple is none of the release's.
    """
    if len(tuple_of) and not -1 <= int(tuple_of.min()) <= int(tuple_of.max()) < len(shown.counts):
        raise InputError("the tuple of a person", "must be one of the release's, or -1 for none")
    codes = np.full((len(tuple_of), len(hierarchies)), -1, dtype=np.int32)
    heights = [hierarchy.height for hierarchy in hierarchies.values()]
    levels = np.tile(np.array(heights, dtype=np.int8), (len(tuple_of), 1))
    there = np.flatnonzero(tuple_of >= 0)
    for column, name in enumerate(hierarchies):
        if name in shown.hierarchies:
            place = list(shown.hierarchies).index(name)
            codes[there, column] = shown.codes[tuple_of[there], place]
            levels[there, column] = shown.levels[tuple_of[there], place]
    return codes, levels


def intersection(releases: Sequence[Tuples], hierarchies: Sequence[Hierarchy]) -> Tuples:
    """What a reader holds who knows the tuple of the same person in each of several releases.

    Of each attribute the finest value shown. Where two releases contradict each other, because
    the person's data has changed, the later one is believed. An attribute that a release did
    not have is given to it at its root.

    Parameters
    ----------
    releases
        The releases in order; row ``i`` of each is the same person, or the same kind of person.
    hierarchies
        The hierarchy of each attribute.

    Returns
    -------
    tuple
        Codes and levels of the intersections.

    Raises
    ------
    InputError
        If there is no release, or the releases differ in shape.
    """
    if not releases or len({array.shape for each in releases for array in each}) > 1:
        raise InputError("releases", "must show the same persons and attributes, one or more times")
    codes, levels = releases[0][0].copy(), releases[0][1].copy()
    for column, hierarchy in enumerate(hierarchies):
        table = shown_table(hierarchy)
        code, level = codes[:, column], levels[:, column]
        for later_codes, later_levels in releases[1:]:
            later, at = later_codes[:, column], later_levels[:, column]
            coarser = np.maximum(level, at)
            taken = (at < level) | (table[coarser, code] != table[coarser, later])
            code[taken], level[taken] = later[taken], at[taken]
    return codes, levels


def left_by(
    local: Local, names: Sequence[str], codes: Ints, levels: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Individuals of the local data set who match each tuple on the local quasi-identifiers.

    Parameters
    ----------
    local
        The local data set.
    names
        The name of each column of the tuples.
    codes, levels
        The tuples; each of shape (tuples, attributes).

    Returns
    -------
    numpy.ndarray
        Individuals, shape (tuples,).

    Raises
    ------
    InputError
        If a quasi-identifier of the local data set is none of the columns.
    """
    places = {name: place for place, name in enumerate(names)}
    for name in local.quasi_identifiers:
        if name not in places:
            raise InputError(
                f"quasi-identifier '{name}' of local data '{local.name}'",
                "must be a column of the linked data",
            )
    own = [places[name] for name in local.quasi_identifiers]
    return matches(local, codes[:, own], levels[:, own])
