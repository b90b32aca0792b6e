"""What each column of a file is: its role, kind and hierarchy, in Python and as TOML."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
    model_validator,
)

from sfumato.core.atomic import check_path
from sfumato.core.declaration import as_tuple
from sfumato.core.errors import InputError
from sfumato.core.notebook_parts import lead, styled_table
from sfumato.core.toml_text import parse_toml, read_text
from sfumato.schema.parts import Frozen, Names, Part, Sentences, schema_error
from sfumato.schema.recipe import Cleaning, in_order


class Unclassified(StrEnum):
    """What becomes of columns that the schema does not name."""

    REFUSE = "refuse"
    """They stop the release."""
    DROP = "drop"
    """They are left out."""


RECIPE_SOURCE = "source of the recipe"
"""The role of a column that others are made of, where nobody gave it another."""


class Kind(StrEnum):
    """How the values of a quasi-identifier relate to each other."""

    NUMERIC = "numeric"
    """Numbers and dates: have differences and means; cut anywhere (relaxed)."""
    ORDERED = "ordered"
    """Categories with an order; cut between categories (strict)."""
    CATEGORICAL = "categorical"
    """Categories without an order."""


class EventKind(StrEnum):
    """What a column says of an event."""

    CODE = "code"
    """A diagnosis, a procedure, a product, a kind of contact."""
    DATE = "date"
    """When it was."""
    PLACE = "place"
    """Where it was."""
    AMOUNT = "amount"
    """How much it was: a price, a duration, a measurement."""


class PrefixHierarchy(Part):
    """A hierarchy of codes by their prefixes and by ranges of codes.

    ICD-9 ``250.1`` becomes ``250`` with ``lengths=[3]`` and ``240-279`` with that range in
    ``groups``.

    Attributes
    ----------
    lengths
        Lengths of the prefixes kept, in characters, longest (most detailed) first.
    groups
        Inclusive ranges ``"240-279"`` of the shortest prefix, one more level above it.
    """

    lengths: tuple[int, ...]
    groups: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """Number of levels above the codes, ``*`` among them."""
        return len(self.lengths) + bool(self.groups) + 1


class IntervalHierarchy(Part):
    """A hierarchy of numbers or dates by intervals.

    Attributes
    ----------
    widths
        Widths of the intervals, narrowest first: numbers, or for dates any of ``"month"``,
        ``"quarter"``, ``"year"``, ``"decade"``.
    start
        Where the intervals of numbers start.
    """

    widths: tuple[float | str, ...]
    start: float = 0.0

    @property
    def height(self) -> int:
        """Number of levels above the values, ``*`` among them."""
        return len(self.widths) + 1


def _form_of_hierarchy(value: object) -> str | None:
    if isinstance(value, (str, Path)):
        return "file"
    # By the field that only one form has, so that errors speak of that form and not of all three.
    fields = value if isinstance(value, Mapping) else ()
    if isinstance(value, PrefixHierarchy) or "lengths" in fields:
        return "prefixes"
    return "intervals" if isinstance(value, IntervalHierarchy) or "widths" in fields else None


HierarchySpec = Annotated[
    Annotated[Path, Tag("file")]
    | Annotated[PrefixHierarchy, Tag("prefixes")]
    | Annotated[IntervalHierarchy, Tag("intervals")],
    Discriminator(
        _form_of_hierarchy,
        custom_error_type="form_of_hierarchy",
        custom_error_message="must be a file's path, a table with 'lengths' or one with 'widths'",
    ),
]


def _as_text(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


CodedFrom = Annotated[
    StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | StrictStr,
    BeforeValidator(_as_text),
]
"""Where top or bottom coding begins: a number, a date in ISO form, or a category."""


class QuasiIdentifier(Part):
    """One quasi-identifier: what an intruder may know about a person.

    Attributes
    ----------
    kind
        How its values relate to each other; ``None`` takes it from the data: numbers and dates
        are numeric, everything else is categorical.
    order
        The categories from lowest to highest, for ``kind="ordered"`` only. Without it the
        order comes from the hierarchy's file, else it is natural (numbers by value).
    hierarchy
        Path of a one-row-per-leaf CSV, of a classification or of SKOS in Turtle, or prefixes,
        or intervals.
    weight
        Its share in information loss, relative to the others.
    bottom, top
        Values at or beyond these are released as one category, ``17 or less`` and ``90 or
        more``: numbers, dates in ISO form, or categories of an ordered one.
    """

    kind: Kind | None = None
    order: tuple[str, ...] | None = None
    hierarchy: HierarchySpec | None = None
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)] = 1.0
    bottom: CodedFrom | None = None
    top: CodedFrom | None = None

    @model_validator(mode="after")
    def _order_fits_kind(self) -> QuasiIdentifier:
        if self.order is not None and self.kind is not Kind.ORDERED:
            raise ValueError("'order' is for kind = \"ordered\" only")
        if self.order is not None and len(set(self.order)) != len(self.order):
            raise ValueError("'order' must name each category once")
        return self

    @model_validator(mode="after")
    def _ends_fit_kind(self) -> QuasiIdentifier:
        bottom, top = self.bottom, self.top
        if self.kind is Kind.CATEGORICAL and not (bottom is None and top is None):
            raise ValueError("'bottom' and 'top' are for numeric and ordered ones only")
        numbers = isinstance(bottom, (int, float)) and isinstance(top, (int, float))
        # Dates and categories are compared once their column is known.
        if numbers and bottom >= top:  # type: ignore[operator]
            raise ValueError("'bottom' must be less than 'top'")
        return self


EXACT = "exact"
_KNOWN = re.compile(
    r"exact|level +(?P<level>[1-9]\d?)|(?P<days>[1-9]\d{0,3}) +days?"
    r"|(?P<percent>\d{1,2}(\.\d{1,3})?) *%"
)


class Event(Part):
    """One column of what an intruder may know of a single event of a person.

    The event columns of a record say together what happened: an intruder knows some of a person's
    events, each to the level that is given here.

    Attributes
    ----------
    kind
        What the column says: ``code``, ``date``, ``place`` or ``amount``.
    known
        How exactly it is known: ``exact``; ``level N`` of the hierarchy, counted from 1 above the
        values; for a date ``N days`` around it; for an amount ``N %`` around it.
    hierarchy
        As of a `QuasiIdentifier`.
    """

    kind: EventKind = EventKind.CODE
    known: StrictStr = EXACT
    hierarchy: HierarchySpec | None = None

    @model_validator(mode="after")
    def _known_fits(self) -> Event:
        found = _KNOWN.fullmatch(self.known)
        if found is None:
            raise ValueError('\'known\' must be "exact", "level 1", "3 days" or "5 %", say')
        if found["days"] and self.kind is not EventKind.DATE:
            raise ValueError("'known' in days is for kind = \"date\" only")
        if found["percent"] and self.kind is not EventKind.AMOUNT:
            raise ValueError("'known' in % is for kind = \"amount\" only")
        if self.level and self.hierarchy is None:
            raise ValueError("'known' as a level needs a 'hierarchy'")
        # The height of a file's hierarchy is known only when it is read.
        if isinstance(self.hierarchy, (PrefixHierarchy, IntervalHierarchy)):
            check_level(self.level, self.hierarchy.height)
        return self

    @property
    def level(self) -> int:
        """The level of the hierarchy that is known; 0 for the value itself."""
        return int(self._known("level") or 0)

    @property
    def days(self) -> int:
        """Days by which a known date may be off."""
        return int(self._known("days") or 0)

    @property
    def share(self) -> float:
        """Share of itself by which a known amount may be off."""
        return float(self._known("percent") or 0) / 100

    @property
    def is_near(self) -> bool:
        """Whether what is known is a value and how far off it may be."""
        return self.days > 0 or self.share > 0

    def _known(self, what: str) -> str | None:
        found = _KNOWN.fullmatch(self.known)
        return None if found is None else found[what]


def check_level(level: int, height: int) -> None:
    """Refuse a level that a hierarchy does not have, with a ValueError."""
    if level > height:
        raise ValueError(
            f"'known' must be a level of the hierarchy, which has {height} above its values"
        )


def by_name(value: Any) -> Any:
    """Take names alone, or names with the kind as a word, as fields by name."""
    value = as_tuple(value)
    if isinstance(value, (list, tuple)):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("a list must hold names of columns; fields go into a table by name")
        if len(set(value)) < len(value):
            raise ValueError("each column must be named once")
        return {name: {} for name in value}
    if isinstance(value, Mapping):
        return {
            name: {"kind": given} if isinstance(given, str) else given
            for name, given in value.items()
        }
    return value


class Orphans(StrEnum):
    """What becomes of records that refer to nothing that is there."""

    REFUSE = "refuse"
    """They stop the release."""
    DROP = "drop"
    """They are left out, and counted."""


_AT = re.compile(r"(?P<base>.+?)(?: +at +(?P<date>\S.*))?")


class TableSchema(Frozen):
    """What one table of a database is.

    Parameters
    ----------
    file
        Its file, from the folder of the schema; the table's name with a suffix when not given.
    key
        The column that names each of its records; it goes out as a pseudonym.
    persons
        Whether it has a record for each person. One table has.
    lookup
        Whether it says what a code means, and belongs to no person.
    of
        The tables to which its records belong, by the column that refers to their keys.
    same
        Columns that say a quasi-identifier of the person again, by the quasi-identifier; with
        ``"birth_year at admitted"`` as an age on that date.
    orphans
        What becomes of records that refer to nothing: ``refuse`` or ``drop``.
    quasi_identifiers, sensitive, direct_identifiers, insensitive, undecided, accepted
        As of a `Schema`; quasi-identifiers of the table of people alone.
    recipe
        How cells are to be read, as of a `Schema`.
    events
        What an intruder may know of a record, as of a `Schema`; sensitive where no role is given.
    """

    file: StrictStr | None = None
    key: StrictStr | None = None
    persons: StrictBool = False
    lookup: StrictBool = False
    of: dict[str, StrictStr] = Field(default_factory=dict)
    same: dict[str, StrictStr] = Field(default_factory=dict)
    orphans: Orphans = Orphans.REFUSE
    quasi_identifiers: Annotated[dict[str, QuasiIdentifier], BeforeValidator(by_name)] = Field(
        default_factory=dict
    )
    sensitive: Names = ()
    direct_identifiers: Names = ()
    insensitive: Names = ()
    undecided: Sentences = Field(default_factory=dict)
    accepted: Sentences = Field(default_factory=dict)
    recipe: dict[str, Cleaning] = Field(default_factory=dict)
    events: Annotated[dict[str, Event], BeforeValidator(by_name)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_role_each(self) -> TableSchema:
        roles = _one_of_each(self.roles())
        for name in self.events:
            if roles.get(name) not in {"event", "sensitive", "insensitive"}:
                raise ValueError(
                    f"column '{name}' is named as {roles[name]}, which says nothing of an event"
                )
        for name in self.accepted:
            if name not in roles:
                raise ValueError(
                    f"column '{name}' is named under 'accepted' and has no role; columns that "
                    f"have: {', '.join(roles)}"
                )
        return self

    @model_validator(mode="after")
    def _is_one_kind(self) -> TableSchema:
        if self.persons and self.lookup:
            raise ValueError("a table is of people or a lookup table, not both")
        if self.persons and (self.key is None or not self.quasi_identifiers):
            raise ValueError("the table of people needs a 'key' and 'quasi_identifiers'")
        if not self.persons and self.quasi_identifiers:
            raise ValueError(
                "'quasi_identifiers' are of the table of people; name a column that says one "
                "again under 'same'"
            )
        if (self.persons or self.lookup) and self.events:
            raise ValueError("'events' are of tables that belong to the table of people")
        if self.lookup and self.key is None:
            raise ValueError("a lookup table needs the 'key' that others refer to")
        if self.persons and self.of:
            raise ValueError(
                "the table of people has no 'of': what a person refers to would go out for each "
                "alone; name the column under 'quasi_identifiers', which classes make coarser"
            )
        if self.lookup and self.of:
            raise ValueError(
                "a lookup table has no 'of': its rows would go with those that they refer to; name "
                "the column under 'direct_identifiers', which leaves it out"
            )
        return self

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The named columns of each role."""
        told = {*self.sensitive, *self.insensitive}
        return {
            "key": () if self.key is None or self.key in self.of else (self.key,),
            "reference": tuple(self.of),
            "same": tuple(self.same),
            "quasi-identifier": tuple(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "direct identifier": self.direct_identifiers,
            "insensitive": self.insensitive,
            "undecided": tuple(self.undecided),
            "event": tuple(name for name in self.events if name not in told),
        }

    def columns(self) -> tuple[str, ...]:
        """All named columns, in the order of their roles."""
        return tuple(name for names in self.roles().values() for name in names)

    @property
    def dates(self) -> tuple[str, ...]:
        """The events that are dates."""
        return tuple(n for n, event in self.events.items() if event.kind is EventKind.DATE)

    def base_of(self, column: str) -> tuple[str, str | None]:
        """The quasi-identifier that a column says again, and the date at which it does."""
        found = _AT.fullmatch(self.same[column])
        return (self.same[column], None) if found is None else (found["base"], found["date"])


class Schema(Frozen):
    """What each column of a file is.

    A release refuses a file with a column that is not named: nobody has said that it may go out.

    Parameters
    ----------
    person
        The column that says which person a record belongs to. Without it every record is a
        person of its own.
    household
        The column that says which household a person belongs to, for household risk. It says
        who lives together, and is released as pseudonyms where `HouseholdK` is promised only.
    quasi_identifiers
        Columns that an intruder may know: a mapping from the name to a `QuasiIdentifier`, to
        its fields, or to its kind as a word; or a list of names.
    sensitive
        Columns whose values must not be learned about a person.
    direct_identifiers
        Columns that name a person; never released.
    insensitive
        Columns that are released unchanged; naming them states that somebody thought about it.
    undecided
        Columns that nobody has decided about, each with the question to answer; they stop every
        release.
    accepted
        Columns that a measure warns of, each with the reason why its role is right all the same.
    missing
        Texts that mean a missing value, beside the empty cell.
    recipe
        How the cells of some columns are to be read, by column: a `Cleaning`, or its fields. A
        column that others are made of and that has no role is never released.
    events
        Columns that say together what happened in a record, of which an intruder may know some: a
        mapping from the name to an `Event`, to its fields, or to its kind as a word; or a list
        of names. Such a column is sensitive or insensitive, too. Without any, all sensitive and
        insensitive columns that change within a person are taken as such.
    tables
        The tables of a database of the same people, by name: a `TableSchema`, or its fields. Then
        all other parameters but ``missing`` stand within the tables.

    Raises
    ------
    InputError
        If a column has two roles, a field is unknown, or there is no quasi-identifier.

    Examples
    --------
    >>> schema = Schema(
    ...     person="patient", quasi_identifiers={"age": "numeric", "sex": "categorical"}
    ... )
    >>> schema.quasi_identifiers["age"].kind
    <Kind.NUMERIC: 'numeric'>
    """

    person: str | None = None
    household: str | None = None
    quasi_identifiers: Annotated[dict[str, QuasiIdentifier], BeforeValidator(by_name)] = Field(
        default_factory=dict
    )
    sensitive: Names = ()
    direct_identifiers: Names = ()
    insensitive: Names = ()
    undecided: Sentences = Field(default_factory=dict)
    accepted: Sentences = Field(default_factory=dict)
    missing: Names = ()
    recipe: dict[str, Cleaning] = Field(default_factory=dict)
    events: Annotated[dict[str, Event], BeforeValidator(by_name)] = Field(default_factory=dict)
    tables: dict[str, TableSchema] = Field(default_factory=dict)

    def __init__(self, /, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise schema_error(error) from None

    @model_validator(mode="after")
    def _one_role_each(self) -> Schema:
        if self.tables:
            beside = self.model_fields_set - {"tables", "missing"}
            if any(getattr(self, name) for name in beside):
                raise ValueError("columns of 'tables' have their roles under [tables.NAME]")
            _check_tables(self.tables)
            return self
        if not self.quasi_identifiers:
            raise ValueError(
                "quasi_identifiers: is missing; there must be at least one quasi-identifier"
            )
        _one_of_each(self.roles())
        # Circles are refused before any data is read.
        in_order(self.recipe)
        return self

    @model_validator(mode="after")
    def _events_are_told(self) -> Schema:
        for role, names in self.roles().items():
            for name in names:
                if name in self.events and role in _NO_EVENTS:
                    raise ValueError(
                        f"column '{name}' is named as {role}, which says nothing of an event; "
                        "events are of sensitive and insensitive columns"
                    )
        near = [event.kind for event in self.events.values() if event.is_near]
        # Events are sorted by what is known nearly, and only one
        # number can be sorted by; second dates become intervals.
        if len(near) > 1 and EventKind.AMOUNT in near:
            raise ValueError(
                "one of the 'events' may be known in %, or dates in days; give the others a "
                "hierarchy of 'widths' and a level"
            )
        return self

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        """One line for each role; what nobody has decided first."""
        tables = {"": self} if not self.tables else self.tables
        lines = [
            (f"{table}: {role}" if table else role, f"{len(names)}", ", ".join(names))
            for table, own in tables.items()
            for role, names in own.roles().items()
            if names
        ]
        lines.sort(key=lambda line: not line[0].endswith("undecided"))
        open_ones = sum(int(number) for role, number, _ in lines if role.endswith("undecided"))
        said = f"Undecided, so that nothing is released: {open_ones}."
        table = styled_table("Schema", ("role", "columns", "names"), lines, numbers={1})
        return (lead(said) if open_ones else "") + table

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The named columns of each role."""
        roles: dict[str, tuple[str, ...]] = {
            "person": () if self.person is None else (self.person,),
            "household": () if self.household is None else (self.household,),
            "quasi-identifier": tuple(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "direct identifier": self.direct_identifiers,
            "insensitive": self.insensitive,
            "undecided": tuple(self.undecided),
        }
        if self.recipe:
            named = {name for names in roles.values() for name in names}
            sources = (name for cleaning in self.recipe.values() for name in cleaning.sources)
            # A birth date from which an age is made must not go out because nobody gave it a role.
            roles[RECIPE_SOURCE] = tuple(n for n in dict.fromkeys(sources) if n not in named)
        return roles

    def derived(self) -> tuple[str, ...]:
        """The columns that the recipe makes of others, those that others are made of first."""
        return tuple(name for name in in_order(self.recipe) if self.recipe[name].derives)

    def withheld(self) -> frozenset[str]:
        """The columns that no release hands out, but pseudonyms of households under a promise."""
        roles = self.roles()
        return frozenset(
            name
            for role in ("direct identifier", "household", "undecided", RECIPE_SOURCE)
            for name in roles.get(role, ())
        )

    @property
    def further(self) -> tuple[str, ...]:
        """The columns that may go out beside quasi-identifiers; of tables as ``TABLE.COLUMN``."""
        if not self.tables:
            return (*self.sensitive, *self.insensitive)
        lookups = {name for name, table in self.tables.items() if table.lookup}
        return tuple(
            f"{name}.{column}"
            for name, table in self.tables.items()
            if name not in lookups
            for column in dict.fromkeys(
                (
                    *table.events,
                    *(column for column, to in table.of.items() if to in lookups),
                    *table.sensitive,
                    *table.insensitive,
                )
            )
        )

    def with_files(self, named: Callable[[Path], Path]) -> Schema:
        """The schema with the files of its hierarchies named otherwise.

        Parameters
        ----------
        named
            Gives the new path of each file.
        """
        tables = {
            name: table.model_copy(update=_moved(table, named))
            for name, table in self.tables.items()
        }
        return self.model_copy(update={**_moved(self, named), "tables": tables})

    def columns(self) -> tuple[str, ...]:
        """All named columns, in the order of their roles."""
        return tuple(name for names in self.roles().values() for name in names)


def _one_of_each(roles: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The role of each column; a `ValueError` for a column with two."""
    role_of: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if name in role_of:
                raise ValueError(
                    f"column '{name}' is named as {role_of[name]} and as {role}; "
                    "a column has one role"
                )
            role_of[name] = role
    return role_of


def _moved(part: Schema | TableSchema, named: Callable[[Path], Path]) -> dict[str, Any]:
    """The columns of a file or a table with the files of their hierarchies named otherwise."""
    return {
        field: {
            name: each.model_copy(update={"hierarchy": named(each.hierarchy)})
            if isinstance(each.hierarchy, Path)
            else each
            for name, each in getattr(part, field).items()
        }
        for field in ("quasi_identifiers", "events")
    }


_NO_EVENTS = ("person", "household", "quasi-identifier", "direct identifier")
"""Roles of columns that say who somebody is."""


def check_schema(value: object) -> None:
    """Refuse what is no schema, such as the path of its file."""
    if not isinstance(value, Schema):
        raise InputError(
            "parameter schema",
            "must be a Schema",
            found="no schema" if value is None else f"an object of type {type(value).__name__}",
            accepted="sfumato.Schema(...), what sfumato.load_schema(path) gives, or the one of "
            "sfumato.guess_schema(data).schema, once its questions are answered",
        )
    if value.tables:
        raise InputError(
            "parameter schema",
            "must be that of one file here",
            found=f"one of {len(value.tables)} tables",
            advice="pass sfumato.Tables(frames, schema), or on the command line their folder",
        )


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
    fields = parse_toml(read_text(file, subject), subject)
    # Relative to the schema, so that a folder with both can be moved.
    return Schema(**fields).with_files(lambda path: file.parent / path)


def schema_to_dict(schema: Schema) -> dict[str, Any]:
    """The fields of a schema that differ from their defaults, as plain values."""
    named: dict[str, Mapping[str, Part]] = {
        "quasi_identifiers": schema.quasi_identifiers,
        "events": schema.events,
    }
    fields = schema.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude={*named, "tables"}
    )
    if schema.tables:
        fields["tables"] = _plain_tables(schema.tables)
    for field, columns in named.items():
        if columns:
            fields[field] = {
                name: column.model_dump(mode="json", exclude_defaults=True)
                for name, column in columns.items()
            }
    for steps in fields.get("recipe", {}).values():  # one text alone reads better than its list
        steps |= {
            step: value[0]
            for step, value in steps.items()
            if isinstance(value, list) and len(value) == 1
        }
    return fields


def dump_schema(schema: Schema, notes: dict[str, str] | None = None) -> str:
    """Write a schema as TOML text.

    Parameters
    ----------
    schema, notes
        The schema, and comments by column, written behind or above what they speak about.
    """
    # Only who writes a schema needs it, and reading one is more common.
    import tomlkit

    notes = notes or {}
    document = tomlkit.document()
    fields = schema_to_dict(schema)
    nested = {name: fields.pop(name, {}) for name in ("quasi_identifiers", "events")}
    recipe = fields.pop("recipe", {})
    _add_tables(document, fields.pop("tables", {}), notes)
    tables = {name: fields.pop(name) for name in ("undecided", "accepted") if name in fields}
    for name, value in fields.items():
        columns = value if isinstance(value, list) else [value]
        for column in columns:
            if column in notes:
                document.add(tomlkit.comment(f"{column}: {notes[column]}"))
        document.add(name, value)
    for section, columns in nested.items():
        for name, each in columns.items():
            table = tomlkit.table()
            if name in notes and section == "quasi_identifiers":
                table.comment(notes[name])
            for key, value in each.items():
                table.add(key, value)
            document.setdefault(section, tomlkit.table(is_super_table=True)).add(name, table)
    for name, said in tables.items():  # behind the rest, which would else be read as theirs
        document.add(name, said)
    if schema.recipe:
        document.add("recipe", tomlkit.table())
        for name, steps in recipe.items():
            line = tomlkit.inline_table()
            line.update(steps)
            document["recipe"].add(name, line)
    return tomlkit.dumps(document)


def _add_tables(document: Any, tables: Mapping[str, Any], notes: Mapping[str, str]) -> None:
    """Write the tables of a database, comments by table or by ``TABLE.COLUMN`` above what it is."""
    import tomlkit

    for name, fields in tables.items():
        table = tomlkit.table()
        for place in (name, *(f"{name}.{column}" for column in _columns_in(fields))):
            if notes.get(place):
                table.add(tomlkit.comment(f"{place.removeprefix(f'{name}.')}: {notes[place]}"))
        nested = {k: v for k, v in fields.items() if isinstance(v, dict) and k != "undecided"}
        for key, value in fields.items():
            if key not in nested and key != "undecided":
                table.add(key, value)
        for key, value in nested.items():
            line = tomlkit.inline_table()
            line.update(value)
            table.add(key, line)
        if "undecided" in fields:  # a question is a line of its own
            table.add("undecided", fields["undecided"])
        document.setdefault("tables", tomlkit.table(is_super_table=True)).add(name, table)


def _columns_in(fields: Mapping[str, Any]) -> list[str]:
    """The columns that the fields of a table name."""
    return [c for value in fields.values() if isinstance(value, (dict, list)) for c in value]


def schema_sha256(schema: Schema) -> str:
    """Hash of the schema's canonical TOML text, files of hierarchies without their folder."""
    # The same schema in another folder is the same.
    text = dump_schema(schema.with_files(lambda path: Path(path.name)))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _check_tables(tables: Mapping[str, Any]) -> None:
    """Refuse tables that are no database of the same people."""
    persons = [name for name, table in tables.items() if table.persons]
    if len(persons) != 1:
        raise ValueError(
            f"one of the 'tables' must say persons = true, which says whose records all are; "
            f"{len(persons)} do"
        )
    for name, table in tables.items():
        for column, to in table.of.items():
            if to not in tables:
                raise ValueError(f"tables.{name}.of.{column} must name a table of the schema")
            if tables[to].key is None:
                raise ValueError(f"tables.{to} needs a 'key', to which {name} refers")
            if column == table.key and tables[to].lookup:
                raise ValueError(
                    f"tables.{name}.key must not refer to a lookup table: a code that is hidden "
                    "names no record"
                )
        _check_belongs(tables, name, persons[0])
        for column in table.same:
            base, date = table.base_of(column)
            if base not in tables[persons[0]].quasi_identifiers:
                raise ValueError(
                    f"tables.{name}.same.{column} must name a quasi-identifier of {persons[0]}"
                )
            if date is not None and date not in table.dates:
                raise ValueError(f"tables.{name}.same.{column} must name a date under its 'events'")


def _check_belongs(tables: Mapping[str, Any], name: str, persons: str) -> None:
    """Refuse a table whose references lead back to it, or not to persons."""
    table, above = tables[name], set(_above(tables, name))
    if name in above:
        raise ValueError(f"the references of tables.{name} lead back to it")
    if not (table.lookup or table.persons or persons in above):
        raise ValueError(f"tables.{name} needs an 'of' that leads to {persons}, or lookup = true")


def _above(tables: Mapping[str, Any], name: str) -> Iterator[str]:
    """The tables to which a table's references lead, by theirs, too."""
    waiting, seen = [*tables[name].of.values()], set[str]()
    while waiting:
        table = waiting.pop()
        yield table
        if table not in seen and table in tables:
            seen.add(table)
            waiting += tables[table].of.values()


def _plain_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of tables that differ from their defaults, as plain values."""
    found = {}
    for name, table in tables.items():
        fields = table.model_dump(mode="json", exclude_defaults=True)
        for field in ("quasi_identifiers", "events"):
            if field in fields:
                # Its kind alone reads better than a table of one entry.
                fields[field] = {
                    column: given["kind"] if set(given) == {"kind"} else given
                    for column, given in (
                        (column, {"kind": "code", **one} if field == "events" else one)
                        for column, one in fields[field].items()
                    )
                }
        found[name] = fields
    return found
