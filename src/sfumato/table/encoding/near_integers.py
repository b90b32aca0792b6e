"""Number integers and dates that lie close together, such as ages and ZIPs, by a table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.columns import MISSING, Codes
from sfumato.table.encoding.arrow_types import Ints, as_numpy, flags, from_numpy

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
