"""The door: a file or dataframe is read once, checked and encoded."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes
from sfumato.core.declaration import LayoutGiven, Progress, silent
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.kernels.loop_calls import in_threads, one_by_one, read_ahead
from sfumato.schema import Event, EventKind, Kind, QuasiIdentifier, Schema, check_schema
from sfumato.schema.recipe import READERS, StepCount
from sfumato.table import sources
from sfumato.table.domains import encode_event, encode_quasi_identifier, encode_sensitive
from sfumato.table.labelled_files import quoting
from sfumato.table.numbering import Accumulator, RawColumn, at_rows
from sfumato.table.preparation import prepared
from sfumato.table.scalars import have_spaces, mean_missing
from sfumato.table.table import MISSING, NO_COLUMNS, CodedColumn, EventColumn, Table
from sfumato.table.table_files import open_source

NO_PERSON = (
    "no person column is named, so every record counts as a person of its own; where people "
    "have several records, these numbers understate the risk."
)
WORTH_THREADS = 50_000
"""Records from which columns are read and encoded side by side."""


def open_table(
    data: object,
    schema: Schema,
    *,
    keep_source: bool = True,
    progress: Progress = silent,
    **layout: Unpack[LayoutGiven],
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
    keep_source
        Whether to keep, as Arrow, the person column and all columns that a release hands on.
    progress
        Told how far the reading is, where the number of rows is known.

    Raises
    ------
    NoSingleValuesError
        If a column that is needed holds lists or nested records.
    """
    check_schema(schema)
    if isinstance(data, Table):
        return _checked_table(data, schema, keep_source)
    source = data if isinstance(data, sources.Source) else open_source(data, **layout)
    labels = source.labels
    if keep_source and labels != sources.NO_LABELS:
        people = () if schema.person is None else (schema.person,)
        # Before the recipe: labels quote values as the file has them.
        labels = quoting(source, {*people, *schema.direct_identifiers})
    if schema.recipe:
        source = prepared(source, schema)
    warnings = check_columns(source.subject, source.names, schema)
    raws, kept, identifiers = _read(source, schema, keep_source, progress)
    # The recipe has counted everything only when the columns were read to their end.
    steps = () if source.counted is None else source.counted()
    person, spaces = _persons(raws, schema, source.subject)
    household = _households(raws, schema)
    # Before the other columns are encoded, which uses their codes up.
    events = _named_events(raws, schema, warnings)
    others = {name: raws.pop(name) for name in _silent_events(schema) if name in raws}
    encoded = _encoded(raws, schema, len(person))
    for each in encoded:
        warnings += each.warnings
        spaces += each.spaces
    columns = [each.column for each in encoded]
    quasi_identifiers = columns[: len(schema.quasi_identifiers)]
    sensitive = columns[len(schema.quasi_identifiers) :]
    missing = {each.column.name: each.missing for each in encoded}
    return Table(
        schema=with_settled_kinds(schema, quasi_identifiers),
        person=person,
        quasi_identifiers=tuple(quasi_identifiers),
        sensitive=tuple(sensitive),
        source=kept,
        identifiers=identifiers,
        columns=tuple(source.names),
        warnings=(
            *warnings,
            *spaces,
            *unreadable_warnings(steps),
            *column_warnings(quasi_identifiers, sensitive, missing, len(person), schema.accepted),
            *person_warnings(1 + int(person.any()), len(person), named=schema.person is not None),
            *_one_person_warnings(source, schema),
            *([f"{source.subject} was read by the {source.read_by}."] if source.read_by else []),
        ),
        household=household,
        labels=labels,
        preparation=steps,
        events=events or _all_events(others, encoded, schema),
    )


def event_columns(schema: Schema) -> tuple[str, ...]:
    """The columns that say what happened in a record, as the schema names them, else all that may.

    Those alone that have a role: what a column without one says is measured nowhere.
    """
    told = (*schema.sensitive, *schema.insensitive)
    if schema.events:
        return tuple(name for name in schema.events if name in told)
    return () if schema.person is None else told


def _silent_events(schema: Schema) -> tuple[str, ...]:
    """The columns that are read for events alone, though the schema does not name them as such."""
    if schema.events:
        return ()
    return tuple(name for name in event_columns(schema) if name not in schema.sensitive)


def _named_events(
    raws: dict[str, RawColumn], schema: Schema, warnings: list[str]
) -> tuple[EventColumn, ...]:
    """The columns that the schema names as events; those of no other use are used up."""
    if not schema.events:
        return ()
    return tuple(
        encode_event(
            raws[name] if name in schema.sensitive else raws.pop(name),
            schema.events[name],
            schema.missing,
            warnings,
        )
        for name in event_columns(schema)
    )


AS_IT_IS = Event()
"""How a column that nobody named tells of an event."""


def _all_events(
    raws: dict[str, RawColumn], encoded: Sequence[_Encoded], schema: Schema
) -> tuple[EventColumn, ...]:
    """All columns that may tell what happened, as they are spelled: a release shows that, too."""
    if schema.person is None or schema.events:
        return ()
    sensitive = [each.spelled for each in encoded if each.spelled is not None]
    told = [
        EventColumn(attribute.name, attribute.codes, len(attribute.values), AS_IT_IS)
        for attribute in sensitive
    ]
    for name, raw in raws.items():
        own = _without_missing(raw, schema.missing)
        told.append(EventColumn(name, own.codes, len(own.values), AS_IT_IS))
    return tuple(told)


def with_events(table: Table, names: Sequence[str]) -> Table:
    """The table whose events are some columns and no other; as it is where none are named.

    Each is known as the schema's events say, else as it stands in the file, dates as dates.
    """
    if not names:
        return table
    events = tuple(_event(table, name) for name in names)
    schema = table.schema.model_copy(
        update={"events": {event.name: event.event for event in events}}
    )
    return replace(table, schema=schema, events=events)


def _event(table: Table, name: str) -> EventColumn:
    read, missing = Accumulator(name), table.schema.missing
    for chunk in table.source.column(name).chunks:
        read.add(chunk)
    raw, declared = read.finish(), table.schema.events.get(name)
    if declared is None:
        try:
            return encode_event(raw, Event(kind=EventKind.DATE), missing, [])
        except InputError:
            declared = AS_IT_IS  # what is no date is known as it stands
    return encode_event(raw, declared, missing, [])


def _checked_table(table: Table, schema: Schema, keep_source: bool) -> Table:
    # Dicts are equal in any order, but that of the quasi-identifiers is part of what was opened.
    same_names = list(schema.quasi_identifiers) == list(table.schema.quasi_identifiers)
    if not same_names or (
        schema != table.schema
        and with_settled_kinds(schema, table.quasi_identifiers) != table.schema
    ):
        raise InputError(
            "data",
            "must have been opened with the schema that is given with it",
            found="a table of another schema",
            advice="pass the file or dataframe itself",
        )
    carried = carried_columns(table.columns, table.schema)
    if keep_source and not set(carried) <= set(table.source.column_names):
        raise InputError(
            "data",
            "must hold the columns that a release hands on",
            found="a table that was opened without them (keep_source=False)",
            advice="pass the file or dataframe itself",
        )
    return table


def carried_columns(names: Sequence[str], schema: Schema) -> list[str]:
    """The columns that a release renames or leaves unchanged, in the file's order."""
    left_out = schema.withheld() | set(schema.quasi_identifiers)
    return [name for name in names if name not in left_out]


def _read(
    source: sources.Source, schema: Schema, keep_source: bool, progress: Progress
) -> tuple[dict[str, RawColumn], pa.Table, pa.Table]:
    """The columns to encode as codes; those to hand on, and what identifies, as they came."""
    beside = {*schema.direct_identifiers, schema.household}
    while True:
        try:
            return _read_with(source, schema, keep_source, beside, progress)
        except sources.NoSingleValuesError as error:
            # Nobody needs direct identifiers: lists are no matter.
            if error.column not in beside or error.column == schema.household:
                raise
            beside.remove(error.column)


def _read_with(
    source: sources.Source,
    schema: Schema,
    keep_source: bool,
    beside: Collection[str | None],
    progress: Progress,
) -> tuple[dict[str, RawColumn], pa.Table, pa.Table]:
    people = {name for name in (schema.person, schema.household) if name is not None}
    encoded = {*people, *schema.quasi_identifiers, *schema.sensitive, *event_columns(schema)}
    carried = carried_columns(source.names, schema) if keep_source else []
    silent = _silent_events(schema)
    # Nothing is handed on: no batch has to hold all columns at once.
    if source.column is not None and not carried:
        read = _read_apart(source, source.column, people, encoded - people, silent, progress)
        return read, NO_COLUMNS, NO_COLUMNS
    named = [name for name in source.names if name in beside] if carried else []
    wanted = [name for name in source.names if name in {*encoded, *carried, *named}]
    accumulators = {name: Accumulator(name, source.rows) for name in wanted if name in encoded}
    kept: list[pa.RecordBatch] = []
    identifiers: list[pa.RecordBatch] = []
    rows, checked = 0, None
    for batch in source.batches(wanted):
        if batch.schema != checked:
            checked = batch.schema
            _check_types(accumulators, checked, people, silent)
        adding = [
            partial(accumulator.add, batch.column(name))
            for name, accumulator in accumulators.items()
        ]
        if batch.num_rows > WORTH_THREADS:
            in_threads(adding)
        else:
            for add in adding:
                add()
        # The bytes of a CSV file were checked while they passed.
        if not source.text:
            for name in carried:
                sources.check_utf8(batch.column(name), name)
        if carried:
            kept.append(batch.select(carried).replace_schema_metadata(None))
            identifiers.append(batch.select(named).replace_schema_metadata(None))
        rows += batch.num_rows
        if source.rows:
            progress("read", min(rows / source.rows, 1.0))
        # Its memory is free before the next batch is read.
        del batch
    if rows == 0:
        raise InputError(source.subject, "must have records", found="none")
    finished = in_threads([accumulator.finish for accumulator in accumulators.values()])
    raws = dict(zip(accumulators, finished, strict=True))
    return raws, _joined(kept, source.subject), _unchecked(identifiers)


def _check_types(
    accumulators: dict[str, Accumulator],
    kinds: pa.Schema,
    people: Container[str],
    silent: Container[str],
) -> None:
    """Check the types of the columns of a batch; those of events that hold no values are left."""
    for name in [*accumulators]:
        kind = kinds.field(name).type
        if name in silent and not _is_single(name, kind):
            del accumulators[name]
        else:
            check_type(name, kind, person=name in people)


def _read_apart(
    source: sources.Source,
    column: Callable[[str], Iterator[pa.Array]],
    people: Collection[str],
    others: Collection[str],
    silent: Collection[str],
    progress: Progress,
) -> dict[str, RawColumn]:
    """The columns as codes, each read by itself; those of many values, the ids, first."""
    # Ids take longest: begun last, they would keep one thread busy while the others have no work.
    names = sorted(people) + [name for name in source.names if name in others]
    large = source.rows is not None and source.rows > WORTH_THREADS

    def read(name: str) -> RawColumn | None:
        accumulator, checked = Accumulator(name, source.rows), None
        # Ids take work to number, during which their next batch is read.
        for array in read_ahead(column(name)) if large and name in people else column(name):
            if array.type != checked:
                checked = array.type
                if name in silent and not _is_single(name, checked):
                    return None
                check_type(name, checked, person=name in people)
            accumulator.add(array)
        return accumulator.finish()

    tasks = [partial(read, name) for name in names]
    raws = {}
    for name, raw in zip(names, one_by_one(tasks, alone=not large), strict=True):
        if raw is not None:
            raws[name] = raw
        progress("read", len(raws) / len(names))
    return raws


def _unchecked(batches: list[pa.RecordBatch]) -> pa.Table:
    """Columns that no release needs; none where they are damaged or of several types."""
    try:
        whole = pa.Table.from_batches(batches)
        whole.validate(full=True)
    except (pa.ArrowInvalid, ValueError):
        return NO_COLUMNS
    return whole


def _joined(batches: list[pa.RecordBatch], subject: str) -> pa.Table:
    if not batches:
        return NO_COLUMNS
    try:
        return pa.Table.from_batches(batches)
    except pa.ArrowInvalid:
        raise InputError(
            subject, "must have one type per column throughout", found="several"
        ) from None


def _persons(raws: dict[str, RawColumn], schema: Schema, subject: str) -> tuple[Codes, list[str]]:
    """The person of each record, numbered by first appearance, and what is said about the ids."""
    if schema.person is None:
        records = len(next(iter(raws.values())).codes)
        return np.arange(records, dtype=np.int32), []
    raw = _without_missing(raws.pop(schema.person), schema.missing)
    nobody = raw.codes == MISSING
    check_persons(raw.name, subject, at_rows(nobody) if nobody.any() else "")
    spaces = [] if raw.has_plain_values(schema.missing) else spaces_warning(raw)
    return raw.codes, [*spaces, *spellings_warning(raw)]


def _households(raws: dict[str, RawColumn], schema: Schema) -> Codes | None:
    """The household of each record, -1 for none; ``None`` without such a column."""
    if schema.household is None:
        return None
    return _without_missing(raws.pop(schema.household), schema.missing).codes


def _without_missing(raw: RawColumn, missing: Sequence[str]) -> RawColumn:
    """A column of ids; those that count are not spelled out to see whether they mean missing."""
    if raw.has_plain_values(missing):
        return raw
    return raw.without(mean_missing(raw.values, missing))


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A column, and what is to be said about it."""

    column: CodedColumn
    warnings: list[str]
    spaces: list[str]
    missing: int
    spelled: RawColumn | None = None


def _encoded(raws: dict[str, RawColumn], schema: Schema, records: int) -> list[_Encoded]:
    """All other columns of the schema in its order, encoded side by side; uses them up."""

    def encode(raw: RawColumn, quasi: QuasiIdentifier | None) -> _Encoded:
        warnings: list[str] = []
        spaces = spaces_warning(raw)
        spelled = None
        if quasi is None:
            spelled = raw = raw.without(mean_missing(raw.values, schema.missing))
            column = encode_sensitive(raw, schema.missing, warnings)
        else:
            column = encode_quasi_identifier(raw, quasi, schema.missing, warnings)
        # Spaces around a number make no other number.
        spaces = [] if column.kind is Kind.NUMERIC else spaces
        return _Encoded(column, warnings, spaces, count_missing(column), spelled)

    names = (*schema.quasi_identifiers, *schema.sensitive)
    tasks = [partial(encode, raws.pop(name), schema.quasi_identifiers.get(name)) for name in names]
    return list(one_by_one(tasks, alone=records <= WORTH_THREADS))


def check_columns(subject: str, names: Sequence[str], schema: Schema) -> list[str]:
    """Check that the file has every column of the schema; name those that nobody classified."""
    named = schema.columns()
    unnamed = [name for name in names if name not in set(named)]
    others = (("accepted", tuple(schema.accepted)), ("event", tuple(schema.events)))
    for role, columns in (*schema.roles().items(), *others):
        for name in columns:
            if name not in names:
                raise InputError(
                    subject,
                    f"must have the column '{name}', which the schema names as {role}",
                    found="one column, of another name"
                    if len(names) == 1
                    else f"{len(names)} columns, none of this name",
                    advice=_suggestion(name, unnamed, alone=len(names) == 1),
                )
    said = []
    for open_, why in (
        (unnamed, "the schema does not say what they are"),
        (tuple(schema.undecided), "[undecided] of the schema asks what they are"),
    ):
        if open_:
            several = "columns" if len(open_) > 1 else "column"
            said.append(
                f"{several} {sources.listed(open_)} of the file: {why}. The insider's row alone "
                "counts them, and no release lets them out."
            )
    return said


def _suggestion(name: str, unnamed: Sequence[str], *, alone: bool) -> str:
    folded = {column.casefold().strip(): column for column in unnamed}
    close = difflib.get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.7)
    if close:
        return f"did you mean '{folded[close[0]]}'?"
    if alone:
        return (
            "name the file's delimiter (--delimiter), correct the name in the schema, or check "
            "that the file's first line is its header"
        )
    return "correct the name in the schema, or check that the file's first line is its header"


def check_type(name: str, kind: pa.DataType, *, person: bool) -> None:
    """Check that a column holds single values that have a text, or bytes for the person's."""
    subject = f"column '{name}'"
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    found = ""
    if pa.types.is_nested(kind):
        found = "lists or structures"
    elif pa.types.is_duration(kind) or pa.types.is_interval(kind):
        found = "durations"
    elif not person and sources.is_bytes(kind):
        found = "bytes"
    if found:
        raise InputError(
            subject,
            "must hold single values",
            found=found,
            accepted="text, numbers, booleans, dates and times",
        )
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            # Arrow looks a time zone up only when it converts a value.
            pc.local_timestamp(pa.array([0], kind))
        except pa.ArrowInvalid:
            raise InputError(
                subject,
                "must have a time zone that this machine knows",
                advice="convert the column to UTC, or take its time zone away",
            ) from None


def _is_single(name: str, kind: pa.DataType) -> bool:
    """Whether a column of this type holds single values that have a text."""
    try:
        check_type(name, kind, person=False)
    except InputError:
        return False
    return True


def spaces_warning(raw: RawColumn) -> list[str]:
    """Say how many records hold a text with spaces around it."""
    spaced = have_spaces(raw.values)
    if not spaced.any():
        return []
    return [spaces_message(raw.name, raw.count(spaced), raw.records)]


def spellings_warning(raw: RawColumn) -> list[str]:
    """Say how many ids differ from others by case or by spaces around them alone."""
    if not sources.is_text(raw.values.type):
        return []
    texts = pc.utf8_lower(pc.utf8_trim_whitespace(raw.values.drop_null()))
    return spellings_message(raw.name, len(texts) - len(texts.unique()), len(texts))


def spellings_message(name: str, alike: int, ids: int) -> list[str]:
    """The warning of a person column so many of whose ids are spellings of others; none of 0."""
    if not alike:
        return []
    said = (
        f"column '{name}': {alike:,} of {counted(ids, 'id')}, unlike others by case or by "
        "spaces at their ends alone, counted as other people. Are they the same people? Then "
        f'write strip = true and case = "lower" for it under [recipe.{name}] of the schema.'
    )
    return [said]


def spaces_message(name: str, count: int, records: int) -> str:
    """The warning of a column some records of which hold a text with spaces around it."""
    return (
        f"column '{name}': values with spaces at the start or end in {count:,} of "
        f"{counted(records, 'record')}; they differ from the same values without."
    )


def unreadable_warnings(steps: Sequence[StepCount]) -> list[str]:
    """Say which cells the recipe takes as missing because it cannot read them."""
    return [
        f"column '{step.column}' cannot be read as the recipe says in "
        f"{counted(step.made_missing, 'record')}, where it counts as missing ({step.what})."
        for step in steps
        if step.made_missing and step.step in READERS
    ]


def column_warnings(
    quasi_identifiers: Sequence[CodedColumn],
    sensitive: Sequence[CodedColumn],
    missing: Mapping[str, int],
    records: int,
    accepted: Container[str],
) -> list[str]:
    """Say what is missing, which columns are constant, and which look like identifiers.

    Parameters
    ----------
    quasi_identifiers, sensitive
        The encoded columns; their codes are not looked at.
    missing
        Number of records without a value, by the name of the column.
    accepted
        Columns that look like something else, and are what the schema says all the same.
    """
    warnings = []
    parts = [f"'{name}' in {count:,}" for name, count in missing.items() if count]
    if parts:
        warnings.append(
            f"missing values, kept as a kind of their own: {', '.join(parts)} of {records:,} "
            "records."
        )
    warnings += [
        f"quasi-identifier '{column.name}' is constant: it has one value in all records."
        for column in quasi_identifiers
        if column.domain.size <= 1 and not missing[column.name]
    ]
    for column in sensitive:
        filled = records - missing[column.name]
        if column.name not in accepted and column.domain.size >= filled >= 2:
            warnings.append(
                f"sensitive attribute '{column.name}' has as many values as records ({filled:,}): "
                "is it an identifier rather than an attribute?"
            )
    return warnings


def count_missing(column: CodedColumn) -> int:
    """Number of records without a value in a column."""
    return int(np.count_nonzero(column.codes == MISSING))


def person_warnings(persons: int, records: int, *, named: bool) -> list[str]:
    """Say when all records belong to one person, or no column tells whom they belong to."""
    warnings = [] if named else [NO_PERSON]
    if persons <= 1:
        warnings.append(f"all records ({records:,}) belong to one person.")
    return warnings


def _one_person_warnings(source: sources.Source, schema: Schema) -> list[str]:
    """Ask whether all records are of one person, where none is named and an identifier says so."""
    if schema.person is not None:
        return []
    known = [name for name in schema.direct_identifiers if name in source.names]
    names = [name for name in known if _is_constant(source, name, schema.missing)]
    if not names:
        return []
    said = (
        f"direct identifiers with one value in all records: {sources.listed(names)}. Are all "
        "records of one person? Then name one of them as the person: who is alone in a file is "
        "not hidden."
    )
    return [said]


def _is_constant(source: sources.Source, name: str, missing: Sequence[str]) -> bool:
    """Whether a column of the file has one value, in two records or more and missing in none."""
    seen: set[object] = set()
    records = 0
    try:
        for batch in source.batches([name]):
            # Two values show that a column varies: not all ids of a large file become objects.
            seen.update(pc.unique(batch.column(0)).slice(0, 2).to_pylist())
            records += batch.num_rows
            if len(seen) != 1 or not {None, *missing}.isdisjoint(seen):
                return False
    except sources.NoSingleValuesError:
        return False
    return records > 1


def check_persons(name: str, subject: str, nobody: str) -> None:
    """Refuse records without a person."""
    if nobody:
        raise InputError(
            f"column '{name}' of {subject}",
            "must name the person of every record",
            found=f"no person id in {nobody}",
            advice="give these records an id, or remove them before sfumato reads the file",
        )


def with_settled_kinds(schema: Schema, columns: Sequence[CodedColumn]) -> Schema:
    """The schema with the kind of every quasi-identifier that its data gave it."""
    kinds: dict[str, Kind] = {column.name: column.kind for column in columns}
    return schema.model_copy(
        update={
            "quasi_identifiers": {
                name: quasi.model_copy(update={"kind": kinds[name]})
                for name, quasi in schema.quasi_identifiers.items()
            }
        }
    )
