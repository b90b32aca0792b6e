"""Edits of what a project file says of columns: roles, hierarchies, recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit

from sfumato.core.errors import InputError
from sfumato.core.toml_text import read_text
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_model import InFile
from sfumato.server.workbench.project_edits import Change, table_at

ROLES = {
    "person": "person",
    "household": "household",
    "direct identifier": "direct_identifiers",
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "undecided": "undecided",
}
"""The roles of a column, and the keys of the schema that name its columns."""


def set_role(place: ProjectFolder, column: str, role: str, why: str = "") -> Change:
    """The edit that gives a column a role.

    Parameters
    ----------
    why
        The question to answer, where it becomes undecided.
    """
    if role not in ROLES:
        raise InputError(f"column '{column}'", "must have a role", accepted=", ".join(ROLES))

    def change(document: tomlkit.TOMLDocument) -> None:
        schema = schema_in(document, place)
        former = _taken_out(schema, column)
        key = ROLES[role]
        if key in ("person", "household"):
            other = schema.get(key)
            schema[key] = column
            if other is not None and other != column:
                # A column has lost its place: it names people, and must not go out unasked.
                _put_in(schema, "direct_identifiers", str(other))
        elif key == "quasi_identifiers":
            table_at(schema, key)[column] = former if former is not None else tomlkit.table()
        elif key == "undecided":
            table_at(schema, key)[column] = why
        else:
            _put_in(schema, key, column)
        if key in ("person", "household", "direct_identifiers", "quasi_identifiers"):
            _drop(schema, "events", column)

    return change


def schema_in(document: Any, place: ProjectFolder) -> Any:
    """The schema of a project file; one that stands in a file of its own is taken in first."""
    given = place.project.columns
    if isinstance(given, InFile):
        path = place.at(given.file)
        text = tomlkit.parse(read_text(path, f"schema file {path.name}"))
        taken = tomlkit.table()
        for key, item in text.body:
            taken.append(key, item) if key is not None else taken.add(item)  # type: ignore[call-overload]
        _name_files_from(taken, given.file.parent)
        document["schema"] = taken
    return table_at(document, "schema")


def _name_files_from(schema: Any, folder: Path) -> None:
    """Name the files of hierarchies from the project's folder instead of the schema's."""
    for section in ("quasi_identifiers", "events"):
        for column in dict(schema.get(section) or {}).values():
            if isinstance(column, dict) and isinstance(column.get("hierarchy"), str):
                column["hierarchy"] = (folder / column["hierarchy"]).as_posix()


def _taken_out(schema: Any, column: str) -> Any:
    """Take a column out of the role that it has; its table, if it was a quasi-identifier."""
    former = None
    for key in ROLES.values():
        named = schema.get(key)
        if isinstance(named, dict) and column in named:
            former = named[column] if key == "quasi_identifiers" else former
            _drop(schema, key, column)
        elif isinstance(named, list) and column in named:
            named.remove(column)
            if not named:
                del schema[key]
        elif isinstance(named, str) and named == column:
            del schema[key]
    return former if isinstance(former, dict) else None


def _put_in(schema: Any, key: str, column: str) -> None:
    """Name a column in a list, which may stand there as one name alone."""
    named = schema.get(key)
    if named is None:
        _before_tables(schema, key, [column])
    elif isinstance(named, str):
        schema[key] = [named, column]
    elif column not in named:
        named.append(column)


def _before_tables(schema: Any, key: str, value: Any) -> None:
    """Add a key before the first table, behind which it would be read as the table's."""
    schema.add(key, value)


def _drop(schema: Any, key: str, column: str) -> None:
    named = schema.get(key)
    if isinstance(named, list) and column in named:
        named.remove(column)
    elif isinstance(named, dict) and column in named:
        del named[column]
    if named is not None and not named and key in schema:
        del schema[key]
