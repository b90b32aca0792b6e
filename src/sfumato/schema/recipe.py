"""The cleaning recipe: how the cells of a column are to be read, before anything else is done."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictStr,
    StringConstraints,
    model_validator,
)

from sfumato.core.declaration import fields_of
from sfumato.core.number_text import counted
from sfumato.schema.parts import Names, Part

DIRECTIVES = {
    "Y": "year", "y": "year", "m": "month", "b": "month", "B": "month", "d": "day",
    "H": "hour", "M": "minute", "S": "second", "f": "fraction",
}  # fmt: skip
"""What a format of dates may name, by its letter."""
_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_NUMBERED = "days since "
"""Begins a format of dates that are numbers of days, as programs for tables store them."""
_LETTER = Annotated[StrictStr, StringConstraints(min_length=1, max_length=1)]


class Case(StrEnum):
    """How a text is spelled."""

    LOWER = "lower"
    UPPER = "upper"


class Holds(StrEnum):
    """What the cells of a column are read as."""

    NUMBER = "number"
    TEXT = "text"
    DATE = "date"


class Resolution(StrEnum):
    """How exact dates are kept."""

    DAY = "day"
    MONTH = "month"
    """By the first day of the month."""
    YEAR = "year"
    """As a whole number."""


class Unreadable(StrEnum):
    """What becomes of a cell that cannot be read."""

    REFUSE = "refuse"
    """It stops the work, with counts."""
    MISSING = "missing"
    """It counts as missing."""


READERS = ("number", "date", "parts", "from")
"""The steps that may find cells that they cannot read."""
AGE_UNITS = ("years", "months", "days")
"""What the time between two dates is counted in."""


def _texts(value: object) -> tuple[str, ...]:
    """One text or several, none of them empty or there twice."""
    several = (value,) if isinstance(value, str) else value
    listed = several if isinstance(several, (list, tuple)) else (None,)
    texts = tuple(each.strip() for each in listed if isinstance(each, str))
    if len(texts) < len(listed):
        raise ValueError("must be a text or a list of texts")
    if not texts or not all(texts) or len(set(texts)) < len(texts):
        raise ValueError("must name at least one text, none of them empty or twice")
    return texts


def _renames(value: object) -> dict[str, str]:
    """Texts by texts; an error tells none of them, for they are values of the data."""
    renames = dict(value) if isinstance(value, Mapping) else {}
    if not renames:
        raise ValueError("must be a table of new values by old ones")
    if not all(isinstance(text, str) for pair in renames.items() for text in pair):
        raise ValueError("must have a text for a text, in quotes")
    if not all(new.strip() for new in renames.values()):
        raise ValueError("must have a new value for each; 'missing' is for those that mean nothing")
    return renames


def _day(value: object) -> object:
    if isinstance(value, dt.datetime):
        raise ValueError("must be a date without a time, or a column of dates")  # noqa: TRY004, as pydantic has it
    return value.isoformat() if isinstance(value, dt.date) else value


_Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
_Letters = Annotated[tuple[_LETTER, ...], BeforeValidator(_texts)]


class Cleaning(Part):
    """What is done to the cells of one column before anything else is.

    Steps follow each other as the attributes do, whatever order they are written in. A column
    with ``parts`` or ``from`` is a new one, made of others; these are not released unless they
    have a role of their own. Numbers and dates are read without blanks around them; an empty cell
    stays empty.

    Attributes
    ----------
    strip
        Take blanks off both ends, no-break ones too, and make several within into one space.
    missing
        Texts of the file that mean a missing value in this column, numbers by their value; the
        schema's own count, too.
    case
        Spell all letters in lower or upper case.
    rename
        New values by old ones, as they are after ``strip`` and ``case``.
    first
        Keep so many characters.
    type
        What the cells are read as: ``number``, ``date`` (``YYYY-MM-DD``) or ``text``.
    decimal
        The decimal sign of numbers, or several; a point by default.
    thousands
        The sign between groups of digits.
    unit
        Texts before or behind a number, in any case of letters, which are taken away; with
        ``from``, what is counted: ``years``, ``months`` or ``days``, completed ones.
    date
        The format of dates, or several, tried in order: ``%d.%m.%Y``. Directives are ``%Y``,
        ``%y``, ``%m``, ``%b`` or ``%B`` (names of months, short or long, in ten languages),
        ``%d``, ``%H``, ``%M``, ``%S``, ``%f``. ``days since 1899-12-30`` is a format, too: that of
        numbers of days, as Excel stores dates, of which a fraction, the time of day, is left out.
    pivot
        The first of the hundred years that ``%y`` may mean.
    resolution
        How exact dates are kept: ``day``, ``month`` (by its first day), ``year`` (a whole number).
    parts
        Columns of year, month and day of which this one is made; without the day a month.
    from_
        ``from`` in TOML: the column of dates since which this one counts.
    at
        The date up to which it counts, or a column of dates.
    unreadable
        What becomes of cells that cannot be read: ``refuse`` or ``missing``.

    Raises
    ------
    InputError
        If a step is unknown or does not go with another one, or a format has no year.
    """

    strip: Annotated[bool, Field(strict=True)] = False
    missing: _Texts = ()
    case: Case | None = None
    rename: Annotated[dict[str, str], BeforeValidator(_renames)] = Field(default_factory=dict)
    first: Annotated[int, Field(strict=True, ge=1)] | None = None
    type: Holds | None = None
    decimal: _Letters = ()
    thousands: _LETTER | None = None
    unit: _Texts = ()
    date: _Texts = ()
    pivot: Annotated[int, Field(strict=True, ge=1, le=9900)] | None = None
    resolution: Resolution | None = None
    parts: Names = ()
    from_: Annotated[str | None, Field(alias="from")] = None
    at: Annotated[str | None, BeforeValidator(_day)] = None
    unreadable: Unreadable = Unreadable.REFUSE

    @property
    def retells(self) -> bool:
        """Whether the column says something else than its file then, of which labels speak."""
        return bool(self.rename or self.first or self.resolution or self.parts or self.from_)

    model_config = ConfigDict(populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _known_steps(cls, fields: object) -> object:
        """Name the step that somebody may have meant."""
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for name in fields if isinstance(fields, Mapping) else ():
            if name not in (*known, "from_"):
                # Pydantic would only say that the field is unknown.
                close = get_close_matches(str(name), known, n=1)
                meant = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
                raise ValueError(f"'{name}' is no known step; {meant}")
        return fields

    @model_validator(mode="after")
    def _steps_go_together(self) -> Cleaning:
        given = {
            name
            for name, field in type(self).model_fields.items()
            # By values and not by what was written: a step at its default does nothing.
            if getattr(self, name) != field.get_default(call_default_factory=True)
        }
        if not given - {"unreadable"}:
            raise ValueError("must name at least one step")
        if self.derives:
            self._check_derived(given)
        elif self.at is not None:
            raise ValueError("'at' goes with 'from', the column of dates since which it counts")
        readers = [step for step in ("number", "date", "text") if self.reads(step)]
        if len(readers) > 1:
            raise ValueError(f"a column is read as one thing, not as {' and as '.join(readers)}")
        if not self.reads("date") and not self.parts and given & {"pivot", "resolution"}:
            raise ValueError("'pivot' and 'resolution' go with 'date'")
        if "unreadable" in given and not self.derives and readers in ([], ["text"]):
            raise ValueError("'unreadable' goes with what reads numbers or dates")
        if self.reads("number"):
            self._check_numbers()
        if self.reads("date"):
            self._check_dates()
        return self

    def _check_derived(self, given: set[str]) -> None:
        own = {"parts", "pivot"} if self.parts else {"from_", "at", "unit"}
        if given - own - {"unreadable"}:
            raise ValueError(
                "a column of 'parts' goes with 'pivot' and 'unreadable' only"
                if self.parts
                else "a column 'from' another goes with 'at', 'unit' and 'unreadable' only"
            )
        if self.parts and len(self.parts) not in (2, 3):
            raise ValueError("'parts' are the columns of year and month, or of year, month and day")
        if len(set(self.sources)) < len(self.parts or (self.from_,)):
            raise ValueError("'parts' must name each column once")
        if self.from_ is not None and self.at is None:
            raise ValueError("'from' goes with 'at', the date up to which it counts")
        if self.unit and not (len(self.unit) == 1 and self.unit[0] in AGE_UNITS):
            raise ValueError(f"'unit' must be one of {', '.join(AGE_UNITS)}, with 'from'")

    def _check_numbers(self) -> None:
        signs = (*(self.decimal or (".",)), *(() if self.thousands is None else (self.thousands,)))
        if len(set(signs)) < len(signs):
            raise ValueError("'decimal' and 'thousands' must be different signs")
        # As signs within a number these would be read as part of its value.
        if any(sign.isalnum() or sign in "+-" for sign in signs):
            raise ValueError("'decimal' and 'thousands' must be signs, not letters or digits")

    def _check_dates(self) -> None:
        for text in self.date:
            _check_format(text)
        formats = self.formats
        if any("%y" in text for text in formats) and self.pivot is None:
            raise ValueError(
                "a year of two digits (%y) needs 'pivot', the first year that it may mean, "
                "such as pivot = 1930"
            )
        # A column of days and months mixed has dates of which nobody knows how exact they are.
        if self.resolution is None and len({min(_level(text), 3) for text in formats}) > 1:
            raise ValueError(
                "formats of days, months or years alone need a 'resolution' in common: "
                '"month" or "year"'
            )
        coarse = [text for text in formats if _level(text) < self._least_level()]
        if coarse:
            raise ValueError(
                f"format '{coarse[0]}' is less exact than the 'resolution'; take a coarser one, or "
                "leave the format out and have such cells missing"
            )

    def _least_level(self) -> int:
        return {None: 0, Resolution.YEAR: 1, Resolution.MONTH: 2, Resolution.DAY: 3}[
            self.resolution
        ]

    def reads(self, step: str) -> bool:
        """Whether the cells are read as a ``number``, ``date`` or ``text``."""
        if self.derives:
            return False
        if step == "number":
            numbers = bool(self.decimal or self.unit) or self.thousands is not None
            return numbers or self.type is Holds.NUMBER
        return bool(step == "date" and self.date) or self.type == step

    @property
    def derives(self) -> bool:
        """Whether the column is made of others."""
        return bool(self.parts) or self.from_ is not None

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is made of, which may be derived ones themselves."""
        if self.from_ is None:
            return self.parts
        # What reads as a date is one; a column of such a name could not be told from it.
        return (self.from_,) if self.at_day is not None else (self.from_, str(self.at))

    @property
    def at_day(self) -> dt.date | None:
        """The date up to which it counts; ``None`` where a column says it."""
        try:
            return dt.date.fromisoformat(self.at or "")
        except ValueError:
            return None

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of dates in their order."""
        return self.date or ("%Y-%m-%d",)

    @property
    def kept_resolution(self) -> Resolution | None:
        """How exact dates are kept; ``None`` for dates with a time of day."""
        if self.resolution is not None:
            return self.resolution
        level = max(map(_level, self.formats))
        return {1: Resolution.YEAR, 2: Resolution.MONTH, 3: Resolution.DAY}.get(level)

    def steps(self) -> dict[str, str]:
        """What is done, step by step, in words without values of the data."""
        return dict(self._said())

    def _said(self) -> Iterator[tuple[str, str]]:
        if self.strip:
            yield "strip", "blanks at the ends taken away, several within made one"
        if self.missing:
            yield "missing", f"{counted(len(self.missing), 'text')} taken as missing"
        if self.case:
            yield "case", f"spelled in {self.case} case"
        if self.rename:
            yield "rename", f"{counted(len(self.rename), 'value')} renamed"
        if self.first:
            yield "first", f"cut to {counted(self.first, 'character')}"
        if self.reads("number"):
            yield "number", f"read as numbers{self._number_signs()}"
        if self.reads("date"):
            years = "" if self.pivot is None else f", years {self.pivot} to {self.pivot + 99}"
            kept = self.kept_resolution
            exact = "with the time" if kept is None else f"to the {kept}"
            yield "date", f"read as dates written {' or '.join(self.formats)}{years}, kept {exact}"
        if self.reads("text"):
            yield "text", "taken as text"
        if self.parts:
            names = ", ".join(f"'{name}'" for name in self.parts)
            until = "the day" if len(self.parts) == 3 else "the month, by its first day"
            yield "parts", f"made of {names}, kept to {until}"
        if self.from_ is not None:
            until = str(self.at) if self.at_day is not None else f"'{self.at}'"
            yield "from", f"completed {self.age_unit} from '{self.from_}' to {until}"

    @property
    def age_unit(self) -> str:
        """What the time between two dates is counted in."""
        return self.unit[0] if self.unit else "years"

    def _number_signs(self) -> str:
        said = ""
        if self.decimal:
            said += f", decimal sign {' or '.join(self.decimal)}"
        if self.thousands is not None:
            said += f", thousands sign {'space' if self.thousands.isspace() else self.thousands}"
        return said + (f", without {' or '.join(self.unit)}" if self.unit else "")


def first_day(text: str) -> dt.date | None:
    """The day that a format counts from, if it is one of numbers of days: ``days since DAY``."""
    try:
        return dt.date.fromisoformat(text.removeprefix(_NUMBERED)) if _is_numbered(text) else None
    except ValueError:
        return None


def _is_numbered(text: str) -> bool:
    return text.startswith(_NUMBERED)


def directives(text: str) -> tuple[str, ...]:
    """The letters of a format's directives, in their order; ``%%`` is none."""
    return tuple(letter for letter in _DIRECTIVE.findall(text) if letter != "%")


def _check_format(text: str) -> None:
    if _is_numbered(text):
        if first_day(text) is None:
            raise ValueError(
                f"a format of '{_NUMBERED}' needs a date such as 1899-12-30 (Excel) behind it"
            )
        return
    letters = directives(text)
    unknown = [letter for letter in letters if letter not in DIRECTIVES]
    # A single % at the end names nothing, but the pattern of two characters does not see it.
    if unknown or text.replace("%%", "").endswith("%"):
        accepted = ", ".join(f"%{letter}" for letter in DIRECTIVES)
        raise ValueError(f"format '{text}' has an unknown directive; accepted: {accepted}")
    named = [DIRECTIVES[letter] for letter in letters]
    for part in dict.fromkeys(named):
        if named.count(part) > 1:
            raise ValueError(f"format '{text}' names the {part} twice")
    for part, needed in (
        # Each part needs the next larger one: the 14th of an unknown month is no date.
        ("", "year"), ("day", "month"), ("hour", "day"),
        ("minute", "hour"), ("second", "minute"), ("fraction", "second"),
    ):  # fmt: skip
        if needed not in named and (not part or part in named):
            advice = "" if letters else f"; that of Excel's numbers is '{_NUMBERED}1899-12-30'"
            has = f"a {part} but " if part else ""
            raise ValueError(f"format '{text}' has {has}no {needed}{advice}")


def _level(text: str) -> int:
    """How exact a format is: 1 for years, 2 for months, 3 for days, 4 with a time of day."""
    if _is_numbered(text):
        return 3
    named = {DIRECTIVES[letter] for letter in directives(text)}
    return 1 + ("month" in named) + ("day" in named) + ("hour" in named)


@dataclass(frozen=True)
class StepCount:
    """What a step of the recipe did to a column.

    Attributes
    ----------
    what
        What it does, in words without values of the data.
    changed, made_missing
        Numbers of cells that hold another value than before, and none any more.
    """

    column: str
    step: str
    what: str
    changed: int = 0
    made_missing: int = 0

    def to_json(self) -> dict[str, str | int]:
        """Plain values; the column under ``name``."""
        return {"name": self.column, **fields_of(self, "step what changed made_missing")}

    @property
    def cells(self) -> str:
        """How many cells it changed."""
        missing = f", {self.made_missing:,} made missing" if self.made_missing else ""
        return f"{self.changed:,}{missing}"

    def plus(self, other: StepCount) -> StepCount:
        """It and what the step did to other records."""
        return replace(
            self,
            changed=self.changed + other.changed,
            made_missing=self.made_missing + other.made_missing,
        )


def in_order(recipe: Mapping[str, Cleaning]) -> list[str]:
    """The columns of a recipe, those that others are made of first."""
    waiting, done = dict(recipe), list[str]()
    while waiting:
        ready = [
            name
            for name, each in waiting.items()
            # A column made of itself would wait for itself, and is in the circle that is said.
            if name not in each.sources and not any(source in waiting for source in each.sources)
        ]
        if not ready:
            names = ", ".join(f"'{name}'" for name in waiting)
            raise ValueError(f"recipe: columns are made of each other in a circle ({names})")
        done += ready
        waiting = {name: each for name, each in waiting.items() if name not in ready}
    return done
