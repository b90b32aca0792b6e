"""What one column is: its kind, its hierarchy, what it says of an event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)

from sfumato.core.declaration import as_tuple
from sfumato.schema.parts import Part


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
    """Refuse a level that a hierarchy does not have.

    Raises
    ------
    ValueError
        If it has fewer levels above its values.
    """
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
