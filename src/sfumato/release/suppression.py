"""Choose the persons whose suppression gains most for the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.promises.promise import (
    TOLERANCE,
    Budget,
    Constraint,
    ordered_attributes,
    overspent,
)
from sfumato.release.utility.class_means import category_shares, class_means, full_range, steps
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.classes import summarize
from sfumato.schema import Kind
from sfumato.table.table import MISSING, Codes, Table

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Grow = Callable[[PersonTable], Partition]
ErrorOf = Callable[[Table, Partition], float]
PersonsOf = Callable[[Table], PersonTable]
SHARES = (1.0, 0.5, 0.25)
"""Parts of the limit that are tried."""


@dataclass(frozen=True, eq=False)
class Parted:
    """Records in classes.

    Attributes
    ----------
    rows
        Ascending rows that remain.
    persons
        The persons who remain.
    partition
        Their classes.
    measure
        Computes ``error``.
    """

    rows: Rows
    persons: PersonTable
    partition: Partition
    measure: Callable[[], float] = field(repr=False)

    @cached_property
    def error(self) -> float:
        """ANE over the records that remain; measured when it is first asked for."""
        return self.measure()


def suppress_for_others(
    table: Table,
    persons: PersonTable,
    grow: Grow,
    error_of: ErrorOf,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    most: int,
    *,
    persons_of: PersonsOf = person_table,
) -> Parted:
    """Partition, and suppress at most so many persons where the others gain by it.

    A person's distance from the mean of the class (as in ANE) says how much the person costs.
    Several choices of persons are tried: those who are farthest from the means of their
    classes and those of the classes that lose most, the others being partitioned again, each
    with the whole limit, a half and a quarter of it; and the classes that lose most while all
    others stay as they are, which alone can only gain. The choice whose remaining records have
    the least ANE is taken, and nobody is suppressed where none has less than without.
    Costs seven partitions instead of one where any may be suppressed.

    Parameters
    ----------
    table
        The records; as one class they keep the promises.
    persons
        Its persons.
    grow
        Partitions persons into classes that keep the promises.
    error_of
        ANE of a table whose persons are in these classes.
    constraints, budgets
        The promises.
    most
        Number of persons that may be suppressed.
    persons_of
        Gathers the persons of a table.
    """
    partition = grow(persons)
    tries = _Tries(table, grow, error_of, constraints, budgets, persons_of)
    best = tries.parted(np.arange(table.records), persons, partition)
    if most < 1:
        return best
    errors = record_errors(table, partition.class_of_person[table.person], partition.classes)
    of_person = np.bincount(table.person, weights=errors)
    of_class = np.bincount(partition.class_of_person, of_person)
    costs: Floats = of_person / persons.records
    mean: Floats = of_class / np.bincount(partition.class_of_person, persons.records)
    whole = tries.without_classes(persons, partition, mean, most)
    if whole is not None and whole.error < best.error:
        best = whole
    for cost in (costs, mean[partition.class_of_person] + costs * TOLERANCE):
        farthest = np.argsort(-cost, kind="stable")
        for count in sorted({int(most * share) for share in SHARES} - {0}):
            others = tries.without(farthest[:count])
            if others is not None and others.error < best.error:
                best = others
    return best


def record_errors(table: Table, class_of: Codes, classes: int) -> Floats:
    """Distance of each record from the means of its class, averaged over the columns.

    As in `sfumato.release.utility.normalized_error`; a missing value has none. Shape
    (records,).
    """
    total = np.zeros(table.records)
    for column in table.quasi_identifiers:
        known = column.codes != MISSING
        codes, of = column.codes[known], class_of[known]
        if column.kind is Kind.CATEGORICAL:
            error = 1 - category_shares(codes, of, column.domain.size, classes)
        else:
            values = steps(column)
            means = class_means(column, class_of, classes)
            error = np.abs(values[codes] - means[of]) / full_range(values)
        total[known] += column.weight * error
    return total / sum(column.weight for column in table.quasi_identifiers)


@dataclass(frozen=True, eq=False)
class _Tries:
    """Choices of persons, each with the classes of the others."""

    table: Table
    grow: Grow
    error_of: ErrorOf
    constraints: Sequence[Constraint]
    budgets: Sequence[Budget]
    persons_of: PersonsOf

    def parted(self, rows: Rows, persons: PersonTable, partition: Partition) -> Parted:
        part = self.table if len(rows) == self.table.records else self.table.take(rows)
        measure = partial(self.error_of, part, partition)
        return Parted(rows, persons, partition, measure)

    def without(self, gone: npt.NDArray[np.int64]) -> Parted | None:
        """The others partitioned again; ``None`` where they break a promise as one class."""
        rows = np.flatnonzero(~np.isin(self.table.person, gone))
        if not len(rows):
            return None
        part = self.table.take(rows)
        persons = self.persons_of(part)
        population = persons.whole().population
        if not self._kept(part, np.zeros(part.records, dtype=np.int32), 1, population):
            return None
        return self.parted(rows, persons, self.grow(persons))

    def without_classes(
        self, persons: PersonTable, partition: Partition, of_class: Floats, most: int
    ) -> Parted | None:
        """Without the classes that lose most, one at least staying; the others as they are."""
        person = self.table.person
        sizes = np.bincount(partition.class_of_person, minlength=partition.classes)
        worst = np.argsort(-of_class, kind="stable")[:-1]
        gone = np.zeros(partition.classes, dtype=bool)
        gone[worst[np.cumsum(sizes[worst]) <= most]] = True
        rows = np.flatnonzero(~gone[partition.class_of_person[person]])
        part = self.table.take(rows)
        number = np.cumsum(~gone, dtype=np.int32) - 1
        class_of = number[partition.class_of_person[person[rows]]]
        of_person = np.empty(part.persons, dtype=np.int32)
        of_person[part.person] = class_of
        left = replace(partition, class_of_person=of_person, classes=int((~gone).sum()))
        if partition.class_of_register is not None:
            numbers = np.append(np.where(gone, -1, number), -1).astype(np.int32)
            left = replace(left, class_of_register=numbers[partition.class_of_register])
        if partition.cells is not None:
            numbers = np.where(gone, -1, number).astype(np.int32)
            left = replace(left, cells=partition.cells.renumbered(numbers))
        if not self._kept(part, class_of, left.classes, left.population):
            return None
        return self.parted(rows, self.persons_of(part), left)

    def _kept(
        self, part: Table, class_of: Codes, classes: int, population: npt.NDArray[np.int64]
    ) -> bool:
        summary = summarize(
            class_of,
            classes,
            part.person,
            {each.name: each.codes for each in part.sensitive},
            ranks=ranks_of(part, ordered_attributes([*self.constraints], part.schema.sensitive)),
        )
        summary = replace(summary, population=population)
        return all(each.met(summary).all() for each in self.constraints) and not any(
            overspent(each, summary, part.persons) for each in self.budgets
        )
