"""A database as one encoded file: the rows of all tables below each other, with whose they are.

Each row has the quasi-identifiers of its person; columns of other tables are missing in it. Codes
of events that stand at the same place of their tables share a column, as ways to write an event
are tried for all columns together.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, Ints
from sfumato.core.declaration import LayoutGiven, Progress, silent
from sfumato.core.errors import InputError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.schema import EventKind, Orphans, Schema, TableSchema
from sfumato.schema.roles import Unclassified
from sfumato.table.classification import leave_out
from sfumato.table.dependence import check_event_leaks, check_leaks
from sfumato.table.door import open_table
from sfumato.table.joined_tables import (
    NOBODY,
    Joined,
    Layout,
    ids_of,
    in_order,
    joined,
    read_columns,
)
from sfumato.table.preparation import prepared
from sfumato.table.sources import Source, from_numpy, listed
from sfumato.table.table import MARK, MISSING, EventColumn, LabelDomain, Table
from sfumato.table.table_files import data_sha256, open_source
from sfumato.table.table_keys import open_tables, tables_in

MOST_DISAGREEING = 0.005
"""Share of people of whom a column that says a quasi-identifier again may say something else."""


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a database of the same people, with what each is.

    Parameters
    ----------
    frames
        By name, a dataframe or the path of a file.
    schema
        A schema that names the tables.

    Raises
    ------
    InputError
        If the schema names other tables.
    """

    frames: Mapping[str, Any] = field(repr=False)
    schema: Schema

    def __post_init__(self) -> None:
        """Refuse tables that the schema does not name, and the other way round."""
        if not self.schema.tables:
            raise InputError(
                "parameter schema",
                "must name tables",
                found="the schema of one file",
                advice="write them under [tables.NAME]",
            )
        named, given = {*self.schema.tables}, {*self.frames}
        if named != given:
            raise InputError(
                "the tables",
                "must be those of the schema",
                found=f"{listed(sorted(given ^ named))} in one of both only",
            )

    @classmethod
    def in_folder(cls, folder: str | os.PathLike[str], schema: Schema) -> Tables:
        """The files of a folder that a schema names; others are left alone.

        Parameters
        ----------
        folder
            The folder that holds them.
        schema
            A schema that names the tables.

        Raises
        ------
        InputError
            If one is not there.
        """
        tables = tables_in(Path(folder))
        frames: dict[str, Any] = {}
        for name, table in schema.tables.items():
            path = tables.get(name)
            if table.file is not None:
                path = Path(folder) / Path(table.file).name
            if path is None:
                raise InputError(
                    f"folder {Path(folder).name}",
                    f"must have the table {name}",
                    found=listed(tables),
                    advice=f"say its file under [tables.{name}]",
                )
            frames[name] = path
        return cls(frames, schema)

    @property
    def persons(self) -> str:
        """The table of people."""
        return next(name for name, table in self.schema.tables.items() if table.persons)

    @property
    def sha256(self) -> str:
        """Hash of all files; empty where one is none."""
        parts = [f"{name} {data_sha256(data)}" for name, data in self.frames.items()]
        if any(part.endswith(" ") for part in parts):
            return ""
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def stacked_name(table: str, column: str) -> str:
    """What a column of a table is called among those of all tables."""
    return f"{table}.{column}"


@dataclass(frozen=True, eq=False)
class Stack:
    """A database as one encoded file.

    Attributes
    ----------
    columns
        By table, the columns that were read, of the records that stay.
    names
        The tables whose rows are in it, by the number that ``table.part_of`` has for them.
    row
        Place of each record of ``table`` among those of its own table.
    """

    tables: Tables
    joined: Joined
    columns: Mapping[str, pa.Table]
    names: tuple[str, ...]
    row: Ints
    table: Table
    file: pa.Table = field(repr=False)

    @cached_property
    def schema(self) -> Schema:
        """The schema of the encoded file."""
        return self.table.schema


def open_stack(
    tables: Tables,
    unclassified: Unclassified = Unclassified.REFUSE,
    *,
    progress: Progress = silent,
    layout: LayoutGiven | None = None,
) -> Stack:
    """Read a database, follow its references, and encode it."""
    schema = tables.schema
    raw: dict[str, pa.Table] = {}
    for name, source in open_tables(tables.frames, layout).items():
        raw[name] = _read(name, source, schema.tables[name], schema, unclassified)
    keys = Layout(
        {name: table.key for name, table in schema.tables.items() if table.key is not None},
        {name: table.of for name, table in schema.tables.items()},
        tables.persons,
        frozenset(n for n, table in schema.tables.items() if table.orphans is Orphans.DROP),
    )
    found = joined(raw, keys)
    columns = {name: raw[name].take(from_numpy(rows)) for name, rows in found.rows.items()}
    for name, own in schema.tables.items():
        for column in own.same:
            _check_same(tables, found, columns, name, column)
    names = tuple(name for name in schema.tables if name in found.person)
    # People first, so that the first record of each is its own.
    names = (tables.persons, *(name for name in names if name != tables.persons))
    sizes = [len(found.rows[name]) for name in names]
    part_of = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    row = np.concatenate([np.arange(size) for size in sizes])
    file = _stacked(tables, found, columns, names)
    table = open_table(file, _schema_of(tables, names), progress=progress)
    # What is missing in a row is mostly a column of another table.
    said = tuple(warning for warning in table.warnings if not warning.startswith("missing values"))
    parents = tuple(_parents(tables, found, names))
    table = replace(table, part_of=part_of, parents=parents, warnings=said)
    stack = Stack(tables, found, columns, names, row, table, file)
    return replace(stack, table=replace(table, events=shared_columns(table, names)))


def _parents(tables: Tables, found: Joined, names: tuple[str, ...]) -> Iterator[Codes]:
    """For each table to whose records others belong, which of them each record stands under.

    A record stands under itself: a diagnosis shows of which stay it is, and the stay its ward.
    """
    schema = tables.schema.tables
    order = [name for name in in_order(found.layout) if name in names]
    for parent in order:
        children = any(parent in each.of.values() for each in schema.values())
        if parent == tables.persons or not children:
            continue
        under = {name: np.full(len(found.rows[name]), NOBODY, dtype=np.int64) for name in names}
        under[parent] = np.arange(len(found.rows[parent]))
        for name in order:
            for column, to in schema[name].of.items():
                if to in under and name != parent:
                    places = found.parents[name, column]
                    through = np.append(under[to], NOBODY)[places]
                    # A reference to who it is of says nothing of the stay.
                    under[name] = np.where(through >= 0, through, under[name])
        yield np.concatenate([under[name] for name in names]).astype(np.int32)


def check_stack(stack: Stack) -> None:
    """Refuse columns that give away what a release hides, each looked at within its table."""
    table, schema = stack.table, stack.schema
    for number, name in enumerate(stack.names):
        rows = np.flatnonzero(table.part_of == number)
        mine = {column for column in schema.columns() if column.startswith(f"{name}.")}
        own = schema.model_copy(
            update={
                role: tuple(each for each in getattr(schema, role) if each in mine)
                for role in ("sensitive", "insensitive")
            }
            | {"events": {n: event for n, event in schema.events.items() if n in mine}}
        )
        part = table.take(rows)
        kept = tuple(attribute for attribute in part.sensitive if attribute.name in mine)
        part = replace(part, schema=own, sensitive=kept)
        check_event_leaks(check_leaks(part))


def _read(
    name: str, source: Source, own: TableSchema, schema: Schema, unclassified: Unclassified
) -> pa.Table:
    """The columns of a table that are needed, cleaned as its recipe says."""
    if own.recipe:
        made = Schema.model_construct(recipe=own.recipe, missing=schema.missing)
        source = prepared(source, made)
    unnamed = _check_named(name, source.names, own, unclassified)
    left_out = {*own.direct_identifiers, *unnamed}
    return read_columns(source, [name for name in source.names if name not in left_out])


def check_named(tables: Tables, unclassified: Unclassified) -> None:
    """Refuse tables with a column that a release would refuse, before any work."""
    for name, own in tables.schema.tables.items():
        source = open_source(tables.frames[name])
        if own.recipe:
            source = prepared(source, Schema.model_construct(recipe=own.recipe, missing=()))
        _check_named(name, source.names, own, unclassified)


def _check_named(
    name: str, names: Sequence[str], own: TableSchema, unclassified: Unclassified
) -> list[str]:
    """The columns of a table that its schema does not name, where they may be left out."""
    named = own.columns()
    for column in named:
        if column not in names:
            raise InputError(
                f"table {name}",
                f"must have the column '{column}', which the schema names",
                found=f"{len(names)} columns, none of this name",
            )
    if own.undecided:
        raise InputError(
            f"columns {listed(own.undecided)} of table {name}",
            "must be decided about before a release",
            found="a question under 'undecided'",
            advice="give each a role",
        )
    unnamed = [column for column in names if column not in named]
    if unnamed and unclassified is not Unclassified.DROP:
        raise InputError(
            f"columns {listed(unnamed)} of table {name}",
            "must be classified before a release",
            found="no role in the schema",
            accepted="events, sensitive, direct_identifiers, insensitive",
            advice=f"give each a role; {leave_out()} leaves them out",
        )
    return unnamed


def lookups_of(tables: Tables, name: str) -> dict[str, str]:
    """The references of a table to lookup tables, which say what happened as codes do."""
    every = tables.schema.tables
    return {c: to for c, to in every[name].of.items() if every[to].lookup}


def _codes_of_events(tables: Tables, name: str) -> tuple[str, ...]:
    """The columns of a table of events that are codes, references to lookup tables among them."""
    own = tables.schema.tables[name]
    if own.persons:
        return ()
    return (*(n for n in own.events if n not in own.dates), *lookups_of(tables, name))


def _told_columns(tables: Tables, name: str) -> tuple[str, ...]:
    """The columns of a table that are measured and go out, in its order of roles."""
    own = tables.schema.tables[name]
    names = (*_codes_of_events(tables, name), *own.sensitive, *own.insensitive)
    return tuple(dict.fromkeys(name for name in names if name not in own.dates))


def _stacked(
    tables: Tables, found: Joined, columns: Mapping[str, pa.Table], names: tuple[str, ...]
) -> pa.Table:
    """The rows of all tables below each other."""
    persons = tables.persons
    own = tables.schema.tables[persons]
    people = columns[persons]
    person = from_numpy(np.concatenate([found.person[name] for name in names]))
    assert own.key is not None
    stacked: dict[str, pa.Array] = {
        stacked_name(persons, own.key): ids_of(people.column(own.key)).take(person)
    }
    for quasi in own.quasi_identifiers:
        stacked[stacked_name(persons, quasi)] = _plain(people.column(quasi)).take(person)
    sizes = [len(found.rows[name]) for name in names]
    for number, name in enumerate(names):
        for column in _told_columns(tables, name):
            cells = columns[name].column(column)
            mine = ids_of(cells) if column in lookups_of(tables, name) else _plain(cells)
            before, after = sum(sizes[:number]), sum(sizes[number + 1 :])
            stacked[stacked_name(name, column)] = pa.concat_arrays(
                [pa.nulls(before, mine.type), mine, pa.nulls(after, mine.type)]
            )
    return pa.table(stacked)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def _schema_of(tables: Tables, names: tuple[str, ...]) -> Schema:
    """The schema of the file of all rows."""
    own = tables.schema.tables[tables.persons]
    sensitive: list[str] = []
    insensitive: list[str] = []
    events: dict[str, Any] = {}
    accepted: dict[str, str] = {}
    for name in names:
        table = tables.schema.tables[name]
        for column in _told_columns(tables, name):
            place = stacked_name(name, column)
            (insensitive if column in table.insensitive else sensitive).append(place)
            if column in table.accepted:
                accepted[place] = table.accepted[column]
        for column in _codes_of_events(tables, name):
            given = table.events.get(column)
            events[stacked_name(name, column)] = {} if given is None else given
    return Schema(
        person=stacked_name(tables.persons, own.key or ""),
        quasi_identifiers={
            stacked_name(tables.persons, n): identifier
            for n, identifier in own.quasi_identifiers.items()
        },
        sensitive=sensitive,
        insensitive=insensitive,
        events=events,
        accepted=accepted,
        missing=tables.schema.missing,
    )


def _check_same(
    tables: Tables, found: Joined, columns: Mapping[str, pa.Table], name: str, column: str
) -> None:
    """Refuse a column that says another thing of many people than the table of people does."""
    base, date = tables.schema.tables[name].base_of(column)
    if date is not None:
        return
    there = ids_of(columns[tables.persons].column(base)).take(from_numpy(found.person[name]))
    said = ids_of(columns[name].column(column))
    differs = pc.fill_null(pc.not_equal(said, there), False).to_numpy(zero_copy_only=False)
    people = len(np.unique(found.person[name][differs]))
    if people > MOST_DISAGREEING * found.people:
        raise InputError(
            f"column '{column}' of table {name}",
            f"must say '{base}' of {tables.persons} again",
            found=f"another value of {people:,} of {found.people:,} people",
            advice="correct it, or give it another role",
        )


def shared_columns(table: Table, names: tuple[str, ...]) -> tuple[EventColumn, ...]:
    """The events of tables, those at the same place of their tables in one column."""
    groups: dict[tuple[int, int, bool], list[EventColumn]] = {}
    for name in names:
        mine = [event for event in table.events if event.name.startswith(f"{name}.")]
        for place, each in enumerate(mine):
            # A column by itself where an intruder knows its values nearly, which sorts them.
            key = (place, each.event.level, False)
            groups.setdefault((-1, len(groups), True) if each.event.is_near else key, []).append(
                each
            )
    return tuple(_shared(group) if len(group) > 1 else group[0] for group in groups.values())


def _shared(columns: list[EventColumn]) -> EventColumn:
    """Some columns of which a record has one, as one column; values keep whose they are."""
    codes = np.full(len(columns[0].codes), MISSING, dtype=np.int32)
    labels: list[str] = []
    for number, column in enumerate(columns):
        assert column.domain is not None
        has = column.codes != MISSING
        codes[has] = column.codes[has] + len(labels)
        labels += [f"{number}{MARK}{column.domain.label(code)}" for code in range(column.size)]
    part = np.repeat(np.arange(len(columns), dtype=np.int32), [column.size for column in columns])
    return EventColumn(
        " | ".join(column.name for column in columns),
        codes,
        len(labels),
        columns[0].event.model_copy(update={"kind": EventKind.CODE}),
        LabelDomain(tuple(labels)),
        _shared_hierarchy(columns, tuple(labels)),
        tuple(column.name for column in columns),
        part,
    )


def _shared_hierarchy(columns: list[EventColumn], leaves: tuple[str, ...]) -> Hierarchy | None:
    """Their hierarchies side by side; what has fewer levels keeps its highest label."""
    height = max((column.hierarchy.height for column in columns if column.hierarchy), default=0)
    if not height:
        return None
    levels: list[tuple[str, ...]] = [leaves]
    ancestors: list[Codes] = [np.arange(len(leaves), dtype=np.int32)]
    for level in range(1, height + 1):
        labels: list[str] = []
        above: list[Ints] = []
        for number, column in enumerate(columns):
            own = column.hierarchy
            # Without a hierarchy nothing lies between a value and nothing said.
            said = ("*",) if own is None else own.labels[min(level, own.height)]
            at = (
                np.zeros(column.size, np.int64)
                if own is None
                else own.ancestors[min(level, own.height)].astype(np.int64)
            )
            above.append(at + len(labels))
            labels += [f"{number}{MARK}{label}" for label in said]
        levels.append(tuple(labels))
        ancestors.append(np.concatenate(above).astype(np.int32))
    return Hierarchy(leaves, tuple(levels), np.stack(ancestors))
