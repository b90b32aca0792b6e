"""Divide the records into classes: by the tree, or by one level for all records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.release.by_subtree import partition_by_subtree
from sfumato.release.full_domain import Levels, recode, shown_at
from sfumato.release.loss import loss_space
from sfumato.release.manifest import Manifest
from sfumato.release.options import Cut, Form, Recoding
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.population.known import Population
from sfumato.release.population.persons import persons_of
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.register.cells import Cells
from sfumato.release.released_error import beside_of, released_error
from sfumato.release.result import TreeClasses
from sfumato.release.search import search
from sfumato.release.splits import rounded
from sfumato.release.subtree import partition_of_persons
from sfumato.release.suppression import suppress_for_others
from sfumato.release.tree import grow
from sfumato.release.upper import UPPER
from sfumato.table.table import Table

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Divided:
    """Records in classes that keep the promises.

    Attributes
    ----------
    rows
        Ascending rows of the divided table that remain.
    table, persons
        The records that remain, and their persons: at least their numbers of records.
    class_of
        Class of each of them.
    classes
        Number of classes.
    tree
        The classes before those that look the same become one.
    levels
        The levels that all records show; ``None`` for the tree.
    class_of_register
        Class that each person of a register looks like, -1 for none; ``None`` without one.
    beside
        What the cells of the classes must hold beside their records; ``None`` without a
        population.
    """

    rows: npt.NDArray[np.int64]
    table: Table
    persons: PersonTable
    class_of: Codes
    classes: int
    tree: TreeClasses
    levels: Levels | None = None
    class_of_register: Codes | None = None
    beside: Cells | None = None


def divide(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    manifest: Manifest,
    original_persons: int,
    *,
    population: Population | None = None,
    upper: int = UPPER,
    progress: Progress = silent,
) -> Divided:
    """Divide the records as the manifest says; suppress up to its limit where that gains.

    A file of many persons is divided node by node (`sfumato.release.by_subtree`), unless it has
    a population or a budget, or persons may be suppressed.

    Parameters
    ----------
    table
        The records, which keep the promises as one class.
    owned
        Their persons, alone; the list is emptied, so that nobody need hold them.
    constraints, budgets
        The promises.
    manifest
        What to do.
    original_persons
        Number of persons before any was suppressed: what the limit is a share of.
    population
        The persons that the file's come from, where they are known.
    upper
        The most persons of a file that is not large, and of its nodes that are divided alone.
    progress
        Told how far the work is.
    """
    options = manifest.options
    left = owned[0].persons - original_persons * (1 - options.suppress)
    most = max(int(np.floor(left + 1e-9)), 0)
    if options.recoding is Recoding.FULL_DOMAIN:
        owned.clear()
        return _by_levels(table, constraints, budgets, most, progress)
    if population is None and not budgets and options.suppress == 0:
        return _of_all(table, _partition(table, owned, constraints, manifest, upper, progress))
    persons = owned.pop()
    register = None if population is None else population.register
    sets = options.form is Form.SET or population is not None
    space = partial(loss_space, quasi_identifiers=table.quasi_identifiers, sets=sets)
    promises = constraints, budgets
    error = partial(released_error, manifest=manifest, register=register)
    parting = partial(suppress_for_others, persons_of=partial(persons_of, population=population))

    def median(some: PersonTable) -> Partition:
        loss = space(some) if budgets else None
        return grow(some, *promises, split=options.split, loss=loss, progress=progress)

    parted = parting(table, persons, median, error, *promises, most)
    if options.cut is Cut.SEARCH:
        price = parted.partition.price

        def sought(some: PersonTable) -> Partition:
            return search(some, space(some), *promises, price=price, progress=progress)

        found = parting(table, persons, sought, error, *promises, most)
        parted = min(found, parted, key=lambda each: float(rounded(np.array([each.error]))[0]))
    remaining = table if len(parted.rows) == table.records else table.take(parted.rows)
    partition = parted.partition
    return Divided(
        parted.rows,
        remaining,
        parted.persons,
        partition.class_of_person[remaining.person],
        partition.classes,
        _tree_of(partition, parted.persons.records),
        class_of_register=partition.class_of_register,
        beside=beside_of(remaining, partition, register),
    )


def _partition(
    table: Table,
    owned: list[PersonTable],
    constraints: Sequence[Constraint],
    manifest: Manifest,
    upper: int,
    progress: Progress,
) -> Partition:
    """The classes of all persons, by promises about every class alone."""
    if owned[0].persons > upper:
        return partition_by_subtree(
            table, owned, constraints, manifest, upper=upper, progress=progress
        )
    return partition_of_persons(table, owned, constraints, manifest, whole=True, progress=progress)


def _of_all(table: Table, partition: Partition) -> Divided:
    """All records in the classes of a partition without a population."""
    records = np.bincount(table.person)
    return Divided(
        np.arange(table.records),
        table,
        PersonTable(records, (), (), {}),
        partition.class_of_person[table.person],
        partition.classes,
        _tree_of(partition, records),
    )


def _tree_of(partition: Partition, records: npt.NDArray[np.int64]) -> TreeClasses:
    gidr = partition.gidr(records)
    return TreeClasses(partition.classes, float(gidr.max()), float(gidr.mean()))


def _by_levels(
    table: Table,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    most: int,
    progress: Progress,
) -> Divided:
    found = recode(table, constraints, budgets, most, progress)
    remaining = shown_at(table.take(found.rows), found.levels)
    pairs = remaining.person.astype(np.int64) * found.classes + found.class_of
    pair, counts = np.unique(pairs, return_counts=True)
    largest = np.zeros(found.classes, dtype=np.int64)
    np.maximum.at(largest, pair % found.classes, counts)
    gidr = largest / np.bincount(found.class_of)
    return Divided(
        found.rows,
        remaining,
        person_table(remaining),
        found.class_of,
        found.classes,
        TreeClasses(found.classes, float(gidr.max()), float(gidr.mean())),
        found.levels,
    )
