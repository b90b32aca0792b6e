"""Anonymity sets: how many records fit what has been shown, now and after the next opening."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import ValidationError
from pyroaring import BitMap

from sfumato.core.arrays import Bytes, Codes, Integers, Ints
from sfumato.core.declaration import Progress, fields_of, silent
from sfumato.core.errors import InputError
from sfumato.kernels.record_pairs import WHOLE, smallest_group, smallest_tally, tallies
from sfumato.review.anonymity_database import (
    Bitmaps,
    Database,
    Kept,
    Key,
    Packer,
    bitmap_of,
    read_only,
    records_of,
)
from sfumato.review.review_settings import Attribute, Knowledge, Policy, Positions, Seen
from sfumato.table.sources import texts_of

Item = tuple[int, int]
"""An attribute, and the place of a character or `WHOLE`."""
KEPT_BYTES = 64 << 20


@dataclass(eq=False)
class LargeSet:
    """A set of records.

    Attributes
    ----------
    least
        Size of the smallest group by what becomes known.
    """

    members: BitMap
    count: int
    least: dict[frozenset[Item], int] = field(default_factory=dict)

    @cached_property
    def flags(self) -> Bytes:
        """1 for each record of the set, else 0; shape (records,)."""
        flags = np.zeros(self.count, np.uint8)
        flags[records_of(self.members)] = 1
        return read_only(flags)


class LargeSets:
    """The sets asked for last, by the conditions that they meet.

    Workers see the same few large sets all the time: those of masked rows.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        # Sets by bytes of their flags, one per record; a few even of a huge database, as all
        # workers use them.
        self._room = max(KEPT_BYTES // max(count, 1), 16)
        self._sets: OrderedDict[frozenset[Key], LargeSet] = OrderedDict()
        self._of: dict[int, LargeSet] = {}
        self._lock = Lock()

    def get(self, conditions: frozenset[Key]) -> BitMap | None:
        """The set that meets some conditions, if it is kept."""
        with self._lock:
            kept = self._sets.get(conditions)
            if kept is None:
                return None
            self._sets.move_to_end(conditions)
            return kept.members

    def keep(self, conditions: frozenset[Key], members: BitMap) -> None:
        """Keep a set, and let go of the one used longest ago."""
        with self._lock:
            if conditions in self._sets:
                return
            # By identity: comparing two large bitmaps takes longer than what is kept saves.
            self._sets[conditions] = self._of[id(members)] = LargeSet(members, self._count)
            while len(self._sets) > self._room:
                _, gone = self._sets.popitem(last=False)
                del self._of[id(gone.members)]

    def of(self, members: BitMap) -> LargeSet:
        """What is known of a set; nothing of one that is not kept."""
        with self._lock:
            kept = self._of.get(id(members))
        return LargeSet(members, self._count) if kept is None else kept


FEW_VALUES = 256
"""An attribute with at most so many distinct values has a bitmap of each."""


class Kind(IntEnum):
    """What the records of a bitmap have in common; in brackets its two numbers."""

    MISSING = 0
    """They have no value."""
    HELD = 1
    """They have a value."""
    TWICE = 2
    """They have a value that at least two records have, as values are compared."""
    LENGTH = 3
    """Their value has so many characters (0, number)."""
    BAND = 4
    """Their value is in a rarity band (0, place of the band)."""
    CHARACTER = 5
    """Their value has a character at a place (place, number of the character)."""
    VALUE = 6
    """They have a value (0, number of the value); where there are few values."""
    STRATUM = 7
    """So many records have their value (0, logarithm to base 2, rounded down); where there
    are many values."""


def bitmaps_of(database: Database, progress: Progress | None = None) -> Bitmaps:
    """The bitmaps of a database: about 2 bytes per record and character, when packed."""
    packer, tell = Packer(), progress or silent
    for attribute in range(len(database.attributes)):
        tell("anonymity sets", attribute / len(database.attributes))
        for key, records in _of_attribute(database, attribute):
            packer.add(key, records)
    tell("anonymity sets", 1.0)
    return packer.packed()


def _of_attribute(database: Database, attribute: int) -> Iterator[tuple[Key, Integers]]:
    """The bitmaps of one attribute: keys, and records ascending."""
    first, stop = database.base[attribute : attribute + 2].tolist()
    codes = database.codes[:, attribute]
    missing = codes < 0
    if missing.any():
        yield (attribute, Kind.MISSING, 0, 0), np.flatnonzero(missing)
    records = np.flatnonzero(~missing).astype(np.uint32)
    if not len(records):
        return
    yield (attribute, Kind.HELD, 0, 0), records
    # Values are numbered over all attributes; here they count from 0 as the arrays of one do.
    values = codes[records] - np.int32(first)
    folded = database.folded_count[first:stop]
    twice = records[(folded >= 2)[values]]
    if len(twice):
        yield (attribute, Kind.TWICE, 0, 0), twice
    per_value: list[tuple[Kind, npt.NDArray[Any]]] = [
        (Kind.BAND, database.bands(folded).astype(np.uint8)),
        (Kind.LENGTH, np.diff(database.start[first : stop + 1]).astype(np.uint32)),
    ]
    # A bitmap of each of many values would take more room than the list of its records does.
    if stop - first <= FEW_VALUES:
        per_value.append((Kind.VALUE, np.arange(first, stop, dtype=np.uint32)))
    else:
        count = np.bincount(values, minlength=stop - first)
        per_value.append((Kind.STRATUM, np.log2(count).astype(np.uint8)))
    for kind, numbers in per_value:
        for number, group in _grouped(numbers[values], records):
            yield (attribute, kind, 0, number), group
    yield from _of_places(database, attribute, values, records)


def _of_places(
    database: Database, attribute: int, values: Codes, records: npt.NDArray[np.uint32]
) -> Iterator[tuple[Key, Integers]]:
    """The records that have a character at a place."""
    first, stop = database.base[attribute : attribute + 2].tolist()
    start = database.start[first : stop + 1]
    lengths = np.diff(start)
    for place in range(int(lengths.max())):
        reach = (lengths > place)[values]
        values, records = values[reach], records[reach]
        at = np.zeros(stop - first, database.characters.dtype)
        long = lengths > place
        at[long] = database.characters[start[:-1][long] + place]
        for number, group in _grouped(at[values], records):
            yield (attribute, Kind.CHARACTER, place, number), group


def _grouped(
    numbers: npt.NDArray[np.unsignedinteger[Any]], records: npt.NDArray[np.uint32]
) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
    """The records of each number, ascending."""
    if numbers.dtype.itemsize > 2 and len(numbers) and numbers.max() < 1 << 16:
        # NumPy sorts 16 bits by radix, in time linear in the records.
        numbers = numbers.astype(np.uint16)  # sorted by counting
    order = np.argsort(numbers, kind="stable")
    ordered, records = numbers[order], records[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    stops = [*edges.tolist(), len(ordered)] if len(ordered) else []
    for begin, end in pairwise([0, *stops]):
        yield int(ordered[begin]), records[begin:end]


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
    """Records of a set that is grouped record by record."""
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
    postings, posting_start
        The records of each value, and where those of each value start.
    """

    def __init__(
        self,
        database: Database,
        bitmaps: Bitmaps,
        postings: npt.NDArray[np.uint32],
        posting_start: Ints,
        large: LargeSets,
    ) -> None:
        self._database, self._bitmaps = database, bitmaps
        self._postings, self._posting_start = postings, posting_start
        self._large = large
        self._keys = {group: tuple(keys) for group, keys in bitmaps.grouped().items()}
        self._values: list[int] = np.diff(database.base).tolist()
        # Attributes of most values first: they have the small groups, and one of 1 ends the search.
        self._order = sorted(range(len(self._values)), key=lambda each: -self._values[each])
        self._few = few_of(database.count)
        self._rare_first: dict[int, Ints] = {}
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
        opened
            Per attribute, the places that become known, ``None`` for the whole value.
        """
        items = [
            (attribute, place)
            for attribute, places in opened.items()
            for place in ((WHOLE,) if places is None else sorted(places))
        ]
        size = len(members)
        # One record is a group by itself, and what tells nothing divides nothing.
        if size < 2 or not items:
            return size
        # A value that only one record has makes a group of one, below which there is nothing to
        # find.
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

    def _codes_of(self, members: BitMap) -> Codes:
        """The values of the members; those of the set that was asked for last are kept."""
        last, codes = self._last
        # The costs of a pair ask for one set many times, with other items each time.
        if last is not members or len(codes) != len(members):
            codes = self._database.codes.take(records_of(members), axis=0)
            self._last = members, codes
        return codes

    def _of_large(self, large: LargeSet, items: Sequence[Item]) -> int:
        """The smallest group of a large set, remembered."""
        asked = frozenset(items)
        smallest = large.least.get(asked)
        if smallest is None:
            smallest = large.least[asked] = self._searched(large, items)
        return smallest

    def _searched(self, large: LargeSet, items: Sequence[Item]) -> int:
        asked = {attribute for attribute, _ in items}
        attributes = [attribute for attribute in self._order if attribute in asked]
        # A group by several attributes lies within one by each: where one of them gives 1, so do
        # all.
        if len(attributes) > 1:
            for attribute in attributes:
                of_attribute = [item for item in items if item[0] == attribute]
                if self._of_large(large, of_attribute) == 1:
                    return 1
            ordered = sorted(items, key=lambda item: attributes.index(item[0]))
            return self._divided(large.members, self._search(ordered), 0, len(large.members))
        (attribute,) = attributes
        places = [place for _, place in items]
        whole = WHOLE in places
        few = (attribute, Kind.VALUE, 0) in self._keys if whole else len(places) == 1
        if few or self._values[attribute] > TALLIED:
            return self._divided(large.members, self._search(items), 0, len(large.members))
        if whole and self._rare_value(large.members, items):
            return 1
        # Counting by value goes through the whole database, whatever the size of the set.
        if len(large.members) * len(items) <= self._database.count // _GROUPING:
            return self._small(large.members, items)
        return self._whole_counted(large, attribute) if whole else self._counted(large, items)

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
        # Records without a value are a group, too, unless there are none.
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

    def _records(self, attribute: int) -> tuple[npt.NDArray[np.uint32], Ints]:
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
                # Strata and first places only narrow the search: values must still be compared in
                # the end.
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
        # What no bitmap covers has no character there, and is a group of its own.
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
        # Values that end before the place agree with each other there.
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
        self, members: npt.NDArray[np.uint32], codes: Codes, items: Sequence[Item], weights: Ints
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


_MAGIC = b"sfumato index of anonymity sets\n"
VERSION = 1
_ALIGNED = 64
_Arrays = dict[str, npt.NDArray[Any]]


def packed(
    database: Database, bitmaps: Bitmaps, postings: npt.NDArray[np.uint32], posting_start: Ints
) -> bytes:
    """A database and its index as bytes."""
    arrays: _Arrays = {
        **fields_of(database, "base codes start characters folded_count"),
        **fields_of(bitmaps, "keys ends sizes data"),
        "postings": postings,
        "posting_start": posting_start,
    }
    for place, texts in enumerate(database.texts):
        arrays[f"edges{place}"], arrays[f"texts{place}"] = _text_arrays(texts)
    header = {
        "version": VERSION,
        "attributes": [attribute.model_dump(mode="json") for attribute in database.attributes],
        **fields_of(database, "one_layout rare_below common_from"),
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    head = json.dumps(header).encode()
    # The length stands before the header, so that a reader never searches for its end.
    parts: list[bytes | memoryview] = [_MAGIC, len(head).to_bytes(8, "little"), head]
    length = sum(map(len, parts))
    for array in arrays.values():
        # Aligned to a cache line, so that arrays are used where they lie and need no copy.
        parts += [b"\0" * (-length % _ALIGNED), np.ascontiguousarray(array).data.cast("B")]
        length += -length % _ALIGNED + array.nbytes
    return b"".join(parts)


def unpacked(data: bytes) -> tuple[Database, Bitmaps, npt.NDArray[np.uint32], Ints]:
    """What `packed` made bytes of; the arrays refer to them."""
    header, arrays = _read(data)
    try:
        attributes = tuple(Attribute.model_validate(each) for each in header["attributes"])
    except ValidationError:
        raise _broken("attributes that are not known") from None
    database = Database(
        attributes,
        tuple(
            _texts(arrays[f"edges{place}"], arrays[f"texts{place}"])
            for place in range(len(attributes))
        ),
        arrays["base"],
        arrays["codes"],
        arrays["start"],
        arrays["characters"],
        arrays["folded_count"],
        tuple(header["one_layout"]),
        header["rare_below"],
        header["common_from"],
    )
    bitmaps = Bitmaps(arrays["keys"], arrays["ends"], arrays["sizes"], arrays["data"])
    return database, bitmaps, arrays["postings"], arrays["posting_start"]


def _read(data: bytes) -> tuple[dict[str, Any], _Arrays]:
    """The header and the arrays."""
    if not data.startswith(_MAGIC):
        raise _broken("something else")
    begin = len(_MAGIC) + 8
    place = begin + int.from_bytes(data[len(_MAGIC) : begin], "little")
    try:
        header = json.loads(data[begin:place])
    except ValueError:
        raise _broken("a header that cannot be read") from None
    if header["version"] != VERSION:
        raise _broken(f"version {header['version']}")
    arrays: _Arrays = {}
    for name, dtype, shape in header["arrays"]:
        place += -place % _ALIGNED
        count = math.prod(shape)
        # Before NumPy sees it, whose error would not say that the file is cut.
        if place + count * np.dtype(dtype).itemsize > len(data):
            raise _broken("fewer bytes than its header says")
        arrays[name] = np.frombuffer(data, dtype, count, place).reshape(shape)
        place += arrays[name].nbytes
    return header, arrays


def _broken(found: str) -> InputError:
    return InputError(
        "stored index",
        "must be an index of anonymity sets",
        found=found,
        accepted=f"version {VERSION}",
        advice="build it again from the tables",
    )


def _text_arrays(texts: pa.StringArray) -> tuple[Ints, Bytes]:
    """Where each text starts, and the bytes of all."""
    edges, data = texts_of(texts)
    return edges.astype(np.int64) - edges[0], data[edges[0] : edges[-1]]


def _texts(edges: Ints, data: Bytes) -> pa.StringArray:
    return pa.StringArray.from_buffers(
        len(edges) - 1, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(data)
    )


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
        posting_start: Ints,
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
        """Index a database."""
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
        policy
            Whether all conditions count, or characters and identity marks alone.
        """
        conditions = frozenset(self._keys(record, enumerate(knowledge), policy))
        members = self._large.get(conditions)
        if members is None:
            # The rarest condition first: sets only shrink, so that all later steps are short.
            keys = sorted(conditions, key=self._size)
            first = self._bitmap(keys[0]) if keys else self._everyone
            members = self._narrowed(first, record, keys[1:])
            # A small set is found again faster than it is worth the room.
            if len(members) > few_of(self.database.count):
                self._large.keep(conditions, members)
        return members

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
        opened
            Per attribute, what would be seen.
        policy
            As for `members`.
        """
        keys = self._keys(record, opened.items(), policy)
        if not keys:
            return len(members)
        keys.sort(key=self._size)
        # Begins with the smaller of the two, and counts the last step without making its set.
        if len(members) <= self._size(keys[0]):
            *others, last = keys
            return self._narrowed(members, record, others).intersection_cardinality(
                self._bitmap(last)
            )
        first, *others = keys
        narrowed = self._narrowed(self._bitmap(first), record, others)
        return narrowed.intersection_cardinality(members)

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
        # A condition that all records meet narrows nothing.
        return [key for key in keys if self._size(key) < self.database.count]

    def _keys_of(self, attribute: int, code: int, seen: Seen, policy: Policy) -> Iterator[Key]:
        """The conditions on a value that is not missing."""
        database = self.database
        start, stop = database.start[code : code + 2].tolist()
        whole = len(seen.positions) == stop - start
        if whole and self.database.one_layout[attribute]:
            # Who sees all of a value knows where it ends: Ann is not Anna, by either policy.
            yield attribute, Kind.VALUE, 0, code
            # The value implies the mark, but for a record shown beside itself.
            if seen.twice and database.folded_count[code] < 2:
                yield attribute, Kind.TWICE, 0, 0
            return
        if policy is Policy.CONSISTENT and seen.missingness and not (seen.length or whole):
            yield attribute, Kind.HELD, 0, 0
        # By the paper only characters and marks narrow a set; but who sees all of a value sees its
        # end.
        if whole or (policy is Policy.CONSISTENT and seen.length):
            yield attribute, Kind.LENGTH, 0, stop - start
        if policy is Policy.CONSISTENT and seen.rarity:
            band = database.bands(database.folded_count[code : code + 1])
            yield attribute, Kind.BAND, 0, int(band[0])
        if seen.twice:
            yield attribute, Kind.TWICE, 0, 0
        for place in seen.positions:
            yield attribute, Kind.CHARACTER, place, int(database.characters[start + place])

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
        bitmap = self._values.get(key)
        if bitmap is None:
            start, stop = self.posting_start[key[3] : key[3] + 2].tolist()
            # Made when asked for: bitmaps of all values would take several times the room of the
            # list.
            bitmap = bitmap_of(self.postings[start:stop])
            self._values.keep(key, bitmap, 100 + 2 * (stop - start))
        return bitmap


def _postings(database: Database) -> tuple[npt.NDArray[np.uint32], Ints]:
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
