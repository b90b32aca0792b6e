"""The pairs as a table, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.linkage.outcomes.thresholds import OUTCOMES
from sfumato.linkage.values import Ints, Pairs, Records

COLUMNS = ("pair", "source_l", "id_l", "source_r", "id_r", "score", "outcome")
"""The columns of pairs.parquet."""


def pair_ids(number: Ints) -> pa.Array:
    """Ids of pairs: ``p1`` for the first one.

    Parameters
    ----------
    number
        Their numbers from 0.
    """
    text = pa.array(number + 1).cast(pa.string())
    return pc.binary_join_element_wise("p", text, "")


def named_records(records: Records, number: Ints) -> tuple[pa.Array, pa.Array]:
    """Source and id of some records.

    Parameters
    ----------
    records
        All records.
    number
        Numbers of those wanted.
    """
    names = pa.array(records.sources, pa.string())
    source = names.take(pa.array(records.source_of(number)))
    ids = pa.concat_arrays([each.cast(pa.large_string()) for each in records.ids])
    return source, ids.take(pa.array(number))


def pairs_table(records: Records, pairs: Pairs, outcome: npt.NDArray[np.int8]) -> pa.Table:
    """What pairs.parquet holds.

    Parameters
    ----------
    records
        The records.
    pairs
        The candidate pairs.
    outcome
        Code of each pair's outcome.
    """
    source_l, id_l = named_records(records, pairs.left)
    source_r, id_r = named_records(records, pairs.right)
    words = pa.array([str(each) for each in OUTCOMES])
    columns = (
        pair_ids(np.arange(len(pairs), dtype=np.int64)),
        source_l,
        id_l,
        source_r,
        id_r,
        pa.array(pairs.score),
        words.take(pa.array(outcome)),
    )
    return pa.table(dict(zip(COLUMNS, columns, strict=True)))


def pairs_of_table(table: pa.Table, records: Records) -> Pairs:
    """The pairs of such a table, without their comparison levels and blocks.

    Parameters
    ----------
    table
        What pairs.parquet holds.
    records
        The records that it speaks of.

    Raises
    ------
    InputError
        If a pair names a record that there is not.
    """
    count = len(table)
    return Pairs(
        left=find_records(records, table["source_l"], table["id_l"]),
        right=find_records(records, table["source_r"], table["id_r"]),
        score=np.asarray(table["score"], dtype=np.float64),
        levels={},
        block=np.zeros(count, dtype=np.int16),
    )


def find_records(records: Records, source: pa.ChunkedArray, ids: pa.ChunkedArray) -> Ints:
    """Number of each record by its source and id.

    Parameters
    ----------
    records
        All records.
    source, ids
        Names of sources, and ids.

    Raises
    ------
    InputError
        If there is no such record.
    """
    number = known_records(records, source, ids)
    if np.any(number < 0):
        raise InputError(
            "the pairs",
            "must be of the records in persons.parquet",
            found=f"another record in row {int(np.argmax(number < 0)) + 1}",
            advice="the files of a linkage belong together; link again",
        )
    return number


def known_records(records: Records, source: pa.ChunkedArray, ids: pa.ChunkedArray) -> Ints:
    """Number of each record by its source and id, -1 where there is none.

    Parameters
    ----------
    records
        All records.
    source, ids
        Names of sources, and ids.
    """
    number = np.full(len(ids), -1, dtype=np.int64)
    own = np.asarray(
        pc.fill_null(pc.index_in(source.cast(pa.string()), pa.array(records.sources)), -1)
    )
    texts = ids.cast(pa.large_string())
    for place, start in enumerate(records.starts[:-1].tolist()):
        rows = np.flatnonzero(own == place)
        values = records.ids[place].cast(pa.large_string())
        found = np.asarray(pc.fill_null(pc.index_in(texts.take(pa.array(rows)), values), -1))
        number[rows] = np.where(found >= 0, found + start, -1)
    return number
