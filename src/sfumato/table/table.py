"""An encoded file: codes and domains for all that is measured, Arrow for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.schema import Event, Kind, Schema
from sfumato.schema.recipe import StepCount
from sfumato.table.sources import NO_LABELS, Labels, from_numpy

# Needed for types alone: the door reads files without loading hierarchies.
if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import Hierarchy


Codes = npt.NDArray[np.int32]
MARK = "\x1f"
"""Between the number of a column and a label, where columns share one."""
MISSING = -1
"""The code of a missing value in every column."""

Unit = Literal["number", "date", "datetime"]
EPOCH = date(1970, 1, 1)
EPOCH_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class NumberDomain:
    """The distinct numbers or dates of a column, ascending.

    Attributes
    ----------
    points
        Distinct values as integers, ascending: numbers times ``10**decimals``, dates in days,
        datetimes in microseconds since 1970. Integers, so that positions and means compare
        exactly.
    width
        Digits to pad with zeros on the left (codes such as ZIPs), 0 for none.
    """

    points: Ints = field(repr=False)
    decimals: int = 0
    unit: Unit = "number"
    width: int = 0

    @property
    def size(self) -> int:
        """Number of distinct values."""
        return len(self.points)

    @property
    def normalized(self) -> Floats:
        """Each value on the unit scale [0, 1] (paper 003, Section 4); 0 when constant."""
        # A slice, as an empty domain has no first point.
        shifted = (self.points - self.points[:1]).astype(np.float64)
        return shifted / shifted[-1] if len(shifted) and shifted[-1] > 0 else shifted

    def label(self, code: int) -> str:
        """The printed value of a code."""
        return self.format(int(self.points[code]), self.decimals)

    def format(self, point: int, decimals: int) -> str:
        """Print a point that is scaled by ``10**decimals`` (numbers) or a date."""
        if self.unit == "date":
            return (EPOCH + timedelta(days=point)).isoformat()
        if self.unit == "datetime":
            return (EPOCH_TIME + timedelta(microseconds=point)).replace(tzinfo=None).isoformat()
        if decimals == 0:
            return f"{point:0{self.width}d}"
        # By the digits of the integer: a float in between could print others.
        sign, digits = ("-" if point < 0 else ""), f"{abs(point):0{decimals + 1}d}"
        return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"


@dataclass(frozen=True, eq=False)
class LabelDomain:
    """The distinct categories of a column that occur, lowest first when ordered."""

    labels: tuple[str, ...] = field(repr=False)

    @property
    def size(self) -> int:
        """Number of distinct categories."""
        return len(self.labels)

    @property
    def normalized(self) -> Floats:
        """Each category's rank on the unit scale [0, 1]; 0 when there is one."""
        return np.linspace(0.0, 1.0, self.size) if self.size > 1 else np.zeros(self.size)

    def label(self, code: int) -> str:
        """The category of a code."""
        return self.labels[code]


Domain = NumberDomain | LabelDomain


@dataclass(frozen=True)
class CodedEnds:
    """Where top and bottom coding begin.

    Attributes
    ----------
    bottom
        The last code that is bottom-coded; -1 for none.
    top
        The first code that is top-coded; the domain's size for none.
    """

    bottom: int
    top: int
    bottom_label: str = ""
    top_label: str = ""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as integer codes.

    Attributes
    ----------
    codes
        One code per record: the index of the value in ``domain``, or `MISSING`.
    kind
        Numeric, ordered or categorical.
    hierarchy
        The hierarchy over the domain's labels, where the schema names one.
    weight
        Share in information loss, relative to the others.
    ends
        Where its values are top- or bottom-coded, where the schema says so.
    snapped
        Whether ends of its ranges are points of a public grid, and its sets blocks of a public
        order, rather than values of the data.
    lone
        Whether each category is that of one person of the file alone, shape (domain size,); only
        where sets are blocks.
    """

    name: str
    codes: Codes
    domain: Domain
    kind: Kind = Kind.CATEGORICAL
    hierarchy: Hierarchy | None = None
    weight: float = 1.0
    ends: CodedEnds | None = None
    snapped: bool = False
    lone: Bools | None = field(default=None, repr=False)

    @property
    def has_missing(self) -> bool:
        """Whether any record has no value."""
        return bool((self.codes == MISSING).any())


@dataclass(frozen=True, eq=False)
class EventColumn:
    """What one column says of the event of each record, as integer codes.

    Attributes
    ----------
    codes
        One code per record, in [0, size), or `MISSING`.
    size
        Number of distinct values.
    domain
        The values that occur; dates and amounts ascending. ``None`` where the schema names no
        events and the column stands for one because it changes within a person.
    hierarchy
        The hierarchy over the domain's labels, where the schema names one.
    parts
        The columns that share it, of which a record has one; a label then begins with the number
        of its column and `MARK`. Empty of a column by itself.
    part_of
        Which of them each value is of; shape (size,).
    """

    name: str
    codes: Codes
    size: int
    event: Event
    domain: Domain | None = field(default=None, repr=False)
    hierarchy: Hierarchy | None = None
    parts: tuple[str, ...] = ()
    part_of: Codes | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file that it stands for."""
        return self.parts or (self.name,)

    def places(self, codes: Codes) -> tuple[tuple[str, Bools], ...]:
        """By column of the file, which of some codes are of it."""
        if self.part_of is None:
            return ((self.name, codes != MISSING),)
        part = np.append(self.part_of, np.int32(MISSING))[codes]
        return tuple((name, part == number) for number, name in enumerate(self.parts))


@dataclass(frozen=True)
class ColumnFigures:
    """What a column that is no quasi-identifier gives away, in shares from 0 to 1.

    Attributes
    ----------
    role
        ``sensitive`` or ``insensitive``; ``order`` of the order of the rows, ``person`` of the
        person column, where the number of records gives away.
    tells
        Of what is not known about each quasi-identifier, the share that it tells; empty where
        there are too few persons to say.
    person
        The people of a class of 20 who would be alone with their value of one record; ``None``
        where there are too few persons.
    leak
        How it gives away what the release hides, as the end of a sentence that begins with "it";
        empty where it does not.
    accepted
        Why it goes out all the same; empty where nobody said so.
    without
        The people who are found by who knows the class that they are in: mean over the persons
        of each class of 1 / persons. ``None`` where nobody counted.
    found
        The same by who knows the column's value in a record of theirs, too.
    alone
        The people who are the only one of their class with that value.
    """

    column: str
    role: str
    tells: Mapping[str, float]
    sensitive: Mapping[str, float]
    person: float | None
    leak: str = ""
    accepted: str = ""
    without: float | None = None
    found: float | None = None
    alone: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def sentence(self) -> str:
        """What was accepted of the column, for the first lines of whatever speaks of a release."""
        although = f", although it {self.leak}" if self.leak else ""
        return f"column '{self.column}' is released as it is{although}; accepted: {self.accepted}"


NO_COLUMNS = pa.table({})


@dataclass(frozen=True, eq=False)
class Table:
    """An encoded file.

    Attributes
    ----------
    person
        Index of the person of each record, persons numbered by first appearance; without a
        person column ``arange(records)``.
    sensitive
        Encoded sensitive attributes, in the schema's order; their domains' order is arbitrary.
    source
        The columns that a release hands on or renames, as Arrow; the person column included,
        direct identifiers and quasi-identifiers not.
    identifiers
        Direct identifiers and households as they came, until columns were held against them.
    columns
        Names of all columns of the file, in its order.
    warnings
        What the reader should know; publishable.
    household
        Index of the household of each record, -1 for missing; ``None`` without such a column.
    ties
        Hash of the content that each record had before its codes were changed; ``None`` where
        they are as they were read.
    preparation
        What each step of the schema's recipe did to the columns that were read.
    events
        What says together what happened in each record: the columns that the schema names as
        events, else all sensitive and insensitive ones; none without a person column where the
        schema names none.
    column_figures
        What each column that is released as it is gives away, where that was measured.
    part_of
        The table that each record is of, where the records of several are below each other; the
        first one has a record for each person.
    parents
        What shows that records of several tables belong together: the parent of each, -1 for none.
    """

    schema: Schema
    person: npt.NDArray[np.int32]
    quasi_identifiers: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    source: pa.Table = field(repr=False)
    columns: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    household: npt.NDArray[np.int32] | None = None
    ties: Ints | None = None
    labels: Labels = NO_LABELS
    preparation: tuple[StepCount, ...] = ()
    events: tuple[EventColumn, ...] = ()
    column_figures: tuple[ColumnFigures, ...] = ()
    identifiers: pa.Table = field(default_factory=lambda: NO_COLUMNS, repr=False)
    part_of: Codes | None = None
    parents: tuple[Codes, ...] = ()

    @property
    def records(self) -> int:
        """Number of records N."""
        return len(self.person)

    @cached_property
    def persons(self) -> int:
        """Number of persons."""
        return int(self.person.max()) + 1 if len(self.person) else 0

    def take(self, rows: Ints) -> Table:
        """Some of the records, in the order of ``rows``; persons are numbered again.

        Domains stay those of the whole file, so that normalised values mean the same.
        """
        persons, first, person = np.unique(
            self.person[rows], return_index=True, return_inverse=True
        )
        number = np.empty(len(persons), dtype=np.int32)
        # `np.unique` has persons in the order of their old numbers, not of their first records.
        number[np.argsort(first, kind="stable")] = np.arange(len(persons), dtype=np.int32)
        return replace(
            self,
            person=number[person],
            quasi_identifiers=_rows(self.quasi_identifiers, rows),
            sensitive=_rows(self.sensitive, rows),
            source=self.source.take(from_numpy(rows)),
            identifiers=self.identifiers.take(from_numpy(rows)),
            household=None if self.household is None else self.household[rows],
            ties=None if self.ties is None else self.ties[rows],
            events=tuple(replace(event, codes=event.codes[rows]) for event in self.events),
            part_of=None if self.part_of is None else self.part_of[rows],
            parents=tuple(parent[rows] for parent in self.parents),
        )


def _rows(columns: tuple[CodedColumn, ...], rows: Ints) -> tuple[CodedColumn, ...]:
    return tuple(replace(column, codes=column.codes[rows]) for column in columns)
