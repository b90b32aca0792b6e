"""What an intruder finds who knows some of a person's events beside the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.engines.embedded.counts import group
from sfumato.kernels.class_counts import (
    Holding,
    class_order,
    count_records,
    distinct,
    group_rows,
)
from sfumato.table.table import MISSING, Codes, EventColumn, NumberDomain, Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Drawn = Literal["random", "worst"]

MOST_KNOWN = 6
"""Events that are known at most."""
DAY = 86_400 * 10**6
"""Microseconds of a day."""


@dataclass(frozen=True, eq=False)
class EventCodes:
    """The event of each record as one number, as exactly as an intruder knows it.

    Attributes
    ----------
    columns
        The columns that say it.
    named
        Whether the schema names them as events.
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

    Parameters
    ----------
    table
        The encoded file.
    """
    columns = [each for each in table.events if table.schema.events or _changes(each, table.person)]
    if not columns:
        return None
    empty = np.logical_and.reduce([each.codes == MISSING for each in columns])
    near = next((each for each in columns if each.event.is_near), None)
    exact = [_at_known_level(each) for each in columns if each is not near]
    codes, events = group(*zip(*exact, strict=True)) if exact else (np.zeros_like(empty, int), 1)
    if near is None:
        own = np.arange(events, dtype=np.int32)
        codes = np.where(empty, MISSING, codes).astype(np.int32)
        return EventCodes(_names(columns), bool(table.schema.events), codes, own, own)
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
        _names(columns),
        bool(table.schema.events),
        np.where(empty, MISSING, codes).astype(np.int32),
        low.astype(np.int32),
        high.astype(np.int32),
    )


def _names(columns: Sequence[EventColumn]) -> tuple[str, ...]:
    return tuple(each.name for each in columns)


def _changes(column: EventColumn, person: Codes) -> bool:
    """Whether a person has two values of a column."""
    last = np.empty(int(person.max()) + 1, dtype=np.int32)
    last[person] = column.codes
    return bool((last[person] != column.codes).any())


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
        off = np.abs(points) * column.event.share
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
        side by side.
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

    labels: Codes
    low: Codes
    high: Codes
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
    counts: bool = False,
) -> Holding:
    """Who has which events in each class; a person in several classes counts in each of them.

    O(records), and a sort of the events of each class.

    Parameters
    ----------
    events
        The event of each record.
    person, class_of
        Person and class of each record; shape (records,).
    classes
        Number of classes.
    shown
        What records show of them; the events themselves where it is not given.
    counts
        Whether the intruder knows the number of records of each pseudonym, too.
    """
    if shown is None:
        at = np.maximum(events.codes, 0)
        shown = Shown(events.codes, events.low[at], events.high[at])
    labels, spread = shown.labels, [int(person.max()) + 1]
    owner, persons = group([class_of, person], [classes, *spread])
    unit, units = owner, persons
    if shown.pseudonym is not None:
        unit, units = group([class_of, shown.pseudonym], [classes, int(shown.pseudonym.max()) + 1])
    rows, starts = group_rows(unit, units)
    first = rows[starts[:-1]]
    class_of_unit, owners = class_of[first], owner[first]
    if counts:
        class_of_unit, classes = group(
            [class_of_unit, np.diff(starts).astype(np.int32)],
            [classes, int(np.diff(starts).max()) + 1],
        )
    id_starts, own_labels, own_counts = distinct(rows, starts, labels)
    known = _known(events, shown, owner, persons)
    class_of_person = np.empty(persons, dtype=np.int32)
    class_of_person[owners] = class_of_unit
    ids = np.repeat(np.arange(units, dtype=np.int32), np.diff(id_starts))
    class_of_entry = class_of_unit[ids]
    entries, _ = count_records(class_of_entry, classes)
    order = class_order(class_of_entry, entries, own_labels).part(0, classes)
    detailed = np.zeros(units, dtype=np.bool_)
    if shown.detailed is not None:
        detailed[unit[shown.detailed]] = True
    return Holding(
        class_of_person,
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
    rows, starts = group_rows(owner, persons)
    if shown.labels is events.codes:
        begins, codes, _ = distinct(rows, starts, events.codes)
        return begins, events.low[codes], events.high[codes]
    told = np.flatnonzero(events.codes != MISSING)
    order = told[np.lexsort((events.codes[told], shown.high[told], shown.low[told], owner[told]))]
    of, event = owner[order], events.codes[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (of[1:] != of[:-1]) | (event[1:] != event[:-1])
    kept = order[new]
    begins = np.zeros(persons + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner[kept], minlength=persons), out=begins[1:])
    return begins, shown.low[kept], shown.high[kept]
