"""A project file read and written: its TOML, and the JSON Schema by which editors complete it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel, ValidationError
from tomlkit.items import Table

from sfumato.core.errors import InputError
from sfumato.core.toml_text import parse_toml, read_text
from sfumato.linkage.link_spec import LinkSpec, dump_link_spec
from sfumato.pipeline.project_model import IN_FILE, INLINE, Frozen, Project, Source
from sfumato.schema import Schema, dump_schema

PROJECT_FILE = "sfumato.toml"
"""The usual name of a project file."""
_SAID = {
    "dict_type": "must be a table",
    "extra_forbidden": "is no known key",
    "missing": "is missing",
    "model_type": "must be a table",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "path_type": "must be a path as text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
}
"""What is said instead of pydantic's words, by the type of its error."""
_OF_ROOMS = {"schema": "schema", "linkage specification": "link.specification"}
"""Where a room below found something, by how it calls it."""


def load_project(path: str | os.PathLike[str]) -> Project:
    """Read a project file; the paths in it stay as they are written."""
    file = Path(path)
    subject = f"project file {file.name}"
    return parse_project(read_text(file, subject, advice="'sfumato init' writes one"), subject)


def parse_project(text: str, subject: str = "project file") -> Project:
    """A project from the text of its file."""
    fields = parse_toml(text, subject)
    nul = _nul_in(fields)
    if nul is not None:
        raise InputError(subject, "breaks a rule", found=f"{nul}: must not hold a zero character")
    try:
        return Project(**fields)
    except ValidationError as error:
        raise InputError(subject, "breaks a rule", found=problems_in(error)) from None
    # Rooms below refuse with an error of ours, which pydantic does not catch.
    except InputError as error:
        where = _OF_ROOMS.get(error.subject, error.subject)
        raise InputError(subject, f"breaks a rule in [{where}]", found=error.found) from None


def _nul_in(value: object) -> str | None:
    """The place of a text with a zero character, which no path can hold; ``None`` without one."""
    if isinstance(value, str):
        return "" if "\0" in value else None
    named = enumerate(value, 1) if isinstance(value, list) else ()
    for name, each in value.items() if isinstance(value, dict) else named:
        found = _nul_in(each)
        if found is not None:
            return f"{name}.{found}" if found else str(name)
    return None


def problems_in(error: ValidationError) -> str:
    """What is wrong and where; never what stands there."""
    said = []
    for item in error.errors(include_input=False, include_url=False):
        # Tags of unions are pydantic's, and stand in no file.
        place = [str(part) for part in item["loc"] if part not in (IN_FILE, INLINE, "[key]")]
        text = _SAID.get(item["type"], item["msg"].removeprefix("Value error, "))
        if item["type"] == "extra_forbidden":
            text += _meant(place)
        said.append(f"{'.'.join(place)}: {text}" if place else text)
    return "; ".join(said)


def _meant(place: list[str]) -> str:
    """The key of the same section that somebody may have meant."""
    # Below [sources] stands a name that the user chose, not a key.
    inside = place[:2] == ["sources", *place[1:2]] and len(place) > 2
    section: type[BaseModel] | None = Source if inside else Project
    for part in place[2 if inside else 0 : -1]:
        section = None if section is None else _inside(section, part)
    if section is None:
        return ""
    names = [field.alias or name for name, field in section.model_fields.items()]
    close = get_close_matches(place[-1], names, n=1)
    return f"; '{close[0]}' is" if close else ""


def _inside(section: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model that stands under a key; ``None`` where there is none."""
    for own, field in section.model_fields.items():
        if name == (field.alias or own):
            return _model_of(field.annotation)
    return None


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation such as ``Link | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = [each for part in getattr(annotation, "__args__", ()) if (each := _model_of(part))]
    return found[-1] if found else None


SCHEMA_FILE = "sfumato.schema.json"
"""The JSON Schema that editors complete the file by, beside it."""


def dump_project(project: Project, notes: Mapping[str, str] | None = None) -> str:
    """Write a project as TOML text; keys that have their usual value are left out.

    Parameters
    ----------
    notes
        Comments by what they speak about: a section (``"release"``), a key
        (``"release.g_balance"``), a column of the schema (``"schema.age"``), a column or a rule of
        the specification (``"link.specification.surname"``); under ``""`` what stands at the top.
    """
    said = dict(notes or {})
    document = tomlkit.document()
    _comment(document, said.get("", ""))
    for name, field in type(project).model_fields.items():
        key, part = field.alias or name, getattr(project, name)
        if name == "sources":
            for source, table in part.items():
                place = f"sources.{source}"
                # [sources] has no keys of its own: only [sources.NAME] is written.
                document.setdefault("sources", tomlkit.table(is_super_table=True)).add(
                    source, _table(table, place, said)
                )
        elif isinstance(part, Schema):
            document.add(key, _parsed(dump_schema(part, _under(said, key)), said.get(key, "")))
        elif isinstance(part, Frozen) and (name in project.model_fields_set or key in said):
            document.add(key, _table(part, key, said))
    # Editors complete the file by the schema that its first line names.
    return f"#:schema ./{SCHEMA_FILE}\n{tomlkit.dumps(document)}"


def _table(part: Frozen, place: str, notes: Mapping[str, str]) -> Table:
    """A section: its keys that differ from their usual values, each below its comment."""
    table = tomlkit.table()
    _comment(table, notes.get(place, ""))
    plain = part.model_dump(mode="json", by_alias=True, exclude_none=True)
    for name, field in type(part).model_fields.items():
        key, value = field.alias or name, getattr(part, name)
        where = f"{place}.{key}"
        if key not in plain or not (name in part.model_fields_set or where in notes):
            continue
        if isinstance(value, LinkSpec):
            text = dump_link_spec(value, _under(notes, where))
            table.add(key, _parsed(text, notes.get(where, "")))
            continue
        _comment(table, notes.get(where, ""))
        table.add(key, plain[key])
    return table


def _parsed(text: str, note: str) -> Table:
    """The tables of another file as one that can stand below a key, comments included."""
    table = tomlkit.table()
    _comment(table, note)
    for key, item in tomlkit.parse(text).body:
        if key is None:
            table.add(item)  # type: ignore[call-overload]
        else:
            table.append(key, item)
    return table


def _under(notes: Mapping[str, str], place: str) -> dict[str, str]:
    """The notes about what stands under a key, by the rest of their names."""
    start = f"{place}."
    return {name[len(start) :]: text for name, text in notes.items() if name.startswith(start)}


def _comment(table: Any, text: str) -> None:
    for line in text.splitlines():
        table.add(tomlkit.comment(line) if line else tomlkit.nl())


_TEXTS = {"type": "array", "items": {"type": "string"}}


def project_json_schema() -> dict[str, Any]:
    """The JSON Schema of a project file, its shorthands included."""
    schema = Project.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "sfumato.toml"
    parts = schema["$defs"]
    _by_name(parts["Schema"]["properties"]["quasi_identifiers"], "Kind", _TEXTS)
    _by_name(parts["Schema"]["properties"]["events"], "EventKind", _TEXTS)
    _by_name(parts["LinkSpec"]["properties"]["columns"], "ColumnKind")
    parts["LinkSpec"]["properties"]["blocking"] = {
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, _TEXTS]},
    }
    for part in (schema, *parts.values()):
        _one_line(part)
        for each in part.get("properties", {}).values():
            _names_alone(each)
    return schema


def json_schema_text() -> str:
    """The same as text."""
    return json.dumps(project_json_schema(), indent=2) + "\n"


def _by_name(part: dict[str, Any], kind: str, *others: dict[str, Any]) -> None:
    """Allow the kind as a word in the place of a column's fields."""
    fields = part["additionalProperties"]
    part["additionalProperties"] = {"anyOf": [{"$ref": f"#/$defs/{kind}"}, fields]}
    if others:
        whole = {name: part.pop(name) for name in ("type", "additionalProperties")}
        part["anyOf"] = [whole, *others]


def _one_line(part: dict[str, Any]) -> None:
    """The first paragraph of a docstring is what an editor shows."""
    if "description" in part:
        part["description"] = part["description"].split("\n\n")[0].replace("\n", " ")


def _names_alone(part: dict[str, Any]) -> None:
    """Allow one name where names are listed, and none as nothing."""
    for each in (part, *part.get("anyOf", ())):
        if each.get("type") == "array" and each.get("items", {}).get("type") == "string":
            each["type"] = ["array", "string"]
    # TOML has no null: what is optional is left out.
    if "anyOf" in part:
        part["anyOf"] = [each for each in part["anyOf"] if each != {"type": "null"}]
        if part.get("default", "") is None:
            del part["default"]
