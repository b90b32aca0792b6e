"""Number the texts of a column that has very many, such as the ids of persons."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.kernels.interning import Interner
from sfumato.table.columns import Codes
from sfumato.table.encoding.arrow_types import flags


class ManyTexts:
    """The distinct texts so far."""

    def __init__(self) -> None:
        self._interner = Interner()

    def number(self, texts: pa.Array) -> Codes:
        """The number of each of some large texts, by first appearance; -1 where it is null."""
        missing = np.zeros(len(texts), dtype=np.bool_)
        if texts.null_count:
            missing = flags(texts.is_null())
        _, ends, data = texts.buffers()
        offsets = np.frombuffer(ends, dtype=np.int64)[texts.offset :][: len(texts) + 1]
        letters = np.empty(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
        return self._interner.number(offsets, letters, missing)

    def texts(self) -> pa.Array:
        """The texts by their numbers."""
        offsets, letters = self._interner.strings()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
        return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
