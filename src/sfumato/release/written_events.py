"""What two known events tell in the files of a released set of tables, dates and ties included.

Nothing but the files is looked at: by how much the dates of a person were moved they do not say. So
that is drawn, between what keeps all of the person's dates within as many days as anybody's span.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.release.histories import ANYTHING, Reached, worse
from sfumato.risk.dated_events import DatedRows, KnownPairs, single_chances
from sfumato.schema import Schema
from sfumato.table.joined_tables import Layout, ids_of, joined
from sfumato.table.sources import as_numpy, from_numpy
from sfumato.table.stacked_tables import parents_of
from sfumato.table.stay_dates import stay_dates
from sfumato.table.table import NO_DATE, StayDates

SEED = 0x64617465
"""Of the days by which dates are taken to be moved."""
FAR = 1 << 40
AT_ONCE = 1 << 22
"""Pairs of rows that are looked at together, about."""


@dataclass(frozen=True, eq=False)
class _Codes:
    """What the rows of a set say of events, tables below each other; shape (rows,) each.

    Attributes
    ----------
    code
        A number of the codes of each row, within its table.
    says, hidden
        Which rows say that something happened, and which hide what it was.
    """

    part: Ints
    code: Ints
    says: Bools
    hidden: Bools

    @classmethod
    def of(cls, schema: Schema, columns: Mapping[str, pa.Table], names: Sequence[str]) -> _Codes:
        """Those of some tables."""
        found = []
        for number, name in enumerate(names):
            own, table = schema.tables[name], columns[name]
            lookups = [c for c, to in own.of.items() if schema.tables[to].lookup]
            told = [c for c in own.events if c not in own.dates] if not own.persons else []
            cells = [ids_of(table.column(c)) for c in (*told, *lookups)]
            says, hidden = (np.zeros(table.num_rows, dtype=np.bool_) for _ in range(2))
            for column, each in zip((*told, *lookups), cells, strict=True):
                empty = as_numpy(pc.is_null(each))
                star = as_numpy(pc.fill_null(pc.equal(each, ANYTHING), False))
                # A code that is hidden refers to nothing.
                says |= ~empty | (column in lookups)
                hidden |= star | (empty & (column in lookups))
            part = np.full(table.num_rows, number)
            found.append((part, _numbered(cells, table.num_rows), says, hidden))
        return cls(*(np.concatenate(each) for each in zip(*found, strict=True)))


def events_again(
    schema: Schema, tables: Mapping[str, pa.Table], shown: Sequence[str]
) -> list[Reached]:
    """The mean and the 95th percentile of people's chances by one event, and by two.

    Parameters
    ----------
    schema
        That of the original.
    shown
        The columns of the table of people that say of which class they are.

    Raises
    ------
    InputError
        If a reference leads nowhere.
    """
    keys = {name: own.key for name, own in schema.tables.items() if own.key is not None}
    persons = next(name for name, own in schema.tables.items() if own.persons)
    found = joined(tables, Layout(keys, {n: own.of for n, own in schema.tables.items()}, persons))
    names = (persons, *(name for name in found.person if name != persons))
    columns = {name: tables[name].take(from_numpy(found.rows[name])) for name in names}
    parents = tuple(parents_of(schema, found, names))
    person = np.concatenate([found.person[name] for name in names])
    people = columns[persons]
    classes = _numbered([ids_of(people.column(each)) for each in shown], people.num_rows)
    codes = _Codes.of(schema, columns, names)
    own = np.flatnonzero(codes.says)
    own = own[np.argsort(person[own], kind="stable")]
    day, before, after = (np.zeros(n, np.int64) for n in (len(person), *[len(classes)] * 2))
    dated, delays = np.zeros(len(person), dtype=np.bool_), np.zeros((0, len(person)), np.int64)
    without = {name: _without_marks(columns[name], schema, name) for name in names}
    dates = stay_dates(schema, found, without, names, parents)
    if dates is not None:
        dated, delays = dates.anchor >= 0, dates.delays
        day, before, after = _moved(dates, codes.part, person, len(classes))
    label = np.stack([classes[person], codes.part, codes.code, dated, *delays])[:, own]
    label = np.unique(label, axis=1, return_inverse=True)[1].ravel()
    under = tuple(parent[own].astype(np.int64) for parent in parents)
    rows = DatedRows(person[own], label, day[own], dated[own], before, after, under)
    # Of what is hidden nobody sees whether it is one event or several.
    several = np.where(codes.hidden[own], own + 1, 0)
    event = np.stack([rows.unit, label, np.where(dated[own], day[own], 0), several])
    event = np.unique(event, axis=1, return_inverse=True)[1].ravel()
    return [_reached(rows, event, classes, m) for m in (1, 2)]


def _without_marks(table: pa.Table, schema: Schema, name: str) -> pa.Table:
    """A table with no date where none is shown."""
    for column in schema.tables[name].dates:
        cells = ids_of(table.column(column))
        shown = pc.if_else(pc.equal(cells, ANYTHING), pa.scalar(None, pa.string()), cells)
        table = table.set_column(table.column_names.index(column), column, pa.chunked_array(shown))
    return table


def _numbered(columns: Sequence[pa.Array], rows: int) -> Ints:
    """A number for what columns say together in each row."""
    if not columns or not rows:
        return np.zeros(rows, dtype=np.int64)
    codes = [as_numpy(each.dictionary_encode().indices.fill_null(-1)) for each in columns]
    numbers: Ints = np.unique(np.stack(codes), axis=1, return_inverse=True)[1].ravel()
    return numbers


def _moved(dates: StayDates, part: Ints, person: Ints, people: int) -> tuple[Ints, Ints, Ints]:
    """Days of stays, one offset of each person taken off, and how far they could be moved."""
    shown = dates.delays != NO_DATE
    cells = dates.day + dates.delays
    depth, tables = dates.first.shape
    low = np.full((depth, tables, people), FAR)
    high = np.full((depth, tables, people), -FAR)
    for place in range(depth):
        at = np.flatnonzero(shown[place])
        np.minimum.at(low[place], (part[at], person[at]), cells[place, at])
        np.maximum.at(high[place], (part[at], person[at]), cells[place, at])
    earliest, latest = low.min(axis=(0, 1)), high.max(axis=(0, 1))
    dated = earliest <= latest
    # Nobody's dates lie further apart than the file's.
    span = int((latest - earliest)[dated].max())
    free = np.where(dated, span - (latest - earliest), 0)
    before = np.random.default_rng(SEED).integers(0, free + 1)
    offset = np.where(dated, earliest - before, 0)
    return dates.day - offset[person], before, free - before


def _reached(rows: DatedRows, event: Ints, classes: Ints, m: int) -> Reached:
    """The mean and the 95th percentile of people's chances by so many different events."""
    _, first = np.unique(event, return_index=True)
    people = len(classes)
    many = np.bincount(rows.unit[first], minlength=people)
    chances = 1.0 / np.bincount(classes)[classes]
    number = np.bincount(rows.unit, minlength=people)
    pairs = np.bincount(classes, number * (number - 1) // 2)
    # Classes do not touch each other's chances: as many at once as memory allows.
    part = (np.cumsum(pairs) // AT_ONCE)[classes]
    for each in np.unique(part).tolist():
        own = np.flatnonzero(part[rows.unit] == each)
        some = rows.take(own)
        single = _mean(some.unit, single_chances(some), people)
        chances = np.where((part == each) & (many > 0), single, chances)
        if m > 1:
            one, other = some.pairs
            two = event[own][one] != event[own][other]
            found = _mean(some.unit[one[two]], KnownPairs(some).chances[two], people)
            chances = np.where((part == each) & (many > 1), found, chances)
    return worse(chances, many >= m)


def _mean(person: Ints, chances: Floats, people: int) -> Floats:
    many = np.bincount(person, minlength=people)
    mean: Floats = np.bincount(person, chances, people) / np.maximum(many, 1)
    return mean
