"""What all parts of a project file have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from sfumato.core.declaration import Declared
from sfumato.core.errors import InputError
from sfumato.linkage.spec.model import LinkSpec
from sfumato.schema import Schema


class Frozen(BaseModel):
    """A part of a project file: frozen, without unknown keys, silent about values."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True
    )


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Several = BeforeValidator(_several)
"""Takes one alone as a list of one."""
Names = Annotated[tuple[str, ...], Several]
"""Names: a list, or one alone."""
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
"""A share above 0 and up to 1."""
Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A share from 0 to 1."""


class InFile(Frozen):
    """Something that stands in a file of its own.

    Attributes
    ----------
    file
        The file, named from the project file's folder.
    """

    file: Path


IN_FILE, INLINE = "in a file", "inline"
"""How a schema or a specification is given."""


def _form(value: object) -> str:
    if isinstance(value, InFile):
        return IN_FILE
    return IN_FILE if isinstance(value, Mapping) and "file" in value else INLINE


SchemaPart = Annotated[
    Annotated[InFile, Tag(IN_FILE)] | Annotated[Schema, Tag(INLINE)], Discriminator(_form)
]
"""A schema: its file, or its fields as in schema.toml."""
SpecificationPart = Annotated[
    Annotated[InFile, Tag(IN_FILE)] | Annotated[LinkSpec, Tag(INLINE)], Discriminator(_form)
]
"""A specification of a linkage: its file, or its fields as in link.toml."""


def usual_field(each: Declared) -> tuple[Any, Any]:
    """The key of a declared option, with its default, as `pydantic.create_model` takes it."""
    kind = each.type | None if each.optional else each.type
    return kind, Field(default=each.default, description=each.words)


def optional_field(each: Declared) -> tuple[Any, Any]:
    """The key of a declared parameter that need not be given."""
    return each.type | None, Field(default=None, description=each.words)


@contextmanager
def as_value_errors(key: str) -> Iterator[None]:
    """Say what a room below refuses as an error of a key of the project file.

    Parameters
    ----------
    key
        The key; empty for the parameter that the room below names.

    Raises
    ------
    ValueError
        If it refuses something.
    """
    try:
        yield
    except InputError as error:
        said = f"{error.rule}, accepted: {error.accepted}" if error.accepted else error.rule
        name = key or error.subject.removeprefix("parameter ")
        raise ValueError(f"'{name}' {said}") from None
