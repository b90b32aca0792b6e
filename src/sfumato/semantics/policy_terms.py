"""What a policy says: databases, domains, roles and duties."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
)

from sfumato.core.errors import InputError
from sfumato.schema.roles import HierarchySpec


class Treatment(StrEnum):
    """What is done to a value from which an association lets its reader infer another."""

    GENERALISE = "generalise"
    """Its ancestor is shown instead, as high as k needs."""
    SUPPRESS = "suppress"
    """The root is shown instead."""


def _one_line(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise ValueError("must be one line of printable text without spaces around it")
    return value


Text = Annotated[StrictStr, AfterValidator(_one_line)]
Name = Annotated[Text, Field(min_length=1)]


def _several(value: Any) -> Any:
    """Take one name for a list of one."""
    return (value,) if isinstance(value, str) else value


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("each name must be there once")
    return names


Names = Annotated[tuple[Name, ...], BeforeValidator(_several), AfterValidator(_once)]


def _described(value: Any) -> Any:
    """Take names alone for names without a description."""
    value = _several(value)
    if isinstance(value, (list, tuple)):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a list must hold names; descriptions go into a table by name")
        return dict.fromkeys(_once(tuple(value)), "")
    return value


Described = Annotated[dict[Name, Text], BeforeValidator(_described)]
"""Names with a description of each."""


def _quasi_identifiers(value: Any) -> Any:
    """Take names alone, or names with the hierarchy's file, as quasi-identifiers."""
    value = _several(value)
    if isinstance(value, (list, tuple)):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a list must hold names; hierarchies go into a table by name")
        return {name: {} for name in _once(tuple(value))}
    if isinstance(value, Mapping):
        return {
            name: {"hierarchy": given} if isinstance(given, (str, Path)) else given
            for name, given in value.items()
        }
    return value


class _Frozen(BaseModel):
    # A mistyped field is an error, as what it asks for would else not be done, in silence.
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, validate_by_name=True
    )


class LinkageQI(_Frozen):
    """One quasi-identifier of a database.

    Attributes
    ----------
    hierarchy
        Path of a hierarchy's file, or prefixes, or intervals; ``None`` where the policy does
        not say (a gap that `check_policy` finds).
    weight
        Its share in information loss, relative to the others.
    """

    hierarchy: HierarchySpec | None = None
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class Database(_Frozen):
    """A member's data set, and what it asks for where it is linked.

    Attributes
    ----------
    k
        Individuals of this database that every linked tuple must match at least; ``None`` where
        the policy does not say (a gap that `check_policy` finds).
    quasi_identifiers
        What those who may read this database know about a person, by name: a `LinkageQI`, its
        fields, or the path of its hierarchy; or a list of names.
    authenticates
        The roles that may read this database.
    purposes
        The purposes for which it may be linked; ``None`` for all of the policy's.
    """

    # Strict, as true or "3" is a slip here. A missing k is found by `check_policy`, with all else.
    k: Annotated[StrictInt, Field(ge=1)] | None = None
    quasi_identifiers: Annotated[dict[Name, LinkageQI], BeforeValidator(_quasi_identifiers)] = {}
    authenticates: Names = ()
    purposes: Names | None = None
    description: Text = ""


class Linkage(_Frozen):
    """Databases whose records are linked; ``from_`` is ``from`` in a file."""

    # The word of the file is a reserved one in Python.
    from_: Annotated[Names, Field(alias="from")]
    description: Text = ""


class Request(_Frozen):
    """Somebody who asks for a linkage, and what for; ``None`` where it does not say."""

    role: Name
    linkage: Name
    purpose: Name | None = None
    requester: Text = ""


class Policy(_Frozen):
    """Who may get which linkage, and what must hold for it.

    Names that do not fit together are no error here: `check_policy` says them all at once.

    Parameters
    ----------
    databases, linkages, requests
        By name; see `Database`, `Linkage` and `Request`.
    roles, purposes
        The names that the rest may use, with a description of each; or a list of names.
    measure
        What is done to values from which an accepted association lets its reader infer others.
    rules
        Files with a site's own rules, ``.lp``, beside those of the package.

    Examples
    --------
    >>> policy = Policy(
    ...     databases={
    ...         "Hospital A": {"k": 3, "quasi_identifiers": {"sex": "sex.csv"}},
    ...         "Pharmacy B": {"k": 2},
    ...     },
    ...     linkages={"A with B": {"from": ["Hospital A", "Pharmacy B"]}},
    ... )
    >>> policy.databases["Hospital A"].k
    3
    """

    measure: Treatment = Treatment.GENERALISE
    rules: tuple[Path, ...] = ()
    roles: Described = {}
    purposes: Described = {}
    databases: dict[Name, Database] = {}
    linkages: dict[Name, Linkage] = {}
    requests: dict[Name, Request] = {}

    def __init__(self, /, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            # Without the cause, since a traceback of it would print what was given.
            raise policy_error(error) from None


_SAID = {
    "dict_type": "must be a table",
    "extra_forbidden": "is no known field",
    "int_type": "must be a whole number",
    "missing": "is missing",
    "model_type": "must be a table",
    "path_type": "must be the path of a file",
    "string_type": "must be text",
    "tuple_type": "must be a list",
}
"""What is said instead of pydantic's words, by the type of its error."""


def policy_error(error: ValidationError) -> InputError:
    """Say what pydantic found, without the value that it was given."""
    problems = []
    for item in error.errors(include_input=False, include_url=False):
        # Pydantic adds "[key]" where the name itself is at fault; people wrote no such part.
        place = ".".join(str(part) for part in item["loc"] if part != "[key]")
        words = _SAID.get(item["type"], item["msg"].removeprefix("Value error, "))
        problems.append(f"{place}: {words}" if place else words)
    return InputError("policy", "breaks a rule", found="; ".join(problems))
