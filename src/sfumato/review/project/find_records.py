"""Pairs named by sources and ids, as numbers of records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.review.project.project import ID, SOURCE

Ints = npt.NDArray[np.int64]
NAMED = ("source_l", "id_l", "source_r", "id_r")
"""The columns that name the two records of a pair."""


def find_pairs(records: pa.Table, pairs: pa.Table, subject: str) -> tuple[Ints, Ints]:
    """Numbers of the left and the right record of each pair.

    Parameters
    ----------
    records
        All records: source, id, and more.
    pairs
        The pairs: source_l, id_l, source_r, id_r.
    subject
        How errors call the pairs.

    Raises
    ------
    InputError
        If a column is missing, or a pair names a record that there is not.
    """
    for name in NAMED:
        if pairs.column_names.count(name) != 1:
            raise InputError(
                subject,
                f"must have one column '{name}'",
                found="none" if name not in pairs.column_names else "several",
                accepted=", ".join(NAMED),
            )
    keys = _keys(records[SOURCE], records[ID])
    sides = []
    for side in "lr":
        wanted = _keys(pairs[f"source_{side}"], pairs[f"id_{side}"])
        number = np.asarray(pc.fill_null(pc.index_in(wanted, keys, skip_nulls=True), -1))
        if np.any(number < 0):
            raise InputError(
                subject,
                "must name records of the tables",
                found=f"an unknown record in row {int(np.argmax(number < 0)) + 1}",
                accepted="a source's name and an id of it",
            )
        sides.append(number.astype(np.int64))
    return sides[0], sides[1]


def _keys(source: pa.ChunkedArray, ids: pa.ChunkedArray) -> pa.Array:
    texts = [each.cast(pa.large_string()) for each in (source, ids)]
    joined = pc.binary_join_element_wise(*texts, pa.scalar("\0", pa.large_string()))
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined
