"""What all parts of a project file have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    Tag,
    create_model,
)

from sfumato.core.declaration import REQUIRED, Declared, declared, place_of, said_of_key, word_of
from sfumato.core.errors import InputError
from sfumato.linkage.link_spec import LinkSpec
from sfumato.schema import Schema


class Frozen(BaseModel):
    """A part of a project file: frozen, without unknown keys, silent about values."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True
    )


class Section(Frozen):
    """A section of a project file whose further keys come from declarations."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


_Own = TypeVar("_Own", bound=Section)


def with_fields(**fields: Any) -> Callable[[type[_Own]], type[_Own]]:
    """The same section with further fields, as `declared_fields` makes them."""

    def added(own: type[_Own]) -> type[_Own]:
        name, words, module = own.__name__, own.__doc__, own.__module__
        return create_model(name, __base__=own, __doc__=words, __module__=module, **fields)

    return added


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Several = BeforeValidator(_several)
"""Takes one alone as a list of one."""


TablePlace = Annotated[Path | str, BeforeValidator(place_of, json_schema_input_type=str)]
"""Where a table is: a file, or the URL of a table in a database."""


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


def declared_fields(
    *declarations: Any,
    only: Collection[str] = (),
    required: Collection[str] = (),
    usual: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The keys of declared options, each with its default, as `pydantic.create_model` takes them.

    Parameters
    ----------
    declarations
        The classes that declare them.
    only
        The keys that are meant; all of them where empty.
    required
        Those of them that must be there.
    usual
        The defaults of those for which a project has another one.
    """
    found = {}
    for each in declared(*declarations, only=only):
        default = (usual or {}).get(each.key, each.default)
        optional = each.optional or default is None or default is REQUIRED
        if each.key in required:
            default, optional = REQUIRED, False
        own = each.key if not hasattr(BaseModel, each.key) else f"{each.key}_file"
        field = Field(
            default=... if each.key in required else None if default is REQUIRED else default,
            description=each.words,
            alias=None if own == each.key else each.key,
        )
        kind = _kind_of(each) | None if optional else _kind_of(each)
        found[own] = (Annotated[kind, each.said], field)
    return found


def _kind_of(each: Declared) -> Any:
    """Its type in a file: words of enumerations, tables by their places, one alone as a list."""
    if each.has_words and not issubclass(each.type, str):
        return Annotated[
            each.type,
            BeforeValidator(
                lambda word: each.values.get(str(word).lower(), word), json_schema_input_type=str
            ),
            PlainSerializer(word_of, return_type=str),
        ]
    if get_origin(each.type) in (tuple, Sequence):
        inner = TablePlace if each.said.path else get_args(each.type)[0]
        return Annotated[tuple[inner, ...], Several]  # type: ignore[valid-type]
    if each.said.path:
        return Path if each.type is bytes else TablePlace
    return each.type


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
        name = key or error.subject.removeprefix("parameter ")
        raise ValueError(f"'{name}' {said_of_key(error)}") from None
