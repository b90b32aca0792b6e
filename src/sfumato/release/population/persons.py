"""The file's persons and the register's on the same axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.release.persons import PersonTable, person_table, take_persons
from sfumato.release.population.known import Population
from sfumato.release.register.members import Members
from sfumato.release.tie_order import person_ties
from sfumato.table.table import MISSING, Codes, Table

Bools = npt.NDArray[np.bool_]


def persons_of(table: Table, population: Population | None = None) -> PersonTable:
    """Gather each person's records, and where the persons of a register stand beside them.

    A population makes every axis strict: a cut between equal positions would leave a person of
    the population with two classes to match. Positions follow the same rules on both sides
    (means, most frequent categories) and are compared exactly.

    Parameters
    ----------
    table
        The encoded records.
    population
        The persons that they come from; its register has the same domains as the table.
    """
    if population is None:
        return person_table(table)
    if population.register is None:
        return replace(_strict(person_table(table)), whole_cells=True)
    register = population.register
    own, other = _traits(table, table), _traits(register, table)
    ties = np.append(person_ties(table), np.zeros(register.persons, dtype=np.int64))
    both = person_table(_stacked(table, register), ties)
    known = own.any(axis=0)
    kept = np.flatnonzero(~other[:, ~known].any(axis=1))
    patterns, pattern = _patterns(other[kept][:, known])
    by_pattern = np.argsort(pattern, kind="stable")
    numbers = kept[by_pattern].astype(np.int32)
    there = numbers + table.persons
    members = Members(
        register.persons,
        numbers,
        pattern[by_pattern],
        patterns,
        tuple(axis.position[there] for axis in both.ordered),
        tuple(axis.member[there] for axis in both.indicators),
    )
    owned = [both]
    del both
    persons = take_persons(owned, np.arange(table.persons, dtype=np.int32))
    return replace(_strict(persons), register=members, traits=own[:, known])


def _strict(persons: PersonTable) -> PersonTable:
    ordered = tuple(replace(axis, strict=True) for axis in persons.ordered)
    return replace(persons, ordered=ordered)


def _stacked(table: Table, register: Table) -> Table:
    """One table: the register's persons behind the file's, without sensitive values."""
    nothing = np.full(register.records, MISSING, dtype=np.int32)
    return replace(
        table,
        person=np.concatenate([table.person, register.person + np.int32(table.persons)]),
        quasi_identifiers=tuple(
            replace(own, codes=np.concatenate([own.codes, other.codes]))
            for own, other in zip(table.quasi_identifiers, register.quasi_identifiers, strict=True)
        ),
        sensitive=tuple(
            replace(column, codes=np.concatenate([column.codes, nothing]))
            for column in table.sensitive
        ),
        household=None,
    )


def _traits(table: Table, file: Table) -> Bools:
    """Whether each person has a value, and misses one, per quasi-identifier.

    Of columns that the file never misses only whether one is missing: whoever misses one there
    looks like nobody of the file. Shape (persons, traits).
    """
    traits = []
    for column, own in zip(table.quasi_identifiers, file.quasi_identifiers, strict=True):
        missing = column.codes == MISSING
        if own.has_missing:
            traits.append(_any(table.person[~missing], table.persons))
        traits.append(_any(table.person[missing], table.persons))
    return np.column_stack(traits)


def _any(person: Codes, persons: int) -> Bools:
    found = np.zeros(persons, dtype=bool)
    found[person] = True
    return found


def _patterns(traits: Bools) -> tuple[Bools, Codes]:
    """The distinct rows, at least one, and which one each row is."""
    if not traits.size:
        return np.zeros((1, traits.shape[1]), dtype=bool), np.zeros(len(traits), dtype=np.int32)
    patterns, pattern = np.unique(traits, axis=0, return_inverse=True)
    return patterns, pattern.ravel().astype(np.int32)
