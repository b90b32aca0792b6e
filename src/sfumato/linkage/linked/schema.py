"""What each column of the linked file is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.linkage.sources.halves import numbers_a_person
from sfumato.linkage.spec.columns import sql_name
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.table.schema_guess import guess_schema
from sfumato.table.table_files import open_source

_KINDS = {ColumnKind.DATE: Kind.NUMERIC, ColumnKind.NUMBER: Kind.NUMERIC}


@dataclass(frozen=True)
class LinkedSchema:
    """The schema of the linked file.

    Attributes
    ----------
    schema
        The schema.
    notes
        Why, by column, where it was proposed.
    warnings
        What somebody should look at.
    left_out
        Columns that number a person and are not in the linked file.
    """

    schema: Schema
    notes: dict[str, str]
    warnings: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def linked_schema(
    table: pa.Table, quasi_identifiers: Mapping[str, ColumnKind], schema: Schema | None
) -> LinkedSchema:
    """The schema of the linked file: as given for the sources, or proposed.

    A column that numbers a person and that no schema names is left out.

    Parameters
    ----------
    table
        The linked file: the person, the source, and the rest.
    quasi_identifiers
        Its columns that were compared: name and kind.
    schema
        The schema of the sources.

    Raises
    ------
    InputError
        If the file has no column that can be a quasi-identifier.
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
    guessed = dict(guess.schema.quasi_identifiers)
    for name, kind in quasi_identifiers.items():
        if name not in guessed:
            guessed[name] = QuasiIdentifier(kind=_KINDS.get(kind, Kind.CATEGORICAL))
    if schema is not None:
        compared = {name: guessed[name] for name in quasi_identifiers}
        given = _given(schema, rest, person, source, compared)
        return LinkedSchema(given, {}, said, left_out)
    direct = tuple(name for name in guess.schema.direct_identifiers if name not in guessed)
    made = Schema(
        person=person,
        quasi_identifiers=guessed,
        sensitive=_without(guess.schema.sensitive, guessed),
        direct_identifiers=direct,
        insensitive=(source, *_without(guess.schema.insensitive, {**guessed, source: 0}))
        if rest
        else (),
        missing=guess.schema.missing,
    )
    said += tuple(
        f"'{name}' looks as if it numbers or names somebody or something: the schema calls it a "
        "direct identifier, so that nothing releases it. Check it."
        for name in direct
    )
    return LinkedSchema(made, {**guess.notes, **notes}, said, left_out)


def _persons_numbers(
    table: pa.Table, compared: Mapping[str, ColumnKind], schema: Schema | None
) -> tuple[str, ...]:
    """Columns that number a person by their name or, without a schema, by a source's values."""
    _, source, *names = table.column_names
    stated = set() if schema is None else {sql_name(name) for name in schema.columns()}
    found = {
        name: None for name in names if numbers_a_person(name) and sql_name(name) not in stated
    }
    if schema is None:
        for each in pc.unique(table[source]):
            part = table.filter(pc.equal(table[source], each))
            own = [name for name in names if part[name].null_count < len(part)]
            while own:
                own = [name for name in own if name not in found]
                person = guess_schema(open_source(part.select(own))).schema.person if own else None
                if person is None or person in compared:
                    break
                found[person] = None
    return tuple(name for name in found if name not in compared)


def _without(names: tuple[str, ...], taken: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in taken)


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
    )
