"""A column of texts, many of them equal: each text once, and a code per row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Rows = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Words:
    """Texts by code.

    Attributes
    ----------
    texts
        The texts; one may come twice.
    codes
        Per row, the position of its text; -1 where it is missing.
    """

    texts: list[str]
    codes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, column: pa.Array | pa.ChunkedArray) -> Words:
        """Give a code to each text of a column without missing values."""
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        encoded = array.dictionary_encode()
        return cls(encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64))

    def take(self, rows: Rows) -> Words:
        """The texts of some rows."""
        return replace(self, codes=self.codes[rows])

    def at(self, rows: Rows) -> list[str]:
        """The texts of some rows, none of them missing, as a list."""
        return [self.texts[code] for code in self.codes[rows].tolist()]

    def changed(self, rows: Rows, texts: list[str]) -> Words:
        """The column with other texts in some rows."""
        changed = self.recoded(rows, len(self.texts) + np.arange(len(texts)))
        return replace(changed, texts=[*self.texts, *texts])

    def recoded(self, rows: Rows, codes: npt.NDArray[np.int64] | int) -> Words:
        """The column with other codes in some rows."""
        own = self.codes.copy()
        own[rows] = codes
        return replace(self, codes=own)

    def copied(self, rows: Rows, sources: Rows) -> Words:
        """The column with the texts of other rows in some rows."""
        return self.recoded(rows, self.codes[sources])

    def without(self, rows: Rows) -> Words:
        """The column with nothing in some rows."""
        return self.recoded(rows, -1)

    def differs(self, other: Words) -> npt.NDArray[np.bool_]:
        """Of each row, whether both columns have a text and not the same."""
        unequal = pc.not_equal(self.to_arrow(), other.to_arrow())
        return np.asarray(pc.fill_null(unequal, False).to_numpy(zero_copy_only=False))

    def marks(self, holds: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Of each row, whether its text is there and has a property."""
        known = np.array([*map(holds, self.texts), False], dtype=np.bool_)
        return known[self.codes]

    def swapped(self, other: Words, rows: Rows) -> tuple[Words, Words]:
        """Both columns with their texts exchanged in some rows."""
        texts = [*self.texts, *other.texts]
        mine = self.codes.copy()
        theirs = np.where(other.codes < 0, -1, other.codes + len(self.texts))
        mine[rows], theirs[rows] = theirs[rows], mine[rows].copy()
        return Words(texts, mine), Words(texts, theirs)

    def to_arrow(self) -> pa.StringArray:
        """The column as Arrow text."""
        return pa.array(self.texts, pa.string()).take(pa.array(self.codes, mask=self.codes < 0))
