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
import pyarrow as pa

from sfumato.core.arrays import Bools, Ints
from sfumato.kernels.history_loops import DatedRows, dated_units
from sfumato.release.histories import ANYTHING, Gathered, Times
from sfumato.release.techniques import Technique
from sfumato.risk.known_events import days_of
from sfumato.table.sources import from_numpy
from sfumato.table.table import MISSING, Codes, EventColumn

# Far beyond any two dates; sums of several still fit into 64 bits.
EVER = 1 << 40
"""Days by which two dates may differ where nothing is known of the offset."""
LEAST_RANGE = 365
"""Days by which dates are moved at least, at most."""
PERIODS = {1: "days", 7: "weeks", 28: "4 weeks", 91: "quarters", 364: "years"}
"""The periods that dates are given by, in days."""
AFTER = "days after "
"""Before the name of the date that an interval begins with, in what was done of a column."""
_PERIOD_LOSSES = dict(zip(PERIODS, (0.0, 0.15, 0.7, 0.8, 0.9), strict=True))


class Dating(StrEnum):
    """What a release says of a date."""

    ABSOLUTE = "absolute"
    """When it was."""
    SHIFTED = "shifted"
    """When it was, moved by the person's offset."""
    RELATIVE = "relative"
    """Days since the person's first."""
    ORDER = "order"
    """Which of the person's different dates it is, from 1 on."""
    NOTHING = "nothing"
    """``*``."""


_DATING_LOSSES = {
    Dating.ABSOLUTE: 0.0,
    Dating.SHIFTED: 0.1,
    Dating.RELATIVE: 0.15,
    Dating.ORDER: 0.95,
}


@dataclass(frozen=True)
class DateScheme:
    """How all dates of a release are written.

    Attributes
    ----------
    period
        To how many days: the first day of the period is written.
    loss
        What is lost, 1 where nothing is said.
    """

    dating: Dating
    period: int
    loss: float

    @property
    def moves(self) -> bool:
        """Whether only what lies between two dates is told, and not when they were."""
        return self.dating in (Dating.SHIFTED, Dating.RELATIVE, Dating.ORDER)

    @property
    def has_days(self) -> bool:
        """Whether days between moved dates are told."""
        return self.moves and self.dating is not Dating.ORDER

    @property
    def words(self) -> str:
        """It in short: ``shifted, weeks``."""
        if self.dating is Dating.NOTHING:
            return "suppressed"
        if self.dating is Dating.ORDER:
            return self.dating.value
        return f"{self.dating.value}, {PERIODS[self.period]}"


def date_schemes(weights: Mapping[Technique, float]) -> list[DateScheme]:
    """The ways to write dates that the techniques allow, by what they lose."""
    moves = {
        Dating.ABSOLUTE: 1.0,
        Dating.SHIFTED: weights.get(Technique.SHIFT_DATES),
        Dating.RELATIVE: weights.get(Technique.RELATIVE_DATES),
        Dating.ORDER: weights.get(Technique.RELATIVE_DATES),
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
        # An order has no days that could be made coarser.
        if period == 1 or (coarser is not None and dating is not Dating.ORDER)
    ]
    if Technique.SUPPRESS_CELLS in weights:
        found.append(DateScheme(Dating.NOTHING, 1, weights[Technique.SUPPRESS_CELLS]))
    return sorted(found, key=lambda each: each.loss)


@dataclass(frozen=True, eq=False)
class Dates:
    """The dates of the records of a release, as they were and as they are written.

    Attributes
    ----------
    column
        Where they stand.
    known
        Days by which a known date may be off.
    dated
        Which records have a date; shape (records,).
    day, shown
        The day of each record, and what is written, as days; shape (records,).
    offset
        How far what is written is moved from the day, the period aside; shape (records,).
    """

    column: EventColumn
    scheme: DateScheme
    known: int
    dated: Bools
    day: Ints
    shown: Ints
    offset: Ints
    most: int

    @property
    def spread(self) -> int | None:
        """Days by which two intervals may differ that are taken for the same.

        Of two dates that may each be ``known`` days off, the days between them are off by few more
        often than by many, and whoever guesses takes the nearest. Where intervals within twice
        ``known`` days are about equally frequent and all errors as likely, the nearest is right
        with a chance of 1/x - (1 - exp(-2x)) / 2x² for x intervals within ``known`` days, which is
        at most (1 - exp(-x)) / x, the mean of 1 / those who fit within ``known`` days. The dates of
        a release that moves none are known one by one.
        """
        if self.scheme.dating is Dating.ORDER:
            return None
        return self.known * (2 if self.scheme.dating is Dating.ABSOLUTE else 1)

    @property
    def are_shown(self) -> bool:
        """Whether a reader sees anything of them."""
        return self.scheme.dating is not Dating.NOTHING

    @property
    def times(self) -> Times:
        """When events were, as far as a reader can tell them apart."""
        # Two intervals that may each be off by the spread may be the same up to twice that.
        apart = 0 if self.spread is None else 2 * self.spread + 1
        return Times(self.day, self.dated, apart if self.are_shown else None)

    def cells(self) -> pa.Array | None:
        """What is written; ``None`` where dates stay as they are."""
        if self.scheme.dating is Dating.ABSOLUTE and self.scheme.period == 1:
            return None
        if not self.are_shown:
            one = np.zeros(len(self.day), dtype=np.int32)
            return pa.DictionaryArray.from_arrays(from_numpy(one), pa.array([ANYTHING]))
        if self.scheme.dating in (Dating.RELATIVE, Dating.ORDER):
            return from_numpy(self.shown, ~self.dated)
        days = pa.array(self.shown.astype(np.int32), mask=~self.dated)
        return days.cast(pa.date32()).cast(pa.string())


def weekdays_tell(column: EventColumn, person: Codes) -> bool:
    """Whether the weekdays of a person's dates tell by how many days they were moved.

    Among n dates of shares p of weekdays another offset is less likely by n D(p || p moved), with
    D as in Kullback and Leibler (1951). It counts from twice as unlikely on, for who has more dates
    than 95 % have: offsets and candidates are counted as if weekdays told nothing.
    """
    dated = column.codes != MISSING
    counts = np.bincount(days_of(column)[dated] % 7, minlength=7) + 1  # Laplace: none is unheard of
    share = counts / counts.sum()
    least = min(float(share @ np.log(share / np.roll(share, days))) for days in range(1, 7))
    records = np.bincount(person[dated], minlength=1)
    return bool(np.percentile(records, 95) * least > np.log(2))


def dates_by(
    column: EventColumn, scheme: DateScheme, person: Codes, offset_of: Callable[[int], Ints]
) -> Dates:
    """Write dates by a scheme, each person's moved by an offset of so many days either way."""
    day, period, dated = days_of(column), scheme.period, column.codes != MISSING
    first, days = int(day.min()), column.event.days
    offset, most = np.zeros(len(day), dtype=np.int64), 0
    if scheme.dating is Dating.SHIFTED:
        most = max(int(day.max()) - first, LEAST_RANGE)
        offset = offset_of(most)[person]
    elif scheme.dating in (Dating.RELATIVE, Dating.ORDER):
        earliest = np.full(int(person.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(earliest, person[dated], day[dated])
        # A reader knows nothing of when somebody's first date was, so that the offset may be any.
        offset, most = -earliest[person], EVER
        first = 0
    offset[~dated] = 0
    shown = first + (day + offset - first) // period * period
    if scheme.dating is Dating.ORDER:
        shown[dated] = _places(person[dated], day[dated])
    shown[~dated] = 0
    return Dates(column, scheme, days, dated, day, shown, offset, most)


def _places(person: Codes, day: Ints) -> Ints:
    """Place of each record's date among the different ones of its person, from 1 on."""
    order = np.lexsort((day, person))
    new = np.ones(len(day), dtype=np.int64)
    new[1:] = (np.diff(person[order]) != 0) | (np.diff(day[order]) != 0)
    place = np.cumsum(new)
    starts = np.flatnonzero(np.diff(person[order], prepend=-1) != 0)
    before = np.repeat(place[starts] - 1, np.diff(np.append(starts, len(day))))
    places = np.empty(len(day), dtype=np.int64)
    places[order] = place - before
    return places


@dataclass(frozen=True, eq=False)
class DatedEvents:
    """The distinct events of units with their dates, and what the units show of them.

    Attributes
    ----------
    start
        First event of each unit, and the end; shape (units + 1,).
    slot, day
        Slot of each event, and when a reader who knows it looks for it: as it is written, the
        offset of its unit taken off.
    undated
        Which of them lack a date where others show one.
    """

    dates: Dates
    start: Ints
    slot: Ints
    day: Ints
    shown: DatedRows
    row_slot: Ints
    undated: Bools

    def candidates(self, label: Codes, sets: Codes) -> Ints:
        """How many units of the class fit each set of known events, their dates among them.

        The labels written of two classes' slots differ.
        """
        units = dated_units(
            self.shown,
            label[self.row_slot],
            sets.astype(np.int64),
            label[self.slot],
            self.day,
            spread=self.dates.spread,
            undated=self.undated,
        )
        return units.astype(np.int64)


def dated_events(
    gathered: Gathered, dates: Dates, pseudonym_of: Codes, some: Bools | None = None
) -> DatedEvents:
    """The events of units that are persons of one class.

    All records of a pseudonym are moved alike and none has been outside of the days of the file:
    this limits what its offset can be.
    """
    unit, slot, told = gathered.unit_of_record, gathered.slot_of_record, gathered.told
    count = gathered.units
    if some is not None:
        own = some[unit]
        unit, slot, told = (np.cumsum(some) - 1)[unit[own]], slot[own], told[own]
        count = int(some.sum())
    order = np.lexsort((dates.day[told], slot, unit))
    unit, slot, record = unit[order], slot[order], told[order]
    day = dates.day[record]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(unit) != 0) | (np.diff(slot) != 0) | (np.diff(day) != 0)
    units = np.arange(count + 1)
    row_start = np.searchsorted(unit, units).astype(np.int64)
    low, high = _reach(dates, pseudonym_of, record[row_start[:-1]])
    shows = dates.are_shown & dates.dated
    shown = dates.shown * shows
    known = dates.day if dates.spread is None else dates.shown - dates.offset
    return DatedEvents(
        dates,
        np.searchsorted(unit[new], units).astype(np.int64),
        slot[new],
        (known * shows)[record[new]],
        DatedRows(row_start, shown[record], low, high),
        slot,
        ~shows[record] & dates.are_shown,
    )


def _reach(dates: Dates, pseudonym_of: Codes, records: Ints) -> tuple[Ints, Ints]:
    """How far what is written can lie from the dates themselves, of the pseudonyms of records."""
    # The first day of a period stands for all, so that a date may be so many days later.
    dating, slack = dates.scheme.dating, dates.scheme.period - 1
    if dating in (Dating.ORDER, Dating.NOTHING):
        return np.full(len(records), -EVER), np.full(len(records), EVER)
    if dating is Dating.ABSOLUTE:
        return np.full(len(records), -dates.known), np.full(len(records), dates.known)
    latest = np.full(int(pseudonym_of.max()) + 1, -EVER)
    np.maximum.at(latest, pseudonym_of[dates.dated], dates.shown[dates.dated])
    earliest = np.full(len(latest), EVER)
    np.minimum.at(earliest, pseudonym_of[dates.dated], dates.shown[dates.dated])
    own = pseudonym_of[records]
    low = np.maximum(latest[own] - int(dates.day.max()) - slack, -dates.most - slack)
    high = np.minimum(earliest[own] - int(dates.day.min()) + slack, dates.most + slack)
    return low, high
