"""Along what persons are cut, settled for the whole file before any person is looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.engines.spark.table import SparkTable
from sfumato.schema import Kind
from sfumato.table.scalars import number_ranks
from sfumato.table.sources import Floats, Ints
from sfumato.table.table import CodedColumn, LabelDomain, NumberDomain


@dataclass(frozen=True, eq=False)
class Ordered:
    """A numeric or ordered quasi-identifier, along which persons stand in a row.

    Attributes
    ----------
    place
        Its place among the quasi-identifiers.
    strict
        Whether persons at equal positions stay together.
    size
        Number of values of its domain; the bin of persons who miss any value.
    points
        The domain's points, from 0 on, whose means are positions; ``None`` for labels, whose
        position is the most frequent one.
    normalized
        The unit scale [0, 1] of the codes.
    """

    place: int
    strict: bool
    size: int
    points: Ints | None
    normalized: Floats


@dataclass(frozen=True)
class Indicator:
    """0/1 columns of a categorical quasi-identifier, or of missing an ordered one.

    Attributes
    ----------
    place
        Its place among the quasi-identifiers.
    columns
        Number of 0/1 columns; that of being missing is the last one.
    has_missing
        Whether the file misses a value.
    shift
        The code of the first column: two categories without missing need one column.
    missing_bin
        The bin of persons who miss any value of an ordered quasi-identifier; -1 where the
        quasi-identifier is categorical.
    """

    place: int
    columns: int
    has_missing: bool
    shift: int
    missing_bin: int = -1


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute.

    Attributes
    ----------
    place
        Its place among the sensitive attributes.
    file
        Number of records of the file with each value.
    rank
        Rank of each value as a number; ``None`` where not all are numbers.
    """

    place: int
    file: Ints
    rank: np.ndarray[tuple[int], np.dtype[np.int32]] | None


@dataclass(frozen=True, eq=False)
class Axes:
    """All axes in the order in which cuts name them: the ordered ones first.

    Attributes
    ----------
    ordered, indicators
        The axes.
    sensitive
        The sensitive attributes whose values are known of each person; none where nobody asks.
    """

    ordered: tuple[Ordered, ...]
    indicators: tuple[Indicator, ...]
    sensitive: tuple[Sensitive, ...] = ()

    def bare(self) -> Axes:
        """The axes without what is as long as a domain, which tasks on persons do not need."""
        nothing = np.empty(0)
        ordered = (replace(axis, points=None, normalized=nothing) for axis in self.ordered)
        return Axes(tuple(ordered), self.indicators)


def axes_of(table: SparkTable, *, sensitive: bool) -> Axes:
    """The axes that the persons of a file have: those that one machine would find.

    Parameters
    ----------
    table
        The encoded file.
    sensitive
        Whether the persons' sensitive values are needed.
    """
    columns = list(enumerate(table.quasi_identifiers))
    ordered = tuple(_ordered(i, each) for i, each in columns if each.kind is not Kind.CATEGORICAL)
    found = [_indicator(i, each, table.missing.get(each.name, 0) > 0) for i, each in columns]
    return Axes(
        ordered,
        tuple(each for each in found if each is not None),
        tuple(
            Sensitive(place, table.value_counts[column.name], _ranks(column))
            for place, column in enumerate(table.sensitive)
        )
        if sensitive
        else (),
    )


def _ordered(place: int, column: CodedColumn) -> Ordered:
    domain = column.domain
    points = domain.points - domain.points[:1] if isinstance(domain, NumberDomain) else None
    strict = column.kind is Kind.ORDERED
    return Ordered(place, strict, domain.size, points, domain.normalized)


def _indicator(place: int, column: CodedColumn, missing: bool) -> Indicator | None:
    size = column.domain.size
    if column.kind is not Kind.CATEGORICAL:
        return Indicator(place, 1, True, 0, size) if missing else None
    shift = int(size == 2 and not missing)
    return Indicator(place, size - shift + missing, missing, shift)


def _ranks(column: CodedColumn) -> np.ndarray[tuple[int], np.dtype[np.int32]] | None:
    domain = column.domain
    return number_ranks(domain.labels) if isinstance(domain, LabelDomain) else None
