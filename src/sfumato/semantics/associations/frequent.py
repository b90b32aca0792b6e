"""Frequent combinations of values at every level of the hierarchies, level-wise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.semantics.associations.shown import Ints, Shown

Place = tuple[int, int]
"""Number of an attribute, and a level of its hierarchy."""
Counts = npt.NDArray[np.float64]
"""Sums of counts; exact below 2^53."""


@dataclass(frozen=True, eq=False)
class Sets:
    """The frequent combinations of values at some places.

    Attributes
    ----------
    places
        The places, of ascending attributes.
    labels
        The labels of each combination, by index; shape (combinations, places).
    counts
        How often each was shown, shape (combinations,).
    of_tuple
        The combination that each tuple shows, -1 for none; shape (tuples,).
    """

    places: tuple[Place, ...]
    labels: Ints = field(repr=False)
    counts: Counts = field(repr=False)
    of_tuple: Ints = field(repr=False)


def items(shown: Shown, least: float = 0.0) -> dict[Place, Sets]:
    """The frequent single values at every level, by place.

    The root says nothing, and neither does any other value that all leaves are below: these are
    left out.

    Parameters
    ----------
    shown
        The tuples of a release.
    least
        The least count of a frequent value.
    """
    found: dict[Place, Sets] = {}
    for column, hierarchy in enumerate(shown.hierarchies.values()):
        for level in range(hierarchy.height):
            told = shown.at(column, level)
            says = hierarchy.leaf_counts(level) < len(hierarchy.leaves)
            told = np.where((told >= 0) & says[told], told, -1)
            keys, counts, of_tuple = grouped(told.astype(np.int64), shown.counts, least)
            if len(keys):
                labels = keys.astype(np.int32)[:, np.newaxis]
                found[column, level] = Sets(((column, level),), labels, counts, of_tuple)
    return found


def frequent_sets(shown: Shown, least: float, length: int) -> Iterator[Sets]:
    """The frequent combinations of 1, 2, ... ``length`` values, by their places.

    Apriori over places: a combination of n places is counted only where all its parts of n - 1
    places are frequent, and only over the tuples that show them. With a attributes of h levels
    this takes O(C(a, length) h^length) groupings of at most all tuples, O(tuples log tuples)
    each; what pruning leaves is mostly far less.

    Parameters
    ----------
    shown
        The tuples of a release.
    least
        The least count of a frequent combination.
    length
        The most values in a combination.

    Yields
    ------
    Sets
        The combinations at some places; only places that have any.
    """
    single = items(shown, least)
    yield from single.values()
    before = {sets.places: sets for sets in single.values()}
    for size in range(2, length + 1):
        now: dict[tuple[Place, ...], Sets] = {}
        for sets in before.values():
            for place, item in single.items():
                joined = _joined(sets, item, before) if place[0] > sets.places[-1][0] else None
                if joined is None:
                    continue
                longer = _counted(sets, item, joined, shown, least)
                if len(longer.counts):
                    yield longer
                    if size < length:
                        now[longer.places] = longer
        before = now


def grouped(
    keys: npt.NDArray[np.int64], counts: npt.NDArray[np.integer], least: float
) -> tuple[npt.NDArray[np.int64], Counts, Ints]:
    """The keys that are counted at least so often.

    Parameters
    ----------
    keys
        A key per tuple, -1 for none; shape (tuples,).
    counts
        How often each tuple was shown, shape (tuples,).
    least
        The least count.

    Returns
    -------
    tuple
        These keys ascending, the count of each, and each tuple's place among them (-1 for none).
    """
    present = np.flatnonzero(keys >= 0)
    distinct, inverse = np.unique(keys[present], return_inverse=True)
    sums = np.bincount(inverse, weights=counts[present], minlength=len(distinct))
    totals: Counts = sums.astype(np.float64, copy=False)
    kept = (totals >= least - 1e-9 * max(least, 1.0)) & (totals > 0)
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    of_tuple = np.full(len(keys), -1, dtype=np.int32)
    of_tuple[present] = number[inverse]
    return distinct[kept], totals[kept], of_tuple


def _joined(
    sets: Sets, item: Sets, before: Mapping[tuple[Place, ...], Sets]
) -> npt.NDArray[np.bool_] | None:
    """The tuples in which all parts of the joined places are frequent; ``None`` for nowhere."""
    places = (*sets.places, *item.places)
    told = (sets.of_tuple >= 0) & (item.of_tuple >= 0)
    for part in combinations(places, len(places) - 1):
        if part not in before:
            return None
        told &= before[part].of_tuple >= 0
    return told if told.any() else None


def _counted(
    sets: Sets, item: Sets, told: npt.NDArray[np.bool_], shown: Shown, least: float
) -> Sets:
    radix = len(item.counts)
    keys = np.where(told, sets.of_tuple.astype(np.int64) * radix + item.of_tuple, -1)
    found, counts, of_tuple = grouped(keys, shown.counts, least)
    labels = np.column_stack([sets.labels[found // radix], item.labels[found % radix]])
    return Sets((*sets.places, *item.places), labels, counts, of_tuple)
