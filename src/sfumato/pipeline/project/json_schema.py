"""The JSON Schema of project files, by which editors complete them."""

from __future__ import annotations

import json
from typing import Any

from sfumato.pipeline.project.model import Project

_TEXTS = {"type": "array", "items": {"type": "string"}}


def project_json_schema() -> dict[str, Any]:
    """The JSON Schema of a project file, its shorthands included."""
    schema = Project.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "sfumato.toml"
    parts = schema["$defs"]
    _by_name(parts["Schema"]["properties"]["quasi_identifiers"], "Kind", _TEXTS)
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
    if "anyOf" in part:
        part["anyOf"] = [each for each in part["anyOf"] if each != {"type": "null"}]
        if part.get("default", "") is None:
            del part["default"]
