"""Rows under one parent show that they belong together: what that adds to two known events.

Whoever knows two diagnoses of one stay looks for people who have both in one stay, who are fewer
than those who have both.
"""

from __future__ import annotations

import numpy as np

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.engines.embedded.counts import group
from sfumato.table.table import Table


class Ties:
    """The chances of people by two events that stand under one parent.

    Parameters
    ----------
    class_of, classes
        Class of each record, shape (records,), and number of classes.
    labels
        What each record shows of its event, -1 for none; shape (records,).
    events
        The event of each record, -1 for none; shape (records,).
    """

    def __init__(
        self, table: Table, class_of: Codes, classes: int, labels: Codes, events: Codes
    ) -> None:
        owner, _ = group([class_of, table.person], [classes, table.persons])
        self._labels = int(labels.max(initial=0)) + 1
        found: list[tuple[Ints, Floats]] = []
        for parent in table.parents:
            rows = np.flatnonzero((parent >= 0) & (labels >= 0) & (events >= 0))
            found.append(
                self._under(parent[rows], class_of[rows], owner[rows], labels[rows], events[rows])
            )
        keys = np.concatenate([np.zeros(0, np.int64), *(each for each, _ in found)])
        chances = np.concatenate([np.zeros(0), *(each for _, each in found)])
        # The highest of each key is its last.
        order = np.lexsort((chances, keys))
        last = np.flatnonzero(np.append(np.diff(keys[order]) != 0, True)[: len(order)])
        self._keys, self._chances = keys[order][last], chances[order][last]

    def _pair(self, of: Ints, one: Codes | Ints, other: Codes | Ints) -> Ints:
        """A number for two labels of something, in either order."""
        low, high = np.minimum(one, other), np.maximum(one, other)
        number: Ints = (of * self._labels + low) * self._labels + high
        return number

    def _under(
        self, parent: Codes, class_of: Codes, owner: Codes, labels: Codes, events: Codes
    ) -> tuple[Ints, Floats]:
        """By person and two labels under one parent: 1 / people of the class who have both so."""
        shown = parent.astype(np.int64) * self._labels + labels
        keys, first, rows = np.unique(shown, return_index=True, return_counts=True)
        of = keys // self._labels
        starts = np.flatnonzero(np.append(np.diff(of, prepend=-1) != 0, True))
        one, other = pairs_within(starts)
        # Two records of one label fit two events of that label.
        twice = np.flatnonzero(rows > 1)
        one, other = np.concatenate([one, twice]), np.concatenate([other, twice])
        at, to = first[one], first[other]
        pair = self._pair(class_of[at].astype(np.int64), labels[at], labels[to])
        holders = np.unique(np.stack([pair, owner[at].astype(np.int64)]), axis=1)[0]
        pairs, many = np.unique(holders, return_counts=True)
        # Known are two events, not one of which there are two records.
        several = self._have_two_events(shown, events, keys)
        known = (one != other) | several[one]
        key = self._pair(owner[at].astype(np.int64), labels[at], labels[to])[known]
        return key, 1.0 / many[np.searchsorted(pairs, pair[known])]

    @staticmethod
    def _have_two_events(shown: Ints, events: Codes, keys: Ints) -> Bools:
        """Which labels under a parent are of two different events."""
        different = np.unique(np.stack([shown, events.astype(np.int64)]), axis=1)[0]
        two: Bools = np.bincount(np.searchsorted(keys, different), minlength=len(keys)) > 1
        return two

    def raised(self, persons: Codes, known: Codes, found: Floats) -> Floats:
        """Chances to be found where events of a set stand under one parent, if higher.

        Persons have shape (sets,), labels that fit the known events (sets, m), -1 for none.
        """
        highest = found
        for number in range(known.shape[1]):
            for place in range(number + 1, known.shape[1]):
                key = self._pair(persons.astype(np.int64), known[:, number], known[:, place])
                at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
                both = (known[:, number] >= 0) & (known[:, place] >= 0)
                tied = both & (self._keys[at] == key) if len(self._keys) else both & False
                if tied.any():
                    highest = np.where(tied, np.maximum(highest, self._chances[at]), highest)
        return highest


def pairs_within(starts: Ints) -> tuple[Ints, Ints]:
    """Every two rows between one start and the next."""
    rows = np.arange(starts[-1])
    later = np.repeat(starts[1:], np.diff(starts)) - rows - 1
    first = np.repeat(rows, later)
    return first, first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
