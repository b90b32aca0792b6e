"""Divide the records into classes: by the tree, or by one level for all records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.release.constraints import Budget, Constraint
from sfumato.release.full_domain import Levels, recode, shown_at
from sfumato.release.generalise import generalised
from sfumato.release.growth import Partition
from sfumato.release.loss import loss_space
from sfumato.release.manifest import Manifest
from sfumato.release.options import Cut, Recoding
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.released import Form
from sfumato.release.result import TreeClasses
from sfumato.release.search import search
from sfumato.release.suppression import suppress_for_others
from sfumato.release.tree import grow
from sfumato.release.utility.normalized_error import normalized_error
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
        The records that remain, and their persons.
    class_of
        Class of each of them.
    classes
        Number of classes.
    tree
        The classes before those that look the same become one.
    levels
        The levels that all records show; ``None`` for the tree.
    """

    rows: npt.NDArray[np.int64]
    table: Table
    persons: PersonTable
    class_of: Codes
    classes: int
    tree: TreeClasses
    levels: Levels | None = None


def divide(
    table: Table,
    persons: PersonTable,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    manifest: Manifest,
    original_persons: int,
    progress: Progress = silent,
) -> Divided:
    """Divide the records as the manifest says; suppress up to its limit where that gains.

    Parameters
    ----------
    table, persons
        The records, which keep the promises as one class, and their persons.
    constraints, budgets
        The promises.
    manifest
        What to do.
    original_persons
        Number of persons before any was suppressed: what the limit is a share of.
    progress
        Told how far the work is.
    """
    options = manifest.options
    left = persons.persons - original_persons * (1 - options.suppress)
    most = max(int(np.floor(left + 1e-9)), 0)
    if options.recoding is Recoding.FULL_DOMAIN:
        return _by_levels(table, constraints, budgets, most, progress)
    median = partial(
        grow, constraints=constraints, budgets=budgets, split=options.split, progress=progress
    )
    error = partial(released_error, manifest=manifest)
    parted = suppress_for_others(table, persons, median, error, constraints, budgets, most)
    if options.cut is Cut.SEARCH:
        sought = partial(
            _search,
            table=table,
            promises=(constraints, budgets),
            form=options.form,
            progress=progress,
        )
        found = suppress_for_others(table, persons, sought, error, constraints, budgets, most)
        parted = min(found, parted, key=lambda each: each.error)
    remaining = table if len(parted.rows) == table.records else table.take(parted.rows)
    partition = parted.partition
    gidr = partition.gidr(parted.persons.records)
    return Divided(
        parted.rows,
        remaining,
        parted.persons,
        partition.class_of_person[remaining.person],
        partition.classes,
        TreeClasses(partition.classes, float(gidr.max()), float(gidr.mean())),
    )


def _search(
    persons: PersonTable,
    *,
    table: Table,
    promises: tuple[Sequence[Constraint], Sequence[Budget]],
    form: Form,
    progress: Progress,
) -> Partition:
    loss = loss_space(persons, table.quasi_identifiers, sets=form is Form.SET)
    return search(persons, loss, *promises, progress=progress)


def released_error(table: Table, class_of: Codes, classes: int, manifest: Manifest) -> float:
    """ANE of a release of these classes, those with the same cells being one.

    Parameters
    ----------
    table
        The records.
    class_of
        Class of each record.
    classes
        Number of classes.
    manifest
        What to do.
    """
    _, class_of, classes = generalised(table, class_of, classes, manifest)
    columns = table.quasi_identifiers
    errors = [normalized_error(each, class_of, classes, table.person)[0] for each in columns]
    return float(np.average(errors, weights=[each.weight for each in columns]))


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
