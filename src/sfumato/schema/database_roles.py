"""Whether the tables of a schema are one database, and its tables as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def check_tables(tables: Mapping[str, Any]) -> None:
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


def _check_belongs(tables: Mapping[str, Any], name: str, persons: str) -> None:
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


def _above(tables: Mapping[str, Any], name: str) -> Iterator[str]:
    """The tables to which a table's references lead, by theirs, too."""
    waiting, seen = [*tables[name].of.values()], set[str]()
    while waiting:
        table = waiting.pop()
        yield table
        if table not in seen and table in tables:
            seen.add(table)
            waiting += tables[table].of.values()


def plain_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
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
