"""Number ids that count, such as 17 or P00017, by a table with a place for each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.kernels.interning import Bytes
from sfumato.table.columns import Codes
from sfumato.table.encoding.arrow_types import Flags, Ints, flags, from_numpy, texts_of
from sfumato.table.encoding.near_integers import NearIntegers

DIGITS = 18
"""Digits that, with a one before them, fit into an integer."""
ZERO, NINE = ord("0"), ord("9")


class NearTexts:
    """The distinct texts so far, all of which are one prefix and a number each.

    The key of a text is its digits behind a one, so that 7 and 07 are not the same.

    Parameters
    ----------
    widest
        Most integers between the lowest and the highest key.
    """

    def __init__(self, widest: int) -> None:
        self._prefix: Bytes | None = None
        self._keys = NearIntegers(pa.int64(), widest)
        self._found: list[pa.Array] = []
        self._known = 0

    def number(self, values: pa.Array) -> Codes | None:
        """The number of each text, by first appearance; ``None`` where one is no such id."""
        missing = flags(values.is_null())
        keys = self._spelled(*texts_of(values), missing)
        if keys is None:
            return None
        codes = self._keys.number(from_numpy(keys, missing if values.null_count else None))
        if codes is not None and len(self._keys) > self._known:
            last = self._known - 1
            first = np.diff(np.maximum.accumulate(np.maximum(codes, last)), prepend=last) > 0
            self._found.append(values.filter(from_numpy(first)).cast(pa.large_string()))
            self._known = len(self._keys)
        return codes

    def values(self) -> pa.Array:
        """The texts by their numbers, as large ones."""
        return pa.concat_arrays(self._found) if self._found else pa.nulls(0, pa.large_string())

    def _spelled(
        self, offsets: npt.NDArray[np.integer], data: Bytes, missing: Flags
    ) -> Ints | None:
        """The key of each text; those of one width are read together, digit by digit."""
        keys = np.zeros(len(missing), dtype=np.int64)
        starts, widths = offsets[:-1], np.diff(offsets)
        widths[missing] = 0
        for width in np.unique(widths).tolist():
            rows = np.flatnonzero((widths == width) & ~missing)
            if not len(rows):
                continue
            if not width:
                return None
            if len(rows) * width == offsets[-1] - offsets[0]:
                letters = data[offsets[0] : offsets[-1]].reshape(-1, width)
            else:
                letters = data[starts[rows, None] + np.arange(width)]
            found = self._read(letters)
            if found is None:
                return None
            keys[rows] = found
        return keys

    def _read(self, letters: Bytes) -> Ints | None:
        """The keys of texts of one width, shape (texts, width)."""
        if self._prefix is None:
            others = np.flatnonzero((letters[0] < ZERO) | (letters[0] > NINE))
            self._prefix = letters[0][: others[-1] + 1 if len(others) else 0].copy()
        length = len(self._prefix)
        digits = letters[:, length:] - np.uint8(ZERO)
        if not 1 <= digits.shape[1] <= DIGITS or (digits > NINE - ZERO).any():
            return None
        if (letters[:, :length] != self._prefix).any():
            return None
        keys = np.ones(len(letters), dtype=np.int64)
        for digit in digits.T:
            keys *= 10
            keys += digit
        return keys
