"""Owners of the same set of items: register persons by their rows, released ones by classes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.intruder.candidates.sets import distinct_sets

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Alike:
    """Groups of owners that have the same items.

    Attributes
    ----------
    group
        Group of each owner, shape (owners,).
    sizes
        Owners of each group, shape (groups,).
    start
        Where the items of each group begin in ``items``, shape (groups + 1,).
    items
        The distinct items of each group, ascending within it.
    """

    group: Ints = field(repr=False)
    sizes: Ints = field(repr=False)
    start: Ints = field(repr=False)
    items: Ints = field(repr=False)

    @property
    def counts(self) -> Ints:
        """Distinct items of each group, shape (groups,)."""
        return np.diff(self.start)

    def members(self) -> tuple[Ints, Ints]:
        """The owners by group, ascending within it, and where each group's begin."""
        return np.argsort(self.group, kind="stable"), _starts(self.sizes)

    def groups_of_items(self, count: int) -> tuple[Ints, Ints]:
        """The groups that have each item, and where each item's begin.

        Parameters
        ----------
        count
            Number of items.
        """
        owner = np.repeat(np.arange(len(self.sizes)), self.counts)
        of_item = np.bincount(self.items, minlength=count)
        return owner[np.argsort(self.items, kind="stable")], _starts(of_item)


def alike(owner: Ints, item: Ints, owners: int) -> Alike:
    """Group owners by the set of their items, in O(n log n) for n rows.

    Parameters
    ----------
    owner
        Owner of each row, 0 to owners - 1; each has a row.
    item
        What the row is.
    owners
        Number of owners.
    """
    group, sets = distinct_sets(owner, item, owners, int(item.max(initial=0)) + 1)
    return Alike(
        group=group,
        sizes=np.bincount(group, minlength=sets.shape[0]).astype(np.int64),
        start=sets.indptr.astype(np.int64),
        items=sets.indices.astype(np.int64),
    )


def spread(values: Ints, groups: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Each value's groups: the place of the value, repeated, and the groups beside it.

    Parameters
    ----------
    values
        Items, shape (n,).
    groups, start
        As `Alike.groups_of_items` gives them.
    """
    counts = start[values + 1] - start[values]
    place = np.repeat(np.arange(len(values)), counts)
    within = np.arange(len(place)) - np.repeat(_starts(counts)[:-1], counts)
    return place, groups[start[values[place]] + within]


def runs(ascending: Ints) -> tuple[Ints, Ints]:
    """Where each run of equal numbers begins, and how long it is.

    Parameters
    ----------
    ascending
        Numbers from 0, ascending.
    """
    starts = np.flatnonzero(np.diff(ascending, prepend=-1)) if len(ascending) else ascending
    return starts, np.diff(np.append(starts, len(ascending)))


def _starts(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])
