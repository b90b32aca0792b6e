"""Number ids that count, such as 17 or P00017, by a table with a place for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.kernels.arrays import Bytes
from sfumato.table.columns import Codes
from sfumato.table.encoding.arrow_types import (
    Flags,
    Ints,
    flags,
    from_numpy,
    from_texts,
    texts_of,
    trimmed,
)
from sfumato.table.encoding.near_integers import NearIntegers

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
    """The distinct texts so far, all of which are one prefix and a number each.

    Parameters
    ----------
    widest
        Most integers between the lowest and the highest key.
    """

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
            number = _number(part)
            if keys is None:
                keys = number + np.uint64(10 ** (end - len(prefix)))
            else:
                keys = keys * np.uint64(10**LETTERS) + number
        start, end = end, end + LETTERS
    return None if keys is None else keys.view(np.int64)


def _word(letters: bytes) -> np.uint64:
    """Up to eight letters as one integer, zeros before them."""
    return np.uint64(int.from_bytes(letters.rjust(LETTERS, b"\0"), "little"))


def _number(digits: Words) -> Words:
    """The numbers of eight digits, each a byte from 0 to 9; uses the words up."""
    for bits, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0xFFFFFFFF)):
        lower = digits >> np.uint64(bits)
        digits *= np.uint64(10 ** (bits // 8))
        digits += lower
        digits &= np.uint64(mask)
    return digits
