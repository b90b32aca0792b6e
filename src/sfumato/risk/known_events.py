"""What an intruder finds who knows some of a person's events beside the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, sqrt
from sys import maxsize
from typing import Any, Literal

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import plain_fields
from sfumato.core.measure import NORMAL, Measure
from sfumato.core.number_text import counted, share_text
from sfumato.core.phrases import Phrase
from sfumato.engines.embedded.counts import group
from sfumato.hierarchies.builders import build_hierarchy
from sfumato.kernels import class_counts
from sfumato.risk.measure_table import Row, interval, share
from sfumato.risk.tied_events import Ties
from sfumato.schema import Event, EventKind, IntervalHierarchy
from sfumato.table.table import MISSING, Codes, EventColumn, LabelDomain, NumberDomain, Table

Drawn = Literal["random", "worst"]
Told = Callable[[Ints], Codes]
"""What is told apart of numbers of records, as codes."""

DAY = 86_400 * 10**6
"""Microseconds of a day."""
WEEK, MONTH = 7, 28
"""Days in which intervals are written less exactly."""


@dataclass(frozen=True, eq=False)
class EventCodes:
    """The event of each record as one number, as exactly as an intruder knows it.

    Attributes
    ----------
    codes
        Number of each record's event in [0, events), `MISSING` where all its columns are empty.
    low, high
        The events between which those lie that an intruder cannot tell from each event, both
        ascending; shape (events,). Where events are known exactly, or at a level of a hierarchy,
        each is its own.
    """

    columns: tuple[str, ...]
    named: bool
    codes: Codes
    low: Codes
    high: Codes


def event_codes(table: Table) -> EventCodes | None:
    """The event of each record; ``None`` where no column tells one.

    Where the schema names no events, they are what all sensitive and insensitive columns say that
    change within a person.
    """
    columns = [
        event for event in table.events if table.schema.events or _changes(event, table.person)
    ]
    if not columns:
        return None
    names = tuple(column.name for column in columns)
    # A record that says something in any of its columns is an event.
    empty = np.logical_and.reduce([column.codes == MISSING for column in columns])
    if table.schema.events:
        columns = _with_intervals(columns)
    # One column at most is known nearly, as second dates are intervals here: only one can come
    # last.
    near = next((column for column in columns if column.event.is_near), None)
    exact = [_at_known_level(column) for column in columns if column is not near]
    codes, events = group(*zip(*exact, strict=True)) if exact else (np.zeros_like(empty, int), 1)
    if near is None:
        own = np.arange(events, dtype=np.int32)
        codes = np.where(empty, MISSING, codes).astype(np.int32)
        return EventCodes(names, bool(table.schema.events), codes, own, own)
    # The values that are known nearly come last in the key, so that near ones have near numbers.
    width = near.size + 1
    keys = codes * np.int64(width) + near.codes + 1
    known, codes = np.unique(keys, return_inverse=True)
    first, last = _near_values(near)
    base, value = known - known % width, known % width
    own = value == 0
    low = np.searchsorted(known, np.where(own, known, base + first[value - 1] + 1))
    high = np.searchsorted(known, np.where(own, known, base + last[value - 1] + 1), "right") - 1
    return EventCodes(
        names,
        bool(table.schema.events),
        np.where(empty, MISSING, codes).astype(np.int32),
        low.astype(np.int32),
        high.astype(np.int32),
    )


def _changes(column: EventColumn, person: Codes) -> bool:
    """Whether a person has two values of a column."""
    last = np.empty(int(person.max()) + 1, dtype=np.int32)
    # Whichever record writes last, somebody differs from
    # it where a person has two values: no sort is needed.
    last[person] = column.codes
    return bool((last[person] != column.codes).any())


def _with_intervals(columns: Sequence[EventColumn]) -> list[EventColumn]:
    """The same with second dates as days after the first, and as they are where that is missing."""
    dates = [column for column in columns if column.event.kind is EventKind.DATE]
    intervals = [column for column in columns if column not in dates[1:]]
    for date in dates[1:]:
        first = dates[0]
        intervals.append(interval_column(first, date))
        alone = np.where(first.codes == MISSING, date.codes, np.int32(MISSING))
        intervals.append(replace(date, codes=alone, event=Event(kind=EventKind.DATE)))
    return intervals


def days_of(column: EventColumn) -> Ints:
    """The day of each record, counted from 1970; the earliest one where a record has none."""
    assert isinstance(column.domain, NumberDomain)
    points = column.domain.points
    # Times of day are left out: intruders know days,
    # and floor division counts those before 1970 too.
    days: Ints = (points if column.domain.unit == "date" else points // DAY)[
        np.maximum(column.codes, 0)
    ]
    return days


def interval_widths(off: int) -> tuple[int, ...]:
    """Days in which intervals are written less exactly, of which so many are not told apart.

    Each is a multiple of the one before: those that an intruder takes for one, if several; about a
    week; about a month.
    """
    # Days 0 to `off` apart are not told from each other: so many and one more make one width.
    least = off + 1
    # Rounded up to a multiple, as an interval hierarchy needs each width to divide the next.
    week = -(-WEEK // least) * least
    month = -(-MONTH // week) * week
    return tuple(sorted({least, week, month} - {1}))


def interval_column(first: EventColumn, other: EventColumn) -> EventColumn:
    """A second date of each record as days after the first one, which may be written as weeks.

    Whoever knows both dates knows the days between, which are of an event as any code is; a second
    column of moved dates would tell no more. Missing where one of the two is. Of dates that may
    each be some days off, as many days and one more are taken together: all within these lie among
    the intervals that count as alike where dates are moved.
    """
    dated = (first.codes != MISSING) & (other.codes != MISSING)
    lengths, codes = np.unique((days_of(other) - days_of(first))[dated], return_inverse=True)
    own = np.full(len(dated), MISSING, dtype=np.int32)
    own[dated] = codes
    names = tuple(str(length) for length in lengths.tolist())
    off = max(first.event.days, other.event.days)
    spec = IntervalHierarchy(widths=interval_widths(off))
    event = Event(kind=EventKind.DATE, known="level 1" if off else "exact", hierarchy=spec)
    hierarchy = build_hierarchy(spec, names, other.name) if names else None
    return EventColumn(other.name, own, len(names), event, LabelDomain(names), hierarchy)


def _at_known_level(column: EventColumn) -> tuple[Codes, int]:
    """The codes of a column as exactly as they are known, and how many there are."""
    if column.event.level == 0 or column.hierarchy is None:
        return column.codes, column.size
    level = column.event.level
    above = np.append(column.hierarchy.ancestors[level], np.int32(MISSING))
    return above[column.codes].astype(np.int32), len(column.hierarchy.labels[level])


def _near_values(column: EventColumn) -> tuple[Ints, Ints]:
    """The first and the last value that cannot be told from each value of a column."""
    assert isinstance(column.domain, NumberDomain)
    points = column.domain.points
    if column.event.days:
        days = column.event.days * (1 if column.domain.unit == "date" else DAY)
        off = np.full(len(points), float(days))
    else:
        # Of an amount it is a share of itself: nobody knows a large price to the cent.
        off = np.abs(points) * column.event.share
    # Values are whole numbers of the unit: rounding
    # inward keeps rounding errors from letting more in.
    lowest, highest = np.ceil(points - off), np.floor(points + off)
    first = np.searchsorted(points, lowest, "left")
    last = np.searchsorted(points, highest, "right") - 1
    return first, last


@dataclass(frozen=True, eq=False)
class Shown:
    """What records show of their events, where a release shows less than the file.

    Attributes
    ----------
    labels
        Number of what each record shows, in an order in which those that fit one known event lie
        side by side; ``None`` where records show their events as they are.
    low, high
        The labels between which those of records lie that fit the event of each record in its
        class, as far as an intruder knows it; shape (records,).
    pseudonym
        The pseudonym of each record; ``None`` where each person has one.
    detailed
        Which records show more than is known of their events, even once these are known.
    silent
        Which labels say nothing, such as ``*``; empty where all say something.
    """

    labels: Codes | None = None
    low: Codes | None = None
    high: Codes | None = None
    pseudonym: Codes | None = None
    detailed: Bools | None = None
    silent: Bools | None = None


def holding(
    events: EventCodes,
    person: Codes,
    class_of: Codes,
    classes: int,
    shown: Shown | None = None,
    *,
    counts: Told | None = None,
) -> class_counts.Holding:
    """Who has which events in each class; a person in several classes counts in each of them.

    O(records), and a sort of the events of each class.

    Parameters
    ----------
    person, class_of
        Person and class of each record; shape (records,).
    shown
        What records show of them; the events themselves where it is not given.
    counts
        What the intruder knows of the number of records of each pseudonym; ``None`` for nothing.
    """
    shown = shown or Shown()
    labels = events.codes if shown.labels is None else shown.labels
    owner, persons = group([class_of, person], [classes, int(person.max()) + 1])
    unit, units = owner, persons
    if shown.pseudonym is not None:
        unit, units = group([class_of, shown.pseudonym], [classes, int(shown.pseudonym.max()) + 1])
    rows, starts = class_counts.group_rows(unit, units)
    first = rows[starts[:-1]]
    class_of_unit, owners = class_of[first], owner[first]
    # Who knows the number of records looks only among pseudonyms with about that number: it is part
    # of the class.
    if counts is not None:
        number = counts(np.diff(starts))
        class_of_unit, classes = group([class_of_unit, number], [classes, int(number.max()) + 1])
    several = owners.astype(np.int64) * classes + class_of_unit
    own, own_ids = np.unique(several, return_counts=True)
    id_starts, own_labels, own_counts = class_counts.distinct(rows, starts, labels)
    known = _known(events, shown, owner, persons)
    ids = np.repeat(np.arange(units, dtype=np.int32), np.diff(id_starts))
    class_of_entry = class_of_unit[ids]
    entries, _ = class_counts.count_records(class_of_entry, classes)
    order = class_counts.class_order(class_of_entry, entries, own_labels).part(0, classes)
    detailed = np.zeros(units, dtype=np.bool_)
    if shown.detailed is not None:
        detailed[unit[shown.detailed]] = True
    return class_counts.Holding(
        np.searchsorted(own // classes, np.arange(persons + 1)),
        (own % classes).astype(np.int32),
        own_ids.astype(np.int32),
        *known,
        id_starts,
        own_labels,
        own_counts,
        owners.astype(np.int32),
        detailed,
        np.zeros(0, np.bool_) if shown.silent is None else shown.silent,
        np.bincount(class_of_unit, minlength=classes),
        order.starts,
        order.owners,
        ids[order.rows],
    )


def _known(
    events: EventCodes, shown: Shown, owner: Codes, persons: int
) -> tuple[Ints, Codes, Codes]:
    """The distinct events of each person, by the labels that fit them, as compressed rows."""
    rows, starts = class_counts.group_rows(owner, persons)
    if shown.low is None or shown.high is None:
        begins, codes, _ = class_counts.distinct(rows, starts, events.codes)
        return begins, events.low[codes], events.high[codes]
    told = np.flatnonzero(events.codes != MISSING)
    # By the labels that fit, as the loop needs `known_low`
    # and `known_high` ascending within a person.
    order = told[np.lexsort((events.codes[told], shown.high[told], shown.low[told], owner[told]))]
    of, event = owner[order], events.codes[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (of[1:] != of[:-1]) | (event[1:] != event[:-1])
    kept = order[new]
    begins = np.zeros(persons + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner[kept], minlength=persons), out=begins[1:])
    return begins, shown.low[kept], shown.high[kept]


@dataclass(frozen=True, slots=True)
class KnownEventRisk:
    """What an intruder finds who knows a number of events of each person.

    Attributes
    ----------
    m
        How many events are known; of a person with fewer, all of them.
    drawn
        Whether they are drawn at random from the person's own, or are the most telling ones.
    found
        Share of persons who are found: mean over persons of 1 / those whom the events fit.
    learned
        Share of persons who are found and of whom something is shown that was not known.
    alone
        Share of persons whom alone the events fit.
    p95
        The 95th percentile over persons of the chance to be found.
    p95_with_m
        The same among persons with at least m events; 0 where nobody has them.
    p95_learned
        As ``p95`` or ``p95_with_m``, whichever is larger, of what is learned.
    with_m
        As ``found``, among persons with at least m events.
    exact
        Whether that is everybody, with every choice of events.
    """

    m: int
    drawn: Drawn
    found: Measure
    learned: Measure
    alone: Measure
    p95: Measure
    p95_with_m: Measure
    p95_learned: Measure
    highest: Measure
    with_m: Measure
    persons: int
    exact: bool

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        low, high = self.found.low, self.found.high
        return {
            "m": self.m,
            "drawn": self.drawn,
            "found": self.found.value,
            "learned": self.learned.value,
            "alone": self.alone.value,
            "p95": self.p95.value,
            "p95_with_m": self.p95_with_m.value,
            "p95_learned": self.p95_learned.value,
            "highest": self.highest.value,
            "low": self.found.value if low is None else low,
            "high": self.found.value if high is None else high,
            "exact": self.exact,
            "with_m": self.with_m.value,
            "persons": self.persons,
        }


@dataclass(frozen=True, slots=True)
class NumberOfEvents:
    """What is found of the persons with some number of events.

    Attributes
    ----------
    fewest, most
        Least and largest number of distinct events of a person; no largest one for the last.
    found, worst
        Share of them who are found by each number of known events, drawn at random and the most
        telling ones.
    """

    fewest: int
    most: int | None
    persons: int
    found: Mapping[int, float]
    worst: Mapping[int, float]

    @property
    def words(self) -> str:
        """The number as text: ``3-4``."""
        if self.most is None:
            return f"{self.fewest} or more"
        return f"{self.fewest}" if self.most == self.fewest else f"{self.fewest}-{self.most}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "events": self.words,
            "persons": self.persons,
            "found": {str(m): value for m, value in self.found.items()},
            "worst": {str(m): value for m, value in self.worst.items()},
        }


@dataclass(frozen=True, slots=True)
class EventRisk:
    """What is found by whoever knows some of a person's events beside the quasi-identifiers.

    Where the schema does not name events, they are those that change within a person. Risks are by
    number of known events, drawn at random and the most telling ones.
    """

    columns: tuple[str, ...]
    named: bool
    counts: bool
    persons: int
    risks: tuple[KnownEventRisk, ...]
    by_number: tuple[NumberOfEvents, ...]
    seed: int

    def of(self, m: int, drawn: Drawn = "random") -> KnownEventRisk:
        """What so many known events give away; a KeyError if that was not measured."""
        for risk in self.risks:
            if (risk.m, risk.drawn) == (m, drawn):
                return risk
        raise KeyError(m)

    def to_json(self) -> dict[str, Any]:
        """Plain values, by the names of the command line's contract."""
        return {
            "known_events": [risk.to_json() for risk in self.risks],
            "known_events_by_number": [each.to_json() for each in self.by_number],
            "events": plain_fields(self, "columns named counts persons seed"),
        }

    def warning(self) -> str:
        """What two records do by several columns together, where no events are named; or nothing.

        By one column alone the insider's row of the verdict says it.
        """
        many = len(self.columns)
        if self.named or many < 2:
            return ""
        columns: str = Phrase("{n} columns", n=many)
        if many <= NAMED:
            columns, *more = self.columns
            for name in more:
                columns = Phrase("{first} and {last}", first=columns, last=name)
        return Phrase(
            "someone who knows two records of a person by {columns} together finds {share} of "
            "people; list under [events] what may be known together",
            columns=columns,
            share=share_text(self.of(2).found.value),
        )

    def rows(self) -> list[Row]:
        """The lines of a table."""
        lines = []
        for risk in self.risks:
            if risk.drawn == "random":
                worst = self.of(risk.m, "worst")
                known = counted(risk.m, "event")
                meaning = (
                    f"share of people found when {known} of each {'is' if risk.m == 1 else 'are'} "
                    f"known; {share(worst.found)} by the most telling"
                )
                lines.append(Row(f"found_{risk.m}", interval(risk.found, share), meaning))
        return lines


KNOWN = (1, 2, 3, 4)
"""Numbers of known events that are measured."""
NUMBERS = (1, 2, 3, 5, 10, 20, 50)
"""Least numbers of events by which persons are told apart."""
EVERY_PAIR = 50
"""Events of a person of whom every choice of two is looked at."""
MANY, DRAWS = 70, 20
"""Choices of three events or more that are all looked at, and how many are drawn where more are."""
MANY_KNOWN, FEW_PERSONS, PILOT = 5_000, 100, 200
"""Persons of whom three events or more are drawn; fewest who are drawn; those who try the cost."""
NAMED_WORK, WORK = 500_000_000, 10_000_000
"""Entries of lists that may be looked at where the schema names events, and where it does not."""
SET_WORK = 8
"""Entries that a set of events costs beside those of its list."""
BLOCK = 1 << 20
"""Sets of events that are looked at together."""
STREAM = 0x6576656E7473
"""Beside the seed of a release or an assessment, so that its other draws stay as they are."""
NAMED = 5
"""Columns that are named in a sentence; of more their number."""
DIGITS = 12
"""Decimals of shares: those behind depend on the order in which they are added up."""


def measure_known_events(
    table: Table,
    class_of: Codes,
    classes: int,
    seed: int | None = None,
    *,
    shown: Shown | None = None,
    counts: Told | None = None,
    every: bool = False,
) -> EventRisk | None:
    """Measure what known events give away; ``None`` where no column tells one.

    Exact for one and two events where nobody has more than `EVERY_PAIR` and the lists are not too
    long; else of persons, or of choices of events, that are drawn (Wilson's interval). Where the
    schema names no events, less is looked at, as nobody has asked.

    Parameters
    ----------
    class_of, classes
        Class of each record, shape (records,), and number of classes.
    seed
        Of what is drawn; 0 where it is not given.
    shown, counts
        As in `holding`.
    every
        Whether every choice of two events of everybody is looked at, however long that takes: what
        is promised of them is not estimated.
    """
    events = event_codes(table)
    if events is None:
        return None
    held = holding(events, table.person, class_of, classes, shown, counts=counts)
    labels = events.codes if shown is None or shown.labels is None else shown.labels
    ties = Ties(table, class_of, classes, labels, events.codes) if table.parents else None
    # 0 without a seed, so that measuring a file twice gives the same shares.
    seed = seed or 0
    pairs = comb(EVERY_PAIR, 2)
    search = _Search(held, np.random.default_rng([seed, STREAM]), maxsize if every else pairs, ties)
    found = search.measured(maxsize if every else NAMED_WORK if events.named else WORK)
    return EventRisk(
        events.columns,
        events.named,
        counts is not None,
        search.persons,
        tuple(search.risk(each, drawn) for each in found for drawn in ("random", "worst")),
        tuple(search.by_number(found)),
        seed,
    )


def with_ties(
    told: class_counts.Holders,
    held: class_counts.Holding,
    persons: Codes,
    sets: Codes,
    ties: Ties | None,
) -> class_counts.Holders:
    """What sets of known events give away where some of them stand under one parent.

    Without ties nothing shows that records belong together.
    """
    if ties is None or sets.shape[1] < 2:
        return told
    labels = np.where(sets >= 0, held.known_low[np.maximum(sets, 0)], MISSING)
    found = ties.raised(persons, labels, told.found)
    # Who shows more than is known is learned of by whoever is found. Of a person in several classes
    # it may be the one that shows no more in which ties find more: then that is an upper bound.
    raised = (found > told.found) & (told.learned > 0)
    return told._replace(found=found, learned=np.where(raised, found, told.learned))


def drawn_sets(rng: np.random.Generator, events: int, m: int, shape: tuple[int, int]) -> Ints:
    """Sets of m of at least as many events, each as likely as any, ascending; shape (*shape, m)."""
    chosen = np.empty((*shape, 0), dtype=np.int64)
    for left in range(m):
        # A place among those left, moved past each chosen one
        # below: every set is as likely, without rejections.
        new = rng.integers(events - left, size=shape)
        for place in range(left):
            new += new >= chosen[..., place]
        chosen = np.sort(np.concatenate([chosen, new[..., None]], axis=-1), axis=-1)
    return chosen


@dataclass(frozen=True, eq=False)
class _Told:
    """What m known events tell of some persons; every array has one entry a person.

    The means over choices of events, and those of the most telling choice; ``best`` are the places
    of its events, ``certain`` says where no other choice can tell more.
    """

    m: int
    whom: Ints
    random: Floats
    worst: Floats
    best: Codes
    every: Bools
    certain: Bools


class _Search:
    """Looks up sets of known events of the persons of a file."""

    def __init__(
        self,
        held: class_counts.Holding,
        rng: np.random.Generator,
        pairs: int,
        ties: Ties | None = None,
    ) -> None:
        self._held, self._rng, self._pairs, self._ties = held, rng, pairs, ties
        self._number: Ints = np.diff(held.known_starts)
        self.persons = len(self._number)

    def measured(self, work: int) -> list[_Told]:
        """What is told by each number of events, until more than that would be looked at."""
        # One order for all m: who is looked at for more events has been looked at for fewer.
        order = self._rng.permutation(self.persons)
        cost = self._cost(order[:PILOT])
        # What may be looked at over what a person costs, as the first ones showed.
        drawn = max(FEW_PERSONS, int(work / cost))
        told: list[_Told] = []
        for m in KNOWN:  # a single event costs far less than two: no list is looked through
            most = SET_WORK * drawn if m == 1 else drawn if m == 2 else min(drawn, MANY_KNOWN)
            told.append(self._told(m, np.sort(order[:most]), told[-1] if told else None))
        return told

    def _cost(self, pilot: Ints) -> float:
        """Entries that are looked at for two events of a person, on average."""
        sets, whom = self._choices(pilot, 2, EVERY_PAIR * EVERY_PAIR)
        looked = class_counts.count_holders(self._held, whom, sets).looked
        return max((looked + SET_WORK * len(sets)) / len(pilot), 1.0)

    def _choices(self, persons: Ints, m: int, most: int) -> tuple[Codes, Codes]:
        """All choices of m events of each person, or some where there are too many."""
        sets, whom = [], []
        for number in np.unique(self._number[persons]).tolist():
            own = persons[self._number[persons] == number]
            chosen = self._chosen(own, number, m, most)
            sets.append(chosen.reshape(-1, m))
            whom.append(np.repeat(own, chosen.shape[1]))
        return np.concatenate(sets).astype(np.int32), np.concatenate(whom).astype(np.int32)

    def _chosen(self, persons: Ints, number: int, m: int, most: int) -> Ints:
        """Places of m events of persons with that number of them, shape (persons, choices, m)."""
        starts = self._held.known_starts[persons][:, None, None]
        if number <= m:
            places = np.full((1, 1, m), MISSING, dtype=np.int64)
            places[..., :number] = np.arange(number)
        # All choices where they are few: then the mean is exact, and not only an estimate of it.
        elif comb(number, m) <= most:
            places = np.array(list(combinations(range(number), m)), dtype=np.int64)[None]
        else:
            places = drawn_sets(self._rng, number, m, (len(persons), DRAWS))
        return np.where(places == MISSING, MISSING, starts + places)

    def _told(self, m: int, persons: Ints, fewer: _Told | None) -> _Told:
        """What m events tell of some persons; ``fewer`` is what one event less tells of them."""
        most = self._pairs if m <= 2 else MANY
        told = _Told(
            m,
            persons,
            np.zeros((3, len(persons))),
            np.zeros((3, len(persons))),
            np.full((len(persons), m), MISSING, dtype=np.int32),
            np.zeros(len(persons), dtype=np.bool_),
            np.zeros(len(persons), dtype=np.bool_),
        )
        numbers = self._number[persons]
        for number in np.unique(numbers).tolist():
            choices = min(comb(number, m), most) if number > m else 1
            at = np.flatnonzero(numbers == number)
            # Persons of one number of events have equally many
            # choices: an array without gaps, in parts that fit.
            for part in np.array_split(at, 1 + len(at) * choices // BLOCK):
                if len(part):
                    self._tell(told, part, number, most, fewer)
        return told

    def _tell(self, told: _Told, at: Ints, number: int, most: int, fewer: _Told | None) -> None:
        """Look up the choices of some persons with the same number of events."""
        m, persons = told.m, told.whom[at]
        sets = self._chosen(persons, number, m, most)
        shares = self._shares(persons, sets)
        told.random[:, at] = shares.mean(axis=2)
        every = number <= m or comb(number, m) <= most
        # Drawn choices miss the most telling one; the best
        # of one event less plus another comes near it.
        if not every and fewer is not None:
            sets = np.concatenate([sets, self._extended(fewer, persons, number)], axis=1)
            shares = self._shares(persons, sets)
        best = shares[0].argmax(axis=1)
        told.worst[:, at] = shares.max(axis=2)
        told.best[at] = sets[np.arange(len(at)), best]
        told.every[at] = every
        # Nothing tells more than a set that one person alone has.
        told.certain[at] = every | (told.worst[0, at] == 1)

    def _extended(self, fewer: _Told, persons: Ints, number: int) -> Ints:
        """The most telling choice of one event less, each other event added to it."""
        best = fewer.best[np.searchsorted(fewer.whom, persons)].astype(np.int64)
        every = self._held.known_starts[persons][:, None] + np.arange(number)
        new = every[~(every[:, :, None] == best[:, None, :]).any(axis=2)]
        new = new.reshape(len(persons), number - best.shape[1], 1)
        kept = np.broadcast_to(best[:, None], (*new.shape[:2], best.shape[1]))
        return np.sort(np.concatenate([kept, new], axis=2), axis=2)

    def _shares(self, persons: Ints, sets: Ints) -> Floats:
        """Chance to be found, learned from and alone; shape (3, persons, choices)."""
        choices = sets.shape[1]
        whom = np.repeat(persons, choices).astype(np.int32)
        places = sets.reshape(-1, sets.shape[2]).astype(np.int32)
        holders = with_ties(class_counts.count_holders(self._held, whom, places), self._held, whom,
                          places, self._ties)  # fmt: skip
        each = np.stack([holders.found, holders.learned, holders.found == 1])
        return each.reshape(3, len(persons), choices)

    def risk(self, told: _Told, drawn: Drawn) -> KnownEventRisk:
        """The shares over all persons."""
        shares = told.random if drawn == "random" else told.worst
        whole = len(told.whom) == self.persons
        looked = told.every if drawn == "random" else told.certain
        exact = whole and bool(looked.all())
        # Where a better choice may exist the person counts as found at the upper end.
        most = shares if drawn == "random" else np.where(told.certain, shares, 1.0)

        def measure(what: str, values: Floats, upper: Floats) -> Measure:
            value, number = _mean(values) if len(values) else 0.0, len(values)
            name = f"{what}_{told.m}" if drawn == "random" else f"{what}_{told.m}_worst"
            if exact or not number:
                return Measure(name, value)
            low, high = wilson(value, number)[0], wilson(_mean(upper), number)[1]
            # Everybody was looked at: only the choices are open, and those in one direction.
            if whole and drawn == "worst":
                low, high = value, _mean(upper)
            why = f"{number:,} of {counted(self.persons, 'person')}"
            return Measure(name, value, low, high, "sample", why)

        several = self._number[told.whom] >= told.m
        about = measure("p95", shares[0], most[0])
        above = {
            name: replace(chance, estimator=about.estimator, why=about.why)
            for name, chance in upper_chances(about.name[3:], shares[0], shares[1], several).items()
        }
        return KnownEventRisk(
            told.m,
            drawn,
            measure("found", shares[0], most[0]),
            measure("learned", shares[1], most[1]),
            measure("alone", shares[2], most[2]),
            with_m=measure("found_with", shares[0][several], most[0][several]),
            persons=len(told.whom),
            exact=exact,
            **above,
        )

    def by_number(self, told: Sequence[_Told]) -> Iterator[NumberOfEvents]:
        """What is found by the number of events that persons have."""
        ends = (*NUMBERS[1:], None)
        for fewest, end in zip(NUMBERS, ends, strict=True):

            def these(persons: Ints, fewest: int = fewest, end: int | None = end) -> Bools:
                number = self._number[persons]
                return (number >= fewest) & (end is None or number < end)

            of = [(each, these(each.whom)) for each in told]
            persons = int(these(np.arange(self.persons)).sum())
            if persons:
                yield NumberOfEvents(
                    fewest,
                    None if end is None else end - 1,
                    persons,
                    {each.m: _mean(each.random[0, own]) for each, own in of if own.any()},
                    {each.m: _mean(each.worst[0, own]) for each, own in of if own.any()},
                )


def upper_chances(
    ending: str, found: Floats, learned: Floats, several: Bools
) -> dict[str, Measure]:
    """The 95th percentiles and the largest of chances, by the fields of `KnownEventRisk`."""

    def p95(chances: Floats) -> float:
        if not len(chances):
            return 0.0
        # A chance that somebody really has, not one between two.
        return float(np.quantile(chances, 0.95, method="inverted_cdf"))

    upper = {
        "p95": p95(found),
        "p95_with_m": p95(found[several]),
        "p95_learned": max(p95(learned), p95(learned[several])),
        "highest": float(found.max(initial=0)),
    }
    return {name: Measure(name + ending, round(each, DIGITS)) for name, each in upper.items()}


def _mean(values: Floats) -> float:
    """The mean, but for what the order of the values may change."""
    return round(float(values.mean()), DIGITS)


def wilson(value: float, number: float) -> tuple[float, float]:
    """Wilson's interval (1927, equation 13) of a mean of shares, wide as if each was 0 or 1."""
    # (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n);
    # the variance of shares in [0, 1] is at most p(1−p).
    z = NORMAL**2 / number
    middle, half = value + z / 2, NORMAL * sqrt(value * (1 - value) / number + z / (4 * number))
    return max(0.0, (middle - half) / (1 + z)), min(1.0, (middle + half) / (1 + z))
