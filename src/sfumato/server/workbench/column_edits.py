"""Edits of what a project file says of columns: roles, hierarchies, recipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomlkit
from pydantic import ValidationError

from sfumato.core.errors import InputError
from sfumato.core.toml_text import read_text
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_model import InFile
from sfumato.schema import Cleaning, IntervalHierarchy, PrefixHierarchy
from sfumato.schema.roles import HierarchySpec
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

EVENT = "event"
"""The role of what may be known of a record that belongs to a person of another table."""


def set_role(
    place: ProjectFolder,
    column: str,
    role: str,
    why: str = "",
    section: Sequence[str] = (),
    kind: str = "code",
) -> Change:
    """The edit that gives a column a role.

    Parameters
    ----------
    why
        The question to answer, where it becomes undecided.
    section
        Where its table stands within the schema.
    kind
        What it says of an event, where it becomes one.
    """
    keys = {**ROLES, EVENT: "events"} if section else ROLES
    if role not in keys:
        raise InputError(f"column '{column}'", "must have a role", accepted=", ".join(keys))

    def change(document: tomlkit.TOMLDocument) -> None:
        schema = schema_in(document, place, section)
        former = _taken_out(schema, column)
        key = keys[role]
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
        elif key == "events":
            table_at(schema, key).setdefault(column, kind)
        else:
            _put_in(schema, key, column)
        if key not in ("events", "sensitive", "insensitive") and (section or key != "undecided"):
            _drop(schema, "events", column)

    return change


def set_key(place: ProjectFolder, table: str, former: str, column: str) -> Change:
    """The edit by which another column of a table refers to what one referred to."""

    def change(document: tomlkit.TOMLDocument) -> None:
        schema = schema_in(document, place, ("tables", table))
        _taken_out(schema, column)
        _drop(schema, "events", column)
        schema["of"][column] = schema["of"].pop(former)
        # It names people or records, and must not go out unasked.
        _put_in(schema, "direct_identifiers", former)

    return change


def schema_in(document: Any, place: ProjectFolder, section: Sequence[str] = ()) -> Any:
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
    return table_at(document, "schema", *section)


def _name_files_from(schema: Any, folder: Path) -> None:
    """Name the files of hierarchies from the project's folder instead of the schema's."""
    for table in dict(schema.get("tables") or {}).values():
        _name_files_from(table, folder)
        if isinstance(table.get("file"), str):
            table["file"] = (folder / table["file"]).as_posix()
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


def hierarchy_of(
    place: ProjectFolder, given: Mapping[str, str], column: str
) -> HierarchySpec | None:
    """The hierarchy that a form asks for; ``None`` where it asks for none.

    Raises
    ------
    InputError
        If its steps are no numbers, or its file is none of the project's folder.
    """
    try:
        return _hierarchy_of(place, given, column)
    except ValidationError as error:
        raise _refused(f"hierarchy of column '{column}'", error) from None


def _refused(what: str, error: ValidationError) -> InputError:
    """What a form asks for and the schema does not take, without what was given."""
    said = error.errors(include_input=False, include_url=False)[0]["msg"]
    return InputError(
        what, "must be steps that go together", found=said.removeprefix("Value error, ")
    )


def _hierarchy_of(
    place: ProjectFolder, given: Mapping[str, str], column: str
) -> HierarchySpec | None:
    form, text = given.get("levels", ""), given.get("steps", "").replace(";", ",")
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if form == "prefix" and parts:
        return PrefixHierarchy(lengths=tuple(int(number) for number in _numbers(parts, column)))
    if form == "width" and parts:
        units = ("month", "quarter", "year", "decade")
        widths = [part if part in units else _numbers([part], column)[0] for part in parts]
        return IntervalHierarchy(
            widths=tuple(widths), start=_numbers([given.get("start") or "0"], column)[0]
        )
    if form == "list" and given.get("file", "").strip():
        path, folder = Path(given["file"].strip()), place.folder.resolve()
        # A link would show what lies elsewhere to who may see this folder alone.
        full = place.at(path).resolve()
        if path.is_absolute() or full != folder / path or not full.is_file():
            raise InputError(
                f"hierarchy of column '{column}'",
                "must be a file in the project's folder",
                accepted="its name",
            )
        return path
    return None


def _numbers(parts: list[str], column: str) -> list[float]:
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = [np.nan]
    if not np.isfinite(numbers).all():
        raise InputError(
            f"hierarchy of column '{column}'",
            "must be numbers with a comma between them",
            accepted="3, 2; of dates also month, quarter, year, decade",
        )
    return numbers


def set_hierarchy(
    place: ProjectFolder, column: str, spec: HierarchySpec | None, section: Sequence[str] = ()
) -> Change:
    """The edit that gives a quasi-identifier a hierarchy, or none."""

    def change(document: tomlkit.TOMLDocument) -> None:
        quasi = table_at(schema_in(document, place, section), "quasi_identifiers")
        if column not in quasi:
            raise InputError(
                f"column '{column}'",
                "must be a quasi-identifier to have a hierarchy",
                advice="change its role first",
            )
        if not isinstance(quasi[column], dict):
            kind = quasi[column]
            quasi[column] = tomlkit.table()
            quasi[column]["kind"] = kind
        if spec is None:
            _drop(quasi, column, "hierarchy")
        elif isinstance(spec, Path):
            quasi[column]["hierarchy"] = spec.as_posix()
        else:
            line = tomlkit.inline_table()
            line.update(_plain(spec.model_dump(mode="json", exclude_defaults=True)))
            quasi[column]["hierarchy"] = line

    return change


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers without a fraction, as people write them."""

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(each) for each in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return {name: whole(value) for name, value in fields.items()}


def recipe_of(given: Mapping[str, str], column: str) -> Cleaning | None:
    """The line of the recipe that a form asks for; ``None`` where it asks for nothing.

    Raises
    ------
    InputError
        If its steps do not go together.
    """
    fields: dict[str, Any] = {}
    if given.get("strip"):
        fields["strip"] = True
    if given.get("case"):
        fields["case"] = given["case"]
    missing = [each.strip() for each in given.get("missing", "").split(",") if each.strip()]
    if missing:
        fields["missing"] = missing
    if given.get("first", "").strip():
        fields["first"] = int(_numbers([given["first"]], column)[0])
    if given.get("reads") == "number":
        fields["type"] = "number"
    if given.get("reads") == "date":
        fields["date"] = [given.get("date", "").strip() or "%Y-%m-%d"]
        if given.get("resolution"):
            fields["resolution"] = given["resolution"]
    if given.get("reads") in ("number", "date"):
        fields["unreadable"] = "missing" if given.get("unreadable") else "refuse"
    if not fields:
        return None
    try:
        return Cleaning(**fields)
    except ValidationError as error:
        raise _refused(f"recipe of column '{column}'", error) from None


def set_recipe(
    place: ProjectFolder, column: str, line: Cleaning | None, section: Sequence[str] = ()
) -> Change:
    """The edit that reads a column by a line of the recipe, or as it is in its file."""

    def change(document: tomlkit.TOMLDocument) -> None:
        recipe = table_at(schema_in(document, place, section), "recipe")
        if line is None:
            if column in recipe:
                del recipe[column]
            return
        made = tomlkit.inline_table()
        made.update(line.model_dump(mode="json", by_alias=True, exclude_defaults=True))
        recipe[column] = made

    return change
