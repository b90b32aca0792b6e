"""What each column of a file is: its role, kind and hierarchy, in Python and as TOML."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from sfumato.core.atomic import check_path
from sfumato.core.errors import InputError
from sfumato.core.toml_text import parse_toml, read_text
from sfumato.schema.column_roles import Event, EventKind, QuasiIdentifier, by_name
from sfumato.schema.database_roles import TableSchema, check_tables, plain_tables
from sfumato.schema.parts import Frozen, Names, Part, Sentences, schema_error
from sfumato.schema.recipe import Cleaning, in_order


class Unclassified(StrEnum):
    """What becomes of columns that the schema does not name."""

    REFUSE = "refuse"
    """They stop the release."""
    DROP = "drop"
    """They are left out."""


RECIPE_SOURCE = "source of the recipe"
"""The role of a column that others are made of, where nobody gave it another."""


class Schema(Frozen):
    """What each column of a file is.

    A release refuses a file with a column that is not named: nobody has said that it may go out.

    Parameters
    ----------
    person
        The column that says which person a record belongs to. Without it every record is a
        person of its own.
    household
        The column that says which household a person belongs to, for household risk. It says
        who lives together, and is released as pseudonyms where `HouseholdK` is promised only.
    quasi_identifiers
        Columns that an intruder may know: a mapping from the name to a `QuasiIdentifier`, to
        its fields, or to its kind as a word; or a list of names.
    sensitive
        Columns whose values must not be learned about a person.
    direct_identifiers
        Columns that name a person; never released.
    insensitive
        Columns that are released unchanged; naming them states that somebody thought about it.
    undecided
        Columns that nobody has decided about, each with the question to answer; they stop every
        release.
    accepted
        Columns that a measure warns of, each with the reason why its role is right all the same.
    missing
        Texts that mean a missing value, beside the empty cell.
    recipe
        How the cells of some columns are to be read, by column: a `Cleaning`, or its fields. A
        column that others are made of and that has no role is never released.
    events
        Columns that say together what happened in a record, of which an intruder may know some: a
        mapping from the name to an `Event`, to its fields, or to its kind as a word; or a list
        of names. Such a column is sensitive or insensitive, too. Without any, all sensitive and
        insensitive columns that change within a person are taken as such.
    tables
        The tables of a database of the same people, by name: a `TableSchema`, or its fields. Then
        all other parameters but ``missing`` stand within the tables.

    Raises
    ------
    InputError
        If a column has two roles, a field is unknown, or there is no quasi-identifier.

    Examples
    --------
    >>> schema = Schema(
    ...     person="patient", quasi_identifiers={"age": "numeric", "sex": "categorical"}
    ... )
    >>> schema.quasi_identifiers["age"].kind
    <Kind.NUMERIC: 'numeric'>
    """

    person: str | None = None
    household: str | None = None
    quasi_identifiers: Annotated[dict[str, QuasiIdentifier], BeforeValidator(by_name)] = Field(
        default_factory=dict
    )
    sensitive: Names = ()
    direct_identifiers: Names = ()
    insensitive: Names = ()
    undecided: Sentences = Field(default_factory=dict)
    accepted: Sentences = Field(default_factory=dict)
    missing: Names = ()
    recipe: dict[str, Cleaning] = Field(default_factory=dict)
    events: Annotated[dict[str, Event], BeforeValidator(by_name)] = Field(default_factory=dict)
    tables: dict[str, TableSchema] = Field(default_factory=dict)

    def __init__(self, /, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise schema_error(error) from None

    @model_validator(mode="after")
    def _one_role_each(self) -> Schema:
        if self.tables:
            beside = self.model_fields_set - {"tables", "missing"}
            if any(getattr(self, name) for name in beside):
                raise ValueError("columns of 'tables' have their roles under [tables.NAME]")
            check_tables(self.tables)
            return self
        if not self.quasi_identifiers:
            raise ValueError("there must be at least one quasi-identifier")
        roles: dict[str, str] = {}
        for role, names in self.roles().items():
            for name in names:
                if name in roles:
                    raise ValueError(
                        f"column '{name}' is named as {roles[name]} and as {role}; "
                        "a column has one role"
                    )
                roles[name] = role
        # Circles are refused before any data is read.
        in_order(self.recipe)
        return self

    @model_validator(mode="after")
    def _events_are_told(self) -> Schema:
        for role, names in self.roles().items():
            for name in names:
                if name in self.events and role in _NO_EVENTS:
                    raise ValueError(
                        f"column '{name}' is named as {role}, which says nothing of an event; "
                        "events are of sensitive and insensitive columns"
                    )
        near = [event.kind for event in self.events.values() if event.is_near]
        # Events are sorted by what is known nearly, and only one
        # number can be sorted by; second dates become intervals.
        if len(near) > 1 and EventKind.AMOUNT in near:
            raise ValueError(
                "one of the 'events' may be known in %, or dates in days; give the others a "
                "hierarchy of 'widths' and a level"
            )
        return self

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The named columns of each role."""
        roles: dict[str, tuple[str, ...]] = {
            "person": () if self.person is None else (self.person,),
            "household": () if self.household is None else (self.household,),
            "quasi-identifier": tuple(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "direct identifier": self.direct_identifiers,
            "insensitive": self.insensitive,
            "undecided": tuple(self.undecided),
        }
        if self.recipe:
            named = {name for names in roles.values() for name in names}
            sources = (name for each in self.recipe.values() for name in each.sources)
            # A birth date from which an age is made must not go out because nobody gave it a role.
            roles[RECIPE_SOURCE] = tuple(n for n in dict.fromkeys(sources) if n not in named)
        return roles

    def derived(self) -> tuple[str, ...]:
        """The columns that the recipe makes of others, those that others are made of first."""
        return tuple(name for name in in_order(self.recipe) if self.recipe[name].derives)

    def withheld(self) -> frozenset[str]:
        """The columns that no release hands out, but pseudonyms of households under a promise."""
        roles = self.roles()
        return frozenset(
            name
            for role in ("direct identifier", "household", "undecided", RECIPE_SOURCE)
            for name in roles.get(role, ())
        )

    def with_files(self, named: Callable[[Path], Path]) -> Schema:
        """The schema with the files of its hierarchies named otherwise.

        Parameters
        ----------
        named
            Gives the new path of each file.
        """
        tables = {
            name: each.model_copy(update=_moved(each, named)) for name, each in self.tables.items()
        }
        return self.model_copy(update={**_moved(self, named), "tables": tables})

    def columns(self) -> tuple[str, ...]:
        """All named columns, in the order of their roles."""
        return tuple(name for names in self.roles().values() for name in names)


def _moved(part: Schema | TableSchema, named: Callable[[Path], Path]) -> dict[str, Any]:
    """The columns of a file or a table with the files of their hierarchies named otherwise."""
    return {
        field: {
            name: each.model_copy(update={"hierarchy": named(each.hierarchy)})
            if isinstance(each.hierarchy, Path)
            else each
            for name, each in getattr(part, field).items()
        }
        for field in ("quasi_identifiers", "events")
    }


_NO_EVENTS = ("person", "household", "quasi-identifier", "direct identifier")
"""Roles of columns that say who somebody is."""


def check_schema(value: object) -> None:
    """Refuse what is no schema, such as the path of its file."""
    if not isinstance(value, Schema):
        raise InputError(
            "parameter schema",
            "must be a Schema",
            found=f"an object of type {type(value).__name__}",
            accepted="sfumato.Schema(...), or what sfumato.load_schema(path) gives",
        )
    if value.tables:
        raise InputError(
            "parameter schema",
            "must be that of one file here",
            found=f"one of {len(value.tables)} tables",
            advice="pass sfumato.Tables(frames, schema), or on the command line their folder",
        )


def load_schema(path: str | os.PathLike[str]) -> Schema:
    """Read a schema from a TOML file; paths of hierarchies are relative to that file.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML, or breaks a rule of `Schema`.
    """
    check_path(path)
    file = Path(path)
    subject = f"schema file {file.name or file}"
    fields = parse_toml(read_text(file, subject), subject)
    # Relative to the schema, so that a folder with both can be moved.
    return Schema(**fields).with_files(lambda path: file.parent / path)


def schema_to_dict(schema: Schema) -> dict[str, Any]:
    """The fields of a schema that differ from their defaults, as plain values."""
    named: dict[str, Mapping[str, Part]] = {
        "quasi_identifiers": schema.quasi_identifiers,
        "events": schema.events,
    }
    fields = schema.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude={*named, "tables"}
    )
    if schema.tables:
        fields["tables"] = plain_tables(schema.tables)
    for field, columns in named.items():
        if columns:
            fields[field] = {
                name: each.model_dump(mode="json", exclude_defaults=True)
                for name, each in columns.items()
            }
    for steps in fields.get("recipe", {}).values():  # one text alone reads better than its list
        steps |= {
            step: value[0]
            for step, value in steps.items()
            if isinstance(value, list) and len(value) == 1
        }
    return fields


def dump_schema(schema: Schema, notes: dict[str, str] | None = None) -> str:
    """Write a schema as TOML text.

    Parameters
    ----------
    schema, notes
        The schema, and comments by column, written behind or above what they speak about.
    """
    # Only who writes a schema needs it, and reading one is more common.
    import tomlkit

    notes = notes or {}
    document = tomlkit.document()
    fields = schema_to_dict(schema)
    nested = {name: fields.pop(name, {}) for name in ("quasi_identifiers", "events")}
    recipe = fields.pop("recipe", {})
    _add_tables(document, fields.pop("tables", {}), notes)
    tables = {name: fields.pop(name) for name in ("undecided", "accepted") if name in fields}
    for name, value in fields.items():
        columns = value if isinstance(value, list) else [value]
        for column in columns:
            if column in notes:
                document.add(tomlkit.comment(f"{column}: {notes[column]}"))
        document.add(name, value)
    for section, columns in nested.items():
        for name, each in columns.items():
            table = tomlkit.table()
            if name in notes and section == "quasi_identifiers":
                table.comment(notes[name])
            for key, value in each.items():
                table.add(key, value)
            document.setdefault(section, tomlkit.table(is_super_table=True)).add(name, table)
    for name, said in tables.items():  # behind the rest, which would else be read as theirs
        document.add(name, said)
    if schema.recipe:
        document.add("recipe", tomlkit.table())
        for name, steps in recipe.items():
            line = tomlkit.inline_table()
            line.update(steps)
            document["recipe"].add(name, line)
    return tomlkit.dumps(document)


def _add_tables(document: Any, tables: Mapping[str, Any], notes: Mapping[str, str]) -> None:
    """Write the tables of a database, comments by table or by ``TABLE.COLUMN`` above what it is."""
    import tomlkit

    for name, fields in tables.items():
        table = tomlkit.table()
        for place in (name, *(f"{name}.{column}" for column in _columns_in(fields))):
            if notes.get(place):
                table.add(tomlkit.comment(f"{place.removeprefix(f'{name}.')}: {notes[place]}"))
        nested = {k: v for k, v in fields.items() if isinstance(v, dict) and k != "undecided"}
        for key, value in fields.items():
            if key not in nested and key != "undecided":
                table.add(key, value)
        for key, value in nested.items():
            line = tomlkit.inline_table()
            line.update(value)
            table.add(key, line)
        if "undecided" in fields:  # a question is a line of its own
            table.add("undecided", fields["undecided"])
        document.setdefault("tables", tomlkit.table(is_super_table=True)).add(name, table)


def _columns_in(fields: Mapping[str, Any]) -> list[str]:
    """The columns that the fields of a table name."""
    return [c for value in fields.values() if isinstance(value, (dict, list)) for c in value]


def schema_sha256(schema: Schema) -> str:
    """Hash of the schema's canonical TOML text, files of hierarchies without their folder."""
    # The same schema in another folder is the same.
    text = dump_schema(schema.with_files(lambda path: Path(path.name)))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
