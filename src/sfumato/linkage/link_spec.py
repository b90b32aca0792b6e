"""What a linkage is asked to do: columns and their kinds, blocking rules, the file of both.

The language of blocking rules: ``surname:4`` is the first four letters of a surname.

A rule is a list of parts; two records are compared if all parts of a rule are equal. A part is
the name of a column, or a name, a colon, and what is taken of the value:

=====================  ==========================================================================
``surname``            the whole value
``surname:4``          its first four characters; a shorter value counts as it is
``phone:-4``           its last four characters
``surname:sound``      its first letter and the next three consonants
``name:first``         the given names of a full name, the first word of another text
``name:last``          the surname of a full name, the last word of another text
``dob:year``           the year of a date; also ``dob:month`` and ``dob:day``
``postcode:area``      the area of a postcode, as in the comparison
``email:user``         what stands before the @; also ``email:domain``
=====================  ==========================================================================
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import tomlkit
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.core.toml_text import parse_toml, read_text
from sfumato.schema.parts import Frozen


class ColumnKind(StrEnum):
    """What a compared column holds."""

    GIVEN_NAME = "given name"
    SURNAME = "surname"
    FULL_NAME = "full name"
    """Given names and surname in one text, in either order with a comma; taken apart."""
    DATE = "date"
    """A date of birth, in any usual spelling."""
    POSTCODE = "postcode"
    PHONE = "phone"
    IDENTIFIER = "identifier"
    """A number of a person: social security, passport, patient number."""
    EMAIL = "email"
    ADDRESS = "address"
    """A street, suburb, town or place of birth."""
    CATEGORY = "category"
    """One of some values: sex, state, occupation."""
    NUMBER = "number"
    """A house number, a year of birth, a height."""


_JOINED = frozenset(
    {ColumnKind.DATE, ColumnKind.FULL_NAME, ColumnKind.GIVEN_NAME, ColumnKind.ADDRESS}
)
"""Kinds of columns that may be joined from several of a source."""

RESERVED = frozenset(
    {"record", "source", "source_dataset", "unique_id", "match_key", "match_weight"}
)
"""Names that the tables of a linkage use themselves."""


_LATIN = re.compile("[\u0080-\u024f\u0300-\u036f\u1e00-\u1eff]")
"""Letters and marks of the Latin script that are not of ASCII, and signs among them."""
_LETTER = re.compile(r"[^\W\d_a-zA-Z]")


def sql_name(name: str) -> str:
    """A name in lower-case ASCII letters, digits and underscores.

    Headers and names of a specification that have the same one are the same column:
    ``" Given-Name"`` and ``given_name``. A letter of another script than the Latin one is its
    code point; a name without letters and digits has the empty one. Before a digit stands an
    underscore, as Splink writes names into SQL that may not begin with one.
    """
    # Decomposed first, so that é leaves its e.
    plain = _LATIN.sub("", unicodedata.normalize("NFKD", name))
    plain = _LETTER.sub(lambda found: f"u{ord(found[0]):x}", plain)
    plain = re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")
    return f"_{plain}" if plain[:1].isdigit() else plain


def is_latin(name: str) -> bool:
    """Whether no letter of a name is of another script than the Latin one."""
    return _LETTER.search(_LATIN.sub("", name)) is None


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    # A header may hold a quote, which must not end the identifier.
    return '"' + name.replace('"', '""') + '"'


def given_of(name: str) -> str:
    """The SQL name of the given names in a column of full names."""
    return f"{name}_given"


def surname_of(name: str) -> str:
    """The SQL name of the surname in a column of full names."""
    return f"{name}_surname"


def area_sql(column: str) -> str:
    """The area of a standardised postcode, as SQL.

    The outward code of a British postcode (``SW1A1AA``: ``SW1A``) or the first three characters
    of a Canadian one; of a postcode of digits all but the last two.
    """
    return (
        f"CASE WHEN regexp_matches({column}, '[A-Z]') AND length({column}) > 4 "
        f"THEN left({column}, length({column}) - 3) "
        f"WHEN length({column}) > 3 THEN left({column}, length({column}) - 2) "
        f"ELSE {column} END"
    )


# Two digits: so long a beginning of a value is as good as the whole.
_LENGTH = re.compile(r"-?[1-9][0-9]?")
_TEXTS = {
    ColumnKind.GIVEN_NAME,
    ColumnKind.SURNAME,
    ColumnKind.FULL_NAME,
    ColumnKind.ADDRESS,
    ColumnKind.CATEGORY,
}
_TAKES: dict[str, tuple[set[ColumnKind], str]] = {
    "sound": (
        _TEXTS,
        # As Soundex: vowels, h, w and y are dropped, as spellings of one name differ most in them.
        "left({x}, 1) || left(regexp_replace(substr({x}, 2), '[aeiouyhw \\d]', '', 'g'), 3)",
    ),
    "first": (_TEXTS, "split_part({x}, ' ', 1)"),
    "last": (_TEXTS, "split_part({x}, ' ', -1)"),
    "year": ({ColumnKind.DATE}, "substr({x}, 1, 4)"),
    "month": ({ColumnKind.DATE}, "substr({x}, 6, 2)"),
    "day": ({ColumnKind.DATE}, "substr({x}, 9, 2)"),
    "area": ({ColumnKind.POSTCODE}, ""),
    "user": ({ColumnKind.EMAIL}, "split_part({x}, '@', 1)"),
    "domain": ({ColumnKind.EMAIL}, "split_part({x}, '@', 2)"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a blocking rule, and what is taken of its value, ``""`` for all."""

    column: str
    take: str = ""

    def __str__(self) -> str:
        """As it is written in a rule."""
        return f"{self.column}:{self.take}" if self.take else self.column


def parse_part(text: str) -> Part:
    """A part from its text, such as ``"surname:4"``.

    What follows the last colon is taken of the value.
    """
    # The last colon: a header may have one of its own.
    column, colon, take = text.rpartition(":")
    if not colon:
        column, take = text, ""
    if not column.strip() or (colon and not take):
        raise ValueError("a part of a blocking rule must be a column, or a column:what")
    if take and take not in _TAKES and not _LENGTH.fullmatch(take):
        raise ValueError(
            f"a part of a blocking rule may take: a number of characters, {', '.join(_TAKES)}"
        )
    return Part(column, take)


def fits(part: Part, kind: ColumnKind) -> bool:
    """Whether the part can be taken of values of a kind."""
    return part.take not in _TAKES or kind in _TAKES[part.take][0]


def part_sql(part: Part, kind: ColumnKind, side: str = "") -> str:
    """The part of a value of record ``"l"`` or ``"r"``, or of a single table's, as DuckDB's SQL."""
    name, take = sql_name(part.column), part.take
    if kind is ColumnKind.FULL_NAME and take in {"first", "last"}:
        name, take = (given_of if take == "first" else surname_of)(name), ""
    elif kind is ColumnKind.FULL_NAME and take:
        name = surname_of(name)
    column = f"{side}.{quoted(name)}" if side else quoted(name)
    if not take:
        return column
    if take == "area":
        return area_sql(column)
    if take in _TAKES:
        return _TAKES[take][1].format(x=column)
    length = int(take)
    return f"left({column}, {length})" if length > 0 else f"right({column}, {-length})"


# A choice: a rule that compares nearly everything is noticed before its pairs are scored.
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


Headers = str | tuple[str, ...]
"""The header of a column in a source, or the headers of the several that it is joined from."""


def headers_of(given: Headers) -> tuple[str, ...]:
    """The headers, one or several."""
    return (given,) if isinstance(given, str) else given


class ComparedColumn(Frozen):
    """One column that is compared or blocked on.

    Attributes
    ----------
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


class SetThresholds(Frozen):
    """Scores, in [0, 1], from which a pair is a possible match, and a match."""

    lower: Share
    upper: Share

    @model_validator(mode="after")
    def _in_order(self) -> SetThresholds:
        if self.lower > self.upper:
            raise ValueError("'lower' must not be above 'upper'")
        return self


class WantedRates(Frozen):
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


class LinkSpec(Frozen):
    """What is linked, and how.

    Parameters
    ----------
    columns
        The columns that are compared or blocked on: a mapping from the name to a
        `ComparedColumn`, to its fields, or to its kind as a word. A header of a source is a
        column if the two differ in case, spaces and punctuation only.
    blocking
        The blocking rules: lists of parts such as ``["surname:4", "dob:year"]``, or
        ``"surname:4 + dob:year"`` (see `sfumato.linkage.link_spec`). Two records are
        compared if all parts of one rule are equal.
    mode
        Which records are compared with which.
    one_per_source
        Names of the sources that have at most one record per person.
    rename
        By source: names of columns and the header that each has in that source. Several headers
        are joined: year, month and day, in this order, of a date; names of a full name in the
        order in which the other sources have them; parts of an address.
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
    ...     columns={"surname": "surname", "dob": "date"}, blocking=["surname:4 + dob:year", "dob"]
    ... )
    >>> spec.columns["dob"].kind
    <ColumnKind.DATE: 'date'>
    """

    mode: Mode = Mode.LINK_ONLY
    id: str | None = None
    columns: Annotated[dict[str, ComparedColumn], BeforeValidator(_named)] = Field(
        default_factory=dict
    )
    blocking: Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_rules)] = ()
    one_per_source: tuple[str, ...] = ()
    rename: dict[str, dict[str, Headers]] = Field(default_factory=dict)
    thresholds: SetThresholds | None = None
    rates: WantedRates | None = None
    nicknames: Path | None = None
    missing: tuple[str, ...] = ()
    # Splink hands it to engines that take 32 bits with a sign.
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
        # Names are compared as SQL has them,
        # where two that differ in case only would be one column.
        taken = dict.fromkeys(RESERVED, "a name of the linkage itself")
        for name, column in self.columns.items():
            own = sql_name(name)
            if not own:
                raise ValueError(
                    f"columns: '{name}' must have letters or digits; name it otherwise and give "
                    "its header under 'rename'"
                )
            full = column.kind is ColumnKind.FULL_NAME
            # A full name becomes two more columns, whose names nothing else may have.
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
            self._check_joined(source, names)
        return self

    def _check_joined(self, source: str, names: Mapping[str, Headers]) -> None:
        """Refuse several headers where they cannot be joined."""
        for name, headers in names.items():
            if isinstance(headers, str):
                continue
            kind = self.columns[name].kind if name in self.columns else None
            if kind is None or kind not in _JOINED or len(set(headers)) < max(2, len(headers)):
                raise ValueError(
                    f"rename: '{name}' of source {source} must have one header; several that "
                    f"differ go with {', '.join(sorted(_JOINED))} only"
                )
            if kind is ColumnKind.DATE and len(headers) != len(("year", "month", "day")):
                raise ValueError(
                    f"rename: '{name}' of source {source} must have the headers of year, month and "
                    "day, in this order"
                )


def settings_of(text: str) -> dict[str, Any]:
    """Splink settings from JSON text.

    A ValueError if it is no JSON, no object, or without link type.
    """
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        # JSON that is nested too deep is as wrong as any other text that is none.
        raise ValueError("splink: must be settings as JSON") from None
    if isinstance(settings, dict) and isinstance(settings.get("link_type"), str):
        return settings
    raise ValueError("splink: must be settings with a link_type")


def spec_of_settings(settings: Mapping[str, Any] | str, **fields: Any) -> LinkSpec:
    """A specification that takes Splink settings, or their JSON text, as they are.

    Mode and id column are taken from them.
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


def load_link_spec(path: str | os.PathLike[str]) -> LinkSpec:
    """Read a linkage specification from a file `.toml`, or Splink settings from `.json`.

    The path of a table of nicknames is relative to the file, and so is that of Splink settings
    where ``splink`` is a path and not JSON.
    """
    file = Path(path)
    subject = "specification file {}".format
    text = read_text(file, subject(file.name))
    if file.suffix.lower() == ".json":
        return spec_of_settings(text)
    fields = parse_toml(text, subject(file.name))
    settings = fields.get("splink")
    if isinstance(settings, str) and not settings.lstrip().startswith("{"):
        beside = file.parent / settings
        fields["splink"] = read_text(beside, subject(beside.name))
    spec = LinkSpec(**fields)
    if spec.nicknames is not None:
        return spec.model_copy(update={"nicknames": file.parent / spec.nicknames})
    return spec


def link_spec_to_dict(spec: LinkSpec) -> dict[str, Any]:
    """The fields of a specification that differ from their defaults, as plain values."""
    return spec.model_dump(mode="json", exclude_defaults=True)


def dump_link_spec(spec: LinkSpec, notes: dict[str, str] | None = None) -> str:
    """Write a specification as TOML text, with notes as comments.

    Notes are by column or, for rules, by ``"blocking"`` and their number from 0; under the empty
    text the one at the top.
    """
    notes = notes or {}
    document = tomlkit.document()
    for line in notes.get("", "").splitlines():
        document.add(tomlkit.comment(line))
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


def columns_of_settings(text: str) -> tuple[str, ...]:
    """Names of the columns that Splink settings compare, block on or adjust by."""
    settings = settings_of(text)
    own = {settings.get("unique_id_column_name"), settings.get("source_dataset_column_name")}
    found: set[str] = set().union(*columns_by_comparison(settings).values())
    for rule in rules_in(settings):
        found |= columns_in(rule, sided=False)
    return tuple(sorted(found - own))


def rules_in(settings: dict[str, Any]) -> list[str]:
    """The blocking rules of Splink settings, as SQL."""
    rules = settings.get("blocking_rules_to_generate_predictions")
    texts = [rule.get("blocking_rule") if isinstance(rule, dict) else rule for rule in rules or ()]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError("Splink settings", "must have blocking rules as SQL")
    return [str(text) for text in texts]


def columns_by_comparison(settings: dict[str, Any]) -> dict[str, frozenset[str]]:
    """The columns that each comparison uses, by its name or, without one, its number."""
    columns = {}
    try:
        for number, comparison in enumerate(settings["comparisons"]):
            used: set[str] = set()
            for level in comparison["comparison_levels"]:
                # The last level has no condition that could be parsed.
                if level["sql_condition"].strip().upper() != "ELSE":
                    used |= columns_in(level["sql_condition"], sided=True)
                if level.get("tf_adjustment_column"):
                    used.add(level["tf_adjustment_column"].strip('"'))
            columns[comparison.get("output_column_name") or str(number)] = frozenset(used)
    except (AttributeError, KeyError, TypeError):
        raise InputError(
            "Splink settings", "must have comparisons with comparison_levels and sql_condition"
        ) from None
    return columns


def columns_in(sql: str, *, sided: bool) -> set[str]:
    """Names of the columns in a condition.

    Sided names end in ``_l`` and ``_r``, as in comparisons; blocking rules have ``l.`` and ``r.``
    before them.
    """
    sqlglot = needed("sqlglot")
    try:
        # In the dialect of DuckDB, by which these settings are run.
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        names = {str(column.name) for column in tree.find_all(sqlglot.exp.Column)}
    except sqlglot.errors.SqlglotError:
        raise InputError(
            "Splink settings", "must hold SQL that can be read", found="another text"
        ) from None
    if not sided:
        return names
    return {name[:-2] if name[-2:].lower() in {"_l", "_r"} else name for name in names}
