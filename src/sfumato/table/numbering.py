"""A column's batches as codes into its distinct values, before their meaning is settled.

Values are numbered by first appearance: by a table where they lie close, else by a hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Integers, Ints, Words
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.kernels.key_numbering import Interner
from sfumato.kernels.loop_calls import Bytes
from sfumato.table import sources
from sfumato.table.table import MISSING, Codes

LOWEST = -(1 << 63)
"""The lowest integer there is."""


class NearIntegers:
    """The distinct values so far.

    They have a table with a place for each integer of a range of ``widest`` at most.
    """

    def __init__(self, kind: pa.DataType, widest: int) -> None:
        self._kind, self._widest = kind, widest
        self._base = 0
        self._table = np.empty(0, dtype=np.int32)
        self._found: list[Ints] = []
        self._known = 0

    def __len__(self) -> int:
        """How many distinct values there were so far."""
        return self._known

    @staticmethod
    def can_be(kind: pa.DataType) -> bool:
        """Whether values of the type are integers of at most 63 bits, or days."""
        return bool(pa.types.is_date32(kind) or pa.types.is_integer(kind)) and kind != pa.uint64()

    def number(self, values: pa.Array) -> Codes | None:
        """The number of each value, by first appearance; ``None`` where they lie too far apart."""
        if pa.types.is_date32(values.type):
            values = values.view(pa.int32())
        bounds = pc.min_max(values).as_py()
        if bounds["min"] is None:
            return np.full(len(values), MISSING, dtype=np.int32)
        if not self._reach(bounds["min"], bounds["max"]):
            return None
        integers = sources.as_numpy(values)
        if not values.null_count:
            return self._codes(integers)
        codes, known = (
            np.full(len(values), MISSING, dtype=np.int32),
            sources.flags(values.is_valid()),
        )
        codes[known] = self._codes(integers[known])
        return codes

    def values(self) -> pa.Array:
        """The values by their numbers."""
        found = np.concatenate(self._found) if self._found else np.empty(0, dtype=np.int64)
        storage = pa.int32() if pa.types.is_date32(self._kind) else self._kind
        return sources.from_numpy(found.astype(storage.to_pandas_dtype())).view(self._kind)

    def parts(self) -> list[Ints]:
        """The values by their numbers, as 64-bit integers in several parts."""
        return [*self._found]

    def _codes(self, integers: Integers) -> Codes:
        places = integers.astype(np.int64)
        places -= self._base
        codes = self._table.take(places)
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            new = places.take(unknown)
            self._add(new)
            codes[unknown] = self._table.take(new)
        return codes

    def _reach(self, lowest: int, highest: int) -> bool:
        """Make room for values between these, and twice as much, as ids may ascend or descend."""
        size = len(self._table)
        base = min(lowest, self._base) if size else lowest
        end = max(highest + 1, self._base + size if size else highest + 1)
        if end - base > self._widest:
            return False
        if end - base > size:
            wide = max(end - base, min(2 * size, self._widest))
            base = max(end - wide, LOWEST) if base < self._base and size else base
            table = np.full(wide, -1, dtype=np.int32)
            table[self._base - base :][:size] = self._table
            self._base, self._table = base, table
        return True

    def _add(self, places: Ints) -> None:
        """Number new places; of several records of one, the first is found as the last written."""
        order = np.arange(len(places), dtype=np.int32)
        self._table[places[::-1]] = order[::-1]
        new = places[self._table[places] == order]
        self._table[new] = np.arange(self._known, self._known + len(new), dtype=np.int32)
        self._found.append(new + self._base)
        self._known += len(new)


DIGITS = 18
"""Digits that, with a one before them, fit into an integer."""
ZERO = ord("0")
WORD = np.dtype("<u8")
"""Eight letters in one integer, the first of them its lowest byte."""
LETTERS = WORD.itemsize
HIGHEST = np.uint64(0x8080808080808080)
"""The highest bit of each letter."""

Places = Integers


@dataclass(frozen=True, eq=False)
class SpelledTexts:
    """Distinct texts that are one prefix and a number each, not yet spelled out.

    Attributes
    ----------
    prefix
        The bytes that all of them start with, UTF-8.
    parts
        The key of each: its digits behind a one, so that 7 and 07 are not the same.
    """

    prefix: bytes
    parts: Sequence[Ints] = field(repr=False)

    def spelled_out(self) -> pa.Array:
        """The texts, as large ones."""
        keys = np.concatenate([np.empty(0, dtype=np.int64), *self.parts])
        # With the one before them, n digits lie between 10**n and 2 * 10**n, which tells n.
        digits = np.searchsorted(10 ** np.arange(DIGITS + 1), keys, "right") - 1
        offsets = np.zeros(len(keys) + 1, dtype=np.int64)
        np.cumsum(digits + len(self.prefix), out=offsets[1:])
        data = np.empty(offsets[-1], dtype=np.uint8)
        for place, letter in enumerate(self.prefix):
            data[offsets[:-1] + place] = letter
        rest, ends = keys, offsets[1:]
        for place in range(1, int(digits.max(initial=0)) + 1):
            if digits.min() < place:
                longer = digits >= place
                rest, ends, digits = rest[longer], ends[longer], digits[longer]
            tenth = rest // 10
            data[ends - place] = rest - 10 * tenth + ZERO
            rest = tenth
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), len(keys), buffers)

    def are_plain(self, texts: Sequence[str]) -> bool:
        """Whether surely none of them is one of the given texts or has spaces around it."""
        prefix = self.prefix.decode()
        # All begin with the prefix and end with a digit, so that one shows the ends of all.
        least = sources.from_texts([f"{prefix}0"])
        return bool(sources.trimmed(least).equals(least)) and not any(
            text.startswith(prefix) and text[-1:].isdecimal() for text in texts
        )


class NearTexts:
    """The distinct texts so far, all of which are one prefix and a number each."""

    def __init__(self, widest: int) -> None:
        self._prefix: bytes | None = None
        self._keys = NearIntegers(pa.int64(), widest)

    def number(self, values: pa.Array) -> Codes | None:
        """The number of each text, by first appearance; ``None`` where one is no such id.

        If the very first id is UTF-8, then all are: they need no check.
        """
        if not len(values):
            return np.empty(0, dtype=np.int32)
        missing = sources.flags(values.is_null()) if values.null_count else None
        offsets, data = sources.texts_of(values)
        widths = np.diff(offsets)
        # Texts that nobody has checked may say of themselves that they lie elsewhere.
        if widths.min() < 0 or offsets[0] < 0 or offsets[-1] > len(data):
            return None
        data = data[offsets[0] : offsets[-1]]
        keys = self._read(data, offsets[:-1] - offsets[0], widths, missing)
        return None if keys is None else self._keys.number(sources.from_numpy(keys, missing))

    def texts(self) -> SpelledTexts:
        """The texts by their numbers."""
        return SpelledTexts(self._prefix or b"", self._keys.parts())

    def _read(
        self, data: Bytes, starts: Places, widths: Places, missing: Bools | None
    ) -> Ints | None:
        """The key of each text, 0 of a missing one; those of one width are read together."""
        known = widths if missing is None else widths[~missing]
        if not len(known):
            return np.zeros(len(widths), dtype=np.int64)
        if self._prefix is None:
            row = 0 if missing is None else int(np.argmin(missing))
            first = bytes(data[starts[row] :][: widths[row]])
            self._prefix = first.rstrip(b"0123456789")
        least, most = int(known.min()), int(known.max())
        if not len(self._prefix) < least <= most <= len(self._prefix) + DIGITS:
            return None
        # Eight letters are read from each place, for which a short last text leaves no room.
        if least < LETTERS:
            data = np.append(data, np.zeros(LETTERS, dtype=np.uint8))
        words = np.ndarray(len(data) - LETTERS + 1, WORD, data, strides=(1,))
        if least == most and missing is None:
            return _keys(words, slice(0, most * len(widths), most), most, self._prefix)
        if missing is not None:
            widths = np.where(missing, 0, widths)
        keys = np.zeros(len(widths), dtype=np.int64)
        for width in range(least, most + 1):
            rows = np.flatnonzero(widths == width)
            found = _keys(words, starts[rows], width, self._prefix)
            if found is None:
                return None
            keys[rows] = found
        return keys


def _keys(words: Words, texts: slice | Places, width: int, prefix: bytes) -> Ints | None:
    """The keys of texts of one width; ``None`` where one is no such id.

    By exclusive or with the letter of the id 0 in its place, a letter of the prefix becomes 0 and
    a digit 0 to 9. Any other letter becomes more: its highest bit is set, or will be when what is
    missing to 128 is added.

    Parameters
    ----------
    texts
        The places where the texts start.
    """
    digits = width - len(prefix)
    zero = prefix + b"0" * digits
    rest = b"\x7f" * len(prefix) + b"\x76" * digits
    keys: Words | None = None
    start, end = 0, width % LETTERS or LETTERS
    while end <= width:
        part = words[start:][texts] << np.uint64(8 * (LETTERS - end + start))
        part ^= _word(zero[start:end])
        if np.bitwise_or.reduce((part + _word(rest[start:end])) | part) & HIGHEST:
            return None
        if end > len(prefix):
            number = _digits_as_number(part)
            if keys is None:
                keys = number + np.uint64(10 ** (end - len(prefix)))
            else:
                keys = keys * np.uint64(10**LETTERS) + number
        start, end = end, end + LETTERS
    return None if keys is None else keys.view(np.int64)


def _word(letters: bytes) -> np.uint64:
    """Up to eight letters as one integer, zeros before them."""
    return np.uint64(int.from_bytes(letters.rjust(LETTERS, b"\0"), "little"))


def _digits_as_number(digits: Words) -> Words:
    """The numbers of eight digits, each a byte from 0 to 9; uses the words up."""
    # Neighbours are joined two by two: eight digits become four numbers, then two, then one.
    for bits, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0xFFFFFFFF)):
        lower = digits >> np.uint64(bits)
        digits *= np.uint64(10 ** (bits // 8))
        digits += lower
        digits &= np.uint64(mask)
    return digits


WIDTH = 8
"""Bytes of an integer."""
WIDEST = 2
"""Integers from the lowest id to the highest, per record, for which a table is kept."""


class ManyValues:
    """The distinct texts or integers so far.

    As long as they are numbers that lie close together, alone or behind one prefix, each has its
    place in a table; after that a hash says where to look.
    """

    def __init__(self, kind: pa.DataType, records: int = 0) -> None:
        self._interner = Interner()
        self._kind = kind
        self._near: NearTexts | NearIntegers | None = None
        if sources.is_text(kind):
            self._near = NearTexts(WIDEST * records)
        elif NearIntegers.can_be(kind):
            self._near = NearIntegers(kind, WIDEST * records)

    @staticmethod
    def can_be(kind: pa.DataType) -> bool:
        """Whether values of the type are texts or integers."""
        return sources.is_text(kind) or bool(pa.types.is_integer(kind))

    def number_near(self, values: pa.Array) -> Codes | None:
        """As `number`, of texts that need no check that they are UTF-8; ``None`` for others."""
        if self._near is None or pa.types.is_string_view(values.type):
            return None
        return self._near.number(values)

    def number(self, values: pa.Array) -> Codes:
        """The number of each value, by first appearance; -1 where it is null."""
        if pa.types.is_string_view(values.type):
            values = values.cast(pa.large_string())
        if self._near is not None:
            codes = self._near.number(values)
            if codes is not None:
                return codes
            # The hash takes the known values first, in their order: codes given so far stay right.
            known = self.values()
            self._near = None
            self.number(known)
        missing = np.zeros(len(values), dtype=np.bool_)
        if values.null_count:
            missing = sources.flags(values.is_null())
        offsets, data = (
            sources.texts_of(values) if sources.is_text(values.type) else _integers(values)
        )
        return self._interner.number(offsets, data, missing)

    def spelled(self) -> SpelledTexts | None:
        """The values by their numbers, where they are one prefix and a number each."""
        return self._near.texts() if isinstance(self._near, NearTexts) else None

    def values(self) -> pa.Array:
        """The values by their numbers; texts as large ones."""
        if isinstance(self._near, NearTexts):
            return self._near.texts().spelled_out()
        if self._near is not None:
            return self._near.values()
        offsets, data = self._interner.strings()
        if not sources.is_text(self._kind):
            return sources.from_numpy(data.view(np.int64).astype(self._kind.to_pandas_dtype()))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _integers(values: pa.Array) -> tuple[Integers, Bytes]:
    """Integers as strings of bytes."""
    data = sources.as_numpy(values).astype(np.int64).view(np.uint8)
    return np.arange(0, WIDTH * (len(values) + 1), WIDTH, dtype=np.int64), data


MANY_RECORDS = 50_000
"""Records from which a hash table of our own pays off, if they had only distinct values."""
SORTING = 4
"""So many times the records are worth it where Arrow's dictionaries may do as well."""
MERGE_AT = 1 << 20
"""Distinct values of single batches that may wait before they are merged."""
WIDEST_COLUMN = 1 << 20
"""Most integers from the lowest to the highest of a column for which a table is kept."""
MANY = 8
"""So many times fewer values than are worth compiling for are many: a table needs no compiler."""
SAMPLE = 1 << 12
"""First values of a column that show whether it holds ids."""
FEW = 1 << 12
"""Values of a dictionary that are compared one by one with those of the batch before."""
BLOCK = 1 << 16
"""Records that are looked at together for values that were not met before."""


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as codes into its distinct values, before their meaning is settled.

    Values stand in order of first appearance, without null, which is `MISSING`.
    """

    name: str
    codes: Codes
    given: pa.Array | SpelledTexts = field(repr=False)

    @cached_property
    def values(self) -> pa.Array:
        """The distinct values as an array; ids that count are spelled out when it is asked for."""
        return self.given.spelled_out() if isinstance(self.given, SpelledTexts) else self.given

    def has_plain_values(self, missing: Sequence[str]) -> bool:
        """Whether surely no value means missing or has spaces around it; ``False`` says nothing."""
        return isinstance(self.given, SpelledTexts) and self.given.are_plain(missing)

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.codes)

    @property
    def missing(self) -> int:
        """Number of records without a value."""
        return int(np.count_nonzero(self.codes == MISSING))

    def recoded(self, lookup: Integers) -> Codes:
        """The codes after each value's code is replaced by its entry in ``lookup``."""
        return self._recode(lookup, np.empty_like(self.codes))

    def recoded_in_place(self, lookup: Integers) -> Codes:
        """As `recoded`, in the place of the codes: the column itself is used up."""
        if not self.codes.flags.writeable:
            return self.recoded(lookup)
        if np.array_equal(lookup, np.arange(len(lookup))):
            return self.codes
        return self._recode(lookup, self.codes)

    def _recode(self, lookup: Integers, place: Codes) -> Codes:
        new = np.append(lookup, MISSING).astype(np.int32)
        # By blocks: a second array of all records is not made.
        for start in range(0, len(place), BLOCK):
            place[start : start + BLOCK] = new.take(self.codes[start : start + BLOCK])
        return place

    def without(self, dropped: Bools) -> RawColumn:
        """The column with the values marked in ``dropped`` (one flag per value) missing."""
        if not dropped.any():
            return self
        lookup = np.where(dropped, MISSING, np.cumsum(~dropped) - 1)
        kept = self.values.filter(sources.from_numpy(~dropped))
        return replace(self, codes=self.recoded(lookup), given=kept)

    def occurrences(self, values: Bools) -> Bools:
        """Which records hold one of the marked values."""
        return np.append(values, False)[self.codes]

    def count(self, values: Bools) -> int:
        """How many records hold one of the marked values."""
        return int(np.count_nonzero(self.occurrences(values)))

    def at(self, values: Bools) -> str:
        """How many records hold one of the marked values, and the first one's row number."""
        return at_rows(self.occurrences(values))


def at_rows(records: Bools) -> str:
    """Say how many records are marked, and the row number (1-based) of the first."""
    count, first = int(np.count_nonzero(records)), int(np.argmax(records)) + 1
    return (
        f"row {first:,}"
        if count == 1
        else f"{counted(count, 'record')}, the first in row {first:,}"
    )


class Accumulator:
    """Collects the batches of one column as codes.

    Distinct values of single batches wait until they outnumber those known so far, so that the work
    stays linear in the records and the memory in the distinct values. Where the number of rows to
    come is known, their codes need no second place.
    """

    def __init__(self, name: str, rows: int | None = None) -> None:
        self.name = name
        self._room = np.empty(rows or 0, dtype=np.int32)
        self._taken = 0
        self._codes: list[Codes] = []
        self._known: pa.Array | None = None
        self._pending: list[tuple[list[int], pa.Array]] = []
        self._waiting = 0
        self._shared: tuple[pa.Array, Codes, pa.Array] | None = None
        self._many: ManyValues | None = None
        self._near: NearIntegers | None = None
        self._kind: pa.DataType | None = None

    def add(self, array: pa.Array) -> None:
        """Take the next batch of the column."""
        if self._kind is None and self._are_ids(array):
            sources.check_utf8(array, self.name)
            self._start_many(pa.large_string())
        if self._many is not None and self._is_kind(array.type):
            codes = self._many.number_near(array)
            if codes is None:
                sources.check_utf8(array, self.name)
                codes = self._many.number(array)
            self._append(codes)
            return
        if self._add_near(array):
            return
        codes, values = self._encoded(array)
        self._append(codes)
        if not len(values):
            return
        self._check_type(values.type)
        if self._many is not None:
            self._codes[-1][:] = np.append(self._many.number(values), np.int32(MISSING))[codes]
            return
        if self._pending and self._pending[-1][1] is values:
            self._pending[-1][0].append(len(self._codes) - 1)
            return
        if self._waiting >= max(MERGE_AT, 0 if self._known is None else len(self._known)):
            self._merge()
        self._pending.append(([len(self._codes) - 1], values))
        self._waiting += len(values)
        if self._has_many(len(values)) and ManyValues.can_be(values.type):
            self._merge()
            self._start_many(values.type).number(self._known)

    def _has_many(self, values: int) -> bool:
        """Whether a batch of so many values shows that `ManyValues` pays off from here on."""
        records = max(self._taken, len(self._room))
        return MANY * values > MANY_RECORDS and records > SORTING * MANY_RECORDS

    def _are_ids(self, array: pa.Array) -> bool:
        """Whether the first of many texts are mostly distinct, so that no dictionary pays off."""
        few = not self._has_many(len(array)) or pa.types.is_string_view(array.type)
        if few or not sources.is_text(array.type):
            return False
        sample = array.slice(0, SAMPLE)
        sources.check_utf8(sample, self.name)
        return 2 * len(pc.unique(sample)) > len(sample)

    def _start_many(self, kind: pa.DataType) -> ManyValues:
        """Number values of that type one by one from here on."""
        self._kind = kind
        self._many = ManyValues(kind, max(self._taken, len(self._room)))
        return self._many

    def _is_kind(self, kind: pa.DataType) -> bool:
        """Whether a batch is of the type of those before it, texts of any width being one."""
        return bool(kind == self._kind or (sources.is_text(kind) and sources.is_text(self._kind)))

    def _add_near(self, array: pa.Array) -> bool:
        """Take a batch of integers by a table, as long as they lie close together."""
        if self._kind is None and NearIntegers.can_be(array.type):
            self._near = NearIntegers(array.type, WIDEST_COLUMN)
        if self._near is None or pa.types.is_null(array.type):
            return False
        self._check_type(array.type)
        codes = self._near.number(array)
        if codes is None:
            self._known, self._near = self._near.values(), None
            return False
        self._append(codes)
        return True

    def _append(self, codes: Codes) -> None:
        """Keep the codes of a batch, all batches in one place if there is room."""
        end = self._taken + len(codes)
        if end <= len(self._room):
            self._room[self._taken : end] = codes
            codes = self._room[self._taken : end]
        # A merge rewrites codes in place, and those in Arrow's memory may not be.
        elif not codes.flags.writeable:
            codes = codes.copy()
        self._taken = end
        self._codes.append(codes)

    def _check_type(self, kind: pa.DataType) -> None:
        """Refuse values of another type than those before them."""
        if self._kind is None:
            self._kind = kind
        if self._kind != kind:
            raise InputError(
                f"column '{self.name}'",
                "must have one type throughout",
                found=f"{self._kind} and {kind}",
            )

    def finish(self) -> RawColumn:
        """The whole column, without values that no record holds; empties the accumulator."""
        self._merge()
        codes = self._room
        if self._taken != len(codes):
            codes = np.concatenate(self._codes) if self._codes else np.zeros(0, dtype=np.int32)
        self._codes.clear()
        values = pa.nulls(0) if self._known is None else self._known
        if self._many is not None:
            values = self._many.spelled() or self._many.values()
        if self._near is not None:
            values = self._near.values()
        raw = RawColumn(self.name, codes, values)
        # Only dictionaries of the input list values in another order than that of their records.
        in_order = self._shared is None
        self._known = self._shared = self._many = self._near = None
        return raw if in_order else _by_first_appearance(raw)

    def _encoded(self, array: pa.Array) -> tuple[Codes, pa.Array]:
        """The codes of a batch and its distinct values, wide enough to be merged."""
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        if pa.types.is_null(array.type):
            return np.full(len(array), MISSING, dtype=np.int32), pa.nulls(0)
        if pa.types.is_dictionary(array.type):
            return self._encoded_dictionary(array)
        if pa.types.is_decimal(array.type) and array.type.bit_width < 128:
            array = array.cast(pa.decimal128(array.type.precision, array.type.scale))
        encoded = sources.one_zero(array).dictionary_encode()
        sources.check_utf8(encoded.dictionary, self.name)
        return _numpy_codes(encoded.indices), _widened(encoded.dictionary)

    def _encoded_dictionary(self, array: pa.Array) -> tuple[Codes, pa.Array]:
        """As `_encoded`; a dictionary that all batches share is looked at once."""
        if self._shared is None or not _same_values(self._shared[0], array.dictionary):
            codes, values = self._encoded(array.dictionary)
            self._shared = (array.dictionary, np.append(codes, np.int32(MISSING)), values)
        _, lookup, values = self._shared
        return lookup.take(_numpy_codes(array.indices)), values

    def _merge(self) -> None:
        """Give the waiting batches codes into one common list of values."""
        if not self._pending:
            return
        parts = ([] if self._known is None else [self._known]) + [v for _, v in self._pending]
        if len(parts) == 1:
            self._known = parts[0]
        else:
            merged = pa.concat_arrays(parts).dictionary_encode()
            lookup = _numpy_codes(merged.indices)
            start = 0 if self._known is None else len(self._known)
            for places, values in self._pending:
                local = np.append(lookup[start : start + len(values)], np.int32(MISSING))
                for place in places:
                    self._codes[place][:] = local.take(self._codes[place])
                start += len(values)
            self._known = merged.dictionary
        self._pending.clear()
        self._waiting = 0


def _by_first_appearance(raw: RawColumn) -> RawColumn:
    """Renumber the values by their first record, and drop those that no record holds."""
    records, size = len(raw.codes), len(raw.values)
    first = np.full(size + 1, records, dtype=np.int64)
    first[-1] = -1
    length = max(BLOCK, size)
    for start in range(0, records, length):
        block = raw.codes[start : start + length]
        seen = np.full(size + 1, records, dtype=np.int64)
        # Written backwards: what stays is the first record of each value.
        seen[block[::-1]] = np.arange(start + len(block) - 1, start - 1, -1)
        np.minimum(first, seen, out=first)
        if first.max() < records:
            break
    first = first[:size]
    if (first < records).all() and (np.diff(first) > 0).all():
        return raw
    order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < records))]
    lookup = np.full(size, MISSING, dtype=np.int32)
    lookup[order] = np.arange(len(order), dtype=np.int32)
    return RawColumn(
        raw.name, raw.recoded_in_place(lookup), raw.values.take(sources.from_numpy(order))
    )


def _numpy_codes(indices: pa.Array) -> Codes:
    codes: Codes = sources.as_numpy(indices).astype(np.int32, copy=False)
    if indices.null_count:
        codes = np.where(sources.flags(indices.is_null()), np.int32(MISSING), codes)
    return codes


def _widened(array: pa.Array) -> pa.Array:
    """Texts and bytes with 64-bit offsets, so that merging has room."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_binary(kind) or pa.types.is_binary_view(kind):
        return array.cast(pa.large_binary())
    return array


def _same_values(one: pa.Array, other: pa.Array) -> bool:
    """Whether two arrays are the same memory, or few values that are the same."""

    def addresses(array: pa.Array) -> list[object]:
        buffers = [None if buffer is None else buffer.address for buffer in array.buffers()]
        return [array.type, array.offset, len(array), *buffers]

    few = len(one) == len(other) <= FEW
    return addresses(one) == addresses(other) or (few and bool(one.equals(other)))


@dataclass(frozen=True, eq=False)
class CountedColumn(RawColumn):
    """Distinct values, each a row that stands for as many records as ``counts`` says."""

    counts: Ints

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        """Number of records without a value."""
        return int(self.counts[self.codes == MISSING].sum())

    def count(self, values: Bools) -> int:
        """How many records hold one of the marked values."""
        return int(self.counts[self.occurrences(values)].sum())

    def at(self, values: Bools) -> str:
        """How many records hold one of the marked values; there are no row numbers."""
        return counted(self.count(values), "record")

    def of_codes(self, codes: Codes, size: int) -> Ints:
        """Number of records with each of ``size`` codes, one code per row given."""
        known = codes != MISSING
        counts = np.zeros(size, dtype=np.int64)
        np.add.at(counts, codes[known], self.counts[known])
        return counts


def counted_column(name: str, values: pa.Array, counts: pa.Array) -> CountedColumn:
    """A column from its distinct values, null among them, and their numbers of records."""
    known = sources.flags(values.is_valid())
    codes = np.where(known, np.cumsum(known) - 1, MISSING).astype(np.int32)
    return CountedColumn(
        name, codes, values.filter(sources.from_numpy(known)), sources.as_integers(counts)
    )
