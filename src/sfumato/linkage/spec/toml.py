"""A linkage specification as a TOML file, both ways without loss."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import tomlkit

from sfumato.core.errors import InputError
from sfumato.linkage.spec.model import LinkSpec, spec_of_settings


def load_link_spec(path: str | os.PathLike[str]) -> LinkSpec:
    """Read a linkage specification from a TOML file, or Splink settings from a JSON file.

    The path of a table of nicknames is relative to the file, and so is that of Splink settings
    where ``splink`` is a path and not JSON.

    Parameters
    ----------
    path
        The file, `.toml` or `.json`.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML or JSON, or breaks a rule of `LinkSpec`.
    """
    file = Path(path)
    text = _read(file)
    if file.suffix.lower() == ".json":
        return spec_of_settings(text)
    subject = f"specification file {file.name}"
    try:
        fields: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(")[2].rstrip(")") or "an unknown place"
        raise InputError(subject, "must be TOML", found=f"an error {place}") from None
    except (ValueError, RecursionError):
        raise InputError(
            subject, "must be TOML", found="a number too long or brackets too deep"
        ) from None
    settings = fields.get("splink")
    if isinstance(settings, str) and not settings.lstrip().startswith("{"):
        fields["splink"] = _read(file.parent / settings)
    spec = LinkSpec(**fields)
    if spec.nicknames is not None:
        return spec.model_copy(update={"nicknames": file.parent / spec.nicknames})
    return spec


def _read(file: Path) -> str:
    subject = f"specification file {file.name}"
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(subject, "must be text in UTF-8") from None
    except OSError as error:
        found = (error.strerror or type(error).__name__).lower()
        raise InputError(subject, "must be a file that can be read", found=found) from None


def link_spec_to_dict(spec: LinkSpec) -> dict[str, Any]:
    """The fields of a specification that differ from their defaults, as plain values."""
    return spec.model_dump(mode="json", exclude_defaults=True)


def dump_link_spec(spec: LinkSpec, notes: dict[str, str] | None = None) -> str:
    """Write a specification as TOML text.

    Parameters
    ----------
    spec
        The specification.
    notes
        Comments by column or, for rules, by ``"blocking"`` and their number from 0.
    """
    notes = notes or {}
    document = tomlkit.document()
    fields = link_spec_to_dict(spec)
    columns, rules = fields.pop("columns", {}), fields.pop("blocking", [])
    tables = {key: fields.pop(key) for key in ("thresholds", "rates", "rename") if key in fields}
    for name, value in fields.items():
        text = tomlkit.string(value, multiline=True) if name == "splink" else value
        document.add(name, text)
    if rules:
        array = tomlkit.array()
        for number, rule in enumerate(rules):
            array.add_line(rule, comment=notes.get(f"blocking {number}"))
        document.add("blocking", array.multiline(True))
    for name, column in columns.items():
        table = tomlkit.table()
        if name in notes:
            table.comment(notes[name])
        for key, value in column.items():
            table.add(key, value)
        document.setdefault("columns", tomlkit.table(is_super_table=True)).add(name, table)
    for key, value in tables.items():
        document.add(key, value)
    return tomlkit.dumps(document)
