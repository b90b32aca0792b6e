"""Records on Spark whose columns the schema's recipe has cleaned, by the code of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from sfumato.core.optional_packages import needed
from sfumato.engines.spark import spark_session
from sfumato.engines.spark.spark_files import BROKEN, SparkSource, plain
from sfumato.schema import Schema
from sfumato.schema.recipe import StepCount
from sfumato.table.cleaning import result_type
from sfumato.table.preparation import Preparation, Tally
from sfumato.table.sources import not_utf8, plain_column

ROWS = 1 << 16
"""Records that are cleaned together."""
_COUNTS = pa.schema(
    [
        ("column", pa.string()), ("step", pa.string()), ("kind", pa.string()),
        ("changed", pa.int64()), ("missing", pa.int64()),
    ]
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Work:
    """What an executor does with batches of the records as they came."""

    preparation: Preparation
    given: Mapping[str, str]
    wanted: Sequence[str]

    def done(self, batch: pa.RecordBatch, tally: Tally) -> pa.RecordBatch:
        """The columns that are wanted of a batch."""
        columns = {}
        for name in self.preparation.needed(self.wanted):
            columns[name] = plain_column(batch.column(self.given[name]), name)
        whole = pa.RecordBatch.from_pydict(columns)
        return self.preparation.of_batch(whole, self.wanted, tally)


@dataclass(frozen=True, eq=False)
class _Clean:
    """Batches with columns cleaned and added, in the order of ``columns``."""

    work: _Work
    columns: Mapping[str, tuple[str, pa.DataType]]
    """The columns that come out: the name of each that is cleaned or made, and its type."""
    order: Sequence[str]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in spark_session.gathered(batches, ROWS):
            # Counts of an executor that repeats a task would
            # be wrong: `counted_steps` has a pass of its own.
            done = self.work.done(batch, Tally())
            found = {
                own: done.column(name).cast(kind) for own, (name, kind) in self.columns.items()
            }
            yield pa.RecordBatch.from_pydict(
                {own: found[own] if own in found else batch.column(own) for own in self.order}
            )


@dataclass(frozen=True, eq=False)
class _Count:
    """What the steps did to the records of a task."""

    work: _Work

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tally = Tally()
        for batch in spark_session.gathered(batches, ROWS):
            self.work.done(batch, tally)
        steps = [
            (count.column, count.step, "", count.changed, count.made_missing)
            for count in tally.counts.values()
        ]
        strange = [
            (name, "", kind, cells, 0)
            for name, kinds in tally.unreadable.items()
            for kind, cells in kinds.items()
        ]
        rows = [dict(zip(_COUNTS.names, row, strict=True)) for row in (*steps, *strange)]
        yield pa.RecordBatch.from_pylist(rows, schema=_COUNTS)


def prepared_on_spark(source: SparkSource, schema: Schema) -> SparkSource:
    """The records with their columns cleaned as the schema's recipe says, and those made of others.

    Executors do it whenever the records are read; a source that is prepared already stays as it is.
    """
    if not schema.recipe or source.preparation is not None:
        return source
    types: Any = needed("pyspark.sql.types", extra="spark", by="engine spark")
    preparation = Preparation(schema, source.subject, source.names)
    wanted = [*schema.recipe]
    work = _work(preparation, source.names, wanted)
    frame = source.frame
    own = list(work.given.values())
    kinds = spark_session.column_types(frame.select(*own), list(work.given), list(work.given), [])
    names = (*source.names, *preparation.derived)
    made = {plain(names.index(name)): (name, _kind(name, schema, kinds)) for name in wanted}
    # Arrow takes columns by their order in Spark's schema.
    order = [*map(plain, range(len(names))), *([BROKEN] if source.cells is not None else [])]
    before = {field.name: field.dataType for field in frame.schema.fields}
    fields = types.StructType(
        [
            types.StructField(each, _spark_type(made[each][1]) if each in made else before[each])
            for each in order
        ]
    )
    known = spark_session.told(*(not_utf8(name) for name in work.given))
    with spark_session.said_plainly("clean the columns", known):
        cleaned = frame.mapInArrow(spark_session.WithoutValues(_Clean(work, made, order)), fields)
    return replace(source, names=names, frame=cleaned, preparation=(preparation, frame))


def counted_steps(source: SparkSource, columns: Sequence[str]) -> tuple[StepCount, ...]:
    """What each step of the recipe did to some columns, counted in a pass over the records."""
    if source.preparation is None:
        return ()
    preparation, frame = source.preparation
    wanted = [name for name in columns if name in preparation.recipe]
    if not wanted:
        return ()
    work = _work(preparation, source.names, wanted)
    types: Any = needed("pyspark.sql.types", extra="spark", by="engine spark")
    fields = types.StructType(
        [types.StructField(field.name, _spark_type(field.type)) for field in _COUNTS]
    )
    with spark_session.said_plainly(
        "count what was cleaned", spark_session.told(*(not_utf8(name) for name in work.given))
    ):
        # Broken records are refused by themselves, and
        # their shifted cells would count as unreadable.
        whole = frame if source.cells is None else frame.where(~frame[BROKEN])
        read = whole.select(*work.given.values())
        rows = (
            read.mapInArrow(spark_session.WithoutValues(_Count(work)), fields).toArrow().to_pylist()
        )
    tally = Tally()
    for row in rows:
        name, step = row["column"], row["step"]
        if row["kind"]:
            kinds = tally.unreadable.setdefault(name, {})
            kinds[row["kind"]] = kinds.get(row["kind"], 0) + row["changed"]
            continue
        what = preparation.recipe[name].steps()[step]
        count = StepCount(name, step, what, row["changed"], row["missing"])
        # A row per task: tasks add up to the whole.
        known = tally.counts.get((name, step))
        tally.counts[name, step] = count if known is None else known.plus(count)
    preparation.finish(tally)
    return preparation.counts


def _work(preparation: Preparation, names: Sequence[str], wanted: Sequence[str]) -> _Work:
    """What cleans and makes some columns of the records as they came."""
    given = {name: plain(names.index(name)) for name in preparation.needed(wanted)}
    return _Work(preparation, given, list(wanted))


def _kind(name: str, schema: Schema, kinds: Mapping[str, pa.DataType]) -> pa.DataType:
    kind = kinds.get(name, pa.string())
    # A column without any value has no type, and cells
    # that are not there are text as well as anything.
    return result_type(pa.string() if pa.types.is_null(kind) else kind, schema.recipe[name])


def _spark_type(kind: pa.DataType) -> Any:
    types: Any = needed("pyspark.sql.pandas.types", extra="spark", by="engine spark")
    # Cleaned times have no zone: with one Spark would move them to the session's.
    return types.from_arrow_type(kind, prefer_timestamp_ntz=True)
