"""Encode a file on Spark: the driver settles domains, executors turn values into codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.core.shared_options import Progress, silent
from sfumato.engines.spark.checkpoint import cut_lineage, derived, release
from sfumato.engines.spark.cleaned_records import counted_steps, prepared_on_spark
from sfumato.engines.spark.codes import (
    SPACED,
    EncodeBatches,
    Lookup,
    has_integer_ids,
    other_values,
)
from sfumato.engines.spark.distinct import distinct_values
from sfumato.engines.spark.frames import column, column_types
from sfumato.engines.spark.names import HOUSEHOLD, OWN, PERSON, TIE, WEIGHT, code_columns
from sfumato.engines.spark.progress import watched
from sfumato.engines.spark.read import BROKEN, SparkSource, open_on_cluster, plain
from sfumato.engines.spark.session import said_plainly, told
from sfumato.engines.spark.table import SparkTable
from sfumato.engines.spark.tasks import WithoutValues
from sfumato.engines.spark.unchanged import weighted_counts, weighted_sums
from sfumato.engines.spark.what_ran import what_ran
from sfumato.schema import Kind, Schema, check_schema
from sfumato.table.domains import encode_quasi_identifier, encode_sensitive
from sfumato.table.door import carried_columns as handed_on
from sfumato.table.door import (
    check_columns,
    check_persons,
    column_warnings,
    person_warnings,
    spaces_warning,
    unreadable_warnings,
)
from sfumato.table.door import spaces_message as spaces_said
from sfumato.table.door import with_settled_kinds as settled
from sfumato.table.numbering import CountedColumn, counted_records
from sfumato.table.scalars import natural_order
from sfumato.table.sources import (
    Ints,
    check_weight_column,
    flags,
    no_records,
    no_weights,
    not_utf8,
    weights_of,
)
from sfumato.table.table import MISSING, CodedColumn, LabelDomain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RECORD = "sfumato_record"


def open_on_spark(
    data: object,
    schema: Schema,
    *,
    delimiter: str | None = None,
    keep_source: bool = False,
    weights: str | None = None,
    progress: Progress = silent,
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
    delimiter
        The delimiter of a CSV file; without it, it is detected.
    keep_source
        Whether to keep the columns that a release hands on.
    weights
        The column of sampling weights, where they are needed.
    progress
        Told how far the reading is.

    Returns
    -------
    SparkTable
        The encoded file; `release` of its ``frame`` removes what was written.

    Raises
    ------
    InputError
        As `open_table` and `read_weights`; or if a column has too many values to be settled on
        the driver.
    SfumatoError
        If Spark fails.
    """
    check_schema(schema)
    source = data
    if not isinstance(source, SparkSource):
        source = open_on_cluster(data, delimiter=delimiter)
    source = prepared_on_spark(source, schema)
    warnings = check_columns(source.subject, source.names, schema)
    types = _check_types(source, schema, keep_source, weights)
    steps = counted_steps(source, [name for name in source.names if name in types])
    warnings += unreadable_warnings(steps)
    raws = _values(source, schema, progress)
    records = next(iter(raws.values())).records if raws else 0
    if not records:
        raise no_records(source.subject)
    columns = _settle(raws, schema, warnings)
    selected, kept = _selected(source, schema, types, keep_source)
    with ExitStack() as on_error:
        written = _write(
            source, schema, types, columns, selected, kept, weights=weights, progress=progress
        )
        on_error.callback(release, written)
        with watched(written.sparkSession, progress, "read", 0.9, 1.0):
            persons, spaced = _check_written(written, source, schema, records, columns)
        frame = derived(_result(written, kept), written)
        ran = what_ran(frame)
        on_error.pop_all()
    warnings += [spaces_said(schema.person or "", spaced, records)] if spaced else []
    warnings += columns.spaces
    warnings += column_warnings(
        columns.quasi_identifiers, columns.sensitive, columns.missing, records, schema.accepted
    )
    warnings += person_warnings(persons, records, named=schema.person is not None)
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
        check_weight_column(weights, source.names, source.subject)
        weights_of(pa.nulls(0, types[weights]), weights, source.subject)
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
        source.check_cells(marks.count(flags(marks.values)))
    return raws


def _comparable(frame: DataFrame, name: str) -> Any:
    """A column whose values are the same only where they are equal, letter by letter."""
    types = needed("pyspark.sql.types", extra="spark", by="engine spark")
    functions = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    kind = frame.schema[name].dataType
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
        known, spaced = raw.codes != MISSING, spaces_warning(raw)
        own = replace(raw, codes=raw.codes.copy())
        if name in schema.quasi_identifiers:
            quasi = schema.quasi_identifiers[name]
            made = encode_quasi_identifier(own, quasi, schema.missing, warnings)
            labels: tuple[str, ...] = ()
        else:
            made = _in_natural_order(encode_sensitive(own, schema.missing))
            labels = _labels(made) if schema.person is None else ()
        spaces += [] if made.kind is Kind.NUMERIC else spaced
        counts[name] = raw.of_codes(made.codes, made.domain.size)
        missing[name] = raw.records - int(counts[name].sum())
        lookups[name] = Lookup(raw.values, made.codes[known], labels)
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
    order = natural_order(labels)
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
    known = told(other_values(), *(not_utf8(name) for name in types))
    if weights is not None:
        known |= told(no_weights(weights, source.subject))
    with said_plainly("encode the records", known):
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
) -> tuple[int, int]:
    """The number of persons, and of records whose person's id has spaces around it."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    person = functions.col(PERSON)
    sums = weighted_sums(code_columns(schema))
    with said_plainly("count the persons"):
        row = written.agg(
            functions.count("*").alias("records"),
            functions.count(person).alias("known"),
            functions.count_if(functions.col(SPACED)).alias("spaced"),
            (
                functions.count("*") if schema.person is None else functions.count_distinct(person)
            ).alias("persons"),
            functions.array(*sums).alias("sums"),
        ).head()
    if (
        row is None
        or row["records"] != records
        or row["sums"] != weighted_counts(columns.counts, columns.missing)
    ):
        raise other_values()
    nobody = records - int(row["known"])
    check_persons(schema.person or "", source.subject, counted_records(nobody) if nobody else "")
    return int(row["persons"]), int(row["spaced"])


def _result(written: DataFrame, kept: Mapping[str, str]) -> DataFrame:
    """The columns of the encoded file, those that are kept under their own names."""
    own = [name for name in written.columns if name not in {SPACED, *kept.values()}]
    with said_plainly("take what it has encoded"):
        return written.select(
            *map(column, own),
            *(column(name).alias(original) for original, name in kept.items()),
        )
