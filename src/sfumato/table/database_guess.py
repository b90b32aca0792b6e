"""A proposed schema of a database: what each of its tables is, and each column of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.declaration import LayoutGiven
from sfumato.core.errors import InputError
from sfumato.schema import Schema
from sfumato.table.contents import CODES, FEW, Content
from sfumato.table.schema_guess import Guess, guess_schema
from sfumato.table.sources import Source
from sfumato.table.table_keys import KeyMap, Reference, ids_in, key_map, open_tables

SAME = 0.98
"""Share of records from which a column says again what the table of people says."""


@dataclass(frozen=True)
class DatabaseGuess:
    """A proposed schema of a database, and why, by table and ``TABLE.COLUMN``, without values."""

    schema: Schema
    notes: dict[str, str]
    keys: KeyMap


def check_answered(found: KeyMap) -> None:
    """Refuse a database of which a person has to say how its tables belong together."""
    if found.questions:
        raise InputError(
            "the tables",
            "must say how they belong together",
            found=f"{len(found.questions)} open: " + "; ".join(found.questions),
            advice="write these lines to a schema, and name it with --schema",
        )
    if found.persons is None:
        raise InputError(
            "the tables",
            "must have a key in common",
            found="none that is unique in one of them and contained in the others",
            advice="link them with 'sfumato init', or say of each what it is under [tables.NAME]",
        )


def guess_database(
    tables: Mapping[str, object], layout: LayoutGiven | None = None
) -> DatabaseGuess:
    """Propose what the tables of a database are: keys, references, and a role for each column."""
    sources = open_tables(tables, layout)
    found = key_map(sources)
    check_answered(found)
    assert found.persons is not None
    if found.published is not None:
        return _of_published(found, sources)
    guesses = {
        name: guess_schema(_without_keys(source, found, name)) for name, source in sources.items()
    }
    persons = _of_persons(found, guesses[found.persons])
    made: dict[str, dict[str, Any]] = {found.persons: persons}
    missing: dict[str, None] = {}
    notes = _notes(found)
    for name, guess in guesses.items():
        missing |= dict.fromkeys(guess.schema.missing)
        notes |= {f"{name}.{column}": why for column, why in guess.notes.items()}
        if name in found.lookups:
            made[name] = _of_lookup(found, name, guess)
        elif name != found.persons:
            same = _said_again(found, name, sources, persons["quasi_identifiers"])
            made[name] = _of_events(found, name, guess, same)
    ordered = {name: made[name] for name in tables}
    return DatabaseGuess(Schema(tables=ordered, missing=tuple(missing)), notes, found)


def _of_published(found: KeyMap, sources: Mapping[str, Source]) -> DatabaseGuess:
    """The schema of a published database, of which nothing need be guessed."""
    known = found.published
    assert known is not None
    made = {
        name: known.columns(name, sources[name].names, _of(found, name).get("of", {}))
        for name in found.tables
    }
    about = f"{known.name}, a row for each person"
    if found.left_out:
        about += f"; nothing goes out of {', '.join(found.left_out)}"
    return DatabaseGuess(Schema(tables=made), {**_notes(found), known.persons: about}, found)


def _without_keys(source: Source, found: KeyMap, table: str) -> Source:
    """A table without its key and references, of which more is known than their values say."""
    left_out = {found.keys.get(table), *(each.column for each in found.of(table))}
    names = tuple(name for name in source.names if name not in left_out)
    # A table of nothing but keys says who belongs to whom.
    return replace(source, names=names or source.names)


def _notes(found: KeyMap) -> dict[str, str]:
    """What is said of each table."""
    notes = {found.persons or "": "a row for each person"}
    for name in found.tables:
        refers = [f"{each.column} refers to {each.to}" for each in found.of(name)]
        if name in found.lookups:
            notes[name] = "says what a code means"
        elif refers and name != found.persons:
            notes[name] = "; ".join(refers)
        notes |= {
            f"{name}.{each.column}": f"refers to {each.to}, of which no row goes out for it"
            for each in found.of(name)
            if name == found.persons or _is_code_and_key(found, each)
        }
    return notes


def _of(found: KeyMap, table: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if table in found.keys:
        fields["key"] = found.keys[table]
    refers = [each for each in found.of(table) if not _is_code_and_key(found, each)]
    if refers and table != found.persons and table not in found.lookups:
        fields["of"] = {each.column: each.to for each in refers}
        if any(each.orphans and each.to not in found.lookups for each in refers):
            fields["orphans"] = "refuse"
    return fields


def _is_code_and_key(found: KeyMap, each: Reference) -> bool:
    """Whether a code is the key of its table, too, and could not be hidden where it has to be."""
    return each.to in found.lookups and found.keys.get(each.table) == each.column


def _kept(schema: Schema, *taken: str) -> dict[str, Any]:
    """The lines of the recipe of the columns that stay."""
    return {name: line for name, line in schema.recipe.items() if name not in taken}


def _of_persons(found: KeyMap, guess: Guess) -> dict[str, Any]:
    """The table of people: its columns are what they are in a file of one row for each."""
    own, keys = guess.schema, _of(found, found.persons or "")
    numbers = [name for name in (own.person, own.household) if name is not None]
    return {
        "persons": True,
        **keys,
        # Where a person was born, or lives, is known of the person.
        "quasi_identifiers": {
            **own.quasi_identifiers,
            **{each.column: "categorical" for each in found.of(found.persons or "")},
        },
        "sensitive": own.sensitive,
        "direct_identifiers": (*own.direct_identifiers, *numbers),
        "insensitive": own.insensitive,
        "undecided": own.undecided,
        "recipe": _kept(own, *own.direct_identifiers, *numbers),
    }


def _of_lookup(found: KeyMap, table: str, guess: Guess) -> dict[str, Any]:
    """A lookup table: what it says of a code stays, unless it names somebody."""
    own = guess.schema
    named = {*own.direct_identifiers, *own.undecided, own.person, own.household} - {None}
    refers = [each.column for each in found.of(table)]
    roles = [name for name in guess.roles if name not in {*refers, found.keys[table]}]
    return {
        "lookup": True,
        **_of(found, table),
        # Keys of other tables, which are pseudonyms elsewhere, are left out with names.
        "direct_identifiers": (*(name for name in roles if name in named), *refers),
        "insensitive": tuple(name for name in roles if name not in named),
    }


def _of_events(found: KeyMap, table: str, guess: Guess, same: Mapping[str, str]) -> dict[str, Any]:
    """A table of events: dates and codes are what may be known of one, names are left out."""
    events: dict[str, Any] = {}
    sensitive: list[str] = []
    left_out: list[str] = []
    assert guess.profile is not None
    taken = {found.keys.get(table), *(each.column for each in found.of(table)), *same}
    for name, proposed in guess.roles.items():
        if name in taken:
            continue
        column = guess.profile.columns[name]
        of_date = column.content is Content.DATE or column.look == "dates"
        few = column.distinct <= FEW or column.content in CODES
        numbers = column.look == "numbers" and not column.whole
        if proposed.role in ("direct identifier", "person", "household"):
            left_out.append(name)
        elif of_date:
            events[name] = "date"
        elif column.content in (Content.FREE_TEXT, Content.BYTES, Content.EMPTY):
            left_out.append(name)
        elif numbers or not few:
            sensitive.append(name)
        else:
            events[name] = "code"
    return {
        **_of(found, table),
        "same": dict(same),
        "events": events,
        "sensitive": tuple(sensitive),
        "direct_identifiers": tuple(left_out),
        "recipe": _kept(guess.schema, *left_out, *same),
    }


def _said_again(
    found: KeyMap, table: str, sources: Mapping[str, Source], quasi: Mapping[str, Any]
) -> dict[str, str]:
    """Columns of a table that say a person's quasi-identifier again, by their values."""
    direct = next((each for each in found.of(table) if each.to == found.persons), None)
    if direct is None or found.persons is None:
        return {}
    people, own = sources[found.persons], sources[table]
    alike = {
        name: base
        for name in own.names
        for base in quasi
        if name.casefold() == base.casefold() and base in people.names
    }
    if not alike:
        return {}
    at = _rows_of(ids_in(own, direct.column), ids_in(people, found.keys[found.persons]))
    same = {}
    for name, base in alike.items():
        said, there = ids_in(own, name), ids_in(people, base).take(at)
        equal = pc.mean(pc.fill_null(pc.equal(said, there), False)).as_py()
        if equal is not None and equal >= SAME:
            same[name] = base
    return same


def _rows_of(values: pa.Array, keys: pa.Array) -> pa.Array:
    """The row of each value in a key, null where it is not there."""
    return pc.index_in(values, value_set=keys)
