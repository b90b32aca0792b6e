"""From records to persons: what the tree needs to know of each person, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.risk.classes import ClassSummary
from sfumato.schema import Kind
from sfumato.table.columns import MISSING, CodedColumn, Codes, NumberDomain
from sfumato.table.table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LIMB = 26
"""Bits of a limb: points have at most 53 bits and are summed in two limbs."""


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of each person, as compressed rows.

    Attributes
    ----------
    offsets
        Where each person's values start; shape (persons + 1,).
    values
        Values, ascending within a person.
    counts
        Number of the person's records with that value.
    size
        Number of different values.
    """

    offsets: Ints
    values: Codes
    counts: Ints
    size: int


@dataclass(frozen=True, eq=False)
class OrderedAxis:
    """A numeric (relaxed) or ordered (strict) quasi-identifier along which persons are cut.

    Attributes
    ----------
    column
        Index of the quasi-identifier.
    strict
        Whether equal positions stay together.
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

    def order(self, records: Ints) -> Codes:
        """Persons by (position, number of records), ties in input order."""
        return np.lexsort((records, self.position)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class IndicatorAxis:
    """0/1 columns of a categorical quasi-identifier, or of being missing.

    Attributes
    ----------
    column
        Index of the quasi-identifier.
    member
        The 0/1 column that holds for more than half of the person's records, -1 for none.
        The column of being missing holds for all records of a person who misses any value.
    held
        The columns that hold for any of the person's records.
    """

    column: int
    member: Codes
    held: Values


@dataclass(frozen=True, eq=False)
class PersonTable:
    """Persons as the tree sees them.

    Attributes
    ----------
    records
        Number of records of each person; shape (persons,).
    ordered, indicators
        The axes along which a node can be cut.
    sensitive
        Per sensitive attribute, the distinct values of each person; a missing value is none.
    """

    records: Ints
    ordered: tuple[OrderedAxis, ...]
    indicators: tuple[IndicatorAxis, ...]
    sensitive: dict[str, Values]

    @property
    def persons(self) -> int:
        """Number of persons."""
        return len(self.records)

    def whole(self) -> ClassSummary:
        """All persons as one class."""
        shared = {
            name: np.bincount(values.values, minlength=max(values.size, 1))
            for name, values in self.sensitive.items()
        }
        return ClassSummary(
            records=self.records.sum(keepdims=True),
            persons=np.array([self.persons]),
            squares=(self.records**2).sum(keepdims=True),
            largest=self.records.max(keepdims=True),
            affiliation={name: counts.max(keepdims=True) for name, counts in shared.items()},
            distinct={name: (counts > 0).sum(keepdims=True) for name, counts in shared.items()},
        )


def person_table(table: Table) -> PersonTable:
    """Gather each person's records.

    Costs one sort of the records per column that is not constant within persons.

    Parameters
    ----------
    table
        The encoded records.
    """
    records = np.bincount(table.person, minlength=table.persons).astype(np.int64)
    by_person = np.argsort(table.person, kind="stable")
    starts = np.cumsum(records) - records
    ordered, indicators = [], []
    for index, column in enumerate(table.quasi_identifiers):
        codes = column.codes[by_person]
        if column.kind is Kind.CATEGORICAL:
            indicators.append(_category_axis(index, column, codes, records))
            continue
        axis = _ordered_axis(index, column, codes, records, starts)
        ordered.append(axis)
        missing = axis.present < records
        if missing.any():
            indicators.append(_missing_axis(index, missing, records))
    sensitive = {
        column.name: distinct_values(
            table.person[by_person], column.codes[by_person], column.domain.size, table.persons
        )
        for column in table.sensitive
    }
    return PersonTable(records, tuple(ordered), tuple(indicators), sensitive)


def distinct_values(person: Codes, codes: Codes, size: int, persons: int) -> Values:
    """The distinct codes of each person and how often they occur; missing codes are left out."""
    known = codes != MISSING
    key = person[known].astype(np.int64) * size + codes[known]
    pairs, counts = np.unique(key, return_counts=True)
    owner = pairs // max(size, 1)
    offsets = np.zeros(persons + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=persons), out=offsets[1:])
    return Values(offsets, (pairs % max(size, 1)).astype(np.int32), counts.astype(np.int64), size)


def _category_axis(index: int, column: CodedColumn, codes: Codes, records: Ints) -> IndicatorAxis:
    """One 0/1 column per category and one for missing; two categories need one column."""
    size = column.domain.size
    owner = np.repeat(np.arange(len(records), dtype=np.int32), records)
    missing = np.zeros(len(records), dtype=bool)
    missing[owner[codes == MISSING]] = True
    if size == 2 and not missing.any():
        codes, size = np.where(codes == 1, 0, MISSING).astype(np.int32), 1
    held = _with_missing(distinct_values(owner, codes, size, len(records)), missing, records)
    return IndicatorAxis(index, _majority(held, missing, records), held)


def _missing_axis(index: int, missing: npt.NDArray[np.bool_], records: Ints) -> IndicatorAxis:
    nothing = np.empty(0, dtype=np.int64)
    none = Values(np.zeros(len(records) + 1, dtype=np.int64), nothing.astype(np.int32), nothing, 0)
    held = _with_missing(none, missing, records)
    return IndicatorAxis(index, _majority(held, missing, records), held)


def _with_missing(held: Values, missing: npt.NDArray[np.bool_], records: Ints) -> Values:
    """One more value, held by the persons who miss any, in all of their records."""
    if not missing.any():
        return held
    people = np.flatnonzero(missing)
    owner = np.concatenate([np.repeat(np.arange(len(records)), np.diff(held.offsets)), people])
    by_owner = np.argsort(owner, kind="stable")
    values = np.concatenate([held.values, np.full(len(people), held.size, dtype=np.int32)])
    counts = np.concatenate([held.counts, records[people]])
    offsets = np.zeros(len(records) + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=len(records)), out=offsets[1:])
    return Values(offsets, values[by_owner], counts[by_owner], held.size + 1)


def _majority(held: Values, missing: npt.NDArray[np.bool_], records: Ints) -> Codes:
    owner = np.repeat(np.arange(len(records)), np.diff(held.offsets))
    most = 2 * held.counts > records[owner]
    member = np.full(len(records), -1, dtype=np.int32)
    member[owner[most]] = held.values[most]
    member[missing] = held.size - 1
    return member


def _ordered_axis(
    index: int, column: CodedColumn, codes: Codes, records: Ints, starts: Ints
) -> OrderedAxis:
    known = codes != MISSING
    normalized = column.domain.normalized
    unit = np.where(known, normalized[codes], 0.0)
    present = np.add.reduceat(known.astype(np.int64), starts)
    if isinstance(column.domain, NumberDomain):
        position, count = _mean_positions(column.domain, codes, known, present, starts)
    else:
        position, count = _frequent_positions(codes, column.domain.size, records)
    top = np.iinfo(np.int32).max
    return OrderedAxis(
        column=index,
        strict=column.kind is Kind.ORDERED,
        position=np.where(present < records, count, position).astype(np.int32),
        missing_position=count,
        total=np.add.reduceat(unit, starts),
        square=np.add.reduceat(unit * unit, starts),
        present=present,
        lowest=np.minimum.reduceat(np.where(known, codes, top), starts).astype(np.int32),
        highest=np.maximum.reduceat(codes, starts),
        normalized=normalized,
    )


def _mean_positions(
    domain: NumberDomain, codes: Codes, known: npt.NDArray[np.bool_], present: Ints, starts: Ints
) -> tuple[Ints, int]:
    """Rank of each person's mean, compared exactly.

    The mean of integers is floor + remainder/count. The floor is an integer; two different
    remainders over counts below 2**26 differ by more than the spacing of doubles in [0, 1),
    and equal ones divide to the same double, so the pair orders exactly.
    """
    points = np.where(known, domain.points[codes] - domain.points[0], 0)
    high = np.add.reduceat(points >> LIMB, starts)
    low = np.add.reduceat(points & ((1 << LIMB) - 1), starts)
    count = np.maximum(present, 1)
    high_floor, high_rest = np.divmod(high + (low >> LIMB), count)
    low_floor, rest = np.divmod((high_rest << LIMB) + (low & ((1 << LIMB) - 1)), count)
    floor, fraction = (high_floor << LIMB) + low_floor, rest / count
    by_mean = np.lexsort((fraction, floor))
    changes = np.ones(len(floor), dtype=np.int64)
    changes[:1] = 0
    changes[1:] = (np.diff(floor[by_mean]) != 0) | (np.diff(fraction[by_mean]) != 0)
    rank = np.empty(len(floor), dtype=np.int64)
    rank[by_mean] = np.cumsum(changes)
    return rank, int(changes.sum()) + 1


def _frequent_positions(codes: Codes, size: int, records: Ints) -> tuple[Ints, int]:
    """Each person's most frequent category, the lowest of ties."""
    person = np.repeat(np.arange(len(records), dtype=np.int32), records)
    held = distinct_values(person, codes, size, len(records))
    owner = np.repeat(np.arange(len(records)), np.diff(held.offsets))
    ranked = np.lexsort((held.values, -held.counts, owner))
    first = np.ones(len(ranked), dtype=bool)
    first[1:] = owner[ranked][1:] != owner[ranked][:-1]
    position = np.full(len(records), size, dtype=np.int64)
    position[owner[ranked[first]]] = held.values[ranked[first]]
    return position, size
