"""The schema as each stage sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.linkage.files import LINKED_SCHEMA
from sfumato.linkage.spec.columns import sql_name
from sfumato.pipeline.project.frozen import InFile
from sfumato.pipeline.stages.place import Place
from sfumato.schema import QuasiIdentifier, Schema, load_schema
from sfumato.schema.roles import schema_to_dict

LINKED = "linked"
"""The stage that makes the linked file."""


def given_schema(place: Place) -> Schema | None:
    """The schema that the project file gives or names, its files located.

    Parameters
    ----------
    place
        The project.

    Raises
    ------
    InputError
        If its file cannot be read, or breaks a rule.
    """
    given = place.project.columns
    if given is None:
        return None
    if isinstance(given, InFile):
        return load_schema(place.at(given.file))
    quasi = {
        name: each.model_copy(update={"hierarchy": place.at(each.hierarchy)})
        if isinstance(each.hierarchy, Path)
        else each
        for name, each in given.quasi_identifiers.items()
    }
    return given.model_copy(update={"quasi_identifiers": quasi})


def schema_to_link(place: Place) -> Schema | None:
    """The roles of the columns, which are all that concerns the linkage.

    Parameters
    ----------
    place
        The project.

    Raises
    ------
    InputError
        As `given_schema`.
    """
    given = given_schema(place)
    if given is None:
        return None
    roles = {name: QuasiIdentifier() for name in given.quasi_identifiers}
    return given.model_copy(update={"quasi_identifiers": roles})


def released_schema(place: Place) -> Schema:
    """The schema of what is measured and released.

    Of linked sources the columns and their roles are those of the linked file, and what the
    project says of a quasi-identifier holds.

    Parameters
    ----------
    place
        The project.

    Raises
    ------
    InputError
        If a file of it cannot be read, or breaks a rule.
    """
    given = given_schema(place)
    if not place.project.is_linked:
        if given is None:
            raise InputError("section [schema]", "must be given where nothing is linked")
        return given
    found = load_schema(place.of_stage(LINKED) / LINKED_SCHEMA)
    if given is None:
        return found
    said = {sql_name(name): each for name, each in given.quasi_identifiers.items()}
    quasi = {
        name: each if sql_name(name) not in said else _over(each, said[sql_name(name)])
        for name, each in found.quasi_identifiers.items()
    }
    return found.model_copy(update={"quasi_identifiers": quasi})


def _over(found: QuasiIdentifier, given: QuasiIdentifier) -> QuasiIdentifier:
    return given if given.kind else given.model_copy(update={"kind": found.kind})


def plain_schema(schema: Schema | None, place: Place) -> dict[str, Any]:
    """A schema as plain values, its files named from the project's folder.

    Parameters
    ----------
    schema
        The schema.
    place
        The project.
    """
    if schema is None:
        return {}
    plain = schema_to_dict(schema)
    for name, each in schema.quasi_identifiers.items():
        if isinstance(each.hierarchy, Path):
            plain["quasi_identifiers"][name]["hierarchy"] = _from(each.hierarchy, place)
    return plain


def hierarchy_files(schema: Schema | None) -> dict[str, Path]:
    """The files of hierarchies, by what the project file calls them.

    Parameters
    ----------
    schema
        The schema.
    """
    if schema is None:
        return {}
    return {
        f"schema.quasi_identifiers.{name}.hierarchy": each.hierarchy
        for name, each in schema.quasi_identifiers.items()
        if isinstance(each.hierarchy, Path)
    }


def _from(path: Path, place: Place) -> str:
    return str(path.relative_to(place.folder)) if path.is_relative_to(place.folder) else path.name
