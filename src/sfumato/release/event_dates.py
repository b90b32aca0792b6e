"""Dates of events: moved, counted from the first, or coarser, and what intervals then give away.

An offset a person hides when something was and keeps how long after another thing: whoever knows
two dates of a person knows the days between them, to as many days as each date is known. So the
candidates are counted by their intervals, on the dates that are released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.kernels.history_loops import DatedRows, Rungs, dated_units
from sfumato.release.histories import ANYTHING, Gathered
from sfumato.release.techniques import Technique
from sfumato.risk.known_events import DAY
from sfumato.schema import EventKind
from sfumato.table.sources import from_numpy
from sfumato.table.table import MISSING, Codes, EventColumn, NumberDomain, Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
EVER = 1 << 40
"""Days by which two dates may differ where nothing is known of the offset."""
LEAST_RANGE = 365
"""Days by which dates are moved at least, at most."""
PERIODS = {1: "days", 7: "weeks", 28: "4 weeks", 91: "quarters", 364: "years"}
"""The periods that dates are given by, in days."""
_PERIOD_LOSSES = dict(zip(PERIODS, (0.0, 0.15, 0.7, 0.8, 0.9), strict=True))


class Dating(StrEnum):
    """What a release says of a date."""

    ABSOLUTE = "absolute"
    """When it was."""
    SHIFTED = "shifted"
    """When it was, moved by the person's offset."""
    RELATIVE = "relative"
    """Days since the person's first."""
    NOTHING = "nothing"
    """``*``."""


_DATING_LOSSES = {Dating.ABSOLUTE: 0.0, Dating.SHIFTED: 0.1, Dating.RELATIVE: 0.15}


@dataclass(frozen=True)
class DateScheme:
    """How all dates of a release are written.

    Attributes
    ----------
    dating
        What they say.
    period
        To how many days: the first day of the period is written.
    loss
        What is lost, 1 where nothing is said.
    """

    dating: Dating
    period: int
    loss: float

    @property
    def words(self) -> str:
        """It in short: ``shifted, weeks``."""
        if self.dating is Dating.NOTHING:
            return "suppressed"
        return f"{self.dating.value}, {PERIODS[self.period]}"


def date_schemes(weights: Mapping[Technique, float]) -> list[DateScheme]:
    """The ways to write dates that the techniques allow, by what they lose.

    Parameters
    ----------
    weights
        The techniques that are allowed.
    """
    moves = {
        Dating.ABSOLUTE: 1.0,
        Dating.SHIFTED: weights.get(Technique.SHIFT_DATES),
        Dating.RELATIVE: weights.get(Technique.RELATIVE_DATES),
    }
    coarser = weights.get(Technique.COARSEN_DATES)
    found = [
        DateScheme(
            dating,
            period,
            _DATING_LOSSES[dating] * move + _PERIOD_LOSSES[period] * (coarser or 0),
        )
        for dating, move in moves.items()
        if move is not None
        for period in PERIODS
        if period == 1 or coarser is not None
    ]
    if Technique.SUPPRESS_CELLS in weights:
        found.append(DateScheme(Dating.NOTHING, 1, weights[Technique.SUPPRESS_CELLS]))
    return sorted(found, key=lambda each: each.loss)


def date_column(table: Table) -> EventColumn | None:
    """The column that says when events were; ``None`` where none does.

    Raises
    ------
    InputError
        If there are two, or a record has none.
    """
    found = [each for each in table.events if each.event.kind is EventKind.DATE]
    if not found:
        return None
    if len(found) > 1:
        raise InputError(
            "[events]",
            "must have one column of dates where a promise is made about known events",
            found=f"{len(found)}",
            advice="keep the one that an intruder would know, and leave the others out",
        )
    if (found[0].codes == MISSING).any():
        raise InputError(
            f"column '{found[0].name}'",
            "must have a date in every record where a promise is made about known events",
            found="records without one",
            advice="leave these records out, or the column",
        )
    return found[0]


def days_of(column: EventColumn) -> Ints:
    """The day of each record, counted from 1970."""
    assert isinstance(column.domain, NumberDomain)
    points = column.domain.points
    return (points if column.domain.unit == "date" else points // DAY)[column.codes]


@dataclass(frozen=True, eq=False)
class Dates:
    """The dates of the records of a release, as they were and as they are written.

    Attributes
    ----------
    column
        Where they stand.
    scheme
        How they are written.
    known
        Days by which a known date may be off.
    day, shown
        The day of each record, and what is written, as days; shape (records,).
    low, high
        Between which days the difference lies of a date that is written and the date itself.
    """

    column: EventColumn
    scheme: DateScheme
    known: int
    day: Ints
    shown: Ints
    low: int
    high: int

    @property
    def spread(self) -> int:
        """Days by which two such differences of one person may differ, known dates being off."""
        return 2 * self.known + self.scheme.period - 1

    def cells(self) -> pa.Array | None:
        """What is written; ``None`` where dates stay as they are."""
        if self.scheme.dating is Dating.ABSOLUTE and self.scheme.period == 1:
            return None
        if self.scheme.dating is Dating.NOTHING:
            one = np.zeros(len(self.day), dtype=np.int32)
            return pa.DictionaryArray.from_arrays(from_numpy(one), pa.array([ANYTHING]))
        if self.scheme.dating is Dating.RELATIVE:
            return from_numpy(self.shown)
        return pa.array(self.shown.astype(np.int32)).cast(pa.date32()).cast(pa.string())


def dates_by(
    column: EventColumn, scheme: DateScheme, person: Codes, offset_of: Callable[[int], Ints]
) -> Dates:
    """Write dates by a scheme.

    Parameters
    ----------
    column
        The dates.
    scheme
        How.
    person
        Person of each record.
    offset_of
        The offset of each person, as days of at most so many either way.
    """
    day, period = days_of(column), scheme.period
    first = int(day.min())
    known = column.event.days
    if scheme.dating is Dating.ABSOLUTE:
        shown = first + (day - first) // period * period
        return Dates(column, scheme, known, day, shown, -(period - 1) - known, known)
    if scheme.dating is Dating.SHIFTED:
        most = max(int(day.max()) - first, LEAST_RANGE)
        moved = day + offset_of(most)[person]
        shown = first + (moved - first) // period * period
        return Dates(column, scheme, known, day, shown, -most - (period - 1) - known, most + known)
    earliest = np.full(int(person.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, person, day)
    since = (day - earliest[person]) // period * period
    return Dates(column, scheme, known, day, since, -EVER, EVER)


@dataclass(frozen=True, eq=False)
class DatedEvents:
    """The distinct events of persons, with their dates.

    Attributes
    ----------
    start
        First event of each person, and the end; shape (persons + 1,).
    slot
        Slot of each event.
    day
        When it was.
    """

    start: Ints
    slot: Ints
    day: Ints


def dated_events(gathered: Gathered, dates: Dates) -> DatedEvents:
    """The distinct events of each unit; units are persons.

    Parameters
    ----------
    gathered
        The events without their dates.
    """
    keys = np.unique(
        np.stack([gathered.unit_of_record, gathered.slot_of_record, dates.day[gathered.told]]),
        axis=1,
    )
    start = np.searchsorted(keys[0], np.arange(gathered.units + 1)).astype(np.int64)
    return DatedEvents(start, keys[1], keys[2])


def dated_candidates(
    gathered: Gathered, dates: Dates, events: DatedEvents, rung: Rungs, sets: Codes, persons: Codes
) -> Ints:
    """How many persons of the class fit each set of known events, their dates among them.

    Parameters
    ----------
    gathered, dates, events
        The events.
    rung
        Rung of each slot.
    sets, persons
        Known events of each set, as indices of ``events``, and whose they are.
    """
    group = np.repeat(
        np.arange(gathered.events.classes, dtype=np.int32), np.diff(gathered.events.unit_start)
    )
    own = np.argsort(gathered.unit_of_record, kind="stable")
    rows = gathered.slot_of_record[own]
    silent = dates.scheme.dating is Dating.NOTHING
    shown = np.zeros(len(own), dtype=np.int64) if silent else dates.shown[gathered.told][own]
    start = np.searchsorted(gathered.unit_of_record[own], np.arange(gathered.units + 1))
    label = gathered.labels[np.arange(len(rung)), rung]
    fitting = dated_units(
        DatedRows(start.astype(np.int64), group, label[rows], shown),
        sets.astype(np.int64),
        group[persons],
        label[events.slot],
        np.zeros(len(events.day), dtype=np.int64) if silent else events.day,
        spread=0 if silent else dates.spread,
        low=dates.low,
        high=dates.high,
    )
    return fitting.astype(np.int64)
