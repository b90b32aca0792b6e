"""Which events of a class are written less exactly, by what each costs and what each loses.

A *unit* is what a reader sees as one person: a pseudonym. A *slot* is a distinct event of a class,
of which all that its units have are written alike: as it is, or with one of the labels above it
(its *rungs*). An intruder asks for one known event, or for two of one unit; a question is answered
by the units that show its label, or both, two rows where both have one label. What a question
costs is its weight divided by the units that answer it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

import sfumato.kernels._histories as _histories
from sfumato.kernels.loop_calls import Bools, Codes, Floats, Ints, flags, in_threads, ints, parts
from sfumato.kernels.loop_calls import codes as as_codes

Rungs = npt.NDArray[np.int8]
WORTH_A_THREAD = 20_000
"""Pairs of events that are not worth dividing."""
NO_PLACE = _histories.NO_PLACE
MOST_DIVIDED = _histories.MOST_DIVIDED
"""Events of a unit that several pseudonyms may show, at most."""
CELL = np.dtype(
    [("key", "i8"), ("one", "f8"), ("two", "f8"), ("stamp", "i4"), ("count", "i4")], align=True
)
SWEEPS = 3
"""How often every event of a class is looked at for one rate, at most; once less from a start that
is near."""


@dataclass(frozen=True, eq=False)
class Events:
    """The distinct events of units, class by class, unit by unit.

    Attributes
    ----------
    slot_start, unit_start
        First slot and first unit of each class, and the end; shape (classes + 1,).
    event_start
        First event of each unit, and the end; shape (units + 1,).
    slot_of
        Slot of each event; slots that share a label above follow each other.
    rows
        Records that show the event; shape (events,).
    place
        When it was, in steps that a reader can tell apart, `NO_PLACE` where it shows no date;
        ``None`` where no times between events are shown.
    alone_one, alone_two
        Weight of the question for one event among those of an intruder who knows one, and who
        knows two; shape (events,).
    together
        Weight of the question for each two events of a unit; shape (units,).
    """

    slot_start: Ints
    unit_start: Ints
    event_start: Ints
    slot_of: Codes
    rows: Codes
    alone_one: Floats
    alone_two: Floats
    together: Floats
    place: Codes | None = None

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.slot_start) - 1

    def pairs(self) -> Ints:
        """Events and pairs of events of each class."""
        own = np.diff(self.event_start)
        total = np.concatenate([[0], np.cumsum(own * (own + 1) // 2)])
        return np.diff(total[self.unit_start])


@dataclass(frozen=True, eq=False)
class Recodings:
    """What is written of each slot at each rate, and what it comes to.

    Attributes
    ----------
    rung
        Rung of each slot, 0 for the event itself; shape (rates, slots).
    one, two
        Cost in each class of the questions of an intruder who knows one event, and two; shape
        (rates, classes).
    lost
        What each class loses; shape (rates, classes).
    """

    rung: Rungs
    one: Floats
    two: Floats
    lost: Floats


class _Loops:
    """The compiled loops over some events, with the arrays that they need."""

    def __init__(self, events: Events, labels: Codes, losses: Floats, fewest: int) -> None:
        count = len(events.slot_of)
        units = np.arange(len(events.event_start) - 1, dtype=np.int32)
        holders = np.argsort(events.slot_of, kind="stable").astype(np.int64)
        slots = np.arange(events.slot_start[-1] + 1)
        self.events = events
        self.of = (
            *(events.slot_start, events.unit_start, events.event_start),
            np.repeat(units, np.diff(events.event_start)),
            *(events.slot_of, events.rows),
            np.zeros(count, dtype=np.int32) if events.place is None else events.place,
            *(events.alone_one, events.alone_two, events.together),
            np.searchsorted(events.slot_of[holders], slots).astype(np.int64),
            *(holders, labels, losses),
            np.zeros(count, dtype=np.int32),
            *(events.place is not None, fewest),
        )

    def room(self, some: slice) -> int:
        """Cells of a table that holds the largest of some classes, and what is tried of it.

        A class fills two cells for each of its pairs at most, and what is tried at once three:
        half of the table is free before that.
        """
        rungs = self.of[12].shape[1]
        # Without places a question is two labels: a class
        # has no more than all pairs of slots and rungs.
        slots = np.diff(self.events.slot_start)[some] * rungs
        most = 12 * self.events.pairs()[some]
        if self.events.place is None:
            most = np.minimum(most, 4 * (slots * (slots + 3) // 2))
        # A power of 2, so that a hash finds its cell by a mask.
        return 1 << max(int(most.max(initial=1)).bit_length(), 6)

    def over(self, some: slice) -> _histories.Histories:
        """The loops with a table for some classes."""
        loops = _histories.Histories(*self.of)
        # A table for each thread: cells are written while classes are solved.
        loops.in_table(np.zeros(self.room(some), CELL))
        return loops


def recodings(
    events: Events,
    labels: Codes,
    losses: Floats,
    rates: Floats,
    *,
    share: float = 0.0,
    fewest: int = 0,
    start: Rungs | None = None,
) -> Recodings:
    """Write events of a class less exactly where that saves more than it loses, at several rates.

    At each rate ρ, in their order, every slot gets in turn the rung of least loss + ρ · cost, the
    others being as they are, until none changes (at most `SWEEPS` times); slots below one label
    also move to it together. The cost is share · (cost of one event known) + (1 - share) · (of
    two). Where ``fewest`` is given, a question costs its weight if fewer units answer it, else
    nothing. A class is solved by itself: O(Σ events² · rungs) over its units a sweep.

    Parameters
    ----------
    labels
        Label of each slot at each rung, the last one being the least exact; shape (slots, rungs).
    losses
        What is lost where a slot is at a rung, below 0 where it must not be; shape (slots, rungs).
    rates
        The rates, descending: each begins with what the one before has found.
    fewest
        Least number of units; 0 for a cost that falls with each of them.
    start
        Rungs before the first rate; the last one where not given.
    """
    slots = labels.shape[0]
    # Rates descend, and at the highest nearly all is written least exactly: this start is near.
    rung = np.full(slots, labels.shape[1] - 1, dtype=np.int8) if start is None else start.copy()
    found = np.empty((len(rates), slots), dtype=np.int8)
    spent = np.zeros((len(rates), events.classes, 3))
    sweeps = SWEEPS if start is None else SWEEPS - 1
    loops = _Loops(events, labels, losses, fewest)

    def solve(some: slice) -> None:
        loops.over(some).recode(some.start, some.stop, rates, share, sweeps, rung, found, spent)

    in_threads([partial(solve, part) for part in _parts(events)])
    return Recodings(found, spent[:, :, 0], spent[:, :, 1], spent[:, :, 2])


def divided(
    events: Events,
    labels: Codes,
    rung: Rungs,
    *,
    kept: Floats,
    silent: Bools,
    rate: float,
    share: float,
    weight: float,
    learned: bool,
) -> tuple[Codes, Floats]:
    """Divide units into several pseudonyms where that saves more than it loses.

    Each unit in turn gets parts by single events that move while that makes loss + rate · cost
    less, all being together at first, or each alone; the other units are as they are. The loss is
    1 - (what its events still say) · (its pairs of rows that stay together); the cost as in
    `recodings`, by that known event, or both, which tell most. Units of more than
    `MOST_DIVIDED` events stay whole.

    Parameters
    ----------
    labels, rung
        As in `unit_risks`.
    kept
        What an event at each rung still says, in [0, 1]; shape (rungs,).
    silent
        Which labels say nothing; shape (labels,).
    rate, share
        As in `recodings`.
    learned
        Whether only a part counts that says something that is not known.

    Returns
    -------
    tuple
        The part of its unit in which each event is; and what each unit costs by one event and by
        two, and loses, shape (units, 3).
    """
    found = np.zeros(len(events.slot_of), dtype=np.int32)
    spent = np.zeros((len(events.event_start) - 1, 3))
    # No losses: slots keep their rungs here, and only the units are divided.
    loops = _Loops(events, labels, np.zeros(labels.shape), 0)
    nothing = flags(silent)

    def divide(some: slice) -> None:
        loops.over(some).divide(
            *(some.start, some.stop, rung, kept, nothing, rate, share, weight, learned),
            *(found, spent),
        )

    in_threads([partial(divide, part) for part in _parts(events)])
    return found, spent


def unit_risks(
    events: Events,
    labels: Codes,
    rung: Rungs,
    *,
    fewest: int = 0,
    part: Codes | None = None,
    silent: Bools | None = None,
) -> npt.NDArray[np.float64]:
    """What the questions about each unit cost, by one event known and by two; shape (units, 2).

    Parameters
    ----------
    events, labels
        As in `recodings`.
    rung
        Rung of each slot; shape (slots,).
    fewest
        As in `recodings`; 0 where units are divided.
    part
        The part of its unit in which each event is, as `divided` gives them back; ``None`` where
        all units are whole.
    silent
        Which labels say nothing, where only what is learned counts; shape (labels,).
    """
    risks = np.zeros((len(events.event_start) - 1, 2))
    loops = _Loops(events, labels, np.zeros(labels.shape), fewest)
    own = np.zeros(len(events.slot_of), dtype=np.int32) if part is None else part
    nothing = flags(
        np.zeros(int(labels.max(initial=0)) + 1, np.bool_) if silent is None else silent
    )
    learned = silent is not None
    in_threads(
        [
            partial(
                loops.over(part).risks,
                *(part.start, part.stop, rung, own, nothing, learned, risks),
            )
            for part in _parts(events)
        ]
    )
    return risks


def _parts(events: Events) -> list[slice]:
    return parts(np.cumsum(events.pairs()), WORTH_A_THREAD)


@dataclass(frozen=True, eq=False)
class DatedRows:
    """What units show of their events and when, unit by unit.

    Attributes
    ----------
    start
        First row of each unit, and the end; shape (units + 1,).
    date
        The date that each row shows, as days; shape (rows,).
    low, high
        Between which days the difference lies of a date that a unit shows and the date itself;
        shape (units,).
    """

    start: Ints
    date: Ints
    low: Ints
    high: Ints

    @cached_property
    def unit(self) -> Codes:
        """Unit of each row."""
        return np.repeat(np.arange(len(self.low), dtype=np.int32), np.diff(self.start))

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        """Every two rows of a unit, in both orders."""
        others = np.diff(self.start)[self.unit] - 1
        # Each row beside the others of its unit, numbered without its own place.
        one = np.repeat(np.arange(len(others)), others)
        other = np.arange(len(one)) - np.repeat(np.cumsum(others) - others, others)
        other += self.start[self.unit[one]]
        return one, other + (other >= one)

    def pairs(self, key: Codes, keys: int) -> tuple[Ints, Ints, Ints]:
        """Two rows each of a unit by what they show, then by the days between them.

        What the two show is one number, ascending; beside it the days, and the rows, shape (pairs,
        2).
        """
        one, other = self._pairs
        # One order of the two keys is enough, as a set looks its pair up in that order too.
        ascending = key[one] <= key[other]
        one, other = one[ascending], other[ascending]
        both = key[one].astype(np.int64) * keys + key[other]
        apart = self.date[other] - self.date[one]
        order = np.lexsort((apart, both))
        return both[order], apart[order], np.stack([one[order], other[order]], axis=1)


def dated_units(
    shown: DatedRows,
    key: Codes,
    sets: Ints,
    keys: Codes,
    dates: Ints,
    *,
    spread: int | None,
    undated: Bools | None = None,
) -> Codes:
    """How many units fit each set of known events, all moved by about one offset.

    A unit fits if it has a row of its own with the key of each event, so that the differences
    between the rows' dates and the known ones lie within ``low`` and ``high``, and no two of them
    more than ``spread`` apart. Two events are looked up among all pairs of rows, sorted:
    O(pairs of rows · log) once, then O(pairs that fit) a set; more of them are looked for in the
    units that fit two.

    Parameters
    ----------
    key
        What each row shows beside its date, and its class, as one number from 0 on; shape (rows,).
    sets
        Known events of each set, as indices, -1 behind the last; shape (sets, m).
    keys, dates
        The key under which each known event is looked for, and when it was, as days; shape
        (events,).
    spread
        Days, as above; ``None`` where dates show an order alone, that of the known ones.
    undated
        Which rows show no date: they fit by their key, which no row with a date has; shape (rows,).
    """
    many = int(max(key.max(initial=0), keys.max(initial=0))) + 1
    order = np.argsort(key, kind="stable").astype(np.int64)
    empty = np.empty(0, dtype=np.int64)
    both, apart, rows = empty, empty, np.empty((0, 2), dtype=np.int64)
    if sets.shape[1] > 1:
        both, apart, rows = shown.pairs(key, many)
    fitting = np.empty(len(sets), dtype=np.int32)
    without = np.zeros(many, dtype=np.bool_)
    if undated is not None:
        without[key[undated]] = True

    loops = (
        *(ints(sets), as_codes(keys), ints(dates)),
        *(np.searchsorted(key[order], np.arange(many + 1)).astype(np.int64), order),
        *(both, apart, ints(rows), as_codes(key), shown.unit),
        *(ints(shown.date), flags(without)),
        *(ints(shown.start), ints(shown.low), ints(shown.high)),
        -1 if spread is None else spread,
    )

    def count(some: slice) -> None:
        # A stamp per unit counts it once a set, without clearing an array for each set.
        stamps = np.full(len(shown.low), -1, dtype=np.int64)
        _histories.count_dated(*loops, some.start, some.stop, stamps, fitting)

    in_threads([partial(count, part) for part in parts(np.arange(1, len(sets) + 1), 1000)])
    return fitting
