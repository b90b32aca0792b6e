"""Encode a file once: codes for all that is measured, Arrow for what a release hands on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress, silent
from sfumato.kernels.threads import in_threads, one_by_one, read_ahead
from sfumato.schema import Kind, QuasiIdentifier, Schema, check_schema
from sfumato.table.columns import MISSING, CodedColumn
from sfumato.table.encoding.accumulate import Accumulator, RawColumn, at_rows
from sfumato.table.encoding.arrow_types import check_utf8
from sfumato.table.encoding.checks import (
    check_columns,
    check_persons,
    check_type,
    column_warnings,
    count_missing,
    person_warnings,
    settled,
    spaces_warning,
)
from sfumato.table.encoding.encode import encode_quasi_identifier, encode_sensitive
from sfumato.table.encoding.labels import mean_missing
from sfumato.table.sources.open_source import Source, open_source
from sfumato.table.table import Table


def open_table(
    data: object,
    schema: Schema,
    *,
    delimiter: str | None = None,
    keep_source: bool = True,
    progress: Progress = silent,
) -> Table:
    """Read a file or dataframe once and encode it.

    The columns that the schema needs are read batch by batch and only their codes are kept;
    direct identifiers are not read beyond their name. A cell is missing when it is empty, holds
    spaces only, is null or NaN, or is one of the schema's ``missing`` texts (typed numbers, and
    texts in a column of numbers, compare with them by value).

    Parameters
    ----------
    data
        A path, a dataframe, a `Source`, or a `Table` that was opened with the same schema,
        which is given back.
    schema
        What each column is. Kinds that it leaves open are settled from the data.
    delimiter
        The delimiter of a CSV file; without it, it is detected.
    keep_source
        Whether to keep, as Arrow, the person column and all columns that a release hands on.
    progress
        Told how far the reading is, where the number of rows is known.

    Raises
    ------
    InputError
        If the file lacks a column of the schema, a record has no person id, or a column does
        not hold what its role and kind need.
    """
    check_schema(schema)
    if isinstance(data, Table):
        return _opened_before(data, schema, keep_source)
    source = data if isinstance(data, Source) else open_source(data, delimiter=delimiter)
    warnings = check_columns(source.subject, source.names, schema)
    raws, kept = _read(source, schema, keep_source, progress)
    person, spaces = _persons(raws, schema, source.subject)
    household = _households(raws, schema)
    encoded = _encoded(raws, schema, len(person))
    for each in encoded:
        warnings += each.warnings
        spaces += each.spaces
    columns = [each.column for each in encoded]
    quasi_identifiers = columns[: len(schema.quasi_identifiers)]
    sensitive = columns[len(schema.quasi_identifiers) :]
    missing = {each.column.name: each.missing for each in encoded}
    return Table(
        schema=settled(schema, quasi_identifiers),
        person=person,
        quasi_identifiers=tuple(quasi_identifiers),
        sensitive=tuple(sensitive),
        source=kept,
        columns=tuple(source.names),
        warnings=(
            *warnings,
            *spaces,
            *column_warnings(quasi_identifiers, sensitive, missing, len(person), schema.accepted),
            *person_warnings(1 + int(person.any()), len(person), named=schema.person is not None),
        ),
        household=household,
    )


def _opened_before(table: Table, schema: Schema, keep_source: bool) -> Table:
    same_names = list(schema.quasi_identifiers) == list(table.schema.quasi_identifiers)
    if not same_names or (
        schema != table.schema and settled(schema, table.quasi_identifiers) != table.schema
    ):
        raise InputError(
            "data",
            "must have been opened with the schema that is given with it",
            found="a table of another schema",
            advice="pass the file or dataframe itself",
        )
    passed_on = handed_on(table.columns, table.schema)
    if keep_source and not set(passed_on) <= set(table.source.column_names):
        raise InputError(
            "data",
            "must hold the columns that a release hands on",
            found="a table that was opened without them (keep_source=False)",
            advice="pass the file or dataframe itself",
        )
    return table


def handed_on(names: Sequence[str], schema: Schema) -> list[str]:
    """The columns that a release renames or leaves unchanged, in the file's order."""
    left_out = schema.withheld() | set(schema.quasi_identifiers)
    return [name for name in names if name not in left_out]


def _read(
    source: Source, schema: Schema, keep_source: bool, progress: Progress
) -> tuple[dict[str, RawColumn], pa.Table]:
    """The columns to encode as codes, and the columns to hand on as they came."""
    people = {name for name in (schema.person, schema.household) if name is not None}
    encoded = {*people, *schema.quasi_identifiers, *schema.sensitive}
    passed_on = handed_on(source.names, schema) if keep_source else []
    if source.column is not None and not passed_on:
        return _side_by_side(source, source.column, people, encoded - people, progress), _NONE
    wanted = [name for name in source.names if name in encoded or name in set(passed_on)]
    accumulators = {name: Accumulator(name, source.rows) for name in wanted if name in encoded}
    kept: list[pa.RecordBatch] = []
    rows, checked = 0, None
    for batch in source.batches(wanted):
        if batch.schema != checked:
            checked = batch.schema
            for name in accumulators:
                check_type(name, checked.field(name).type, person=name in people)
        adding = [partial(each.add, batch.column(name)) for name, each in accumulators.items()]
        if batch.num_rows > WORTH_THREADS:
            in_threads(adding)
        else:
            for add in adding:
                add()
        if not source.text:
            for name in passed_on:
                check_utf8(batch.column(name), name)
        if passed_on:
            kept.append(batch.select(passed_on).replace_schema_metadata(None))
        rows += batch.num_rows
        if source.rows:
            progress("read", min(rows / source.rows, 1.0))
        del batch
    if rows == 0:
        raise InputError(source.subject, "must have records", found="none")
    finished = in_threads([each.finish for each in accumulators.values()])
    raws = dict(zip(accumulators, finished, strict=True))
    return raws, _joined(kept, source.subject)


def _side_by_side(
    source: Source,
    column: Callable[[str], Iterator[pa.Array]],
    people: Collection[str],
    others: Collection[str],
    progress: Progress,
) -> dict[str, RawColumn]:
    """The columns as codes, each read by itself; those of many values, the ids, first."""
    names = sorted(people) + [name for name in source.names if name in others]
    large = source.rows is not None and source.rows > WORTH_THREADS

    def read(name: str) -> RawColumn:
        accumulator, checked = Accumulator(name, source.rows), None
        for array in read_ahead(column(name)) if large and name in people else column(name):
            if array.type != checked:
                checked = array.type
                check_type(name, checked, person=name in people)
            accumulator.add(array)
        return accumulator.finish()

    tasks = [partial(read, name) for name in names]
    raws = {}
    for name, raw in zip(names, one_by_one(tasks, alone=not large), strict=True):
        raws[name] = raw
        progress("read", len(raws) / len(names))
    return raws


WORTH_THREADS = 50_000
"""Records from which columns are read and encoded side by side."""
_NONE = pa.table({})


def _joined(batches: list[pa.RecordBatch], subject: str) -> pa.Table:
    if not batches:
        return _NONE
    try:
        return pa.Table.from_batches(batches)
    except pa.ArrowInvalid:
        raise InputError(
            subject, "must have one type per column throughout", found="several"
        ) from None


def _persons(
    raws: dict[str, RawColumn], schema: Schema, subject: str
) -> tuple[npt.NDArray[np.int32], list[str]]:
    """The person of each record, numbered by first appearance, and what is said about the ids."""
    if schema.person is None:
        records = len(next(iter(raws.values())).codes)
        return np.arange(records, dtype=np.int32), []
    raw = raws.pop(schema.person)
    plain = raw.has_plain_values(schema.missing)
    if not plain:
        raw = raw.without(mean_missing(raw.values, schema.missing))
    nobody = raw.codes == MISSING
    check_persons(raw.name, subject, at_rows(nobody) if nobody.any() else "")
    return raw.codes, [] if plain else spaces_warning(raw)


def _households(raws: dict[str, RawColumn], schema: Schema) -> npt.NDArray[np.int32] | None:
    """The household of each record, -1 for none; ``None`` without such a column."""
    if schema.household is None:
        return None
    raw = raws.pop(schema.household)
    if raw.has_plain_values(schema.missing):
        return raw.codes
    return raw.without(mean_missing(raw.values, schema.missing)).codes


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A column, and what is to be said about it."""

    column: CodedColumn
    warnings: list[str]
    spaces: list[str]
    missing: int


def _encoded(raws: dict[str, RawColumn], schema: Schema, records: int) -> list[_Encoded]:
    """All other columns of the schema in its order, encoded side by side; uses them up."""

    def quasi_identifier(raw: RawColumn, quasi: QuasiIdentifier) -> _Encoded:
        warnings: list[str] = []
        spaces = spaces_warning(raw)
        column = encode_quasi_identifier(raw, quasi, schema.missing, warnings)
        spaces = [] if column.kind is Kind.NUMERIC else spaces
        return _Encoded(column, warnings, spaces, count_missing(column))

    def sensitive(raw: RawColumn) -> _Encoded:
        spaces = spaces_warning(raw)
        column = encode_sensitive(raw, schema.missing)
        return _Encoded(column, [], spaces, count_missing(column))

    tasks = [
        *(
            partial(quasi_identifier, raws.pop(name), quasi)
            for name, quasi in schema.quasi_identifiers.items()
        ),
        *(partial(sensitive, raws.pop(name)) for name in schema.sensitive),
    ]
    return list(one_by_one(tasks, alone=records <= WORTH_THREADS))
