"""Write a project file, with the JSON Schema that editors complete it by beside it."""

from __future__ import annotations

from pathlib import Path

from sfumato.core.atomic import all_or_none, write_text
from sfumato.pipeline.project.dump import SCHEMA_FILE
from sfumato.pipeline.project.json_schema import json_schema_text


def write_project_file(text: str, path: Path) -> None:
    """Write a project file; a JSON Schema that is there already stays.

    Parameters
    ----------
    text
        What the file says.
    path
        The file.

    Raises
    ------
    InputError
        If one of them cannot be written.
    """
    schema = path.with_name(SCHEMA_FILE)
    with all_or_none():
        if not schema.exists():
            write_text(schema, json_schema_text())
        write_text(path, text)
