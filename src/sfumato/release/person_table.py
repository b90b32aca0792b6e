"""From records to persons: what the tree needs to know of each person, in flat arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints, Levels
from sfumato.kernels import class_counts
from sfumato.kernels.key_numbering import EMPTY, extended, tie_order
from sfumato.kernels.loop_calls import in_threads
from sfumato.kernels.tree_loops import side_distances, side_ordered_distances
from sfumato.risk.class_measures import rows_of_tables
from sfumato.risk.classes import ClassSummary
from sfumato.schema import Kind
from sfumato.table.scalars import number_ranks, ties_of_codes, ties_of_values
from sfumato.table.table import MISSING, CodedColumn, Codes, LabelDomain, NumberDomain, Table

Sides = Levels


@dataclass(frozen=True, eq=False)
class RegisterPersons:
    """Persons of a register who may look like persons of the file.

    Who has no value where nobody of the file lacks one looks like nobody, and is left out.

    Attributes
    ----------
    numbers
        Index in the register of each person, by ascending pattern; shape (members,).
    pattern
        Index of each person's pattern of present and missing values; ascending.
    traits
        The traits that each pattern has, shape (patterns, traits): of every quasi-identifier
        that the file misses somewhere, whether there is a value, and whether one is missing.
        A person looks like a class only if the class has all of the person's traits.
    positions
        Position of each person along each ordered axis, on the scale of the file's persons.
    columns
        The 0/1 column of each person for each indicator axis, -1 for none.
    """

    everybody: int
    numbers: Codes
    pattern: Codes
    traits: Bools
    positions: tuple[Codes, ...]
    columns: tuple[Codes, ...]

    @property
    def persons(self) -> int:
        """Number of persons who are not left out."""
        return len(self.numbers)


def person_ties(table: Table) -> Ints:
    """The tie of each person; shape (persons,).

    Where the ids are not kept, a hash of the contents of the person's records. O(records).
    """
    name = table.schema.person
    ties = np.zeros(table.persons, dtype=np.int64)
    if name is not None and name in table.source.column_names:
        ties[table.person] = ties_of_values(table.source.column(name))
        return ties
    contents = content_ties(table) if table.ties is None else table.ties
    if name is None and len(contents) == len(ties):
        ties[table.person] = contents
        return ties
    # A sum, as it does not depend on the order of a person's records.
    np.add.at(ties, table.person, contents)
    return extended(np.full(len(ties), EMPTY), ties)


def content_ties(table: Table) -> Ints:
    """A hash of the content of each record; shape (records,). O(records)."""
    return ties_of_codes(
        [column.codes for column in table.quasi_identifiers],
        [
            (column.codes, [column.domain.label(code) for code in range(column.domain.size)])
            for column in table.sensitive
        ],
    )


def in_tie_order(ties: Ints | None, persons: int) -> Codes:
    """Persons by tie, those of equal ones in their order; all so where ties are not known."""
    return np.arange(persons, dtype=np.int32) if ties is None else tie_order(ties)


def ascending(position: Codes, records: Ints, by_tie: Codes) -> Codes:
    """Persons by (position, number of records), ties in the order of ``by_tie``: O(N log N).

    One sort of integers that hold all three, where 63 bits are enough.
    """
    widths = [int(position.max()).bit_length(), int(records.max()).bit_length()]
    place = len(position).bit_length()
    if sum(widths) + place > 63:
        order: Codes = by_tie[np.lexsort((records[by_tie], position[by_tie]))]
        return order
    keys = position[by_tie].astype(np.int64)
    # In place: a copy for each step would cost as much memory as an order of the whole file.
    keys <<= widths[1]
    keys |= records[by_tie]
    keys <<= place
    keys |= np.arange(len(position))
    keys.sort()
    keys &= (1 << place) - 1
    return by_tie[keys]


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of each person, as compressed rows.

    Attributes
    ----------
    offsets
        Where each person's values start; shape (persons + 1,).
    values
        Values, ascending within a person.
    file
        Number of records of the whole file with each value, whichever persons these are.
    rank
        Rank of each value as a number, from 0 without a gap; ``None`` where not all are numbers.
    told
        Of several tables, which persons have a record of the values' one; ``None`` for one table.
    """

    offsets: Ints
    values: Codes
    counts: Codes
    size: int
    file: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rank: Codes | None = None
    told: Bools | None = None

    def take(self, persons: Codes) -> Values:
        """The values of these persons, in this order."""
        rows = class_counts.take_rows(self.offsets, self.values, self.counts, persons)
        told = None if self.told is None else self.told[persons]
        return Values(*rows, self.size, self.file, self.rank, told)

    @property
    def holders(self) -> tuple[Ints, Codes, int]:
        """Having a record of the values' table as a value of its own, as compressed rows."""
        assert self.told is not None
        offsets = np.concatenate([[0], np.cumsum(self.told)])
        return offsets, np.zeros(int(offsets[-1]), dtype=np.int32), 1

    def distances(self, order: Codes, low: Ints, high: Ints, side: Sides) -> Floats:
        """Equal distance from the file on both sides of each node; see `kernels.class_counts`."""
        own = self.offsets, self.values, self.counts, self.file
        return side_distances(order, low, high, side, *own)

    def ordered_distances(self, order: Codes, low: Ints, high: Ints, side: Sides) -> Floats:
        """The same by ranks, of values that are all numbers."""
        own = self.offsets, self.values, self.counts, self.file
        rank = np.zeros(self.size, dtype=np.int32) if self.rank is None else self.rank
        return side_ordered_distances(order, low, high, side, *own, rank)


@dataclass(frozen=True, eq=False)
class OrderedAxis:
    """A numeric (relaxed) or ordered (strict) quasi-identifier along which persons are cut.

    Attributes
    ----------
    position
        Rank of each person's position; `missing_position` where any record misses the value,
        because a class with such a person can release no range.
    missing_position
        One more than the highest rank.
    total, square, present
        Sum and sum of squares of the person's normalised values, and their number.
    lowest, highest
        Lowest and highest code of the person; the reverse ends when all are missing.
    normalized
        The unit scale [0, 1] of the codes.
    """

    column: int
    strict: bool
    position: Codes
    missing_position: int
    total: Floats
    square: Floats
    present: Ints
    lowest: Codes
    highest: Codes
    normalized: Floats

    def take(self, persons: Codes) -> OrderedAxis:
        """The axis of these persons, in this order; arrays that were one stay one."""
        names = ("position", "total", "square", "present", "lowest", "highest")
        arrays = {name: getattr(self, name) for name in names}
        different = {id(array): array for array in arrays.values()}
        taken = in_threads([partial(array.take, persons) for array in different.values()])
        new = dict(zip(different, taken, strict=True))
        return replace(self, **{name: new[id(array)] for name, array in arrays.items()})


@dataclass(frozen=True, eq=False)
class IndicatorAxis:
    """0/1 columns of a categorical quasi-identifier, or of being missing.

    Attributes
    ----------
    member
        The 0/1 column that holds for more than half of the person's records, -1 for none.
        The column of being missing holds for all records of a person who misses any value.
    categories
        Number of categories of the quasi-identifier; 0 for the column of being missing alone.
    share
        Where categories are released as labels of a hierarchy: what more of the domain a label
        stands for, on average, when the values differ at this level, from 0 to 1.
    """

    column: int
    member: Codes
    indicators: Values
    categories: int = 0
    share: float = 1.0
    of_leaves: bool = True

    def take(self, persons: Codes) -> IndicatorAxis:
        """The axis of these persons, in this order."""
        return replace(self, member=self.member[persons], indicators=self.indicators.take(persons))


@dataclass(frozen=True, eq=False)
class PersonTable:
    """Persons as the tree sees them.

    Attributes
    ----------
    records
        Number of records of each person; shape (persons,).
    sensitive
        Per sensitive attribute, the distinct values of each person; a missing value is none.
    register
        The persons of a population register on the same axes; ``None`` without one.
    traits
        The traits of each person that a person of the register must share to look alike; see
        `RegisterPersons`. Shape (persons, traits); ``None`` without a register.
    whole_cells
        Whether released cells are to reach to the cuts; see `sfumato.release.population_cells`.
    ties
        By which persons who are otherwise equal are ordered; ``None`` for their own order. See
        `sfumato.release.person_table`.
    """

    records: Ints
    ordered: tuple[OrderedAxis, ...]
    indicators: tuple[IndicatorAxis, ...]
    sensitive: dict[str, Values]
    register: RegisterPersons | None = None
    traits: Bools | None = None
    whole_cells: bool = False
    ties: Ints | None = None

    @property
    def persons(self) -> int:
        """Number of persons."""
        return len(self.records)

    @property
    def of_tables(self) -> bool:
        """Whether sensitive values are of several tables, of which persons may have no record."""
        return any(values.told is not None for values in self.sensitive.values())

    def orders(self) -> list[Codes]:
        """Persons by (position, number of records, tie) along each ordered axis: O(d·N log N).

        Where there is no such axis, one order by tie.
        """
        by_tie = in_tie_order(self.ties, self.persons)
        tasks = [partial(ascending, axis.position, self.records, by_tie) for axis in self.ordered]
        return in_threads(tasks) if tasks else [by_tie]

    def whole(self) -> ClassSummary:
        """All persons as one class."""
        shared = {
            name: np.bincount(values.values, minlength=max(values.size, 1))
            for name, values in self.sensitive.items()
        }
        order = np.arange(self.persons, dtype=np.int32)
        low, high = np.zeros(1, dtype=np.int64), np.full(1, self.persons)
        everybody = order, low, high, np.zeros(self.persons, dtype=np.int8)
        return ClassSummary(
            records=self.records.sum(keepdims=True),
            persons=np.array([self.persons]),
            squares=(self.records**2).sum(keepdims=True),
            largest=self.records.max(keepdims=True),
            affiliation={name: counts.max(keepdims=True) for name, counts in shared.items()},
            distinct={name: (counts > 0).sum(keepdims=True) for name, counts in shared.items()},
            distance={
                name: values.distances(*everybody)[:, 0] for name, values in self.sensitive.items()
            },
            ordered_distance={
                name: values.ordered_distances(*everybody)[:, 0]
                for name, values in self.sensitive.items()
                if values.rank is not None
            },
            holders={
                name: values.told.sum(keepdims=True)
                for name, values in self.sensitive.items()
                if values.told is not None
            },
            fewest_sharing=fewest_sharing(self.records),
            population=np.array([] if self.register is None else [self.register.persons], int),
        )


def fewest_sharing(records: Ints) -> Ints:
    """The fewest persons who share a number of records, all persons as one class; shape (1,)."""
    sharing: Ints = np.unique(records, return_counts=True)[1].min(keepdims=True)
    return sharing


def take_persons(owned: list[PersonTable], persons: Codes) -> PersonTable:
    """These persons, in this order, of the only list that has them, which is emptied on the way."""
    table = owned.pop()
    records, sensitive = table.records, table.sensitive
    ordered, indicators = list(table.ordered), list(table.indicators)
    register, traits, whole_cells = table.register, table.traits, table.whole_cells
    ties = table.ties
    names, values = list(sensitive), list(sensitive.values())
    del table, sensitive
    records = records[persons]
    for index, along in enumerate(ordered):
        ordered[index] = along.take(persons)
        del along
    for index, among in enumerate(indicators):
        indicators[index] = among.take(persons)
        del among
    for index, distinct in enumerate(values):
        values[index] = distinct.take(persons)
        del distinct
    return PersonTable(
        records,
        tuple(ordered),
        tuple(indicators),
        dict(zip(names, values, strict=True)),
        register,
        None if traits is None else traits[persons],
        whole_cells,
        None if ties is None else ties[persons],
    )


def person_table(
    table: Table, ties: Ints | None = None, frequencies: Mapping[str, Ints] | None = None
) -> PersonTable:
    """Gather each person's records.

    Costs a pass over the records per column, and a sort of the persons per numeric column that
    is not constant within persons. Nothing of it depends on the order of the records, but how
    the persons are numbered.

    Parameters
    ----------
    ties
        The tie of each person; without it, that of `sfumato.release.person_table.person_ties`.
    frequencies
        Records of the whole file with each value of each sensitive attribute, where the table
        is a part of the file.
    """
    ties = person_ties(table) if ties is None else ties
    rows, starts = class_counts.group_rows(table.person, table.persons)
    records = np.diff(starts)
    files = {} if frequencies is None else frequencies
    sensitive = {
        column.name: partial(_sensitive_values, rows, starts, column, files.get(column.name))
        for column in table.sensitive
    }
    of_tables = rows_of_tables(table)
    tasks = [
        partial(_axes, index, column, rows, starts, records)
        for index, column in enumerate(table.quasi_identifiers)
    ]
    axes, values = in_threads(tasks), in_threads(list(sensitive.values()))
    for place, name in enumerate(sensitive):
        if name in of_tables:
            told = np.zeros(table.persons, dtype=np.bool_)
            told[table.person[of_tables[name]]] = True
            values[place] = replace(values[place], told=told)
    return PersonTable(
        records,
        tuple(axis for found in axes for axis in found if isinstance(axis, OrderedAxis)),
        tuple(axis for found in axes for axis in found if isinstance(axis, IndicatorAxis)),
        dict(zip(sensitive, values, strict=True)),
        ties=ties,
    )


def _axes(
    index: int, column: CodedColumn, rows: Codes, starts: Ints, records: Ints
) -> tuple[OrderedAxis | IndicatorAxis, ...]:
    """The axes of a quasi-identifier."""
    if column.kind is Kind.CATEGORICAL:
        return (_category_axis(index, column, rows, starts),)
    axis = _ordered_axis(index, column, rows, starts, records)
    missing = axis.present < records
    return (axis, _missing_axis(index, missing, records)) if missing.any() else (axis,)


def with_ancestors(persons: PersonTable, table: Table) -> PersonTable:
    """The persons with an axis for each level of the hierarchies that categories are released by.

    The children of a node can then be cut off together, and values that differ are priced by the
    label that stands for both. Costs as much as the categorical columns did, for each level.
    """
    rows, starts = class_counts.group_rows(table.person, table.persons)
    indicators: list[IndicatorAxis] = []
    for axis in persons.indicators:
        column = table.quasi_identifiers[axis.column]
        hierarchy = column.hierarchy
        labelled = column.kind is Kind.CATEGORICAL and column.ends is None
        if hierarchy is None or not labelled or column.domain.size < 2:
            indicators.append(axis)
            continue
        widths = [
            float(np.mean(hierarchy.leaf_counts(level)[ancestors] - 1))
            for level, ancestors in enumerate(hierarchy.ancestors)
        ]
        shares = np.diff(widths) / (column.domain.size - 1)
        indicators.append(replace(axis, share=float(shares[0])))
        for level in range(1, hierarchy.height):
            if shares[level] <= 0:
                continue
            ancestors = hierarchy.ancestors[level]
            # A missing value, code -1, reads the last entry and stays missing at every level.
            codes = np.append(ancestors, MISSING)[column.codes].astype(np.int32)
            above = replace(column, codes=codes, domain=LabelDomain(hierarchy.labels[level]))
            found = _category_axis(axis.column, above, rows, starts)
            indicators.append(replace(found, share=float(shares[level]), of_leaves=False))
    return replace(persons, indicators=tuple(indicators))


def _distinct_values(rows: Codes, starts: Ints, codes: Codes, size: int) -> Values:
    return Values(*class_counts.distinct(rows, starts, codes), size)


def _sensitive_values(rows: Codes, starts: Ints, column: CodedColumn, file: Ints | None) -> Values:
    indicators = _distinct_values(rows, starts, column.codes, column.domain.size)
    if file is None:
        file = np.bincount(column.codes + 1, minlength=column.domain.size + 1)[1:]
    domain = column.domain
    rank = number_ranks(domain) if isinstance(domain, LabelDomain) else None
    return replace(indicators, file=file, rank=rank)


def _category_axis(index: int, column: CodedColumn, rows: Codes, starts: Ints) -> IndicatorAxis:
    """One 0/1 column per category and one for missing; two categories need one column."""
    codes, size, records = column.codes, column.domain.size, np.diff(starts)
    missing = np.zeros(len(records), dtype=bool)
    if column.has_missing:
        owner = np.repeat(np.arange(len(records), dtype=np.int32), records)
        missing[owner[codes[rows] == MISSING]] = True
    elif size == 2:
        # The first category becomes -1, which is no value, so that one 0/1 column tells both.
        codes, size = codes - 1, 1
    indicators = _with_missing(_distinct_values(rows, starts, codes, size), missing, records)
    return IndicatorAxis(
        index, _majority(indicators, missing, records), indicators, column.domain.size
    )


def _missing_axis(index: int, missing: Bools, records: Ints) -> IndicatorAxis:
    nothing = np.empty(0, dtype=np.int32)
    none = Values(np.zeros(len(records) + 1, dtype=np.int64), nothing, nothing, 0)
    indicators = _with_missing(none, missing, records)
    return IndicatorAxis(index, _majority(indicators, missing, records), indicators)


def _with_missing(indicators: Values, missing: Bools, records: Ints) -> Values:
    """One more value, held by the persons who miss any, in all of their records."""
    if not missing.any():
        return indicators
    people = np.flatnonzero(missing)
    owner = np.concatenate(
        [np.repeat(np.arange(len(records)), np.diff(indicators.offsets)), people]
    )
    by_owner = np.argsort(owner, kind="stable")
    values = np.concatenate(
        [indicators.values, np.full(len(people), indicators.size, dtype=np.int32)]
    )
    counts = np.concatenate([indicators.counts, records[people].astype(np.int32)])
    offsets = np.zeros(len(records) + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=len(records)), out=offsets[1:])
    return Values(offsets, values[by_owner], counts[by_owner], indicators.size + 1)


def _majority(indicators: Values, missing: Bools, records: Ints) -> Codes:
    owner = np.repeat(np.arange(len(records)), np.diff(indicators.offsets))
    most = 2 * indicators.counts > records[owner]
    member = np.full(len(records), -1, dtype=np.int32)
    member[owner[most]] = indicators.values[most]
    # Over any majority: with one record that misses the value, a class releases nothing but *.
    member[missing] = indicators.size - 1
    return member


def _ordered_axis(
    index: int, column: CodedColumn, rows: Codes, starts: Ints, records: Ints
) -> OrderedAxis:
    codes, domain = column.codes, column.domain
    sums = class_counts.sums(rows, starts, codes, domain.normalized)
    position, count = sums.highest, domain.size
    if np.array_equal(sums.lowest, sums.highest):
        # One array for both, which spares memory and is then taken and moved once.
        sums = sums._replace(lowest=sums.highest)
    elif (sums.lowest < sums.highest).any():
        # Records of a person may differ: numbers have a mean, categories a commonest one.
        if isinstance(domain, NumberDomain):
            ranks, count = class_counts.mean_ranks(rows, starts, codes, domain.points)
            position = ranks.astype(np.int32)
        else:
            position = class_counts.modes(rows, starts, codes, domain.size)
    missing = sums.present < records
    if missing.any():
        position = np.where(missing, np.int32(count), position)
    else:
        sums = sums._replace(present=records)
    return OrderedAxis(
        column=index,
        strict=column.kind is Kind.ORDERED,
        position=position,
        missing_position=count,
        normalized=domain.normalized,
        **sums._asdict(),
    )
