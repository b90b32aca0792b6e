"""δ-presence: how surely somebody of a population is in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Unpack

import numpy as np

from sfumato.core.arrays import Codes, Ints
from sfumato.core.declaration import LayoutGiven
from sfumato.core.measure import Measure, Position
from sfumato.engines.embedded.counts import group
from sfumato.risk import measure_table
from sfumato.risk.measure_table import row
from sfumato.schema import Schema
from sfumato.table.door import open_table
from sfumato.table.preparation import fitting
from sfumato.table.table import CodedColumn, Domain, NumberDomain, Table
from sfumato.table.table_files import open_source


@dataclass(frozen=True, slots=True)
class Presence:
    """Shares of the persons of a population who are in the file, among those who look the same.

    Nergiz, Atzori & Clifton 2007: a file is (low, high)-present when each share lies between.

    Attributes
    ----------
    presence_low, presence_high
        Smallest and largest share; 0 is the smallest where nobody of the file looks like
        somebody of the population.
    strangers
        Number of persons of the file for whom the population has too few who look the same: it
        cannot be the population that the file comes from.
    """

    population: int
    presence_low: Measure
    presence_high: Measure
    strangers: int

    def rows(self) -> list[measure_table.Row]:
        """The lines of a table."""
        low, high = self.presence_low, self.presence_high
        return [
            row("population", measure_table.count(self.population)),
            row("presence_low", measure_table.share(low), low.where),
            row("presence_high", measure_table.share(high), high.where),
            row("strangers", measure_table.count(self.strangers)),
        ]


def open_register(data: object, schema: Schema, **layout: Unpack[LayoutGiven]) -> Table:
    """Open the persons of a population: the same quasi-identifiers, with or without person ids.

    Where the register has no column of the schema's name for persons, each of its records is
    one.
    """
    source = open_source(data, **layout)
    return open_table(source, register_schema(schema, source.names), keep_source=False)


def register_schema(schema: Schema, names: Sequence[str]) -> Schema:
    """What the columns of a register are, by the schema of a file that has settled all kinds."""
    quasi = {
        # The file's hierarchy or order need not know values that only the register has.
        name: identifier.model_copy(update={"hierarchy": None, "order": None})
        for name, identifier in schema.quasi_identifiers.items()
    }
    return fitting(schema, names).model_copy(
        update={
            "person": schema.person if schema.person in names else None,
            "household": None,
            "quasi_identifiers": quasi,
            "sensitive": (),
            "direct_identifiers": (),
            "insensitive": (),
            "undecided": {},
            "accepted": {},
        }
    )


@dataclass(frozen=True, eq=False)
class Matching:
    """How many persons of file and register look the same.

    Attributes
    ----------
    class_of
        Combination of values of each record of the file, shape (records,); empty where a
        cluster counted.
    inside, outside
        Persons of the file, and of the register, with each combination; shape (combinations,).
    times
        Number of combinations that each entry stands for; ``None`` for one each.
    """

    class_of: Codes
    inside: Ints
    outside: Ints
    population: int
    times: Ints | None = None


def match(table: Table, register: Table) -> Matching:
    """Count the persons of a file and of a register by their quasi-identifiers.

    Persons look the same when they agree on all quasi-identifiers, as exactly as the two files
    have them; a missing value is a value of its own. A person with records that differ looks
    like each of them. O((records + register) log).
    """
    columns, sizes = [], []
    for identifier, other in zip(table.quasi_identifiers, register.quasi_identifiers, strict=True):
        columns.append(
            np.concatenate([identifier.codes, same_values(identifier, other)[other.codes]])
        )
        sizes.append(identifier.domain.size + 1)
    class_of, classes = group(columns, sizes)
    here, there = class_of[: table.records], class_of[table.records :]
    return Matching(
        class_of=here,
        inside=_persons(here, table.person, classes),
        outside=_persons(there, register.person, classes),
        population=register.persons,
    )


def presence(found: Matching) -> Presence:
    """The share of a population's persons who are in the file, where least and most."""
    known = np.flatnonzero(found.outside)
    # More persons in the file than in the register is
    # an error of the register, said by `strangers`.
    share = np.minimum(found.inside[known] / found.outside[known], 1.0)
    low, high = known[np.argmin(share)], known[np.argmax(share)]
    foreign = np.maximum(found.inside - found.outside, 0)
    each = 1 if found.times is None else found.times
    return Presence(
        population=found.population,
        presence_low=Measure("presence_low", float(share.min()), where=_place(low, found.class_of)),
        presence_high=Measure(
            "presence_high", float(share.max()), where=_place(high, found.class_of)
        ),
        strangers=int((foreign * each).sum()),
    )


def same_values(own: CodedColumn, other: CodedColumn) -> Codes:
    """Our code of every value of another file's column; one more code for values we do not have.

    By the other file's codes; the last, which a missing value finds, is -1. Shape
    (``other.domain.size`` + 1,).
    """
    codes = {value: code for code, value in enumerate(_values(own.domain))}
    matching = [codes.get(value, own.domain.size) for value in _values(other.domain)]
    return np.array([*matching, -1], dtype=np.int32)


def _values(domain: Domain) -> list[object]:
    if isinstance(domain, NumberDomain):
        if domain.unit != "number":
            # With the unit, so that a date is never taken for a number that counts the same days.
            return [(domain.unit, point) for point in domain.points.tolist()]
        scale = 10**domain.decimals
        # Exact: 0.1 of one file must meet 0.10 of the other, whatever decimals each has.
        return [Fraction(point, scale) for point in domain.points.tolist()]
    return list(domain.labels)


def _persons(class_of: Codes, person: Codes, classes: int) -> Ints:
    """Number of distinct persons of each class."""
    pair = np.unique(class_of.astype(np.int64) * (int(person.max()) + 1) + person)
    return np.bincount(pair // (int(person.max()) + 1), minlength=classes)


def _place(at: np.int64, class_of: Codes) -> Position | None:
    """The first record of the file in a class; ``None`` where it has none there."""
    if not (class_of == at).any():
        return None
    return Position(int(np.argmax(class_of == at)) + 1, int(at) + 1)
