"""The records of a review as codes and bitmaps, from which anonymity sets are counted."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import BitMap

from sfumato.core.arrays import Bools, Bytes, Codes, Integers, Ints
from sfumato.core.errors import InputError
from sfumato.review.pair_rendering import shown
from sfumato.review.review_settings import Attribute, AttributeKind, Rarity, Settings, Shown
from sfumato.table.sources import texts_of

Records = npt.NDArray[np.uint32]
_Scalar = TypeVar("_Scalar", bound=np.generic)
Key = tuple[int, int, int, int]
"""Attribute, kind of condition (`conditions`), and two numbers that the kind explains."""
CACHED_BYTES = 256 << 20
"""Packed size of the unpacked bitmaps that are kept."""


def bitmap_of(records: Integers) -> BitMap:
    """The bitmap of some records."""
    numbers = array("I")
    # By the buffer: a bitmap made of NumPy numbers would take them one by one.
    numbers.frombytes(np.ascontiguousarray(records, np.uint32).view(np.uint8).data)
    return BitMap(numbers)


def read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """The same array, protected: one kind of array compiles a loop once."""
    array.setflags(write=False)
    return array


def records_of(bitmap: BitMap) -> Records:
    """The records of a bitmap, ascending."""
    return np.frombuffer(bitmap.to_array(), np.uint32)


class Packer:
    """Packs bitmaps one after the other."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._ends = [0]
        self._sizes: list[int] = []
        self._data = bytearray()

    def add(self, key: Key, records: Integers) -> None:
        """Pack the bitmap of some records.

        Parameters
        ----------
        records
            Numbers of records, ascending.
        """
        bitmap = bitmap_of(records)
        # Runs of records, as sorted tables have them, take a few bytes then.
        bitmap.run_optimize()
        self._data += bitmap.serialize()
        self._keys.append(key)
        self._ends.append(len(self._data))
        # Kept apart, so that conditions are ordered by size without unpacking one.
        self._sizes.append(len(records))

    def packed(self) -> Bitmaps:
        """All bitmaps so far."""
        return Bitmaps(
            np.array(self._keys, np.int64).reshape(-1, 4),
            np.array(self._ends, np.int64),
            np.array(self._sizes, np.int64),
            np.frombuffer(self._data, np.uint8),
        )


class Bitmaps:
    """Packed bitmaps by key, of which those used last are kept unpacked.

    Parameters
    ----------
    keys
        Shape (bitmaps, 4).
    ends
        Where each begins and ends in `data`; shape (bitmaps + 1,).
    data
        The packed bitmaps, one after the other.
    """

    def __init__(self, keys: Ints, ends: Ints, sizes: Ints, data: Bytes) -> None:
        self.keys, self.ends, self.sizes, self.data = keys, ends, sizes, data
        self._place: dict[Key, int] = {
            (a, kind, x, y): place for place, (a, kind, x, y) in enumerate(keys.tolist())
        }
        self._size: list[int] = sizes.tolist()
        self._kept = Kept(CACHED_BYTES)

    def __contains__(self, key: Key) -> bool:
        """Whether any record is in the bitmap."""
        return key in self._place

    def size(self, key: Key) -> int:
        """Number of records of a bitmap, 0 where there is none."""
        place = self._place.get(key)
        return 0 if place is None else self._size[place]

    def get(self, key: Key) -> BitMap:
        """A bitmap, not to be changed; empty where there is none."""
        place = self._place.get(key)
        if place is None:
            return BitMap()
        bitmap = self._kept.get(place)
        if bitmap is None:
            start, stop = self.ends[place : place + 2].tolist()
            bitmap = BitMap.deserialize(self.data[start:stop].tobytes())
            self._kept.keep(place, bitmap, stop - start)
        return bitmap

    def grouped(self) -> dict[tuple[int, int, int], list[Key]]:
        """Keys that differ in their last number only, those of fewest records first."""
        result: dict[tuple[int, int, int], list[Key]] = {}
        for key in sorted(self._place, key=self.size):
            result.setdefault(key[:3], []).append(key)
        return result


class Kept:
    """The bitmaps used last, up to a size in bytes."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._used = 0
        self._bitmaps: OrderedDict[Hashable, tuple[BitMap, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> BitMap | None:
        """What is kept under a key."""
        with self._lock:
            kept = self._bitmaps.get(key)
            if kept is None:
                return None
            self._bitmaps.move_to_end(key)
            return kept[0]

    def keep(self, key: Hashable, bitmap: BitMap, size: int) -> None:
        """Keep a bitmap, and let go of those used longest ago."""
        with self._lock:
            if key in self._bitmaps:
                return
            self._bitmaps[key] = bitmap, size
            self._used += size
            # One stays however large it is, or it would be unpacked at each use.
            while self._used > self._room and len(self._bitmaps) > 1:
                _, (_, freed) = self._bitmaps.popitem(last=False)
                self._used -= freed


_PLAIN = r"^[!-~]+( [!-~]+)*$"
"""Text that is displayed as it is, each of its bytes a character."""
_PLAIN_KINDS = frozenset({AttributeKind.VARIABLE, AttributeKind.FIXED})
# Bytes of plain text are then their own numbers, and are copied whole.
_ASCII = 128


@dataclass
class Alphabet:
    """Numbers of characters: those of ASCII have their own, others follow as they are met."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, character: str) -> int:
        """The number of a character, at least 1."""
        if len(character) == 1 and 0 < ord(character) < _ASCII:
            return ord(character)
        return self.numbers.setdefault(character, _ASCII + len(self.numbers))

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        """The narrowest type that holds every number."""
        top = _ASCII + len(self.numbers)
        return np.uint8 if top <= 1 << 8 else np.uint16 if top <= 1 << 16 else np.uint32


@dataclass(frozen=True, eq=False)
class Encoded:
    """One attribute.

    Attributes
    ----------
    codes
        The value of each record, -1 where it is missing; shape (records,).
    texts
        A text that is displayed as the value; shape (values,).
    start
        Place of the first character of each value in `characters`; shape (values + 1,).
    folded_count
        Number of records whose value is compared as equal to this one; shape (values,).
    """

    codes: Codes
    texts: pa.StringArray
    start: Ints
    characters: npt.NDArray[np.unsignedinteger[Any]]
    folded_count: Codes
    one_layout: bool


def encode(attribute: Attribute, column: Sequence[str | None] | Any, alphabet: Alphabet) -> Encoded:
    """Encode a column; values that are displayed alike are one value.

    Parameters
    ----------
    column
        Texts, or an Arrow array that can be cast to text; shape (records,).
    alphabet
        The characters so far; new ones are added.
    """
    numbered = _texts(attribute.name, column).dictionary_encode()
    texts = numbered.dictionary.cast(pa.string())
    plain = _plain(attribute, texts)
    values = {
        place: shown(attribute, texts[place].as_py()) for place in np.flatnonzero(~plain).tolist()
    }
    kept, new_code = _merged(texts, values)
    codes = np.append(new_code, np.int32(-1))[
        numbered.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    ]
    texts, plain = texts.take(pa.array(kept)), plain[kept]
    others = [value for place in kept[~plain].tolist() if (value := values[place]) is not None]
    start, characters = _characters(texts, plain, others, alphabet)
    return Encoded(
        codes,
        texts,
        start,
        characters,
        _folded_count(attribute, texts, plain, others, codes),
        # Then equal characters mean equal values, and a bitmap of the value stands for all its
        # characters.
        len({other.characters for other in others}) == len(others),
    )


def _texts(name: str, column: Sequence[str | None] | Any) -> pa.Array:
    """A column as text, in one piece."""
    try:
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(column, pa.string())
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if isinstance(column, pa.DictionaryArray):
            column = column.dictionary_decode()
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise InputError(
            f"column '{name}'", "must hold text", accepted="texts, missing values"
        ) from None


def _plain(attribute: Attribute, texts: pa.StringArray) -> Bools:
    """Which texts are displayed as they are."""
    if attribute.kind not in _PLAIN_KINDS:
        return np.zeros(len(texts), np.bool_)
    matches = pc.match_substring_regex(texts, _PLAIN)
    return np.asarray(matches.to_numpy(zero_copy_only=False), np.bool_)


def _key(characters: tuple[str, ...]) -> str:
    """Equal for equal tuples only; the text itself where each character is one code point."""
    if all(len(character) == 1 for character in characters):
        return "".join(characters)
    # A grapheme of several code points must not equal two of one each; no value holds a zero byte.
    return "\0".join(characters) + "\0"


def _value_key(value: Shown) -> str:
    key = _key(value.characters)
    if value.layout == tuple(range(len(value.characters))):
        return key
    return f"{key}\0\0{value.layout!r}"


def _merged(texts: pa.StringArray, values: dict[int, Shown | None]) -> tuple[Ints, Codes]:
    """The first text of each distinct value, and of each text its value, -1 for none."""
    # Arrow's dictionary has each text once already.
    if not values:
        return np.arange(len(texts)), np.arange(len(texts), dtype=np.int32)
    keys = {place: _value_key(value) for place, value in values.items() if value is not None}
    places = np.fromiter(values, np.int64, len(values))
    mask = np.zeros(len(texts), np.bool_)
    mask[places] = True
    replaced = pa.array([keys.get(place) for place in sorted(values)], pa.string())
    numbered = pc.replace_with_mask(texts, pa.array(mask), replaced).dictionary_encode()
    codes = numbered.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    held = np.flatnonzero(codes >= 0)
    first = np.zeros(len(numbered.dictionary), np.int64)
    # Backwards, so that of several texts the first is written last and stays.
    first[codes[held][::-1]] = held[::-1]
    return first, codes


def _characters(
    texts: pa.StringArray, plain: Bools, others: list[Shown], alphabet: Alphabet
) -> tuple[Ints, npt.NDArray[np.unsignedinteger[Any]]]:
    """Starts of the values, and the numbers of their characters one after the other."""
    lengths = np.empty(len(texts), np.int64)
    simple = texts.filter(pa.array(plain))
    lengths[plain] = pc.binary_length(simple).to_numpy(zero_copy_only=False)
    lengths[~plain] = [len(other.characters) for other in others]
    numbers = [alphabet.number(character) for value in others for character in value.characters]
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    characters = np.empty(start[-1], alphabet.dtype)
    of_plain = np.repeat(plain, lengths)
    characters[of_plain] = _data(simple)
    characters[~of_plain] = numbers
    return start, characters


def _data(texts: pa.StringArray) -> Bytes:
    """The bytes of texts, one after the other."""
    edges, data = texts_of(texts)
    return data[edges[0] : edges[-1]]


def _folded_count(
    attribute: Attribute, texts: pa.StringArray, plain: Bools, others: list[Shown], codes: Codes
) -> Codes:
    """Per value, the number of records whose value is compared as equal to it."""
    # Plain texts are ASCII, of which folding is lower case; the others are folded one by one.
    folded = texts if attribute.case_sensitive else pc.ascii_lower(texts)
    if others:
        keys = pa.array([_key(other.folded) for other in others], pa.string())
        folded = pc.replace_with_mask(folded, pa.array(~plain), keys)
    group = folded.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    count = np.bincount(codes[codes >= 0], minlength=len(texts))
    total = np.bincount(group, count)
    return np.asarray(total[group], np.int32)


_BANDS = tuple(Rarity)


@dataclass(frozen=True, eq=False)
class Database:
    """The records of all linked tables, from 0, in the order of the tables.

    It takes 4 bytes per record and attribute, and per distinct value about 20 bytes and twice
    its characters.

    Attributes
    ----------
    attributes
        What a worker may see of a record.
    texts
        Per attribute, a text of each distinct value.
    base
        Number of each attribute's first value; the values of all attributes are numbered in
        one sequence. Shape (attributes + 1,).
    codes
        Number of each record's value, -1 where it is missing; shape (records, attributes).
    start
        Place of the first character of each value in `characters`; shape (values + 1,).
    characters
        Numbers of the characters of all values, one value after the other; at least 1.
    folded_count
        Number of records whose value is compared as equal to this one; shape (values,).
    one_layout
        Per attribute, whether equal characters have equal layouts.
    rare_below, common_from
        The numbers of records that bound the rarity bands.
    """

    attributes: tuple[Attribute, ...]
    texts: tuple[pa.StringArray, ...]
    base: Ints
    codes: Codes
    start: Ints
    characters: npt.NDArray[np.unsignedinteger[Any]]
    folded_count: Codes
    one_layout: tuple[bool, ...]
    rare_below: int
    common_from: int

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        columns: Sequence[Sequence[str | None] | Any],
        rare_below: int | None = None,
        common_from: int | None = None,
    ) -> Database:
        """Encode the columns of all linked tables, one under the other.

        Parameters
        ----------
        columns
            Texts, or Arrow arrays that can be cast to text; each of shape (records,).
        rare_below, common_from
            The numbers of records that bound the rarity bands; those of `Settings` if not given.
        """
        if len(columns) != len(attributes) or not columns:
            raise InputError(
                "database", "must have one column per attribute", found=f"{len(columns)} columns"
            )
        counts = {len(column) for column in columns}
        if len(counts) != 1 or not max(counts):
            raise InputError("database", "must have columns of one length, of at least one record")
        alphabet = Alphabet()
        parts = [
            encode(attribute, column, alphabet)
            for attribute, column in zip(attributes, columns, strict=True)
        ]
        defaults = Settings()
        return cls(
            tuple(attributes),
            tuple(part.texts for part in parts),
            *_joined(parts, alphabet),
            tuple(part.one_layout for part in parts),
            defaults.rare_below if rare_below is None else rare_below,
            defaults.common_from if common_from is None else common_from,
        )

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.codes)

    def value(self, record: int, attribute: int) -> Shown | None:
        """A value as it would be displayed in full, ``None`` where it is missing.

        Parameters
        ----------
        record, attribute
            Which, each from 0.
        """
        code = int(self.codes[record, attribute])
        if code < 0:
            return None
        text = self.texts[attribute][code - int(self.base[attribute])].as_py()
        return shown(self.attributes[attribute], text)

    def values(self, record: int) -> tuple[Shown | None, ...]:
        """All values of a record.

        Parameters
        ----------
        record
            Which, from 0.
        """
        return tuple(self.value(record, place) for place in range(len(self.attributes)))

    def rarity(self, record: int, attribute: int) -> Rarity | None:
        """How many records have the value, as values are compared; ``None`` where it is missing."""
        code = int(self.codes[record, attribute])
        if code < 0:
            return None
        return _BANDS[int(self.bands(self.folded_count[code : code + 1])[0])]

    def bands(self, counts: Codes) -> Ints:
        """Places in `Rarity` of values that so many records have."""
        return np.searchsorted([self.rare_below, self.common_from], counts, side="right")


def _joined(
    parts: list[Encoded], alphabet: Alphabet
) -> tuple[Ints, Codes, Ints, npt.NDArray[np.unsignedinteger[Any]], Codes]:
    """Bases, codes, starts, characters and counts of all attributes in one sequence."""
    base = np.cumsum([0, *(len(part.texts) for part in parts)]).astype(np.int64)
    codes = np.empty((len(parts[0].codes), len(parts)), np.int32)
    for place, part in enumerate(parts):
        codes[:, place] = np.where(part.codes < 0, -1, part.codes + base[place])
    ends = np.cumsum([0, *(int(part.start[-1]) for part in parts)])
    start = [part.start[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return (
        read_only(base),
        read_only(codes),
        read_only(np.concatenate([*start, ends[-1:]]).astype(np.int64)),
        read_only(np.concatenate([part.characters.astype(alphabet.dtype) for part in parts])),
        read_only(np.concatenate([part.folded_count for part in parts])),
    )


_TWICE = 2
_KINDS = 1 + _TWICE * len(Rarity)
"""More than the numbers of a length: twice or not, in each rarity band, from 1."""


def least_shape(database: Database, members: BitMap, *, lengths: bool) -> int:
    """The size of the smallest group of records whose masked values may show alike.

    Records are in one group where each attribute is missing in all or none of them, has the same
    length where lengths show, is in the same rarity band where rarity shows, and occurs at least
    twice in all or none of them (which an identity mark shows).

    Parameters
    ----------
    members
        Those to group; at least one.
    lengths
        Whether masked values show their lengths.
    """
    codes = database.codes[np.asarray(members.to_array(), dtype=np.int64)]
    group = np.zeros(len(codes), dtype=np.int64)
    for place in range(codes.shape[1]):
        shape = _shapes(database, codes[:, place], place, lengths=lengths)
        # Renumbered at each attribute, so that the product of all shapes cannot overflow.
        both = group * (int(shape.max()) + 1) + shape
        group = np.unique(both, return_inverse=True)[1].reshape(-1)
    return int(np.bincount(group).min())


def _shapes(database: Database, codes: Codes, place: int, *, lengths: bool) -> Ints:
    """A number per record, equal for equal shapes; 0 where the value is missing."""
    held = codes >= 0
    values = codes[held]
    count = database.folded_count[values]
    shape = 1 + (count >= _TWICE).astype(np.int64)
    if database.attributes[place].rarity:
        shape += _TWICE * database.bands(count)
    if lengths:
        # Digits of one number: length, band, twice or not.
        shape += (database.start[values + 1] - database.start[values]) * _KINDS
    numbers = np.zeros(len(codes), dtype=np.int64)
    numbers[held] = shape
    return numbers
