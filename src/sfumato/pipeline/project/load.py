"""A project file read, with the place of whatever breaks a rule."""

from __future__ import annotations

import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from sfumato.core.errors import InputError
from sfumato.pipeline.project.frozen import IN_FILE, INLINE
from sfumato.pipeline.project.model import Project
from sfumato.pipeline.project.sources import Source

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
    """Read a project file; the paths in it stay as they are written.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it cannot be read, is not TOML, or breaks a rule; it names the section and the key.
    """
    file = Path(path)
    subject = f"project file {file.name}"
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(subject, "must be text in UTF-8") from None
    except OSError as error:
        raise InputError(
            subject,
            "must be a file that can be read",
            found=(error.strerror or type(error).__name__).lower(),
            advice="'sfumato init' writes one",
        ) from None
    return parse_project(text, subject)


def parse_project(text: str, subject: str = "project file") -> Project:
    """A project from the text of its file.

    Parameters
    ----------
    text
        The text.
    subject
        How errors call it.

    Raises
    ------
    InputError
        If it is not TOML, or breaks a rule.
    """
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(")[2].rstrip(")") or "an unknown place"
        raise InputError(subject, "must be TOML", found=f"an error {place}") from None
    except (ValueError, RecursionError):
        raise InputError(
            subject, "must be TOML", found="a number too long or brackets too deep"
        ) from None
    nul = _nul_in(fields)
    if nul is not None:
        raise InputError(subject, "breaks a rule", found=f"{nul}: must not hold a zero character")
    try:
        return Project(**fields)
    except ValidationError as error:
        raise InputError(subject, "breaks a rule", found=problems_in(error)) from None
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
    """What is wrong and where; never what stands there.

    Parameters
    ----------
    error
        What pydantic found.
    """
    said = []
    for item in error.errors(include_input=False, include_url=False):
        place = [str(part) for part in item["loc"] if part not in (IN_FILE, INLINE, "[key]")]
        text = _SAID.get(item["type"], item["msg"].removeprefix("Value error, "))
        if item["type"] == "extra_forbidden":
            text += _meant(place)
        said.append(f"{'.'.join(place)}: {text}" if place else text)
    return "; ".join(said)


def _meant(place: list[str]) -> str:
    """The key of the same section that somebody may have meant."""
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
