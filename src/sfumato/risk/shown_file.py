"""A file as its readers see it, and who cannot be told apart in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np

from sfumato.core.arrays import Bools, Codes, Floats, Integers, Ints
from sfumato.engines.embedded.counts import group
from sfumato.table.dependence import codes_of
from sfumato.table.table import MISSING, Table

BANDS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
"""Least numbers of records that an acquaintance tells apart: nobody counts another one's visits."""


def band_of(records: Ints) -> Codes:
    """The band of each number of records, from 1 on; shape as given."""
    return np.searchsorted(BANDS, records, side="right").astype(np.int32)


class Dated(Enum):
    """What two dates of a column tell whoever knows when both were."""

    MOVED = "moved"
    """How many days lie between them."""
    ORDERED = "ordered"
    """Which came first."""


@dataclass(frozen=True, eq=False)
class FurtherColumn:
    """A column that is no quasi-identifier, as its cells are released.

    Attributes
    ----------
    codes
        Number of each record's cell, `MISSING` where it says nothing; shape (records,). Of dates
        the day, or the place.
    dated
        What dates tell that are not as they were; ``None`` where cells are known as they stand.
    """

    codes: Codes
    dated: Dated | None = None


@dataclass(frozen=True, eq=False)
class ShownFile:
    """A file as its readers see it, beside who is in it; every array has shape (records,).

    Attributes
    ----------
    class_of
        The class of each record, by its quasi-identifiers as they are released.
    sensitive
        Which of them must not be learned.
    pseudonym
        The pseudonym of each record, where people may have several.
    part_of
        The table that each record is of, where there are several.
    parents
        For each table to whose records others belong, which of them each record stands under, -1
        for none.
    foretold
        Share of people whose value of a sensitive column is guessed without the file, by column;
        filled as it is measured.
    """

    person: Codes
    class_of: Codes
    columns: Mapping[str, FurtherColumn] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    exact: tuple[Codes, ...] = ()
    pseudonym: Codes | None = None
    part_of: Codes | None = None
    parents: tuple[Codes, ...] = ()
    foretold: dict[str, float] = field(default_factory=dict)

    @cached_property
    def has_several(self) -> bool:
        """Whether anybody has several records, so that their number tells something."""
        return len(distinct(self.person)) < len(self.person)

    def of_tables(self, tells: Bools) -> Bools:
        """Which records, shape (records,), are of a table of which some tell something.

        Of several tables people without rows of one are told nothing by it, and hide
        nobody.
        """
        if self.part_of is None:
            return np.ones(len(tells), dtype=np.bool_)
        return np.isin(self.part_of, self.part_of[tells])

    @cached_property
    def by_class(self) -> Crowds:
        """Who cannot be told apart by class."""
        return Crowds(self, self.person, bands=False)

    @cached_property
    def by_band(self) -> Crowds:
        """Who cannot be told apart by class and band."""
        if not self.has_several:
            return self.by_class
        shown = self.person if self.pseudonym is None else self.pseudonym
        return Crowds(self, shown, bands=True)


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of each unit as compressed rows.

    Attributes
    ----------
    value
        As narrow as they may be: those of every column are held until a file is judged.
    """

    starts: Ints
    value: Codes
    values: int

    @classmethod
    def of(cls, codes: Codes, unit: Integers, units: int) -> Values:
        """The values of each unit, from the code and the unit of each record."""
        told = codes != MISSING
        values = int(codes.max(initial=0)) + 1
        keys = distinct(unit[told].astype(np.int64) * values + codes[told])
        starts = np.searchsorted(keys, np.arange(units + 1) * np.int64(values))
        return cls(starts, (keys % values).astype(np.min_scalar_type(values)), values)

    @cached_property
    def often(self) -> Ints:
        """How many units have each value."""
        return np.bincount(self.value, minlength=self.values)

    def guessed(self, place: Ints, unit: Ints, places: int) -> tuple[Ints, Bools]:
        """Of units by place, the value that most have, and whether one is certain.

        Certain is a value that all of them have and that is not the commonest of all units: where
        they share several, each of those.
        """
        owner, rows = self._rows(unit)
        keys, often = np.unique(
            place[owner] * np.int64(self.values) + self.value[rows], return_counts=True
        )
        # Ascending: what is written last is the most of each place.
        order = np.argsort(often, kind="stable")
        at, value, often = keys[order] // self.values, keys[order] % self.values, often[order]
        best = np.full(places, MISSING)
        best[at] = value
        certain = np.zeros(places, dtype=np.bool_)
        size = np.bincount(place, minlength=places)
        certain[at[(often == size[at]) & (value != int(self.often.argmax()))]] = True
        return best, certain

    def right(self, targets: Ints, home: Ints, listed: tuple[Ints, Ints]) -> tuple[Bools, Bools]:
        """Whether the value that most of its list have is right of each target; is one certain."""
        best, certain = self.guessed(*listed, int(home.max(initial=0)) + 1)
        return self.has(targets, best[home]), certain[home]

    def has(self, unit: Ints, value: Ints) -> Bools:
        """Whether each unit has the value beside."""
        owner, rows = self._rows(unit)
        found = np.zeros(len(unit), dtype=np.bool_)
        found[owner[self.value[rows] == value[owner]]] = True
        return found

    def of_units(self, unit: Ints) -> tuple[Ints, Ints]:
        """The values of some units: the place of each one's unit among them, and the value."""
        owner, rows = self._rows(unit)
        return owner, self.value[rows].astype(np.int64)

    def _rows(self, unit: Ints) -> tuple[Ints, Ints]:
        starts, number = self.starts[unit], np.diff(self.starts)[unit]
        before = np.cumsum(number) - number
        rows: Ints = np.arange(number.sum()) + np.repeat(starts - before, number)
        return np.repeat(np.arange(len(unit)), number), rows


class Crowds:
    """Units, each a pseudonym in its class, by crowds in which they are not told apart.

    The unit of each record has shape (records,), crowd and person of each unit (units,).
    """

    crowd: Codes

    def __init__(self, file: ShownFile, shown: Codes, *, bands: bool) -> None:
        self.file = file
        keys = [file.class_of, shown]
        self.unit, units = group(keys, [int(key.max()) + 1 for key in keys])
        _, first = np.unique(self.unit, return_index=True)
        self.person = file.person[first]
        self.crowd = file.class_of[first]
        if bands:
            # Whoever knows how many stays somebody had may know how many tests, too.
            parts = file.part_of if file.part_of is not None else np.zeros(len(self.unit), np.int32)
            for part in range(int(parts.max()) + 1):
                band = band_of(np.bincount(self.unit, parts == part, units).astype(np.int64))
                keys = [self.crowd, band]
                self.crowd, _ = group(keys, [int(self.crowd.max()) + 1, len(BANDS) + 1])
        self._values: dict[str, tuple[Bools, Values]] = {}

    def having(self, rows: Bools) -> Bools:
        """Which units have some of these records; shape (units,)."""
        units = np.zeros(len(self.crowd), dtype=np.bool_)
        units[self.unit[rows]] = True
        return units

    def values(self, name: str) -> tuple[Bools, Values]:
        """Which units have records of a column's table, shape (units,), and the values of those."""
        if name not in self._values:
            codes = self.file.columns[name].codes
            rows = self.file.of_tables(codes != MISSING)
            has = self.having(rows)
            unit = (np.cumsum(has) - 1)[self.unit[rows]]
            self._values[name] = has, Values.of(codes[rows], unit, int(has.sum()))
        return self._values[name]

    @cached_property
    def chance(self) -> Floats:
        """The share of each unit's crowd that is its person's; shape (units,)."""
        keys = [self.crowd, self.person]
        own, _ = group(keys, [int(key.max()) + 1 for key in keys])
        shares: Floats = np.bincount(own)[own] / np.bincount(self.crowd)[self.crowd]
        return shares

    @staticmethod
    def by_person(person: Codes, chance: Floats) -> Floats:
        """The highest chance of each person, ascending."""
        best = np.full(int(person.max()) + 1, -1.0)
        np.maximum.at(best, person, chance)
        return np.sort(best[best >= 0])


def shown(
    table: Table,
    class_of: Codes,
    further: Callable[[str], FurtherColumn] | None = None,
    withheld: Collection[str] = (),
    pseudonym: Codes | None = None,
) -> ShownFile:
    """A table as its readers see it.

    Parameters
    ----------
    class_of
        The class of each record; shape (records,).
    further
        How a column that is no quasi-identifier is released; as it is where not given.
    pseudonym
        The pseudonym of each record, where people may have several.
    """
    schema = table.schema
    left_out = {*withheld, *schema.withheld(), schema.person, schema.household}
    left_out |= {identifier.name for identifier in table.quasi_identifiers}
    names = [name for name in table.source.column_names if name not in left_out]
    return ShownFile(
        table.person,
        class_of,
        {
            name: further(name)
            if further
            else FurtherColumn(codes_of(table.source.column(name)).astype(np.int32))
            for name in names
        },
        tuple(attribute.name for attribute in table.sensitive if attribute.name in names),
        tuple(name for name in schema.events if name in names),
        tuple(identifier.codes for identifier in table.quasi_identifiers),
        pseudonym,
        table.part_of,
        table.parents,
    )


def distinct(keys: Integers) -> Ints:
    """The different numbers, ascending; `numpy.unique` hashes, ten times slower than sorting."""
    keys = np.sort(keys)
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    found: Ints = keys[new].astype(np.int64)
    return found
