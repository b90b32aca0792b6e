"""What a cost that is told before an opening says of the value behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.review.anonymity.index import Index
from sfumato.review.kapr.units import row_units
from sfumato.review.values import Seen
from sfumato.studies.mindfirl.febrl import ATTRIBUTES, SOURCE
from sfumato.studies.study import Cell, Column, Grid, Section


@dataclass(frozen=True)
class Value:
    """One distinct value of an attribute, and what is told before it is opened in full.

    Attributes
    ----------
    records
        Number of records that have it.
    length
        Its characters, which its mask may show.
    exact, bound
        The cost where nothing of the record shows, in units.
    exact_at, bound_at
        The cost where the length shows.
    """

    records: int
    length: int
    exact: int
    bound: int
    exact_at: int
    bound_at: int


def values_of(index: Index, attribute: int) -> tuple[Value, ...]:
    """Every distinct value of an attribute, with its costs.

    Parameters
    ----------
    index
        The database and its anonymity sets.
    attribute
        The place of the attribute.
    """
    database = index.database
    codes, first, count = np.unique(
        database.codes[:, attribute], return_index=True, return_counts=True
    )
    found, nothing = [], (Seen(),) * len(database.attributes)
    everyone = index.members(0, nothing)
    whole = {attribute: None}
    bounds: dict[int, int] = {}
    for code, record, records in zip(codes.tolist(), first.tolist(), count.tolist(), strict=True):
        if code < 0:
            continue
        length = int(database.start[code + 1] - database.start[code])
        seen = Seen(missingness=True, length=True, positions=frozenset(range(length)))
        masked = [*nothing]
        masked[attribute] = Seen(missingness=True, length=True)
        alike = index.members(record, tuple(masked))
        for key, members in ((0, everyone), (length, alike)):
            if key not in bounds:
                bounds[key] = row_units(Fraction(1), index.least(members, whole))
        found.append(
            Value(
                records,
                length,
                row_units(Fraction(1), index.size_after(everyone, record, {attribute: seen})),
                bounds[0],
                row_units(Fraction(1), index.size_after(alike, record, {attribute: seen})),
                bounds[length],
            )
        )
    return tuple(found)


def named(values: Sequence[Value], told: Iterable[Hashable]) -> float:
    """The share of the records whose value is the only one of which the same is told.

    Parameters
    ----------
    values
        The distinct values.
    told
        What is told of each.
    """
    groups: dict[Hashable, list[Value]] = defaultdict(list)
    for value, each in zip(values, told, strict=True):
        groups[each].append(value)
    alone = sum(group[0].records for group in groups.values() if len(group) == 1)
    return alone / sum(value.records for value in values)


def leak_section(index: Index) -> Section:
    """For which share of the records a cost names the value, per attribute.

    Parameters
    ----------
    index
        FEBRL 3.
    """
    columns = (
        *(Column("attribute", "Attribute"), Column("values", "Values")),
        Column("exact", "exact cost %", 1, percent=True),
        Column("bound", "bound %", 1, percent=True),
        Column("length", "length alone %", 1, percent=True),
        Column("length_exact", "length, exact cost %", 1, percent=True),
        Column("length_bound", "length, bound %", 1, percent=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for place, attribute in enumerate(ATTRIBUTES):
        values = values_of(index, place)
        rows.append(
            (
                attribute.name,
                len(values),
                named(values, (each.exact for each in values)),
                named(values, (each.bound for each in values)),
                named(values, (each.length for each in values)),
                named(values, ((each.length, each.exact_at) for each in values)),
                named(values, ((each.length, each.bound_at) for each in values)),
            )
        )
    return Section(
        "What a cost says before anything is opened",
        (
            (
                f"{SOURCE}, {index.database.count:,} records, each attribute by itself, masked; "
                "the cost of opening it in full. A reader who knows how often each value occurs "
                "(a census, a telephone book) is told p/K and looks K up: for this share of the "
                "records that have a value, no other value of the attribute has that cost. The "
                "bound is the dearest cost over all values that agree with what shows; it is the "
                "same for all of them, and adds nothing to what the mask shows."
            ),
        ),
        (Grid("cost_leak", "Records whose value is named", columns, tuple(rows)),),
    )
