"""Large anonymity sets that were asked for last, and what was found of them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from sfumato.review.anonymity.bitmaps import Key, read_only, records_of

Item = tuple[int, int]
"""An attribute, and the place of a character or `WHOLE`."""
KEPT_BYTES = 64 << 20


@dataclass(eq=False)
class LargeSet:
    """A set of records.

    Attributes
    ----------
    members
        The records, not to be changed.
    count
        Number of records of the database.
    least
        Size of the smallest group by what becomes known.
    """

    members: BitMap
    count: int
    least: dict[frozenset[Item], int] = field(default_factory=dict)

    @cached_property
    def flags(self) -> npt.NDArray[np.uint8]:
        """1 for each record of the set, else 0; shape (records,)."""
        flags = np.zeros(self.count, np.uint8)
        flags[records_of(self.members)] = 1
        return read_only(flags)


class LargeSets:
    """The sets asked for last, by the conditions that they meet.

    Workers see the same few large sets all the time: those of masked rows.

    Parameters
    ----------
    count
        Number of records of the database.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._room = max(KEPT_BYTES // max(count, 1), 16)
        self._sets: OrderedDict[frozenset[Key], LargeSet] = OrderedDict()
        self._of: dict[int, LargeSet] = {}
        self._lock = Lock()

    def get(self, conditions: frozenset[Key]) -> BitMap | None:
        """The set that meets some conditions, if it is kept.

        Parameters
        ----------
        conditions
            All conditions of the set.
        """
        with self._lock:
            found = self._sets.get(conditions)
            if found is None:
                return None
            self._sets.move_to_end(conditions)
            return found.members

    def keep(self, conditions: frozenset[Key], members: BitMap) -> None:
        """Keep a set, and let go of the one used longest ago.

        Parameters
        ----------
        conditions
            All conditions of the set.
        members
            The set.
        """
        with self._lock:
            if conditions in self._sets:
                return
            self._sets[conditions] = self._of[id(members)] = LargeSet(members, self._count)
            while len(self._sets) > self._room:
                _, gone = self._sets.popitem(last=False)
                del self._of[id(gone.members)]

    def of(self, members: BitMap) -> LargeSet:
        """What is known of a set; nothing of one that is not kept.

        Parameters
        ----------
        members
            The set.
        """
        with self._lock:
            found = self._of.get(id(members))
        return LargeSet(members, self._count) if found is None else found
