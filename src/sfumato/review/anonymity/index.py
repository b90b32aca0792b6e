"""Sizes of anonymity sets, now and after what could be opened next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from sfumato.core.shared_options import Progress
from sfumato.review.anonymity.bitmaps import Bitmaps, Kept, Key, bitmap_of, read_only
from sfumato.review.anonymity.conditions import Kind, bitmaps_of
from sfumato.review.anonymity.database import Database
from sfumato.review.anonymity.large_sets import LargeSets
from sfumato.review.anonymity.smallest import Smallest, few_of
from sfumato.review.anonymity.stored import packed, unpacked
from sfumato.review.settings import Policy
from sfumato.review.values import Knowledge, Positions, Seen

_KEPT_BYTES = 16 << 20


class Index:
    """Anonymity sets of the records of a database.

    It takes the room of the database, 4 bytes per record and attribute for the records of each
    value, and up to 2 bytes per record and character for bitmaps: near 220 bytes per record
    with eight attributes of 65 characters in all, in memory and stored. Bitmaps that are
    unpacked and sets that were asked for last take at most some 400 MB more.

    Threads may share it.

    Parameters
    ----------
    database
        The records.
    bitmaps
        The bitmaps of `conditions.bitmaps_of`.
    postings
        The records of each value, one value after the other; shape (values that are not missing,).
    posting_start
        Where those of each value start; shape (values + 1,).
    """

    def __init__(
        self,
        database: Database,
        bitmaps: Bitmaps,
        postings: npt.NDArray[np.uint32],
        posting_start: npt.NDArray[np.int64],
    ) -> None:
        self.database = database
        self.bitmaps, self.postings, self.posting_start = bitmaps, postings, posting_start
        self._everyone = BitMap()
        self._everyone.add_range(0, database.count)
        self._values = Kept(_KEPT_BYTES)
        self._large = LargeSets(database.count)
        self._smallest = Smallest(database, bitmaps, postings, posting_start, self._large)

    @classmethod
    def build(cls, database: Database, progress: Progress | None = None) -> Index:
        """Index a database.

        Parameters
        ----------
        database
            The records.
        progress
            Told how far it is.
        """
        return cls(database, bitmaps_of(database, progress), *_postings(database))

    def to_bytes(self) -> bytes:
        """The index and its database, values included; to be kept encrypted."""
        return packed(self.database, self.bitmaps, self.postings, self.posting_start)

    @classmethod
    def from_bytes(cls, data: bytes) -> Index:
        """Read what `to_bytes` gave; nothing of it is run.

        Parameters
        ----------
        data
            The bytes; the index refers to them as long as it lives.

        Raises
        ------
        InputError
            If they are no index, cut short, or of another version.
        """
        return cls(*unpacked(data))

    def members(
        self, record: int, knowledge: Knowledge, policy: Policy = Policy.CONSISTENT
    ) -> BitMap:
        """The anonymity set of a record: the records that agree with what is known of it.

        The set is not to be changed: it may be one that the index keeps.

        Parameters
        ----------
        record
            Which, from 0.
        knowledge
            What is seen of each of its attributes.
        policy
            Whether all conditions count, or characters and identity marks alone.
        """
        conditions = frozenset(self._keys(record, enumerate(knowledge), policy))
        found = self._large.get(conditions)
        if found is None:
            keys = sorted(conditions, key=self._size)
            first = self._bitmap(keys[0]) if keys else self._everyone
            found = self._narrowed(first, record, keys[1:])
            if len(found) > few_of(self.database.count):
                self._large.keep(conditions, found)
        return found

    def size_after(
        self,
        members: BitMap,
        record: int,
        opened: Mapping[int, Seen],
        policy: Policy = Policy.CONSISTENT,
    ) -> int:
        """Size of an anonymity set narrowed by more knowledge of its record.

        Parameters
        ----------
        members
            The set so far.
        record
            Whose it is.
        opened
            Per attribute, what would be seen.
        policy
            As for `members`.
        """
        keys = self._keys(record, opened.items(), policy)
        if not keys:
            return len(members)
        keys.sort(key=self._size)
        if len(members) <= self._size(keys[0]):
            *others, last = keys
            return self._narrowed(members, record, others).intersection_cardinality(
                self._bitmap(last)
            )
        first, *others = keys
        found = self._narrowed(self._bitmap(first), record, others)
        return found.intersection_cardinality(members)

    def least(self, members: BitMap, opened: Mapping[int, Positions | None]) -> int:
        """Size of the smallest group of a set once more becomes known of each of its records.

        Records are in one group if they have the same characters at all the places. Values that
        are missing or end before a place agree with each other there.

        Parameters
        ----------
        members
            The set; not to be changed afterwards.
        opened
            Per attribute, the places of the characters that become known, ``None`` for the
            whole value.
        """
        return self._smallest.of(members, opened)

    def _keys(self, record: int, seen: Iterable[tuple[int, Seen]], policy: Policy) -> list[Key]:
        """The conditions that records must meet to agree with what is seen of a record."""
        codes = self.database.codes[record].tolist()
        keys: list[Key] = []
        for attribute, each in seen:
            code = codes[attribute]
            if code >= 0:
                keys += self._keys_of(attribute, code, each, policy)
            elif each.missingness and policy is Policy.CONSISTENT:
                keys.append((attribute, Kind.MISSING, 0, 0))
        return [key for key in keys if self._size(key) < self.database.count]

    def _keys_of(self, attribute: int, code: int, seen: Seen, policy: Policy) -> Iterator[Key]:
        """The conditions on a value that is not missing."""
        database = self.database
        start, stop = database.start[code : code + 2].tolist()
        if len(seen.positions) == stop - start and self._alone(attribute, code, seen, policy):
            yield attribute, Kind.VALUE, 0, code
            if seen.twice and database.folded_count[code] < 2:
                yield attribute, Kind.TWICE, 0, 0
            return
        if policy is Policy.CONSISTENT:
            if seen.length:
                yield attribute, Kind.LENGTH, 0, stop - start
            elif seen.missingness:
                yield attribute, Kind.HELD, 0, 0
            if seen.rarity:
                band = database.bands(database.folded_count[code : code + 1])
                yield attribute, Kind.BAND, 0, int(band[0])
        if seen.twice:
            yield attribute, Kind.TWICE, 0, 0
        for place in seen.positions:
            yield attribute, Kind.CHARACTER, place, int(database.characters[start + place])

    def _alone(self, attribute: int, code: int, seen: Seen, policy: Policy) -> bool:
        """Whether no other value agrees with one all of whose characters are seen."""
        if not self.database.one_layout[attribute]:
            return False
        return (policy is Policy.CONSISTENT and seen.length) or not self.database.begins[code]

    def _narrowed(self, members: BitMap, record: int, keys: Iterable[Key]) -> BitMap:
        """The members that meet conditions too; they are all met by the record but for marks.

        The identity mark of a record that is shown beside itself holds of no record.
        """
        for key in keys:
            if len(members) > 1 or key[1] == Kind.TWICE or record not in members:
                members = members & self._bitmap(key)
        return members

    def _size(self, key: Key) -> int:
        """Number of records that meet a condition."""
        if key[1] == Kind.VALUE:
            start, stop = self.posting_start[key[3] : key[3] + 2].tolist()
            return int(stop - start)
        return self.bitmaps.size(key)

    def _bitmap(self, key: Key) -> BitMap:
        """The records that meet a condition."""
        if key[1] != Kind.VALUE or key in self.bitmaps:
            return self.bitmaps.get(key)
        found = self._values.get(key)
        if found is None:
            start, stop = self.posting_start[key[3] : key[3] + 2].tolist()
            found = bitmap_of(self.postings[start:stop])
            self._values.keep(key, found, 100 + 2 * (stop - start))
        return found


def _postings(database: Database) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The records of each value, ascending, and where those of each value start."""
    count = np.zeros(int(database.base[-1]) + 1, np.int64)
    parts = []
    for attribute, first in enumerate(database.base[:-1].tolist()):
        codes = database.codes[:, attribute]
        held = np.flatnonzero(codes >= 0).astype(np.uint32)
        parts.append(held[np.argsort(codes[held], kind="stable")])
        number = np.bincount(codes[held] - first) if len(held) else np.zeros(0, np.int64)
        count[first + 1 : first + 1 + len(number)] = number
    return read_only(np.concatenate(parts)), read_only(np.cumsum(count))
