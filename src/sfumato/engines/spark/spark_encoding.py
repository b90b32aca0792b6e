"""Encode a file on Spark: the driver settles domains, executors turn values into codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Ints
from sfumato.core.declaration import LayoutGiven, Progress, silent
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.core.optional_packages import needed
from sfumato.engines.spark.cleaned_records import counted_steps, prepared_on_spark
from sfumato.engines.spark.spark_files import BROKEN, SparkSource, open_on_cluster, plain
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import (
    HOUSEHOLD,
    OWN,
    PERSON,
    TIE,
    WEIGHT,
    WithoutValues,
    code_columns,
    column,
    column_types,
    cut_lineage,
    derived,
    gathered,
    quasi_identifier,
    release,
    said_plainly,
    sensitive,
    told,
    watched,
    what_ran,
)
from sfumato.schema import Kind, Schema, check_schema
from sfumato.table import door, scalars, sources
from sfumato.table.domains import encode_quasi_identifier, encode_sensitive
from sfumato.table.door import carried_columns as handed_on
from sfumato.table.door import spaces_message as spaces_said
from sfumato.table.door import with_settled_kinds as settled
from sfumato.table.numbering import CountedColumn, counted_column
from sfumato.table.table import MISSING, CodedColumn, Codes, LabelDomain

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


MOST_VALUES = 1 << 22
"""Distinct values of one column that come to the driver."""
AT_ONCE = 30
"""Columns that are counted in one pass; Spark numbers the sets of groups by a bit of each."""
AT_ONE_TIME = 1 << 16
"""Values of all columns up to which they come to the driver together, which is one job."""
_GROUP, _COUNT = "sfumato_group", "sfumato_count"


def distinct_values(
    frame: DataFrame, columns: Mapping[str, str], *, most: int = MOST_VALUES
) -> dict[str, CountedColumn]:
    """Count the records of each value of each column.

    Sets of groups, one per column, take one pass over the records for all columns and one
    shuffle of what is left of them: a task first counts what it has itself, so that a value that
    all records have is one row per task. What comes to the driver is as large as the domains.

    Parameters
    ----------
    columns
        Names of columns of ``frame``, by what errors call them.
    most
        Distinct values of one column that may come to the driver.

    Raises
    ------
    SfumatoError
        If Spark fails.
    """
    values: dict[str, CountedColumn] = {}
    names = list(columns)
    for start in range(0, len(names), AT_ONCE):
        part = names[start : start + AT_ONCE]
        with said_plainly("count the values of the columns"):
            for name, table in _counted(frame, {name: columns[name] for name in part}, most):
                values[name] = _column(name, table)
    return values


def _counted(
    frame: DataFrame, columns: Mapping[str, str], most: int
) -> Iterator[tuple[str, pa.Table]]:
    """Each column's distinct values and their counts."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    own = list(columns.values())
    grouped = (
        frame.groupingSets([[column] for column in own], *own)
        .agg(functions.grouping_id().alias(_GROUP), functions.count("*").alias(_COUNT))
        # Kept, as the sizes and then the values are read from it.
        .persist()
    )
    group = dict(zip(columns, _groups(own), strict=True))
    try:
        # Sizes first: a column that is too large is refused before it comes to the driver.
        sizes = dict(grouped.groupBy(_GROUP).count().collect())
        for name in columns:
            _check_size(name, sizes.get(group[name], 0), most)
        if sum(sizes.values()) <= AT_ONE_TIME:
            few = grouped.toArrow()
            for name, column in columns.items():
                rows = few.filter(pc.equal(few[_GROUP], group[name]))
                yield name, rows.select([column, _COUNT])
            return
        for name, column in columns.items():
            many = grouped.where(functions.col(_GROUP) == group[name])
            yield name, many.select(column, _COUNT).toArrow()
    finally:
        grouped.unpersist()


def _groups(columns: Sequence[str]) -> list[int]:
    """How Spark numbers the groups: a bit for every column that is left out."""
    every = (1 << len(columns)) - 1
    return [every ^ (1 << (len(columns) - 1 - place)) for place in range(len(columns))]


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise InputError(
            f"column '{name}'",
            f"must have at most {most:,} different values, as a quasi-identifier or sensitive "
            "attribute on Spark",
            found="more",
            advice="round its values or shorten its codes before, or name it among the direct "
            "identifiers if it is one",
        )


def _column(name: str, table: pa.Table) -> CountedColumn:
    values = table.column(0)
    # Offsets of 32 bits would not hold the texts of millions of values in one piece.
    if pa.types.is_string(values.type):
        values = values.cast(pa.large_string())
    whole = pa.concat_arrays(values.chunks) if values.num_chunks else pa.nulls(0, values.type)
    sources.check_utf8(whole, name)
    counts = table.column(1).combine_chunks()
    return counted_column(name, sources.plain_column(whole, name), counts)


SPACED = "sfumato_spaced"
"""The column that tells whether the text of a person's id has spaces around it."""
FEWEST_ROWS, MOST_ROWS = 1 << 14, 1 << 18
"""Rows that are looked up together: a quarter of the largest lookup, between these."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """The code of each distinct value of a column.

    Attributes
    ----------
    values
        The distinct values, without null; texts as large ones.
    labels
        The label of each code, where the column is sensitive and ties are made of records.
    """

    values: pa.Array
    codes: Codes
    labels: tuple[str, ...] = ()


class Shared(Protocol):
    """What Spark has brought to every executor."""

    @property
    def value(self) -> tuple[Sequence[Lookup], Sequence[Lookup]]:
        """The lookups of the quasi-identifiers and of the sensitive attributes."""
        ...


@dataclass(frozen=True)
class EncodeBatches:
    """Turn batches of values into batches of codes.

    Attributes
    ----------
    lookups
        Of the quasi-identifiers and of the sensitive attributes, in the schema's order.
    person
        The column of persons, or of numbers of the records, and what errors call it.
    weights
        The column of sampling weights and the file, as errors call them, and the column.
    """

    lookups: Shared
    quasi_identifiers: Mapping[str, str]
    sensitive: Mapping[str, str]
    person: tuple[str, str]
    named: bool
    household: tuple[str, str] | None
    kept: Mapping[str, str]
    missing: tuple[str, ...]
    weights: tuple[str, str, str] | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Encode the batches of one task."""
        quasi_identifiers, sensitive_attributes = self.lookups.value
        sizes = [len(lookup.values) for lookup in (*quasi_identifiers, *sensitive_attributes)]
        # Arrow hashes the whole lookup for each batch: batches
        # of a quarter of it make that a part of the work.
        rows = min(max(FEWEST_ROWS, max(sizes, default=0) // 4), MOST_ROWS)
        for batch in gathered(batches, rows):
            yield self._encoded(batch, quasi_identifiers, sensitive_attributes)

    def _encoded(
        self,
        batch: pa.RecordBatch,
        quasi_identifiers: Sequence[Lookup],
        sensitive_attributes: Sequence[Lookup],
    ) -> pa.RecordBatch:
        """One batch of codes, the columns by name and in the order of `_fields`."""
        coded = [
            codes_of(sources.plain_column(batch.column(column), name), lookup)
            for (name, column), lookup in zip(
                self.quasi_identifiers.items(), quasi_identifiers, strict=True
            )
        ]
        of_sensitive = [
            codes_of(sources.plain_column(batch.column(column), name), lookup)
            for (name, column), lookup in zip(
                self.sensitive.items(), sensitive_attributes, strict=True
            )
        ]
        columns: dict[str, pa.Array] = {}
        name, column = self.person
        person = batch.column(column)
        if self.named:
            values = self._values(person, name)
            columns[PERSON] = ids(values)
            columns[TIE] = sources.from_numpy(scalars.ties_of_values(values))
            columns[SPACED] = sources.from_numpy(scalars.have_spaces(_filled(values)))
        else:
            labels = [lookup.labels for lookup in sensitive_attributes]
            labelled = list(zip(of_sensitive, labels, strict=True))
            columns[PERSON] = person
            # Without ids a record is told from others by its content,
            # as numbers of Spark's records change with partitions.
            columns[TIE] = sources.from_numpy(scalars.ties_of_codes(coded, labelled))
            columns[SPACED] = sources.from_numpy(np.zeros(batch.num_rows, dtype=np.bool_))
        if self.household is not None:
            name, column = self.household
            columns[HOUSEHOLD] = ids(self._values(batch.column(column), name))
        for place, codes in enumerate(coded):
            columns[quasi_identifier(place)] = sources.from_numpy(codes)
        for place, codes in enumerate(of_sensitive):
            columns[sensitive(place)] = sources.from_numpy(codes)
        if self.weights is not None:
            name, subject, column = self.weights
            values = sources.plain_column(batch.column(column), name)
            columns[WEIGHT] = sources.from_numpy(sources.weights_of(values, name, subject))
        for name, column in self.kept.items():
            sources.check_utf8(batch.column(column), name)
            columns[column] = batch.column(column)
        return pa.RecordBatch.from_pydict(columns)

    def _values(self, values: pa.Array, name: str) -> pa.Array:
        """Ids, null where they mean a missing value."""
        values = sources.plain_column(values, name)
        sources.check_utf8(values, name)
        known = values.drop_null()
        # Ids that mean missing are no person: all of them would be taken for one.
        none = scalars.mean_missing(known, self.missing)
        if not none.any():
            return values
        places = np.flatnonzero(sources.flags(values.is_valid()))[none]
        missing = np.zeros(len(values), dtype=np.bool_)
        missing[places] = True
        return pc.if_else(sources.from_numpy(missing), pa.scalar(None, values.type), values)


def _filled(values: pa.Array) -> pa.Array:
    return values.fill_null("") if sources.is_text(values.type) else values


def codes_of(values: pa.Array, lookup: Lookup) -> Codes:
    """The code of each value, -1 where it is null."""
    if sources.is_text(values.type):
        values = values.cast(pa.large_string())
    places = pc.index_in(sources.one_zero(values), value_set=lookup.values)
    # A value that was not there when the domains were settled.
    if places.null_count != values.null_count:
        raise other_values()
    codes = np.append(lookup.codes, np.int32(MISSING))
    found: Codes = codes[sources.as_numpy(pc.fill_null(places, len(lookup.codes)))]
    return found


def other_values() -> InputError:
    """The error for data that is not the same when it is read again."""
    return InputError(
        "data",
        "must be the same whenever Spark computes it",
        found="other values when it was read again",
        advice="write it to a file first, and pass that; random numbers and the order of rows "
        "differ from one computation to the next",
    )


def has_integer_ids(kind: pa.DataType) -> bool:
    """Whether ids of the type stay integers."""
    return bool(pa.types.is_integer(kind))


def ids(values: pa.Array) -> pa.Array:
    """Ids as 64-bit integers, or as texts that are the same only where the ids are."""
    kind = values.type
    if has_integer_ids(kind):
        return values.cast(pa.int64())
    if sources.is_text(kind):
        return values.cast(pa.string())
    valid = sources.flags(values.is_valid())
    known = values.drop_null()
    if sources.is_bytes(kind):
        # Bytes need not be text, and two of them must not print alike.
        texts = [each.hex() for each in known.to_pylist()]
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        texts = scalars.printed(known)
    else:
        texts = known.cast(pa.large_string()).to_pylist()
    places = np.where(valid, np.cumsum(valid) - 1, 0)
    return pc.take(sources.from_texts(texts).cast(pa.string()), sources.from_numpy(places, ~valid))


_MODULUS = 1_000_003
"""Weights stay below it, so that their sum over 2**43 records stays below 2**63."""


def weighted_sums(columns: Sequence[str]) -> list[Column]:
    """Sums over records of a weight of each column's code: two counts rarely have the same.

    Codes of -1 are missing.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    # 2 more makes missing 1 and not 0, so that it counts. Squares
    # tell codes 1 and 3 from 2 and 2, which a plain sum does not.
    codes = [functions.col(name).cast("bigint") + 2 for name in columns]
    return [functions.sum(code * code % _MODULUS) for code in codes]


def weighted_counts(counts: Mapping[str, Ints], missing: Mapping[str, int]) -> list[int]:
    """What `weighted_sums` should be, by the number of records with each code, or with none."""
    found = []
    for name, count in counts.items():
        weights = np.square(np.arange(len(count), dtype=np.int64) + 2) % _MODULUS
        nothing = (MISSING + 2) ** 2 % _MODULUS
        found.append(int(count @ weights) + missing[name] * nothing)
    return found


_RECORD = "sfumato_record"


def open_on_spark(
    data: object,
    schema: Schema,
    *,
    keep_source: bool = False,
    weights: str | None = None,
    progress: Progress = silent,
    **layout: Unpack[LayoutGiven],
) -> SparkTable:
    """Read a file or DataFrame on Spark and encode it, as `open_table` does on one machine.

    Two passes over the records: one counts the values of the columns, from which the driver
    settles their domains with the code of the embedded engine; the other turns values into
    codes, which are written to where executors find them again.

    Parameters
    ----------
    data
        A DataFrame of PySpark, a path or URI that Spark reads, or a `SparkSource`.
    schema
        What each column is. Kinds that it leaves open are settled from the data.
    weights
        The column of sampling weights, where they are needed.

    Raises
    ------
    SfumatoError
        If Spark fails.
    """
    check_schema(schema)
    source = data
    if not isinstance(source, SparkSource):
        source = open_on_cluster(data, **layout)
    source = prepared_on_spark(source, schema)
    warnings = door.check_columns(source.subject, source.names, schema)
    types = _check_types(source, schema, keep_source, weights)
    steps = counted_steps(source, [name for name in source.names if name in types])
    warnings += door.unreadable_warnings(steps)
    raws = _values(source, schema, progress)
    records = next(iter(raws.values())).records if raws else 0
    if not records:
        raise sources.NoRecordsError(source.subject)
    columns = _settle(raws, schema, warnings)
    selected, kept = _selected(source, schema, types, keep_source)
    with ExitStack() as on_error:
        written = _write(
            source, schema, types, columns, selected, kept, weights=weights, progress=progress
        )
        # An error or an interrupt after the writing removes it: nobody else knows where it is.
        on_error.callback(release, written)
        with watched(written.sparkSession, progress, "read", 0.9, 1.0):
            persons, spelled, spaced = _check_written(written, source, schema, records, columns)
        frame = derived(_result(written, kept), written)
        ran = what_ran(frame)
        on_error.pop_all()
    warnings += [spaces_said(schema.person or "", spaced, records)] if spaced else []
    warnings += door.spellings_message(schema.person or "", persons - spelled, persons)
    warnings += columns.spaces
    warnings += door.column_warnings(
        columns.quasi_identifiers, columns.sensitive, columns.missing, records, schema.accepted
    )
    warnings += door.person_warnings(persons, records, named=schema.person is not None)
    return SparkTable(
        schema=settled(schema, columns.quasi_identifiers),
        frame=frame,
        quasi_identifiers=columns.quasi_identifiers,
        sensitive=columns.sensitive,
        value_counts=columns.counts,
        missing=columns.missing,
        columns=source.names,
        warnings=tuple(warnings),
        records=records,
        persons=persons,
        ran=ran,
        preparation=steps,
    )


@dataclass(frozen=True, eq=False)
class _Settled:
    """What the driver has settled: columns without codes, their counts, and the lookups."""

    quasi_identifiers: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    lookups: tuple[list[Lookup], list[Lookup]]
    counts: Mapping[str, Ints]
    missing: Mapping[str, int]
    spaces: Sequence[str]


def _check_types(
    source: SparkSource, schema: Schema, keep_source: bool, weights: str | None
) -> Mapping[str, pa.DataType]:
    """The types of the columns that are needed; refuses those that are not single values."""
    people = {name for name in (schema.person, schema.household) if name is not None}
    encoded = {*people, *schema.quasi_identifiers, *schema.sensitive}
    kept = handed_on(source.names, schema) if keep_source else []
    # Such a name would hide a column of our own.
    own = [name for name in kept if name.casefold().startswith(OWN)]
    if own:
        raise InputError(
            f"column '{own[0]}'",
            f"must not have a name that begins with '{OWN}', on the engine spark",
            advice="rename it",
        )
    needed_too = {*encoded, *kept, *(() if weights is None else (weights,))}
    wanted = [name for name in source.names if name in needed_too]
    frame = source.frame.select(*(plain(source.names.index(name)) for name in wanted))
    types = column_types(frame, wanted, encoded, people)
    if weights is not None:
        sources.check_weight_column(weights, source.names, source.subject)
        sources.weights_of(pa.nulls(0, types[weights]), weights, source.subject)
    return types


def _values(source: SparkSource, schema: Schema, progress: Progress) -> dict[str, CountedColumn]:
    """The distinct values of the columns that become codes, with their numbers of records."""
    names = [*schema.quasi_identifiers, *schema.sensitive]
    columns = {name: plain(source.names.index(name)) for name in names}
    if source.cells is not None:
        columns[BROKEN] = BROKEN
    frame = source.frame.select(*(_comparable(source.frame, each) for each in columns.values()))
    with watched(frame.sparkSession, progress, "read", 0.0, 0.4, jobs=3):
        raws = distinct_values(frame, columns)
    if source.cells is not None:
        marks = raws.pop(BROKEN)
        source.check_cells(marks.count(sources.flags(marks.values)))
    return raws


def _comparable(frame: DataFrame, name: str) -> Any:
    """A column whose values are the same only where they are equal, letter by letter."""
    types = needed("pyspark.sql.types", extra="spark", by="engine spark")
    functions = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    kind = frame.schema[name].dataType
    # Spark cannot group or write a column that has no type.
    if isinstance(kind, types.NullType):
        return functions.col(name).cast("string").alias(name)
    if isinstance(kind, types.StringType) and getattr(kind, "collation", "") not in (
        "",
        "UTF8_BINARY",
    ):
        return functions.collate(functions.col(name), "UTF8_BINARY").alias(name)
    return functions.col(name)


def _settle(raws: dict[str, CountedColumn], schema: Schema, warnings: list[str]) -> _Settled:
    """Kinds, domains and lookups, by the code of the embedded engine."""
    spaces: list[str] = []
    coded: dict[str, CodedColumn] = {}
    lookups: dict[str, Lookup] = {}
    counts: dict[str, Ints] = {}
    missing: dict[str, int] = {}
    for name, raw in raws.items():
        known, spaced = raw.codes != MISSING, door.spaces_warning(raw)
        # Encoding writes to the codes, and the counts below need those that came.
        own = replace(raw, codes=raw.codes.copy())
        if name in schema.quasi_identifiers:
            quasi = schema.quasi_identifiers[name]
            made = encode_quasi_identifier(own, quasi, schema.missing, warnings)
            labels: tuple[str, ...] = ()
        else:
            made = _in_natural_order(encode_sensitive(own, schema.missing, warnings))
            # Labels are as large as the domain and go to
            # every executor: only ties of records need them.
            labels = _labels(made) if schema.person is None else ()
        spaces += [] if made.kind is Kind.NUMERIC else spaced
        counts[name] = raw.of_codes(made.codes, made.domain.size)
        missing[name] = raw.records - int(counts[name].sum())
        lookups[name] = Lookup(raw.values, made.codes[known], labels)
        # The codes of distinct values are in the lookup; those of records never come here.
        coded[name] = replace(made, codes=np.empty(0, dtype=np.int32))
    quasi_names, sensitive_names = list(schema.quasi_identifiers), list(schema.sensitive)
    return _Settled(
        tuple(coded[name] for name in quasi_names),
        tuple(coded[name] for name in sensitive_names),
        ([lookups[name] for name in quasi_names], [lookups[name] for name in sensitive_names]),
        counts,
        missing,
        spaces,
    )


def _in_natural_order(column: CodedColumn) -> CodedColumn:
    """A sensitive attribute with its labels in natural order: Spark has no first record."""
    labels = _labels(column)
    order = scalars.natural_order(labels)
    place = {label: code for code, label in enumerate(order)}
    lookup = np.array([*(place[label] for label in labels), MISSING], dtype=np.int32)
    return replace(column, codes=lookup[column.codes], domain=LabelDomain(tuple(order)))


def _labels(column: CodedColumn) -> tuple[str, ...]:
    return tuple(column.domain.label(code) for code in range(column.domain.size))


def _selected(
    source: SparkSource, schema: Schema, types: Mapping[str, pa.DataType], keep_source: bool
) -> tuple[DataFrame, dict[str, str]]:
    """The columns that executors need, and those of them that are kept, by name."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    columns = [
        _comparable(source.frame, plain(place))
        for place, name in enumerate(source.names)
        if name in types
    ]
    if schema.person is None:
        columns.append(functions.monotonically_increasing_id().alias(_RECORD))
    kept = handed_on(source.names, schema) if keep_source else []
    return source.frame.select(*columns), {name: plain(source.names.index(name)) for name in kept}


def _write(
    source: SparkSource,
    schema: Schema,
    types: Mapping[str, pa.DataType],
    columns: _Settled,
    frame: DataFrame,
    kept: Mapping[str, str],
    *,
    weights: str | None,
    progress: Progress,
) -> DataFrame:
    """Encode all records and write them to where executors find them again."""

    def of(names: Sequence[str]) -> dict[str, str]:
        return {name: plain(source.names.index(name)) for name in names}

    session = frame.sparkSession
    known = told(other_values(), *(sources.not_utf8(name) for name in types))
    if weights is not None:
        known |= told(sources.no_weights(weights, source.subject))
    with said_plainly("encode the records", known):
        # Once per executor and not once per task.
        shared = session.sparkContext.broadcast(columns.lookups)
        encode = EncodeBatches(
            shared,
            of(list(schema.quasi_identifiers)),
            of(list(schema.sensitive)),
            (schema.person, of([schema.person])[schema.person])
            if schema.person is not None
            else ("", _RECORD),
            schema.person is not None,
            None
            if schema.household is None
            else (schema.household, of([schema.household])[schema.household]),
            dict(kept),
            tuple(schema.missing),
            None if weights is None else (weights, source.subject, of([weights])[weights]),
        )
        fields = _fields(frame, schema, types, kept, weighted=weights is not None)
        encoded = frame.mapInArrow(WithoutValues(encode), fields)
        try:
            with watched(session, progress, "read", 0.4, 0.9):
                return cut_lineage(encoded, known)
        finally:
            # It holds values of the data, which are not to stay on executors.
            shared.destroy()


def _fields(
    frame: DataFrame,
    schema: Schema,
    types: Mapping[str, pa.DataType],
    kept: Mapping[str, str],
    *,
    weighted: bool,
) -> Any:
    """The columns that executors make, in their order."""
    of = needed("pyspark.sql.types", extra="spark", by="engine spark")

    def id_type(name: str | None) -> Any:
        return of.LongType() if name is None or has_integer_ids(types[name]) else of.StringType()

    fields = [
        of.StructField(PERSON, id_type(schema.person)),
        of.StructField(TIE, of.LongType()),
        of.StructField(SPACED, of.BooleanType()),
    ]
    if schema.household is not None:
        fields.append(of.StructField(HOUSEHOLD, id_type(schema.household)))
    fields += [of.StructField(name, of.IntegerType()) for name in code_columns(schema)]
    if weighted:
        fields.append(of.StructField(WEIGHT, of.DoubleType()))
    own = {field.name: field for field in frame.schema.fields}
    fields += [of.StructField(name, own[name].dataType) for name in kept.values()]
    return of.StructType(fields)


def _check_written(
    written: DataFrame, source: SparkSource, schema: Schema, records: int, columns: _Settled
) -> tuple[int, int, int]:
    """The numbers of persons, of ids without case and outer spaces, and of records with these."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    person = functions.col(PERSON)
    # Spark's own trim() takes blanks away and leaves what else Arrow counts as a space.
    spelled = functions.lower(functions.regexp_replace(person, r"(?U)^\s+|\s+$", ""))
    persons, spellings = (
        functions.count("*") if schema.person is None else functions.count_distinct(each)
        for each in (person, spelled)
    )
    sums = weighted_sums(code_columns(schema))
    with said_plainly("count the people"):
        row = written.agg(
            functions.count("*").alias("records"),
            functions.count(person).alias("known"),
            functions.count_if(functions.col(SPACED)).alias("spaced"),
            persons.alias("persons"),
            spellings.alias("spellings"),
            functions.array(*sums).alias("sums"),
        ).head()
    if (
        row is None
        or row["records"] != records
        # A source that gives other rows each time would have
        # codes of other values, and nothing else would show it.
        or row["sums"] != weighted_counts(columns.counts, columns.missing)
    ):
        raise other_values()
    nobody = records - int(row["known"])
    door.check_persons(
        schema.person or "", source.subject, counted(nobody, "record") if nobody else ""
    )
    return int(row["persons"]), int(row["spellings"]), int(row["spaced"])


def _result(written: DataFrame, kept: Mapping[str, str]) -> DataFrame:
    """The columns of the encoded file, those that are kept under their own names."""
    own = [name for name in written.columns if name not in {SPACED, *kept.values()}]
    with said_plainly("take what it has encoded"):
        return written.select(
            *map(column, own), *(column(name).alias(original) for original, name in kept.items())
        )
