"""Number the values of a column that has very many, such as the ids of persons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.kernels.interning import Bytes, Interner
from sfumato.table.columns import Codes
from sfumato.table.encoding.arrow_types import as_numpy, flags, from_numpy, is_text

WIDTH = 8
"""Bytes of an integer."""
WIDEST = 2
"""Integers from the lowest id to the highest, per record, for which a table is kept."""


class ManyValues:
    """The distinct texts or integers so far.

    Parameters
    ----------
    kind
        The type of the values.
    records
        About how many records there are.
    """

    def __init__(self, kind: pa.DataType, records: int = 0) -> None:
        self._interner = Interner(WIDEST * records)
        self._kind = kind

    @staticmethod
    def can_be(kind: pa.DataType) -> bool:
        """Whether values of the type are texts or integers."""
        return is_text(kind) or bool(pa.types.is_integer(kind))

    def number(self, values: pa.Array) -> Codes:
        """The number of each value, by first appearance; -1 where it is null."""
        missing = np.zeros(len(values), dtype=np.bool_)
        if values.null_count:
            missing = flags(values.is_null())
        if is_text(values.type):
            return self._interner.number(*_texts(values), missing)
        integers = as_numpy(values).astype(np.int64)
        offsets = np.arange(0, WIDTH * (len(values) + 1), WIDTH, dtype=np.int64)
        return self._interner.number(offsets, integers.view(np.uint8), missing, integers)

    def values(self) -> pa.Array:
        """The values by their numbers; texts as large ones."""
        offsets, data = self._interner.strings()
        if not is_text(self._kind):
            return from_numpy(data.view(np.int64).astype(self._kind.to_pandas_dtype()))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _texts(values: pa.Array) -> tuple[npt.NDArray[np.integer], Bytes]:
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    _, ends, letters = values.buffers()
    width = pa.int64() if pa.types.is_large_string(values.type) else pa.int32()
    offsets = np.frombuffer(ends, dtype=width.to_pandas_dtype())
    data = np.empty(0, np.uint8) if letters is None else np.frombuffer(letters, dtype=np.uint8)
    return offsets[values.offset :][: len(values) + 1], data
