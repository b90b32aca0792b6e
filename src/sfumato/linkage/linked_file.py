"""The linked file: records of all sources side by side, with the numbers of their persons.

Only here a linkage reads what is analysed; of the identifying halves it reads the columns asked
for and no name, number or address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.arrays import Ints
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import Secret, SecretStream, keyed_pseudonyms, random_pseudonyms
from sfumato.linkage import link_sources
from sfumato.linkage.link_spec import ColumnKind, Headers, LinkSpec, columns_of_settings, sql_name
from sfumato.linkage.match_thresholds import Records
from sfumato.linkage.person_clusters import Followed, follow
from sfumato.linkage.review_pairs import named_records
from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.table.header_words import WORDS, named, words_of
from sfumato.table.preparation import prepared_in_part
from sfumato.table.schema_guess import guess_schema
from sfumato.table.sources import Source, positions
from sfumato.table.table_files import open_source

# Without leading zeros, which a number would lose; 18 digits fit into 64 bits.
_WHOLE = r"^-?(0|[1-9]\d{0,17})$"
_DECIMAL = r"^-?(0|[1-9]\d{0,14})(\.\d+)?$"
_DAY = r"^\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])$"


def as_found(text: pa.ChunkedArray, kind: ColumnKind) -> pa.ChunkedArray:
    """Numbers and days that a linkage has as text, as such again where all of them are."""
    patterns = {
        ColumnKind.NUMBER: ((_WHOLE, pa.int64()), (_DECIMAL, pa.float64())),
        ColumnKind.DATE: ((_DAY, pa.date32()),),
    }
    for pattern, kind_of_value in patterns.get(kind, ()):
        if pc.all(pc.match_substring_regex(text, pattern), min_count=0).as_py():
            try:
                return text.cast(kind_of_value)
            except pa.ArrowException:
                return text
    return text


def in_one_type(parts: Sequence[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    """Columns under each other: numbers as the wider type, what else differs as text."""
    kind = _common(list(dict.fromkeys(part.type for part in parts if part.type != pa.null())))
    try:
        return pa.chunked_array([chunk for part in parts for chunk in part.cast(kind).chunks], kind)
    except pa.ArrowException:
        raise InputError(
            f"column '{name}'",
            "must hold what can stand in one column",
            found="kinds of values that cannot",
            advice="rename it in one of the sources",
        ) from None


def _common(kinds: list[pa.DataType]) -> pa.DataType:
    if not kinds:
        return pa.string()
    if len(kinds) == 1:
        return kinds[0]
    if all(pa.types.is_integer(kind) for kind in kinds):
        return pa.int64()
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    return pa.large_string()


QUASI = frozenset({ColumnKind.CATEGORY, ColumnKind.POSTCODE, ColumnKind.NUMBER, ColumnKind.DATE})
"""Kinds of compared columns that are quasi-identifiers where nobody says which are."""
PERSON, SOURCE = "person", "source"
"""Columns of the linked file, with underscores behind them where the sources have such columns."""
# A zero byte is in no header that can be read.
_PROVENANCE = "\0source"
"""The source of each row, under a name that no column of a file has; the first column."""


@dataclass(frozen=True, eq=False)
class Analytic:
    """What is analysed of each record, and no identifier.

    Quasi-identifiers that were compared, too, have name and kind.
    """

    record: np.ndarray
    columns: pa.Table
    quasi_identifiers: Mapping[str, ColumnKind]


def without_columns(analytic: Analytic, names: Sequence[str]) -> Analytic:
    """The same without some columns."""
    return replace(analytic, columns=analytic.columns.drop_columns(list(names)))


def kept_columns(
    spec: LinkSpec, schema: Schema | None, asked: Sequence[str] | None
) -> dict[str, ColumnKind]:
    """The compared columns that go into the linked file: name and kind.

    Parameters
    ----------
    schema
        What the columns are; without ``asked`` its quasi-identifiers are taken.
    asked
        Names of the columns; ``None`` leaves it to the schema, or to what the columns hold:
        dates, postcodes, numbers and categories.
    """
    own = _compared(spec)
    if asked is None:
        wanted = None if schema is None else {sql_name(n) for n in schema.quasi_identifiers}
        return {
            name: kind
            for key, (name, kind) in own.items()
            if (_looks_like_one(name, kind) if wanted is None else key in wanted)
        }
    direct = set() if schema is None else {sql_name(name) for name in schema.direct_identifiers}
    columns = {}
    for each in asked:
        if sql_name(each) not in own:
            raise InputError(
                f"quasi-identifier '{each}'",
                "must be a compared column; other columns are in the linked file anyway",
                accepted=", ".join(name for name, _ in own.values()),
            )
        name, kind = own[sql_name(each)]
        if kind not in QUASI or sql_name(each) in direct:
            raise InputError(
                f"quasi-identifier '{each}'",
                "must not name or reach a person",
                found="a direct identifier" if kind in QUASI else f"of kind {kind.value}",
            )
        columns[name] = kind
    return columns


def _compared(spec: LinkSpec) -> dict[str, tuple[str, ColumnKind]]:
    """Compared columns by their SQL names: name and kind; of Splink settings by their words."""
    if spec.splink is None:
        return {sql_name(name): (name, column.kind) for name, column in spec.columns.items()}
    return {
        sql_name(name): (
            name,
            ColumnKind.IDENTIFIER
            if named(words_of(name), WORDS["direct"])
            else ColumnKind.CATEGORY,
        )
        for name in columns_of_settings(spec.splink)
    }


def _looks_like_one(name: str, kind: ColumnKind) -> bool:
    """Whether a compared column is a quasi-identifier: a house number is part of an address."""
    return kind in QUASI and not named(words_of(name), WORDS["direct"])


def read_analytic(opened: link_sources.Opened, kept: Mapping[str, ColumnKind]) -> Analytic:
    """Stack the analytic halves: the union of their columns, one row per record."""
    parts = [_one_source(opened, place, kept) for place in range(len(opened.records.sources))]
    return Analytic(np.arange(opened.records.count), stacked(parts), kept)


def sources_alone(records: Records) -> Analytic:
    """Of each record its source, and nothing else."""
    every = np.arange(records.count)
    names = pa.array(records.sources, pa.string())
    source = names.take(pa.array(records.source_of(every)))
    return Analytic(every, pa.table({_PROVENANCE: source}), {})


def stacked(parts: Sequence[pa.Table]) -> pa.Table:
    """Tables under each other: the union of their columns, in the order in which they come."""
    names = dict.fromkeys(name for part in parts for name in part.column_names)
    columns = {}
    for name in names:
        own = [
            part[name] if name in part.column_names else pa.chunked_array([pa.nulls(len(part))])
            for part in parts
        ]
        columns[name] = in_one_type(own, name)
    return pa.table(columns)


def quasi_identifiers_of(
    opened: link_sources.Opened, place: int, kept: Mapping[str, ColumnKind]
) -> pa.Table:
    """The compared columns that are kept, of one source."""
    with pq.ParquetFile(opened.identifying[place]) as file:
        having = set(file.schema_arrow.names)
        names = {n: own for n in kept for own in (n, sql_name(n)) if own in having}
        table = file.read(columns=list(names.values()))
    columns = {name: as_found(table[own], kept[name]) for name, own in names.items()}
    rows = len(opened.records.ids[place])
    return (
        pa.table(columns) if columns else pa.table({link_sources.RECORD: pa.nulls(rows)}).select([])
    )


def _one_source(
    opened: link_sources.Opened, place: int, kept: Mapping[str, ColumnKind]
) -> pa.Table:
    quasi = quasi_identifiers_of(opened, place, kept)
    with pq.ParquetFile(opened.analytic[place]) as file:
        rest = file.read(columns=file.schema_arrow.names[1:])
    rows = len(opened.records.ids[place])
    columns = dict(zip(quasi.column_names, quasi.columns, strict=True))
    for name in rest.column_names:
        columns[link_sources.free_name(name, columns)] = rest[name]
    names = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(rows, np.int32)), pa.array([opened.records.sources[place]])
    )
    return pa.table({_PROVENANCE: names.cast(pa.string()), **columns})


def linked_table(analytic: Analytic, ids: pa.Array, secret: Secret) -> pa.Table:
    """The linked file."""
    # From the secret, not the seed: who knows the seed could undo the order.
    own = secret.bound(np.ascontiguousarray(analytic.record, dtype=np.int64).tobytes())
    # The order of the sources would tell whose row it is to who knows one of them.
    order = pa.array(own.stream("order").permutation(len(analytic.record)))
    names = linked_names(analytic.columns.column_names)
    person = ids.take(pa.array(analytic.record))
    columns = [pa.chunked_array([person]), *analytic.columns.columns]
    return pa.Table.from_arrays(columns, names=names).take(order)


def linked_names(columns: list[str]) -> list[str]:
    """Names of the linked file's columns: the person, the source, and the rest as it is."""
    rest = columns[1:]
    return [*(link_sources.free_name(each, rest) for each in (PERSON, SOURCE)), *rest]


@dataclass(frozen=True, eq=False)
class PersonIds:
    """The persons' ids.

    Attributes
    ----------
    ids
        Id of the person of each record; shape (records,).
    followed
        What became of the persons of an earlier linkage; ``None`` without one.
    names
        Ids by the numbers in ``followed``.
    """

    ids: pa.Array
    followed: Followed | None
    names: tuple[str, ...]


def name_persons(
    records: Records,
    person: np.ndarray,
    secret: Secret,
    *,
    key: bytes | None = None,
    previous: Sequence[str | None] | None = None,
) -> PersonIds:
    """Give each person an id: one of before, a random one, or one under a key.

    A keyed id is made of the person's first record, so it is the same in every run in which that
    is the first one.

    Parameters
    ----------
    key
        Secret for keyed ids; random ones without it.
    previous
        Id of the person of each record in an earlier linkage, ``None`` for new records.
    """
    followed, names = None, []
    number = person.astype(np.int64)
    if previous is not None:
        names = list(dict.fromkeys(each for each in previous if each is not None))
        code = {name: place for place, name in enumerate(names)}
        # -1 stands for a new record, as `follow` has it.
        old = np.array([-1 if each is None else code[each] for each in previous], np.int64)
        followed = follow(old, number, next_id=len(names))
        number = followed.person
    count = int(number.max(initial=-1)) + 1 - len(names)
    if key is None:
        own = secret.bound(person.astype(np.int64).tobytes())
        names += _others(count, own.stream("persons"), names)
    else:
        names += _keyed(records, number, len(names), key, names)
    return PersonIds(pa.array(names, pa.string()).take(pa.array(number)), followed, tuple(names))


def _others(count: int, stream: SecretStream, taken: Sequence[str]) -> list[str]:
    """Random ids that nobody has."""
    drawn = random_pseudonyms(count, stream)
    # All again and not the double ones alone: then no id depends on those taken.
    while not set(drawn).isdisjoint(taken):
        drawn = random_pseudonyms(count, stream)
    return drawn


def _keyed(
    records: Records, number: Ints, start: int, key: bytes, taken: Sequence[str]
) -> list[str]:
    """Keyed ids of the persons from a number on; another one where somebody has it."""
    persons, first = np.unique(number, return_index=True)
    source, ids = named_records(records, first[persons >= start])
    texts = list(zip(source.to_pylist(), ids.to_pylist(), strict=True))
    # With the source: two sources may number different records alike.
    pseudonyms = keyed_pseudonyms([f"{one}\0{other}" for one, other in texts], key)
    used = set(taken)
    for place, (one, other) in enumerate(texts):
        again = 0
        while pseudonyms[place] in used:
            again += 1
            pseudonyms[place] = keyed_pseudonyms([f"{one}\0{other}\0{again}"], key)[0]
        used.add(pseudonyms[place])
    return pseudonyms


_KINDS = {ColumnKind.DATE: Kind.NUMERIC, ColumnKind.NUMBER: Kind.NUMERIC}


@dataclass(frozen=True)
class LinkedSchema:
    """The schema of the linked file, and why, by column, where it was proposed."""

    schema: Schema
    notes: dict[str, str]
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def linked_schema(
    table: pa.Table, quasi_identifiers: Mapping[str, ColumnKind], schema: Schema | None
) -> LinkedSchema:
    """The schema of the linked file: as given for the sources, or proposed.

    A column that numbers a person and that no schema names is left out.
    """
    person, source, *rest = table.column_names
    notes = {person: "the person, as the linkage found it", source: "where the record comes from"}
    left_out = _persons_numbers(table, quasi_identifiers, schema)
    rest = [name for name in rest if name not in left_out]
    said = tuple(
        f"'{name}' looks like the number of a person and is left out of the linked file. If it is "
        "none, name it in a schema."
        for name in left_out
    )
    guess = guess_schema(open_source(table.select(rest or [source])))
    proposed = guess.answered()  # each column has a role: the most careful one where it is open
    guessed = dict(proposed.quasi_identifiers)
    for name, kind in quasi_identifiers.items():
        if name not in guessed:
            guessed[name] = QuasiIdentifier(kind=_KINDS.get(kind, Kind.CATEGORICAL))
    if schema is not None:
        compared = {name: guessed[name] for name in quasi_identifiers}
        given = _given(schema, rest, person, source, compared)
        if lost := declared_and_lost(schema, given):
            said += (f"Declared in the schema and left out of the linked file: {', '.join(lost)}.",)
        said += tuple(_lost_of_a_source(table, source, given))
        return LinkedSchema(given, {}, said, left_out)
    numbering = [name for name in (proposed.person, proposed.household) if name is not None]
    direct = _without((*proposed.direct_identifiers, *numbering), guessed)
    made = Schema(
        person=person,
        quasi_identifiers=guessed,
        sensitive=_without(proposed.sensitive, guessed),
        direct_identifiers=direct,
        insensitive=(source, *_without(proposed.insensitive, {**guessed, source: 0}))
        if rest
        else (),
        missing=proposed.missing,
        recipe=proposed.recipe,
    )
    if direct:
        named = ", ".join(f"'{name}'" for name in direct)
        of = "Column" if len(direct) == 1 else "Columns"
        text = (
            f"{of} {named}: numbers or names of people or things, it seems. The schema calls them "
            "direct identifiers, which nothing releases: check it."
        )
        said = (*said, text)
    return LinkedSchema(made, {**guess.notes, **notes}, said, left_out)


def _persons_numbers(
    table: pa.Table, compared: Mapping[str, ColumnKind], schema: Schema | None
) -> tuple[str, ...]:
    """Columns that number a person by their name or, without a schema, by a source's values."""
    _, source, *names = table.column_names
    stated = set() if schema is None else {sql_name(name) for name in schema.columns()}
    found = {
        name: None
        for name in names
        if link_sources.numbers_a_person(name) and sql_name(name) not in stated
    }
    if schema is None:
        # Source by source: numbers of several sources repeat in one column, and look like none.
        for each in pc.unique(table[source]):
            part = table.filter(pc.equal(table[source], each))
            own = [name for name in names if part[name].null_count < len(part)]
            # A guess names one person's column at a time, and a source may have several.
            while own:
                own = [name for name in own if name not in found]
                person = guess_schema(open_source(part.select(own))).schema.person if own else None
                if person is None or person in compared:
                    break
                found[person] = None
    return tuple(name for name in found if name not in compared)


def _without(names: tuple[str, ...], taken: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in taken)


def declared_and_lost(declared: Schema, linked: Schema) -> tuple[str, ...]:
    """Columns to be analysed that the sources' schema declares and the linked file has not."""
    there = {sql_name(name) for name in linked.columns()}
    names = (*declared.quasi_identifiers, *declared.sensitive, *declared.insensitive)
    household = () if declared.household is None else (declared.household,)
    return tuple(name for name in (*household, *names) if sql_name(name) not in there)


def _lost_of_a_source(table: pa.Table, source: str, linked: Schema) -> Iterator[str]:
    """Quasi-identifiers of which the linked file has nothing for a source."""
    for each in pc.unique(table[source]).drop_null():
        part = table.filter(pc.equal(table[source], each))
        empty = [n for n in linked.quasi_identifiers if part[n].null_count == len(part)]
        if lost := [n for n in empty if table[n].null_count < len(table)]:
            yield f"Without values for the records of source {each}: {', '.join(lost)}."


def _given(
    schema: Schema,
    columns: list[str],
    person: str,
    source: str,
    compared: Mapping[str, QuasiIdentifier],
) -> Schema:
    """The given schema over the columns that are left; some column is a quasi-identifier."""
    named = {sql_name(name): name for name in columns}

    def there(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(named[sql_name(name)] for name in names if sql_name(name) in named)

    def said(sentences: Mapping[str, str]) -> dict[str, str]:
        return {named[sql_name(n)]: why for n, why in sentences.items() if sql_name(n) in named}

    quasi = {
        named[sql_name(name)]: how
        for name, how in schema.quasi_identifiers.items()
        if sql_name(name) in named
    }
    others = {*there(schema.sensitive), *there(schema.direct_identifiers)}
    quasi |= {n: how for n, how in compared.items() if n not in quasi and n not in others}
    left = () if not quasi else (source,)
    # A schema must have a quasi-identifier: where nothing else is left, the source is it.
    quasi = quasi or {source: QuasiIdentifier(kind=Kind.CATEGORICAL)}
    return Schema(
        person=person,
        quasi_identifiers=quasi,
        sensitive=there(schema.sensitive),
        direct_identifiers=there(schema.direct_identifiers),
        insensitive=(*left, *(n for n in there(schema.insensitive) if n not in quasi)),
        undecided={n: why for n, why in said(schema.undecided).items() if n not in quasi},
        accepted=said(schema.accepted),
        missing=schema.missing,
        events={
            named[sql_name(name)]: how
            for name, how in schema.events.items()
            if sql_name(name) in named and named[sql_name(name)] not in quasi
        },
    )


def declare(analytic: Analytic, schema: Schema | None) -> tuple[Analytic, LinkedSchema]:
    """What is analysed, without columns that number a person, and what its columns are.

    What is known of the sources' columns counts.
    """
    names = linked_names(analytic.columns.column_names)
    person = pa.chunked_array([pa.array(analytic.record)])
    table = pa.Table.from_arrays([person, *analytic.columns.columns], names=names)
    declared = linked_schema(table, analytic.quasi_identifiers, schema)
    return without_columns(analytic, declared.left_out), declared


class Identified(Protocol):
    """What a specification says of the records' ids."""

    @property
    def id(self) -> str | None:
        """The column of ids."""

    @property
    def rename(self) -> Mapping[str, Mapping[str, Headers]]:
        """By source: names of columns and their headers."""


def attach(
    analytic: Analytic,
    records: Records,
    tables: Mapping[str, object],
    spec: Identified,
    schema: Schema | None = None,
) -> Analytic:
    """Put tables with any number of rows per record in the place of the sources' records.

    A row has what its table says, and of other columns what the record has. A record without rows
    is left out, and so are identifying columns. A source without such a table stays as it is.
    """
    if not set(tables) <= set(records.sources):
        raise InputError(
            "attached tables",
            "must be given for sources",
            found="a name that no source has",
            accepted=", ".join(records.sources),
        )
    rows, parts = [], []
    for place, name in enumerate(records.sources):
        start, stop = (int(end) for end in records.starts[place : place + 2])
        if name not in tables:
            rows.append(np.arange(start, stop))
            parts.append(analytic.columns.slice(start, stop - start))
            continue
        own, table = _read(tables[name], name, records.ids[place], spec, schema)
        rows.append(own + start)
        parts.append(_beside(table, analytic.columns.take(pa.array(rows[-1]))))
    names = set().union(*(part.column_names for part in parts))
    quasi = {name: kind for name, kind in analytic.quasi_identifiers.items() if name in names}
    return Analytic(np.concatenate(rows), stacked(parts), quasi)


def _beside(table: pa.Table, of_record: pa.Table) -> pa.Table:
    source, *others = of_record.column_names
    columns = {source: of_record[source]}
    columns |= dict(zip(table.column_names, table.columns, strict=True))
    for name in others:
        empty = of_record[name].null_count == len(of_record)
        if name not in table.column_names and not empty:
            columns[name] = of_record[name]
    return pa.table(columns)


def _read(
    data: object, name: str, ids: pa.Array, spec: Identified, schema: Schema | None
) -> tuple[Ints, pa.Table]:
    """Number of each row's record within its source, and the row's columns."""
    source = prepared_in_part(data if isinstance(data, Source) else open_source(data), schema)
    subject = f"the table attached to {name}"
    if spec.id is None:
        raise InputError(subject, "needs an id column in the specification", found="none")
    headers = link_sources.match_headers(
        source.names, [spec.id], spec.rename.get(name, {}), subject
    )
    if spec.id not in headers:
        raise InputError(f"column '{spec.id}'", f"must be a column of {subject}")
    (header,) = headers[spec.id]
    # Identifying columns of attached tables are not even read.
    wanted = link_sources.separate(source.names, {}, header, schema).analytic
    table = pa.Table.from_batches(list(source.batches([header, *wanted])))
    text = link_sources.as_text(table[header].combine_chunks(), header)
    number = np.asarray(pc.fill_null(pc.index_in(text, ids.cast(text.type)), -1), dtype=np.int64)
    unknown = np.flatnonzero(number < 0)
    if len(unknown):
        raise InputError(
            f"column '{header}' of {subject}",
            "must hold ids of the source's records",
            found=f"{len(unknown):,} unknown, such as in row "
            f"{positions((unknown[:6] + 1).tolist())}",
        )
    columns: dict[str, pa.ChunkedArray] = {}
    for each, own in wanted.items():
        column = table[each]
        encoded = pa.types.is_dictionary(column.type)
        columns[link_sources.free_name(own, columns)] = (
            column.cast(column.type.value_type) if encoded else column
        )
    return number, pa.table(columns)
