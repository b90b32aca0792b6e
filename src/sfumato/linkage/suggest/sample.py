"""A sample of each table, spread over all of its records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.linkage.sources.cells import as_text
from sfumato.table.sources import Source, is_bytes

ROWS = 20_000
"""Records of a table that are looked at, about."""


@dataclass(frozen=True)
class Sample:
    """Some records of a table.

    Attributes
    ----------
    rows
        Number of all its records.
    columns
        Its columns as text, bytes left out; empty cells are missing.
    """

    rows: int
    columns: pa.Table


def take_sample(source: Source, columns: Sequence[str], most: int = ROWS) -> Sample:
    """Every k-th record, k a power of two, so that at most the wanted number is kept.

    Parameters
    ----------
    source
        The table.
    columns
        Names of the columns wanted.
    most
        Number of records wanted at most.

    Raises
    ------
    InputError
        If the table cannot be read.
    """
    if not columns:
        return Sample(0, pa.table({}))
    every, rows = 1, 0
    kept: list[pa.RecordBatch] = []
    for batch in source.batches(columns):
        first = -rows % every
        kept.append(batch.take(pa.array(np.arange(first, batch.num_rows, every))))
        rows += batch.num_rows
        while sum(each.num_rows for each in kept) > most:
            every *= 2
            kept = _every_second(kept)
    arrays = {
        name: pa.chunked_array([as_text(batch.column(name), name) for batch in kept])
        for name in columns
        if not any(is_bytes(batch.column(name).type) for batch in kept)
    }
    return Sample(rows, pa.table(arrays))


def _every_second(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The records at even places of those kept so far."""
    place, kept = 0, []
    for batch in batches:
        kept.append(batch.take(pa.array(np.arange(place % 2, batch.num_rows, 2))))
        place += batch.num_rows
    return kept
