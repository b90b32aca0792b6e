"""Which records agree on all keys, and what their classes hold: classes counted by aggregation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.core.optional_packages import needed
from sfumato.engines.spark.spark_session import WithoutValues, quoted
from sfumato.kernels.class_counts import cumulated, moved_between

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


RECORDS, PERSONS = "sfumato_records", "sfumato_persons"
SQUARES, ROUGH_SQUARES, LARGEST = "sfumato_squares", "sfumato_rough_squares", "sfumato_largest"
FEWEST, ALONE, NUMBERS = "sfumato_fewest", "sfumato_alone", "sfumato_numbers"
OF_VALUES = ("affiliation", "distinct", "first", "entropy", "distance")
"""What is counted of each class's values, in the order of the columns."""
ORDERED = "ordered"
"""What is counted beside them of values that have ranks."""


def rest(l: int) -> str:  # noqa: E741
    """What is counted beside them: records with the l-th commonest value or a rarer one."""
    return f"rest_{l}"


_WHAT, _VALUE, _NUMBER, _SHARE, _TOTAL, _RANK = (
    f"sfumato_{each}" for each in ("what", "value", "number", "share", "total", "rank")
)
_AT, _NEXT, _REACHED, _MOVED = (f"sfumato_{each}" for each in ("at", "next", "reached", "moved"))
"""The rank of a value as a number, that of the class's next value (null after the last), the
class's records up to the value, and the value's part of the ordered distance."""
_NOBODY = -1
"""``what`` of the rows that count persons; those of values have the attribute's place."""


@dataclass(frozen=True)
class Values:
    """A column whose values are counted in each class.

    Attributes
    ----------
    column
        Its codes, -1 for missing.
    counts
        Number of records of the whole file with each code, shape (codes,).
    ranks
        Rank of each code as a number, from 0 without a gap, shape (codes,), where the ordered
        distance is counted.
    rest
        Each l of which the records with the l-th commonest value or a rarer one are counted.
    """

    column: str
    counts: Ints
    ranks: Codes | None = None
    rest: tuple[int, ...] = ()


def value_column(place: int, what: str) -> str:
    """The column of `count_classes` with `ORDERED`, a `rest` or one of `OF_VALUES`."""
    return f"sfumato_{what}_{place}"


def count_classes(
    frame: DataFrame, keys: Sequence[str], person: str | None, values: Sequence[Values]
) -> DataFrame:
    """Count records, persons and values of every class of records that agree on all keys.

    Three exchanges, each of what the one before left over: (class, value, person), then (class,
    value) and (class, number of records), then class. Every one counts within its partitions
    before it sends anything, so that a person with a million records, or a value that everybody
    has, is spread over all tasks. Where every record is a person of its own the first falls away.
    Ordered distances send the classes once more, and take O(log ranks) for each of their values.

    Parameters
    ----------
    keys
        The columns that the records of a class agree on; nothing is a value of its own.
    person
        The column that says whose record it is; ``None`` where each is a person of its own.

    Returns
    -------
    DataFrame
        One row per class: its keys, then as bigint `RECORDS`, `PERSONS`, `SQUARES` (the sum over
        persons of their squared numbers of records, null where it passes 2**63, and as double
        in `ROUGH_SQUARES`), `LARGEST` (most records of a person), `FEWEST` (fewest persons who
        share a number of records), `ALONE` (persons who share theirs with nobody), `NUMBERS`
        (numbers of records that occur), and for each of ``values`` the columns of
        `value_column`: persons who share the most shared value, distinct values, records with
        the commonest one, entropy over records in nats and half the sum of the differences of
        shares from the whole file's; as `rest`, the records from the l-th commonest value on;
        and, as `ORDERED`, where values have ranks, the distance of
        `kernels.class_counts.class_ordered_distances`.
    """
    functions = needed("pyspark.sql.functions", extra="spark", by="the engine spark")
    keys, person = [quoted(key) for key in keys], None if person is None else quoted(person)
    counted = _of_values(_rows(frame, keys, person, values, functions), keys, person, functions)
    aggregates = _of_persons(functions)
    if values:
        # By the keys alone, so that the windows within and
        # the last aggregation need no further exchange.
        counted = _ranked(counted.repartition(*keys), keys, _shares(frame, values), functions)
        aggregates += [
            each
            for place, value in enumerate(values)
            for each in _of_attribute(place, value.rest, functions)
        ]
    ordered = [place for place, value in enumerate(values) if value.ranks is not None]
    if ordered:
        counted = _with_moved(counted, keys, values, functions)
        aggregates += [_ordered_distance(place, functions) for place in ordered]
    return counted.groupBy(*keys).agg(*aggregates)


def _rows(
    frame: DataFrame, keys: Sequence[str], person: str | None, values: Sequence[Values], f: Any
) -> DataFrame:
    """One row per record, and one more for each of its values."""
    owner = [] if person is None else [f.col(person)]
    named = [f.col(key) for key in keys]
    if not values:
        alone = (f.lit(_NOBODY).alias(_WHAT), f.lit(_NOBODY).alias(_VALUE))
        return frame.select(*named, *owner, *alone)
    pairs = [(f.lit(_NOBODY), f.lit(_NOBODY))]
    pairs += [(f.lit(place), f.col(quoted(value.column))) for place, value in enumerate(values)]
    structs = [f.struct(what.alias(_WHAT), value.alias(_VALUE)) for what, value in pairs]
    # Values below one another instead of side by side: one aggregation counts all attributes.
    rows = frame.select(*named, *owner, f.inline(f.array(*structs)))
    return rows.where((f.col(_WHAT) == _NOBODY) | (f.col(_VALUE) >= 0))


def _of_values(rows: DataFrame, keys: Sequence[str], person: str | None, f: Any) -> DataFrame:
    """Persons and records of each value of a class, and of each number of records in it."""
    number = f.lit(1)
    if person is not None:
        rows = rows.groupBy(*keys, _WHAT, _VALUE, person).agg(f.count(f.lit(1)).alias(_NUMBER))
        number = f.col(_NUMBER)
    of_person = f.col(_WHAT) == _NOBODY
    # Of rows of persons the value is their number of records:
    # who share one are counted as those who share a value.
    value = f.when(of_person, number).otherwise(f.col(_VALUE)).cast("bigint").alias(_VALUE)
    named = [f.col(key) for key in (*keys, _WHAT)]
    owned = rows.select(*named, value, number.cast("bigint").alias(_NUMBER))
    return owned.groupBy(*keys, _WHAT, _VALUE).agg(
        f.count(f.lit(1)).alias(PERSONS), f.sum(_NUMBER).alias(RECORDS)
    )


def _shares(frame: DataFrame, values: Sequence[Values]) -> DataFrame:
    """The share of the file's records that has each value."""
    places = np.repeat(np.arange(len(values)), [len(value.counts) for value in values])
    codes = np.concatenate([np.arange(len(value.counts)) for value in values])
    shares = np.concatenate([value.counts / max(int(value.counts.sum()), 1) for value in values])
    columns = {_WHAT: places.astype(np.int32), _VALUE: codes.astype(np.int64), _SHARE: shares}
    ranks = [
        np.zeros_like(value.counts) if value.ranks is None else value.ranks for value in values
    ]
    columns[_AT] = np.concatenate(ranks).astype(np.int64)
    return frame.sparkSession.createDataFrame(pa.table(columns))


def _ranked(counted: DataFrame, keys: Sequence[str], shares: DataFrame, f: Any) -> DataFrame:
    """Each value with its share in the file, its class's total, and its rank by records."""
    window = needed("pyspark.sql.window", extra="spark", by="the engine spark").Window
    # Sent to every executor, as the shares are few and the classes are not: nothing is shuffled.
    counted = counted.join(f.broadcast(shares), [_WHAT, _VALUE], "left")
    own = window.partitionBy(*keys, _WHAT)
    # Ties by code, so that the rank does not hang on partitions.
    ranked = counted.withColumn(
        _RANK, f.row_number().over(own.orderBy(f.col(RECORDS).desc(), f.col(_VALUE)))
    )
    return ranked.withColumn(_TOTAL, f.sum(RECORDS).over(own))


def _with_moved(
    ranked: DataFrame, keys: Sequence[str], values: Sequence[Values], f: Any
) -> DataFrame:
    """Each value with its part of the ordered distance of its class.

    From one value of a class to its next the class's share at or below stays the same, and that
    of the file is known of every rank: no row is needed of values that the class does not have.
    """
    window = needed("pyspark.sql.window", extra="spark", by="the engine spark").Window
    types = needed("pyspark.sql.types", extra="spark", by="the engine spark")
    own = window.partitionBy(*keys, _WHAT).orderBy(_AT, _VALUE)
    until_here = own.rowsBetween(window.unboundedPreceding, window.currentRow)
    ranked = ranked.withColumns(
        {_NEXT: f.lead(_AT).over(own), _REACHED: f.sum(RECORDS).over(until_here)}
    )
    of_file = {
        place: cumulated(value.counts, value.ranks)
        for place, value in enumerate(values)
        if value.ranks is not None and value.counts.any()
    }
    fields = [*ranked.schema.fields, types.StructField(_MOVED, types.DoubleType())]
    task = WithoutValues(partial(_moved, of_file=of_file))
    return ranked.mapInArrow(task, types.StructType(fields))


def _moved(
    batches: Iterator[pa.RecordBatch], of_file: Mapping[int, tuple[Floats, Floats]]
) -> Iterator[pa.RecordBatch]:
    """The batches with `_MOVED`; of the file, what `kernels.class_counts.cumulated` gives."""
    for batch in batches:
        moved = np.zeros(batch.num_rows)
        what = batch.column(_WHAT).to_numpy()
        for place, (below, sums) in of_file.items():
            here = np.flatnonzero(what == place)
            if len(below) and len(here):
                values = batch.select([_AT, _NEXT, _REACHED, RECORDS, _TOTAL]).take(pa.array(here))
                # The last value of a class reaches to the end of the ranks.
                ends = values.column(_NEXT).fill_null(len(below))
                start, reached, records, total = (
                    values.column(name).to_numpy() for name in (_AT, _REACHED, RECORDS, _TOTAL)
                )
                parts = moved_between(start, ends.to_numpy(), reached / total, below, sums)
                # The first value of a class: below it the class
                # has nothing, and all of the file's share counts.
                parts += np.where(reached == records, sums[start], 0.0)
                moved[here] = parts / len(below)
        columns = [*batch.columns, pa.array(moved)]
        yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, _MOVED])


def _ordered_distance(place: int, f: Any) -> Column:
    moved = f.sum(f.when(f.col(_WHAT) == place, f.col(_MOVED)))
    distance: Column = f.coalesce(moved, f.lit(0.0)).alias(value_column(place, ORDERED))
    return distance


def _of_persons(f: Any) -> list[Column]:
    here = f.col(_WHAT) == _NOBODY
    number, persons = f.col(_VALUE), f.col(PERSONS)
    # Null where 64 bits do not hold it, instead of an error or a number that has run over.
    squares = f.try_multiply(f.try_multiply(number, number), persons)
    rough = number.cast("double") * number.cast("double") * persons.cast("double")
    # A sum leaves nulls out, and would be too small without a word.
    overflown = f.max(f.when(here, squares.isNull()))
    summed = f.try_sum(f.when(here, squares))
    return [
        f.sum(f.when(here, f.col(RECORDS))).alias(RECORDS),
        f.sum(f.when(here, persons)).alias(PERSONS),
        f.when(~overflown, summed).alias(SQUARES),
        f.sum(f.when(here, rough)).alias(ROUGH_SQUARES),
        f.max(f.when(here, number)).alias(LARGEST),
        f.min(f.when(here, persons)).alias(FEWEST),
        f.count(f.when(here & (persons == 1), 1)).alias(ALONE),
        f.count(f.when(here, 1)).alias(NUMBERS),
    ]


def _of_attribute(place: int, several: tuple[int, ...], f: Any) -> list[Column]:
    here = f.col(_WHAT) == place
    records, total = f.col(RECORDS), f.col(_TOTAL)
    share = records / total
    # ½ Σ |p − q| = Σ (p − q)⁺, for which values that the
    # class does not have add nothing and need no row.
    more = f.greatest(share - f.coalesce(f.col(_SHARE), f.lit(0.0)), f.lit(0.0))
    columns = {
        "affiliation": f.max(f.when(here, f.col(PERSONS))),
        "distinct": f.count(f.when(here, 1)),
        "first": f.max(f.when(here & (f.col(_RANK) == 1), records)),
        "entropy": f.sum(f.when(here, -share * f.ln(share))),
        "distance": f.sum(f.when(here, more)),
    }
    columns |= {rest(l): f.sum(f.when(here & (f.col(_RANK) >= l), records)) for l in several}  # noqa: E741
    return [
        f.coalesce(column, f.lit(0)).alias(value_column(place, what))
        for what, column in columns.items()
    ]
