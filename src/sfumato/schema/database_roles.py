"""What each table of a database is, whose tables say more of the same people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, StrictStr, model_validator

from sfumato.schema.column_roles import Event, EventKind, QuasiIdentifier, by_name
from sfumato.schema.parts import Frozen, Names, Sentences
from sfumato.schema.recipe import Cleaning


class Orphans(StrEnum):
    """What becomes of records that refer to nothing that is there."""

    REFUSE = "refuse"
    """They stop the release."""
    DROP = "drop"
    """They are left out, and counted."""


_AT = re.compile(r"(?P<base>.+?)(?: +at +(?P<date>\S.*))?")


class TableSchema(Frozen):
    """What one table of a database is.

    Parameters
    ----------
    file
        Its file, from the folder of the schema; the table's name with a suffix when not given.
    key
        The column that names each of its records; it goes out as a pseudonym.
    persons
        Whether it has a record for each person. One table has.
    lookup
        Whether it says what a code means, and belongs to no person.
    of
        The tables to which its records belong, by the column that refers to their keys.
    same
        Columns that say a quasi-identifier of the person again, by the quasi-identifier; with
        ``"birth_year at admitted"`` as an age on that date.
    orphans
        What becomes of records that refer to nothing: ``refuse`` or ``drop``.
    quasi_identifiers, sensitive, direct_identifiers, insensitive, undecided, accepted
        As of a `Schema`; quasi-identifiers of the table of people alone.
    recipe
        How cells are to be read, as of a `Schema`.
    events
        What an intruder may know of a record, as of a `Schema`; sensitive where no role is given.
    """

    file: StrictStr | None = None
    key: StrictStr | None = None
    persons: StrictBool = False
    lookup: StrictBool = False
    of: dict[str, StrictStr] = Field(default_factory=dict)
    same: dict[str, StrictStr] = Field(default_factory=dict)
    orphans: Orphans = Orphans.REFUSE
    quasi_identifiers: Annotated[dict[str, QuasiIdentifier], BeforeValidator(by_name)] = Field(
        default_factory=dict
    )
    sensitive: Names = ()
    direct_identifiers: Names = ()
    insensitive: Names = ()
    undecided: Sentences = Field(default_factory=dict)
    accepted: Sentences = Field(default_factory=dict)
    recipe: dict[str, Cleaning] = Field(default_factory=dict)
    events: Annotated[dict[str, Event], BeforeValidator(by_name)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_role_each(self) -> TableSchema:
        roles: dict[str, str] = {}
        for role, names in self.roles().items():
            for name in names:
                if name in roles:
                    raise ValueError(
                        f"column '{name}' is named as {roles[name]} and as {role}; "
                        "a column has one role"
                    )
                roles[name] = role
        for name in self.events:
            if roles.get(name) not in {"event", "sensitive", "insensitive"}:
                raise ValueError(
                    f"column '{name}' is named as {roles[name]}, which says nothing of an event"
                )
        return self

    @model_validator(mode="after")
    def _is_one_kind(self) -> TableSchema:
        if self.persons and self.lookup:
            raise ValueError("a table is of persons or a lookup table, not both")
        if self.persons and (self.key is None or not self.quasi_identifiers):
            raise ValueError("the table of persons needs a 'key' and 'quasi_identifiers'")
        if not self.persons and self.quasi_identifiers:
            raise ValueError(
                "'quasi_identifiers' are of the table of persons; name a column that says one "
                "again under 'same'"
            )
        if (self.persons or self.lookup) and self.events:
            raise ValueError("'events' are of tables that belong to the table of persons")
        if self.lookup and self.key is None:
            raise ValueError("a lookup table needs the 'key' that others refer to")
        return self

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The named columns of each role."""
        told = {*self.sensitive, *self.insensitive}
        return {
            "key": () if self.key is None or self.key in self.of else (self.key,),
            "reference": tuple(self.of),
            "same": tuple(self.same),
            "quasi-identifier": tuple(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "direct identifier": self.direct_identifiers,
            "insensitive": self.insensitive,
            "undecided": tuple(self.undecided),
            "event": tuple(name for name in self.events if name not in told),
        }

    def columns(self) -> tuple[str, ...]:
        """All named columns, in the order of their roles."""
        return tuple(name for names in self.roles().values() for name in names)

    @property
    def dates(self) -> tuple[str, ...]:
        """The events that are dates."""
        return tuple(n for n, each in self.events.items() if each.kind is EventKind.DATE)

    def base_of(self, column: str) -> tuple[str, str | None]:
        """The quasi-identifier that a column says again, and the date at which it does."""
        found = _AT.fullmatch(self.same[column])
        return (self.same[column], None) if found is None else (found["base"], found["date"])


def check_tables(tables: Mapping[str, TableSchema]) -> None:
    """Refuse tables that are no database of the same people.

    Raises
    ------
    ValueError
        If there is not one table of persons, or a table does not belong to it.
    """
    persons = [name for name, each in tables.items() if each.persons]
    if len(persons) != 1:
        raise ValueError(
            f"one of the 'tables' must say persons = true, which says whose records all are; "
            f"{len(persons)} do"
        )
    for name, each in tables.items():
        for column, to in each.of.items():
            if to not in tables:
                raise ValueError(f"tables.{name}.of.{column} must name a table of the schema")
            if tables[to].key is None:
                raise ValueError(f"tables.{to} needs a 'key', to which {name} refers")
        _check_belongs(tables, name, persons[0])
        for column in each.same:
            base, date = each.base_of(column)
            if base not in tables[persons[0]].quasi_identifiers:
                raise ValueError(
                    f"tables.{name}.same.{column} must name a quasi-identifier of {persons[0]}"
                )
            if date is not None and date not in each.dates:
                raise ValueError(f"tables.{name}.same.{column} must name a date under its 'events'")


def _check_belongs(tables: Mapping[str, TableSchema], name: str, persons: str) -> None:
    """Refuse a table whose references lead back to it, or not to persons."""
    table, above = tables[name], set(_above(tables, name))
    if name in above:
        raise ValueError(f"the references of tables.{name} lead back to it")
    if table.persons and not all(tables[to].lookup for to in table.of.values()):
        raise ValueError("the table of persons refers to lookup tables only")
    if table.lookup and persons in above:
        raise ValueError(f"tables.{name} belongs to persons, and is no lookup table")
    if not (table.lookup or table.persons or persons in above):
        raise ValueError(f"tables.{name} needs an 'of' that leads to {persons}, or lookup = true")


def _above(tables: Mapping[str, TableSchema], name: str) -> Iterator[str]:
    """The tables to which a table's references lead, by theirs, too."""
    waiting, seen = [*tables[name].of.values()], set[str]()
    while waiting:
        table = waiting.pop()
        yield table
        if table not in seen and table in tables:
            seen.add(table)
            waiting += tables[table].of.values()


def plain_tables(tables: Mapping[str, TableSchema]) -> dict[str, Any]:
    """The fields of tables that differ from their defaults, as plain values."""
    found = {}
    for name, each in tables.items():
        fields = each.model_dump(mode="json", exclude_defaults=True)
        for field in ("quasi_identifiers", "events"):
            if field in fields:
                # Its kind alone reads better than a table of one entry.
                fields[field] = {
                    column: given["kind"] if set(given) == {"kind"} else given
                    for column, given in (
                        (column, {"kind": "code", **one} if field == "events" else one)
                        for column, one in fields[field].items()
                    )
                }
        found[name] = fields
    return found
