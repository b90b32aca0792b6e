"""A column of which only the distinct values and their numbers of records are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.table.columns import MISSING, Codes
from sfumato.table.encoding.accumulate import RawColumn
from sfumato.table.encoding.arrow_types import Ints, as_integers, flags, from_numpy


@dataclass(frozen=True, eq=False)
class CountedColumn(RawColumn):
    """Distinct values, each a row that stands for all records that hold it.

    Attributes
    ----------
    counts
        Number of records of each row of ``codes``.
    """

    counts: Ints

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        """Number of records without a value."""
        return int(self.counts[self.codes == MISSING].sum())

    def count(self, values: npt.NDArray[np.bool_]) -> int:
        """How many records hold one of the marked values."""
        return int(self.counts[self.occurrences(values)].sum())

    def at(self, values: npt.NDArray[np.bool_]) -> str:
        """How many records hold one of the marked values; there are no row numbers."""
        return counted_records(self.count(values))

    def of_codes(self, codes: Codes, size: int) -> Ints:
        """Number of records with each of ``size`` codes, one code per row given."""
        known = codes != MISSING
        counts = np.zeros(size, dtype=np.int64)
        np.add.at(counts, codes[known], self.counts[known])
        return counts


def counted_records(count: int) -> str:
    """A number of records in words."""
    return "1 record" if count == 1 else f"{count:,} records"


def counted_column(name: str, values: pa.Array, counts: pa.Array) -> CountedColumn:
    """A column from its distinct values, null among them, and their numbers of records.

    Parameters
    ----------
    name
        The column's name.
    values
        Distinct values; several nulls count together.
    counts
        Number of records of each, integers.
    """
    known = flags(values.is_valid())
    codes = np.where(known, np.cumsum(known) - 1, MISSING).astype(np.int32)
    return CountedColumn(name, codes, values.filter(from_numpy(known)), as_integers(counts))
