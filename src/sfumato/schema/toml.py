"""A schema as a TOML file, both ways without loss."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.paths import check_path
from sfumato.schema.model import Schema


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
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(subject, "must be text in UTF-8") from None
    except OSError as error:
        raise InputError(
            subject, "must be a file that can be read", found=_os_kind(error)
        ) from None
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(")[2].rstrip(")") or "an unknown place"
        raise InputError(subject, "must be TOML", found=f"an error {place}") from None
    except (ValueError, RecursionError):
        raise InputError(
            subject, "must be TOML", found="a number too long or brackets too deep"
        ) from None
    return _located(Schema(**fields), file.parent)


def _os_kind(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "a folder"
    return (error.strerror or type(error).__name__).lower()


def _located(schema: Schema, folder: Path) -> Schema:
    located = {
        name: quasi.model_copy(update={"hierarchy": folder / quasi.hierarchy})
        if isinstance(quasi.hierarchy, Path)
        else quasi
        for name, quasi in schema.quasi_identifiers.items()
    }
    return schema.model_copy(update={"quasi_identifiers": located})


def schema_to_dict(schema: Schema) -> dict[str, Any]:
    """The fields of a schema that differ from their defaults, as plain values."""
    fields = schema.model_dump(mode="json", exclude_defaults=True, exclude={"quasi_identifiers"})
    fields["quasi_identifiers"] = {
        name: quasi.model_dump(mode="json", exclude_defaults=True)
        for name, quasi in schema.quasi_identifiers.items()
    }
    return fields


def dump_schema(schema: Schema, notes: dict[str, str] | None = None) -> str:
    """Write a schema as TOML text.

    Parameters
    ----------
    schema
        The schema.
    notes
        Comments by column, written behind or above what they speak about.
    """
    import tomlkit

    notes = notes or {}
    document = tomlkit.document()
    fields = schema_to_dict(schema)
    quasi_identifiers = fields.pop("quasi_identifiers")
    tables = {name: fields.pop(name) for name in ("undecided", "accepted") if name in fields}
    for name, value in fields.items():
        columns = value if isinstance(value, list) else [value]
        for column in columns:
            if column in notes:
                document.add(tomlkit.comment(f"{column}: {notes[column]}"))
        document.add(name, value)
    for name, quasi in quasi_identifiers.items():
        table = tomlkit.table()
        if name in notes:
            table.comment(notes[name])
        for key, value in quasi.items():
            table.add(key, value)
        document.setdefault("quasi_identifiers", tomlkit.table(is_super_table=True)).add(
            name, table
        )
    for name, said in tables.items():  # behind the rest, which would else be read as theirs
        document.add(name, said)
    return tomlkit.dumps(document)
