"""Distinct values numbered by first appearance: by a table where they lie close, else by a hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.kernels.arrays import Bytes
from sfumato.kernels.key_numbering import Interner
from sfumato.table.sources import (
    Flags,
    Ints,
    as_numpy,
    flags,
    from_numpy,
    from_texts,
    is_text,
    texts_of,
    trimmed,
)
from sfumato.table.table import MISSING, Codes

LOWEST = -(1 << 63)
"""The lowest integer there is."""


class NearIntegers:
    """The distinct values so far, in a table with a place for each integer of their range.

    Parameters
    ----------
    kind
        The type of the values.
    widest
        Most integers between the lowest and the highest.
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
        integers = as_numpy(values)
        if not values.null_count:
            return self._codes(integers)
        codes, known = np.full(len(values), MISSING, dtype=np.int32), flags(values.is_valid())
        codes[known] = self._codes(integers[known])
        return codes

    def values(self) -> pa.Array:
        """The values by their numbers."""
        found = np.concatenate(self._found) if self._found else np.empty(0, dtype=np.int64)
        storage = pa.int32() if pa.types.is_date32(self._kind) else self._kind
        return from_numpy(found.astype(storage.to_pandas_dtype())).view(self._kind)

    def parts(self) -> list[Ints]:
        """The values by their numbers, as 64-bit integers in several parts."""
        return [*self._found]

    def _codes(self, integers: npt.NDArray[np.integer]) -> Codes:
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

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.integer]


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
        least = from_texts([f"{prefix}0"])
        return bool(trimmed(least).equals(least)) and not any(
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
        missing = flags(values.is_null()) if values.null_count else None
        offsets, data = texts_of(values)
        widths = np.diff(offsets)
        # Texts that nobody has checked may say of themselves that they lie elsewhere.
        if widths.min() < 0 or offsets[0] < 0 or offsets[-1] > len(data):
            return None
        data = data[offsets[0] : offsets[-1]]
        keys = self._read(data, offsets[:-1] - offsets[0], widths, missing)
        return None if keys is None else self._keys.number(from_numpy(keys, missing))

    def texts(self) -> SpelledTexts:
        """The texts by their numbers."""
        return SpelledTexts(self._prefix or b"", self._keys.parts())

    def _read(
        self, data: Bytes, starts: Places, widths: Places, missing: Flags | None
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
    words
        The eight letters from each place on.
    texts
        The places where the texts start.
    width
        Their letters.
    prefix
        What they start with.
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

    Parameters
    ----------
    kind
        The type of the values.
    records
        About how many records there are.
    """

    def __init__(self, kind: pa.DataType, records: int = 0) -> None:
        self._interner = Interner()
        self._kind = kind
        self._near: NearTexts | NearIntegers | None = None
        if is_text(kind):
            self._near = NearTexts(WIDEST * records)
        elif NearIntegers.can_be(kind):
            self._near = NearIntegers(kind, WIDEST * records)

    @staticmethod
    def can_be(kind: pa.DataType) -> bool:
        """Whether values of the type are texts or integers."""
        return is_text(kind) or bool(pa.types.is_integer(kind))

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
            known = self.values()
            self._near = None
            self.number(known)
        missing = np.zeros(len(values), dtype=np.bool_)
        if values.null_count:
            missing = flags(values.is_null())
        offsets, data = texts_of(values) if is_text(values.type) else _integers(values)
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
        if not is_text(self._kind):
            return from_numpy(data.view(np.int64).astype(self._kind.to_pandas_dtype()))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _integers(values: pa.Array) -> tuple[npt.NDArray[np.integer], Bytes]:
    """Integers as strings of bytes."""
    data = as_numpy(values).astype(np.int64).view(np.uint8)
    return np.arange(0, WIDTH * (len(values) + 1), WIDTH, dtype=np.int64), data
