"""From records to persons on the cluster: what the upper levels of the tree ask of each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.optional_packages import needed
from sfumato.engines.spark.axes import Axes, Indicator, Ordered
from sfumato.engines.spark.names import PERSON, TIE, quasi_identifier, sensitive
from sfumato.engines.spark.table import SparkTable
from sfumato.engines.spark.tasks import WithoutValues, gathered, without_values
from sfumato.kernels import class_counts
from sfumato.table.table import MISSING, Codes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Columns = dict[str, "pa.Array | npt.NDArray[Any]"]
PERSONS = 50_000
"""Persons of a bucket, whose records one task gathers."""
RECORDS = 1_000_000
"""Records of a bucket on average, where persons have many."""
SECOND = "sfumato_second"
"""A second hash of the person, which orders persons of equal tie."""
OF_PERSON = "sfumato_records"
"""Number of records of the person."""
_BUCKET = "sfumato_bucket"


def persons_frame(table: SparkTable, axes: Axes) -> DataFrame:
    """One row per person, with the person's place along every axis.

    Persons are gathered by buckets of a hash, so that no bucket holds much more than another;
    a record that is a person of its own moves nowhere. The frame is lazy, and not kept.

    Parameters
    ----------
    table
        The encoded file.
    axes
        Its axes.

    Returns
    -------
    DataFrame
        ``sfumato_person``, ``sfumato_tie``, ``sfumato_second`` and ``sfumato_records``. For the
        quasi-identifier i of an ordered axis: ``k{i}`` its bin, the code at or below the
        position; ``w{i}``, ``f{i}`` how far the position lies above that code's point, whole part
        and fraction; ``t{i}``, ``u{i}``, ``n{i}`` sum, sum of squares and number of the
        normalised values; ``a{i}``, ``z{i}`` lowest and highest code. For that of a categorical
        one: ``m{i}`` the 0/1 column of the person, -1 for none; ``v{i}``, ``c{i}`` the columns
        that hold for any record, and of how many. For the sensitive attribute j ``sv{j}`` and
        ``sc{j}`` likewise.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    codes = [quasi_identifier(place) for place in range(len(table.quasi_identifiers))]
    codes += [sensitive(each.place) for each in axes.sensitive]
    frame = table.frame.select(PERSON, TIE, *codes)
    frame = frame.withColumn(SECOND, functions.xxhash64(PERSON))
    schema = _schema(frame.schema[PERSON].dataType.simpleString(), axes)
    gather = partial(people_of, axes=axes)
    if table.schema.person is None:
        return frame.mapInArrow(WithoutValues(partial(_by_batches, gather=gather)), schema)
    buckets = 1 + max(table.persons // PERSONS, table.records // RECORDS)
    buckets = max(buckets, table.ran.partitions)
    bucket = functions.pmod(functions.col(SECOND), functions.lit(buckets))
    return frame.groupBy(bucket.alias(_BUCKET)).applyInArrow(without_values(gather), schema)


def _by_batches(batches: Iterator[pa.RecordBatch], gather: Any) -> Iterator[pa.RecordBatch]:
    for batch in gathered(batches, PERSONS):
        yield from gather(pa.Table.from_batches([batch])).to_batches()


def _schema(person: str, axes: Axes) -> str:
    fields = [f"{PERSON} {person}", f"{TIE} bigint", f"{SECOND} bigint", f"{OF_PERSON} bigint"]
    for axis in axes.ordered:
        names = "k int, w bigint, f double, t double, u double, n bigint, a int, z int"
        fields += [each.replace(" ", f"{axis.place} ") for each in names.split(", ")]
    for each in axes.indicators:
        if each.missing_bin < 0:
            i = each.place
            fields += [f"m{i} int", f"v{i} array<int>", f"c{i} array<int>"]
    for own in axes.sensitive:
        fields += [f"sv{own.place} array<int>", f"sc{own.place} array<int>"]
    return ", ".join(fields)


def people_of(records: pa.Table, axes: Axes) -> pa.Table:
    """The persons of some records, each with all of its records.

    Parameters
    ----------
    records
        Person, tie, second hash, and codes.
    axes
        The file's axes.
    """
    ids = records.column(PERSON).combine_chunks().dictionary_encode()
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.chunk(0)
    person = ids.indices.to_numpy().astype(np.int32)
    rows, starts = class_counts.group_rows(person, len(ids.dictionary))
    first = rows[starts[:-1]]
    count = np.diff(starts)
    columns: Columns = {
        PERSON: ids.dictionary,
        TIE: _numbers(records, TIE)[first],
        SECOND: _numbers(records, SECOND)[first],
        OF_PERSON: count,
    }
    for axis in axes.ordered:
        codes = _numbers(records, quasi_identifier(axis.place))
        columns |= _along(axis, rows, starts, codes, count)
    for each in axes.indicators:
        if each.missing_bin < 0:
            codes = _numbers(records, quasi_identifier(each.place))
            columns |= _among(each, rows, starts, codes, count)
    for own in axes.sensitive:
        found = class_counts.distinct(rows, starts, _numbers(records, sensitive(own.place)))
        columns |= _lists(f"sv{own.place}", f"sc{own.place}", *found)
    return pa.table(columns)


def _numbers(records: pa.Table, name: str) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = records.column(name).to_numpy()
    return values


def _along(axis: Ordered, rows: Codes, starts: Ints, codes: Codes, count: Ints) -> Columns:
    sums = class_counts.sums(rows, starts, codes, axis.normalized)
    whole, fraction = np.zeros(len(count), dtype=np.int64), np.zeros(len(count))
    if axis.points is None:
        place = class_counts.modes(rows, starts, codes, axis.size)
    else:
        whole, fraction = class_counts.exact_means(rows, starts, codes, axis.points)
        place = (np.searchsorted(axis.points, whole, side="right") - 1).astype(np.int32)
        whole = whole - axis.points[place]
    missing = sums.present < count
    place = np.where(missing, np.int32(axis.size), place)
    whole[missing], fraction[missing] = 0, 0.0
    columns = dict(zip("kwf", (place, whole, fraction), strict=True))
    columns |= dict(zip("tunaz", sums, strict=True))
    return {f"{name}{axis.place}": values for name, values in columns.items()}


def _among(axis: Indicator, rows: Codes, starts: Ints, codes: Codes, count: Ints) -> Columns:
    owner = np.repeat(np.arange(len(count), dtype=np.int32), count)
    missing = np.zeros(len(count), dtype=bool)
    missing[owner[codes[rows] == MISSING]] = True
    offsets, values, counts = class_counts.distinct(rows, starts, codes - np.int32(axis.shift))
    of = np.repeat(np.arange(len(count), dtype=np.int32), np.diff(offsets))
    member = np.full(len(count), -1, dtype=np.int32)
    most = 2 * counts > count[of]
    member[of[most]] = values[most]
    if missing.any():
        lacking, last = np.flatnonzero(missing), np.int32(axis.columns - 1)
        member[lacking] = last
        by_owner = np.argsort(np.concatenate([of, lacking]), kind="stable")
        own = count[lacking].astype(np.int32)
        values = np.concatenate([values, np.full(len(lacking), last)])[by_owner]
        counts = np.concatenate([counts, own])[by_owner]
        offsets = offsets + np.concatenate([[0], np.cumsum(missing)])
    i = axis.place
    return {f"m{i}": member} | _lists(f"v{i}", f"c{i}", offsets, values, counts)


def _lists(value: str, count: str, offsets: Ints, values: Codes, counts: Codes) -> Columns:
    ends = pa.array(offsets.astype(np.int32))
    return {
        value: pa.ListArray.from_arrays(ends, pa.array(values, pa.int32())),
        count: pa.ListArray.from_arrays(ends, pa.array(counts, pa.int32())),
    }
