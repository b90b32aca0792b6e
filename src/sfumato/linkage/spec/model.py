"""A linkage specification: declares only, touches no data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from sfumato.core.errors import InputError
from sfumato.linkage.spec.blocking import Part, fits, parse_part
from sfumato.linkage.spec.columns import RESERVED, given_of, sql_name, surname_of
from sfumato.linkage.spec.kinds import ColumnKind

MAX_PAIRS = 100_000_000
"""Candidate pairs that are scored without being asked for."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Mode(StrEnum):
    """Which records are compared with which."""

    LINK_ONLY = "link-only"
    """Records of different sources."""
    DEDUPE_ONLY = "dedupe-only"
    """Records of the one source."""
    LINK_AND_DEDUPE = "link-and-dedupe"
    """All records."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ComparedColumn(_Frozen):
    """One column that is compared or blocked on.

    Attributes
    ----------
    kind
        What it holds.
    compare
        Whether it is compared; if not, it is for blocking rules only.
    term_frequency
        Whether agreement on a rare value counts more than on a frequent one; ``None`` leaves it
        to the kind: yes for names, addresses and categories.
    day_first
        For dates: whether 03/04/1980 is in April; ``None`` takes it from the other dates of the
        same source, and April where they do not say.
    """

    kind: ColumnKind
    compare: bool = True
    term_frequency: bool | None = None
    day_first: bool | None = None

    @model_validator(mode="after")
    def _options_fit_kind(self) -> ComparedColumn:
        if self.day_first is not None and self.kind is not ColumnKind.DATE:
            raise ValueError("'day_first' is for kind = \"date\" only")
        return self


class SetThresholds(_Frozen):
    """Scores from which a pair is a possible match and a match, in [0, 1].

    Attributes
    ----------
    lower, upper
        Least score of a possible match, and of a match.
    """

    lower: Share
    upper: Share

    @model_validator(mode="after")
    def _in_order(self) -> SetThresholds:
        if self.lower > self.upper:
            raise ValueError("'lower' must not be above 'upper'")
        return self


class WantedRates(_Frozen):
    """Error rates from which the thresholds are found, in [0, 1].

    Attributes
    ----------
    false_match_rate
        Share of false ones among the pairs called a match.
    missed_match_rate
        Share of the candidate pairs' true matches that are called a non-match.
    """

    false_match_rate: Share
    missed_match_rate: Share


def _named(value: Any) -> Any:
    """Take a kind as a word for a column's fields."""
    if isinstance(value, Mapping):
        return {
            name: {"kind": given} if isinstance(given, str) else given
            for name, given in value.items()
        }
    return value


def _rules(value: Any) -> Any:
    """Take the parts of a rule as a list, or joined by spaces around a plus."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, (list, tuple)):
        return tuple(
            tuple(part.strip() for part in rule.split("+")) if isinstance(rule, str) else rule
            for rule in value
        )
    return value


def _json(value: Any) -> Any:
    """Settings as JSON text."""
    return json.dumps(value) if isinstance(value, Mapping) else value


class LinkSpec(_Frozen):
    """What is linked, and how.

    Parameters
    ----------
    columns
        The columns that are compared or blocked on: a mapping from the name to a
        `ComparedColumn`, to its fields, or to its kind as a word. A header of a source is a
        column if the two differ in case, spaces and punctuation only.
    blocking
        The blocking rules: lists of parts such as ``["surname:4", "dob:year"]``, or
        ``"surname:4 + dob:year"`` (see `sfumato.linkage.spec.blocking`). Two records are
        compared if all parts of one rule are equal.
    mode
        Which records are compared with which.
    one_per_source
        Names of the sources that have at most one record per person.
    rename
        By source: names of columns and the header that each has in that source.
    id
        The column that names each record within its source; without it records are numbered
        from 1.
    thresholds, rates
        The thresholds, or the error rates from which they are found; at most one of the two.
    nicknames
        A CSV file with two columns, nickname and name; or ``None``.
    missing
        Texts that mean a missing value, beside the empty cell.
    seed
        Seed of the random pairs from which the model is estimated.
    max_pairs
        Number of candidate pairs above which nothing is scored.
    splink
        Splink settings as a mapping or as JSON text, taken as they are, in place of ``columns``
        and ``blocking``; the values they see are not standardised.

    Raises
    ------
    InputError
        If a field is unknown or breaks a rule, or a blocking rule names no such column.

    Examples
    --------
    >>> spec = LinkSpec(
    ...     columns={"surname": "surname", "dob": "date"},
    ...     blocking=["surname:4 + dob:year", "dob"],
    ... )
    >>> spec.columns["dob"].kind
    <ColumnKind.DATE: 'date'>
    """

    mode: Mode = Mode.LINK_ONLY
    id: str | None = None
    columns: Annotated[dict[str, ComparedColumn], BeforeValidator(_named)] = {}
    blocking: Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_rules)] = ()
    one_per_source: tuple[str, ...] = ()
    rename: dict[str, dict[str, str]] = {}
    thresholds: SetThresholds | None = None
    rates: WantedRates | None = None
    nicknames: Path | None = None
    missing: tuple[str, ...] = ()
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    max_pairs: Annotated[int, Field(ge=1)] = MAX_PAIRS
    splink: Annotated[str | None, BeforeValidator(_json)] = None

    def __init__(self, /, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise spec_error(error) from None

    @property
    def rules(self) -> tuple[tuple[Part, ...], ...]:
        """The blocking rules, parsed."""
        return tuple(tuple(map(parse_part, rule)) for rule in self.blocking)

    @model_validator(mode="after")
    def _one_way(self) -> LinkSpec:
        if self.splink is None:
            if not self.columns:
                raise ValueError("there must be at least one column to compare")
            if not any(column.compare for column in self.columns.values()):
                raise ValueError("at least one column must be compared")
            if not self.blocking or not all(self.blocking):
                raise ValueError("there must be at least one blocking rule, and none empty")
        elif self.columns or self.blocking:
            raise ValueError("'splink' takes the place of 'columns' and 'blocking'")
        elif settings_of(self.splink)["link_type"].replace("_", "-") != self.mode.value:
            raise ValueError("'mode' must be the link_type of the settings under 'splink'")
        if self.thresholds is not None and self.rates is not None:
            raise ValueError("'thresholds' or 'rates' can be given, not both")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> LinkSpec:
        taken = dict.fromkeys(RESERVED, "a name of the linkage itself")
        for name, column in self.columns.items():
            own = sql_name(name)
            if not own:
                raise ValueError(
                    f"columns: '{name}' must have letters or digits; name it otherwise and give "
                    "its header under 'rename'"
                )
            full = column.kind is ColumnKind.FULL_NAME
            for each in (own, given_of(own), surname_of(own)) if full else (own,):
                if each in taken:
                    raise ValueError(f"columns: '{name}' is the same as {taken[each]}")
                taken[each] = f"'{name}'"
        if self.id is not None and sql_name(self.id) in set(taken) - RESERVED:
            raise ValueError(f"column '{self.id}' is named as id and to be compared")
        return self

    @model_validator(mode="after")
    def _rules_fit(self) -> LinkSpec:
        kinds = {name: column.kind for name, column in self.columns.items()}
        for rule in self.rules:
            for part in rule:
                if part.column not in kinds:
                    raise ValueError(f"blocking: '{part.column}' is none of the columns")
                if not fits(part, kinds[part.column]):
                    raise ValueError(
                        f"blocking: '{part.take}' cannot be taken of a {kinds[part.column].value}"
                    )
        for source, names in self.rename.items():
            for name in names:
                if self.splink is None and name not in kinds and name != self.id:
                    raise ValueError(f"rename: '{name}' of source {source} is none of the columns")
        return self


def settings_of(text: str) -> dict[str, Any]:
    """Splink settings from JSON text.

    Parameters
    ----------
    text
        The text.

    Raises
    ------
    ValueError
        If it is not JSON, no object, or has no link type.
    """
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("splink: must be settings as JSON") from None
    if isinstance(settings, dict) and isinstance(settings.get("link_type"), str):
        return settings
    raise ValueError("splink: must be settings with a link_type")


def spec_of_settings(settings: Mapping[str, Any] | str, **fields: Any) -> LinkSpec:
    """A specification that takes Splink settings as they are.

    Parameters
    ----------
    settings
        The settings, or their JSON text. The mode and the id column are taken from them.
    **fields
        Other fields of the specification.

    Raises
    ------
    InputError
        If they are no settings.
    """
    text = settings if isinstance(settings, str) else json.dumps(settings)
    try:
        read = settings_of(text)
        mode = Mode(str(read["link_type"]).replace("_", "-"))
    except ValueError:
        raise InputError(
            "Splink settings",
            "must be a JSON object with a link_type",
            accepted="link_only, dedupe_only, link_and_dedupe",
        ) from None
    return LinkSpec(
        **{"mode": mode, "id": read.get("unique_id_column_name"), "splink": text, **fields}
    )


_SAID: dict[str, str] = {
    "dict_type": "must be a table",
    "extra_forbidden": "is no known field",
    "missing": "is missing",
    "model_type": "must be a table, or the kind as a word",
    "string_type": "must be text",
    "tuple_type": "must be a list",
}
"""What is said instead of pydantic's words, by the type of its error."""


def spec_error(error: ValidationError) -> InputError:
    """Say what pydantic found, without the value that it was given."""
    problems = []
    for item in error.errors(include_input=False, include_url=False):
        place = ".".join(str(part) for part in item["loc"])
        said = _SAID.get(item["type"], item["msg"].removeprefix("Value error, "))
        problems.append(f"{place}: {said}" if place else said)
    return InputError("linkage specification", "breaks a rule", found="; ".join(problems))
