"""The pairs of a linkage that people must look at, and the file that identifies them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.parquet import ParquetWriter

from sfumato.core.arrays import Ints, Levels
from sfumato.core.atomic import atomic_path
from sfumato.core.errors import InputError
from sfumato.linkage.link_sources import RECORD, Opened, free_name
from sfumato.linkage.match_thresholds import OUTCOMES, Pairs, Records
from sfumato.table.header_words import named, words_of

COLUMNS = ("pair", "source_l", "id_l", "source_r", "id_r", "score", "outcome")
"""The columns of pairs.parquet."""


def pair_ids(number: Ints) -> pa.Array:
    """Ids of pairs, numbered from 0: ``p1`` for the first one."""
    text = pa.array(number + 1).cast(pa.string())
    return pc.binary_join_element_wise("p", text, "")


def named_records(records: Records, number: Ints) -> tuple[pa.Array, pa.Array]:
    """Source and id of some records."""
    names = pa.array(records.sources, pa.string())
    source = names.take(pa.array(records.source_of(number)))
    # Large, as the ids of all sources may pass the 2 GB that offsets of 32 bits reach.
    ids = pa.concat_arrays([each.cast(pa.large_string()) for each in records.ids])
    return source, ids.take(pa.array(number))


def pairs_table(records: Records, pairs: Pairs, outcome: Levels) -> pa.Table:
    """What pairs.parquet holds."""
    source_l, id_l = named_records(records, pairs.left)
    source_r, id_r = named_records(records, pairs.right)
    words = pa.array([str(outcome) for outcome in OUTCOMES])
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
    """The pairs of such a table, without their comparison levels and blocks."""
    count = len(table)
    return Pairs(
        left=find_records(records, table["source_l"], table["id_l"]),
        right=find_records(records, table["source_r"], table["id_r"]),
        score=np.asarray(table["score"], dtype=np.float64),
        levels={},
        block=np.zeros(count, dtype=np.int16),
    )


def find_records(records: Records, source: pa.ChunkedArray, ids: pa.ChunkedArray) -> Ints:
    """Number of each record by its source and id."""
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
    """Number of each record by its source and id, -1 where there is none."""
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


MISSING = "missing"
"""How the level of a comparison with a missing value is called."""
_FREE_TEXT = "note notes comment comments remark remarks narrative freetext letter"


def most_doubtful_first(review: pa.Table) -> pa.Table:
    """The same pairs, those whose score is nearest to 1/2 first."""
    # The entropy of a pair falls with the distance of its probability from ½.
    away = np.abs(np.asarray(review["score"]) - 0.5)
    return review.take(pa.array(np.argsort(away, kind="stable")))


def review_table(
    opened: Opened,
    pairs: Pairs,
    number: Ints,
    labels: Mapping[tuple[str, int], str],
    rules: Sequence[str],
) -> pa.Table:
    """Some pairs, each with both records' identifying attributes as they were given.

    Of each comparison there is the level that the pair is in. Free text, and the sensitive and
    other attributes of the analytic half, are never opened.

    Parameters
    ----------
    opened
        The tables; only their identifying halves are read.
    number
        Numbers of the pairs, in the order wanted.
    """
    columns: dict[str, pa.Array] = {
        "pair": pair_ids(number),
        "score": pa.array(pairs.score[number]),
        "block": pa.array(rules, pa.string()).take(pa.array(pairs.block[number])),
    }
    sides = {"l": pairs.left[number], "r": pairs.right[number]}
    sources = pa.array(opened.records.sources, pa.string())
    for side, record in sides.items():
        of = opened.records.source_of(record)
        columns[f"source_{side}"] = sources.take(pa.array(of))
    shown = {side: _shown(opened, record) for side, record in sides.items()}
    for name in shown["l"].column_names:
        for side in sides:
            columns[free_name(f"{name}_{side}", columns)] = shown[side][name]
    for name, level in pairs.levels.items():
        columns[free_name(f"{name}_level", columns)] = _words(level[number], name, labels)
    return pa.table(columns)


def _words(level: np.ndarray, name: str, labels: Mapping[tuple[str, int], str]) -> pa.Array:
    top = max((number for own, number in labels if own == name), default=-1)
    words = [MISSING, *(labels.get((name, number), str(number)) for number in range(top + 1))]
    return pa.array(words).take(pa.array(level.astype(np.int64) + 1))


def _shown(opened: Opened, record: Ints) -> pa.Table:
    """The identifying attributes of some records."""
    # Each record once, though it may be in many pairs.
    wanted = np.unique(record)
    parts = []
    for place, half in enumerate(opened.identifying):
        start, stop = opened.records.starts[place : place + 2]
        own = wanted[(wanted >= start) & (wanted < stop)]
        parts.append(_taken(half, own - start))
    whole = pa.concat_tables(parts, promote_options="permissive")
    return whole.take(pa.array(np.searchsorted(wanted, record)))


def _taken(half: Path, rows: Ints) -> pa.Table:
    with pq.ParquetFile(half) as file:
        names = [name for name in file.schema_arrow.names if may_be_shown(name)]
        parts, first = [], 0
        for batch in file.iter_batches(columns=names):
            # Batch by batch: a review needs few rows of a file that may not fit into memory.
            own = rows[(rows >= first) & (rows < first + batch.num_rows)] - first
            parts.append(batch.take(pa.array(own)))
            first += batch.num_rows
        table = pa.Table.from_batches(parts)
    # All as text: a column may hold numbers in one source and words in another.
    return table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))


def may_be_shown(name: str) -> bool:
    """Whether a column of an identifying half is for people's eyes: no number of ours, no text."""
    return name != RECORD and not named(words_of(name), _FREE_TEXT)


SOURCE, ID = "source", "id"
"""The first two columns; attributes of such a name have underscores behind it."""


def identifying_file(opened: Opened) -> pa.Buffer:
    """A Parquet file of all records: source, id, and the attributes that a review may show.

    Only identifying halves are read. It is streamed and stays compressed, as only a folder that is
    written needs it.
    """
    names: dict[str, str] = {}
    for half in opened.identifying:
        for name in pq.read_schema(half).names:
            if may_be_shown(name) and name not in names:
                names[name] = free_name(name, {SOURCE, ID, *names.values()})
    kinds = [(SOURCE, pa.string()), (ID, pa.large_string())]
    schema = pa.schema([*kinds, *((name, pa.large_string()) for name in names.values())])
    sink = pa.BufferOutputStream()
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        for number in range(len(opened.identifying)):
            for batch in _batches(opened, number, tuple(names)):
                writer.write_batch(pa.RecordBatch.from_arrays(batch, schema=schema))
    return sink.getvalue()


def write_identifying(given: pa.Buffer | Path, path: Path) -> None:
    """Write the file, readable by its owner only."""
    with atomic_path(path) as temporary:
        if isinstance(given, Path):
            shutil.copyfile(given, temporary)
        else:
            with temporary.open("wb") as file:
                file.write(given)


def _batches(opened: Opened, number: int, names: tuple[str, ...]) -> Iterator[list[pa.Array]]:
    """The columns of one source, some records at a time."""
    ids, source, first = opened.records.ids[number], opened.records.sources[number], 0
    with pq.ParquetFile(opened.identifying[number]) as file:
        own = [name for name in names if name in file.schema_arrow.names]
        for batch in file.iter_batches(columns=own):
            rows = batch.num_rows
            columns = [
                batch.column(name).cast(pa.large_string())
                if name in own
                else pa.nulls(rows, pa.large_string())
                for name in names
            ]
            of = pa.repeat(pa.scalar(source, pa.string()), rows)
            yield [of, ids.slice(first, rows).cast(pa.large_string()), *columns]
            first += rows
