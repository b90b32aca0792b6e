"""What all parts of a schema have in common: frozen, checked when made, silent about values."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictStr,
    StringConstraints,
    ValidationError,
)

from sfumato.core.declaration import as_tuple
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass as _Checked
else:
    _Checked = type(BaseModel)
_ANOTHERS = frozenset(name for name in dir(BaseModel) if not name.startswith("__"))
"""Names of the library that checks the parts."""


class _OwnNames(_Checked):
    """Lists the names of a class that are ours, its fields among them."""

    def __dir__(self) -> list[str]:
        fields = getattr(self, "model_fields", ())
        return sorted({*super().__dir__(), *fields} - _ANOTHERS)


class Frozen(BaseModel, metaclass=_OwnNames):
    """Cannot be changed, has no unknown fields, and shows no value in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What was stated; what is as it usually is would hide it."""
        usual = type(self).model_fields
        for name, value in super().__repr_args__():
            if name not in usual or value != usual[name].get_default(call_default_factory=True):
                yield name, value.value if isinstance(value, Enum) else value

    def __dir__(self) -> list[str]:
        """The names that are ours, and none of the library that checks them."""
        return [name for name in super().__dir__() if name not in _ANOTHERS]


class Part(Frozen):
    """What may be made alone: its errors name it, those of a schema name its place there."""

    if not TYPE_CHECKING:  # type checkers know the fields

        def __init__(self, /, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise schema_error(error, type(self).__name__) from None

        # As pydantic's own: parts given as plain fields keep their place in a schema's error.
        __init__.__pydantic_base_init__ = True


Names = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
"""Names of columns; one alone as a text."""
Sentences = dict[str, Annotated[StrictStr, StringConstraints(strip_whitespace=True, min_length=1)]]
"""A sentence for each of some columns."""

_PLAIN_WORDS = {
    "dict_type": "must be a table",
    "extra_forbidden": "is no known field",
    "missing": "is missing",
    "model_type": "must be a table",
    "string_too_short": "must say something",
    "string_type": "must be text",
    "tuple_type": "must be a list",
}
"""What is said instead of pydantic's words, by the type of its error."""


def schema_error(error: ValidationError, subject: str = "schema") -> InputError:
    """Say what pydantic found when the subject was made, without the value that it was given."""
    problems = []
    for item in error.errors(include_input=False, include_url=False):
        place = ".".join(str(part) for part in item["loc"])
        said = _PLAIN_WORDS.get(item["type"], item["msg"].removeprefix("Value error, "))
        problems.append(f"{place}: {said}" if place else said)
    return InputError(subject, "breaks a rule", found="; ".join(problems))
