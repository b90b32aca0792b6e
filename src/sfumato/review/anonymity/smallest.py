"""The smallest group of an anonymity set once more becomes known of each of its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from sfumato.kernels.record_pairs import WHOLE, smallest_group, smallest_tally, tallies
from sfumato.review.anonymity.bitmaps import Bitmaps, Key, read_only, records_of
from sfumato.review.anonymity.conditions import Kind
from sfumato.review.anonymity.database import Database
from sfumato.review.anonymity.large_sets import Item, LargeSet, LargeSets
from sfumato.review.values import Positions

FEW = 1 << 14
"""Sets of at most so many records are grouped record by record; or of one in `FEW_OF`."""
FEW_OF = 128
TALLIED = 1 << 17
"""Of attributes with at most so many values the records of large sets are counted by value."""
_WORTH_A_LOOK = 32
"""Records of a set in which unique values are looked for before it is grouped."""
_RARE_STRATA = (1, 2)
"""Strata of values that 2 to 7 records have."""
_WHOLE_PLACES = 3
"""Places by whose characters a large set is divided before whole values are compared."""
_GROUPING = 16
"""How many records are counted by value in the time in which one is grouped by one item."""
_ONCE = np.empty(0, np.int64)
_NOTHING: Positions = frozenset()


def few_of(count: int) -> int:
    """Records of a set that is grouped record by record.

    Parameters
    ----------
    count
        Number of records of the database.
    """
    return max(FEW, count // FEW_OF)


@dataclass(frozen=True)
class _Search:
    """What becomes known: bitmaps that divide the set, and the items to compare in the end."""

    divisions: tuple[tuple[Key, ...], ...]
    complete: bool
    items: tuple[Item, ...]


class Smallest:
    """Smallest groups of sets of any size, exactly.

    A small set is grouped record by record. A large one holds most often a record with a value
    that is unique in the database, which ends the search; else its records are counted by value,
    or it is divided by bitmaps, the rarest first, until its parts are small or one of them is of
    one record.

    Parameters
    ----------
    database
        The records.
    bitmaps
        Their bitmaps.
    postings, posting_start
        The records of each value, and where those of each value start.
    large
        Large sets that are kept.
    """

    def __init__(
        self,
        database: Database,
        bitmaps: Bitmaps,
        postings: npt.NDArray[np.uint32],
        posting_start: npt.NDArray[np.int64],
        large: LargeSets,
    ) -> None:
        self._database, self._bitmaps = database, bitmaps
        self._postings, self._posting_start = postings, posting_start
        self._large = large
        self._keys = {group: tuple(keys) for group, keys in bitmaps.grouped().items()}
        self._values: list[int] = np.diff(database.base).tolist()
        self._order = sorted(range(len(self._values)), key=lambda each: -self._values[each])
        self._few = few_of(database.count)
        self._rare_first: dict[int, npt.NDArray[np.int64]] = {}
        self._last = BitMap(), database.codes[:0]
        self._unique = [
            (attribute, bitmaps.get(key))
            for attribute in self._order
            if (key := (attribute, Kind.STRATUM, 0, 0)) in bitmaps
        ]

    def of(self, members: BitMap, opened: Mapping[int, Positions | None]) -> int:
        """Size of the smallest group.

        Parameters
        ----------
        members
            The set.
        opened
            Per attribute, the places that become known, ``None`` for the whole value.
        """
        items = [
            (attribute, place)
            for attribute, places in opened.items()
            for place in ((WHOLE,) if places is None else sorted(places))
        ]
        size = len(members)
        if size < 2 or not items:
            return size
        if size > _WORTH_A_LOOK and any(
            unique.intersect(members)
            for attribute, unique in self._unique
            if opened.get(attribute, _NOTHING) is None
        ):
            return 1
        if size <= self._few:
            return self._small(members, items)
        return self._of_large(self._large.of(members), items)

    def _small(self, members: BitMap, items: Sequence[Item]) -> int:
        """The smallest group, record by record."""
        codes = self._codes_of(members)
        return self._least(np.arange(len(codes), dtype=np.uint32), codes, items, _ONCE)

    def _codes_of(self, members: BitMap) -> npt.NDArray[np.int32]:
        """The values of the members; those of the set that was asked for last are kept."""
        last, codes = self._last
        if last is not members or len(codes) != len(members):
            codes = self._database.codes.take(records_of(members), axis=0)
            self._last = members, codes
        return codes

    def _of_large(self, known: LargeSet, items: Sequence[Item]) -> int:
        """The smallest group of a large set, remembered."""
        asked = frozenset(items)
        found = known.least.get(asked)
        if found is None:
            found = known.least[asked] = self._searched(known, items)
        return found

    def _searched(self, known: LargeSet, items: Sequence[Item]) -> int:
        asked = {attribute for attribute, _ in items}
        attributes = [attribute for attribute in self._order if attribute in asked]
        if len(attributes) > 1:
            for attribute in attributes:
                own = [item for item in items if item[0] == attribute]
                if self._of_large(known, own) == 1:
                    return 1
            ordered = sorted(items, key=lambda item: attributes.index(item[0]))
            return self._divided(known.members, self._search(ordered), 0, len(known.members))
        (attribute,) = attributes
        places = [place for _, place in items]
        whole = WHOLE in places
        few = (attribute, Kind.VALUE, 0) in self._keys if whole else len(places) == 1
        if few or self._values[attribute] > TALLIED:
            return self._divided(known.members, self._search(items), 0, len(known.members))
        if whole and self._rare_value(known.members, items):
            return 1
        if len(known.members) * len(items) <= self._database.count // _GROUPING:
            return self._small(known.members, items)
        return self._whole_counted(known, attribute) if whole else self._counted(known, items)

    def _rare_value(self, members: BitMap, items: Sequence[Item]) -> bool:
        """Whether one record alone of a set has a value that few records of the database have."""
        for stratum in _RARE_STRATA:
            key = (items[0][0], Kind.STRATUM, 0, stratum)
            part = members & self._bitmaps.get(key)
            if 0 < len(part) <= self._few and self._grouped(part, items) == 1:
                return True
        return False

    def _whole_counted(self, known: LargeSet, attribute: int) -> int:
        """The smallest group by an attribute's whole value."""
        missing = self._bitmaps.get((attribute, Kind.MISSING, 0, 0))
        count = known.members.intersection_cardinality(missing)
        order = self._rare_first.get(attribute)
        if order is None:
            order = read_only(np.argsort(np.diff(self._records(attribute)[1])))
            self._rare_first[attribute] = order
        best = count or len(known.members)
        return smallest_tally(*self._records(attribute), known.flags, order, best)

    def _counted(self, known: LargeSet, items: Sequence[Item]) -> int:
        """The smallest group by characters of one attribute: values are grouped, not records."""
        attribute = items[0][0]
        counts = tallies(*self._records(attribute), known.flags)
        held = np.flatnonzero(counts)
        codes, weights = held + self._database.base[attribute], counts[held]
        missing = len(known.members) - int(weights.sum())
        if missing:
            codes, weights = np.append(codes, -1), np.append(weights, missing)
        places = [(0, place) for _, place in items]
        members = np.arange(len(codes), dtype=np.uint32)
        return self._least(members, codes.astype(np.int32)[:, np.newaxis], places, weights)

    def _records(self, attribute: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """The records of an attribute's values, and where those of each start and end."""
        first, stop = self._database.base[attribute : attribute + 2].tolist()
        return self._postings, self._posting_start[first : stop + 1]

    def _search(self, items: Sequence[Item]) -> _Search:
        divisions: list[tuple[Key, ...]] = []
        complete = True
        for attribute, place in items:
            if place >= 0:
                divisions.append(self._keys.get((attribute, Kind.CHARACTER, place), ()))
            elif (values := self._keys.get((attribute, Kind.VALUE, 0))) is not None:
                divisions.append(values)
            else:
                complete = False
                divisions.append(self._keys.get((attribute, Kind.STRATUM, 0), ()))
                divisions += [
                    self._keys.get((attribute, Kind.CHARACTER, place), ())
                    for place in range(_WHOLE_PLACES)
                ]
        return _Search(tuple(divisions), complete, tuple(items))

    def _divided(self, part: BitMap, search: _Search, depth: int, best: int) -> int:
        """The least of the best so far and the smallest group of a part of the set."""
        size, rest = len(part), search.items[depth:]
        if search.complete and self._worth_counting(size, rest):
            return min(best, self._counted(LargeSet(part, self._database.count), rest))
        if depth == len(search.divisions):
            return min(best, size if search.complete else self._grouped(part, search.items))
        if size <= self._few:
            return min(best, self._grouped(part, search.items))
        last = search.complete and depth + 1 == len(search.divisions)
        left, found = size, []
        for key in search.divisions[depth]:
            bitmap = self._bitmaps.get(key)
            if last:
                count = part.intersection_cardinality(bitmap)
                best = min(best, count) if count else best
            elif count := len(inner := part & bitmap):
                found.append(inner)
                best = self._divided(inner, search, depth + 1, best)
            left -= count
            if best == 1 or not left:
                return best
        if last:
            return min(best, left)
        others = part - BitMap.union(*found) if found else part
        return self._divided(others, search, depth + 1, best)

    def _worth_counting(self, size: int, items: Sequence[Item]) -> bool:
        """Whether counting all records by value beats grouping a part by the same characters."""
        return (
            len(items) > 1
            and len({attribute for attribute, _ in items}) == 1
            and WHOLE not in {place for _, place in items}
            and self._values[items[0][0]] <= TALLIED
            and size > self._few
            and size * len(items) > self._database.count // _GROUPING
        )

    def _grouped(self, part: BitMap, items: Sequence[Item]) -> int:
        return self._least(records_of(part), self._database.codes, items, _ONCE)

    def _least(
        self,
        members: npt.NDArray[np.uint32],
        codes: npt.NDArray[np.int32],
        items: Sequence[Item],
        weights: npt.NDArray[np.int64],
    ) -> int:
        columns, places = zip(*items, strict=True)
        return smallest_group(
            read_only(members),
            read_only(codes),
            self._database.start,
            self._database.characters,
            np.array(columns, np.int64),
            np.array(places, np.int64),
            read_only(weights),
        )
