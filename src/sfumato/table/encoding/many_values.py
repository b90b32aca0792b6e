"""Number the values of a column that has very many, such as the ids of persons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.kernels.arrays import Bytes
from sfumato.kernels.key_numbering import Interner
from sfumato.table.columns import Codes
from sfumato.table.encoding.arrow_types import as_numpy, flags, from_numpy, is_text, texts_of
from sfumato.table.encoding.near_integers import NearIntegers
from sfumato.table.encoding.near_texts import NearTexts, SpelledTexts

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
