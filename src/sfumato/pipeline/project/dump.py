"""A project as the text of its file, with comments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.items import Table

from sfumato.linkage.spec.model import LinkSpec
from sfumato.linkage.spec.toml import dump_link_spec
from sfumato.pipeline.project.frozen import Frozen
from sfumato.pipeline.project.model import Project
from sfumato.schema import Schema, dump_schema

SCHEMA_FILE = "sfumato.schema.json"
"""The JSON Schema that editors complete the file by, beside it."""


def dump_project(project: Project, notes: Mapping[str, str] | None = None) -> str:
    """Write a project as TOML text; keys that have their usual value are left out.

    Parameters
    ----------
    project
        The project.
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
                document.setdefault("sources", tomlkit.table(is_super_table=True)).add(
                    source, _table(table, place, said)
                )
        elif isinstance(part, Schema):
            document.add(key, _parsed(dump_schema(part, _under(said, key)), said.get(key, "")))
        elif isinstance(part, Frozen) and (name in project.model_fields_set or key in said):
            document.add(key, _table(part, key, said))
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
