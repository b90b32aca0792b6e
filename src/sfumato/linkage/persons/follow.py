"""Persons found again: who stays, who is new, who has merged or fallen apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.linkage.values import Ints


@dataclass(frozen=True, slots=True)
class Merge:
    """Records of several old persons have become one person's.

    Attributes
    ----------
    person
        The person whose records they are now.
    of
        The old persons, ascending.
    """

    person: int
    of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """The records of one old person have become several persons'.

    Attributes
    ----------
    person
        The old person.
    into
        The persons whose records they are now, ascending.
    """

    person: int
    into: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Followed:
    """Persons with ids that stay.

    Attributes
    ----------
    person
        Id of the person of each record; shape (records,).
    merges, splits
        What became of old persons, ascending by id.
    gained
        Ids of old persons who have new records, ascending.
    new
        Ids that nobody had before, ascending: of new records, and of what fell off old persons.
    gone
        Old ids that no record has any more, ascending: they went into merges.
    """

    person: Ints
    merges: tuple[Merge, ...]
    splits: tuple[Split, ...]
    gained: Ints
    new: Ints
    gone: Ints


def follow(previous: Ints, now: npt.NDArray[np.integer], *, next_id: int = 0) -> Followed:
    """Give persons found now the ids of the persons found before: O(N log N) for N old records.

    The person now and the old person who share the most records are the same one, then the
    next of those that are left, and so on (of equals the lowest old id, then the lowest number
    now): so the largest part of a person who falls apart keeps the id, and the person with
    the most records gives it to a merged one.

    Parameters
    ----------
    previous
        Id of the old person of each record, -1 for a new record; shape (records,).
    now
        Number of each record's person as found now.
    next_id
        New persons take ids from this one up, if it is above all old ones: set it where ids
        have been given to persons that are no longer there.
    """
    cluster, clusters = number_by_first_appearance(now.astype(np.int64), _space(now))
    old = np.flatnonzero(previous >= 0)
    ids, place = np.unique(previous[old], return_inverse=True)
    shared, counts = np.unique(place * clusters + cluster[old], return_counts=True)
    before, after = np.divmod(shared, max(clusters, 1))
    taken = np.full(clusters, -1, dtype=np.int64)
    free = np.ones(len(ids), dtype=np.bool_)
    alone = (np.bincount(before)[before] == 1) & (np.bincount(after)[after] == 1)
    taken[after[alone]], free[before[alone]] = before[alone], False
    contested = np.flatnonzero(~alone)
    for row in contested[np.argsort(-counts[contested], kind="stable")].tolist():
        if taken[after[row]] < 0 and free[before[row]]:
            taken[after[row]], free[before[row]] = before[row], False
    label = np.empty(clusters, dtype=np.int64)
    known = taken >= 0
    label[known] = ids[taken[known]]
    start = max(next_id, int(ids[-1]) + 1 if len(ids) else 0)
    label[~known] = np.arange(start, start + np.count_nonzero(~known))
    person = label[cluster]
    fresh = person[previous < 0]
    return Followed(
        person,
        tuple(Merge(i, of) for i, of in _several(label[after], ids[before])),
        tuple(Split(i, into) for i, into in _several(ids[before], label[after])),
        gained=np.intersect1d(fresh, ids),
        new=label[~known],
        gone=ids[free],
    )


def _space(now: npt.NDArray[np.integer]) -> int:
    return int(now.max(initial=-1)) + 1


def _several(keys: Ints, others: Ints) -> list[tuple[int, tuple[int, ...]]]:
    """The keys that go with several others, and those."""
    values, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[inverse] > 1)
    found: dict[int, list[int]] = {int(value): [] for value in values[counts > 1]}
    for key, other in zip(keys[rows].tolist(), others[rows].tolist(), strict=True):
        found[key].append(other)
    return [(key, tuple(sorted(own))) for key, own in found.items()]
