"""Recode every quasi-identifier to one level for all records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.release.full_domain.check import Checker, Recodings, count_split, recodings
from sfumato.release.full_domain.lattice import Found, search_lattice
from sfumato.release.full_domain.result import ColumnLevel, Levels
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.table.table import CodedColumn, Codes, Table

MOST_WORK = 300_000_000
"""Records that are counted before the search is cut short."""
LEAST_CHECKED = 200
"""Nodes that are checked however large the file is."""


@dataclass(frozen=True, eq=False)
class Recoded:
    """The classes of the levels that were found.

    Attributes
    ----------
    rows
        Ascending rows of the table that remain.
    class_of
        Class of each remaining record.
    classes
        Number of classes.
    levels
        What was found.
    """

    rows: npt.NDArray[np.int64]
    class_of: Codes
    classes: int
    levels: Levels


def recode(
    table: Table,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget],
    most_suppressed: int = 0,
    progress: Progress = silent,
) -> Recoded:
    """Choose the levels of least loss whose classes keep all promises.

    The loss is the NCP of all cells, weighted by the columns' weights, suppressed records
    counted as 1. Persons in classes that break a promise are suppressed with all of their
    records, as long as they are few enough.

    Parameters
    ----------
    table
        The records, every quasi-identifier with a hierarchy. As one class they keep the
        promises.
    constraints, budgets
        Promises about every class and about the whole.
    most_suppressed
        Number of persons that may be suppressed.
    progress
        Told when the search begins and ends.
    """
    progress("partition", 0.0)
    columns = [recodings(column) for column in table.quasi_identifiers]
    checker = Checker(table, columns, constraints, budgets, most_suppressed)
    found = search_lattice(
        checker.losses(),
        checker.added_loss,
        monotone=checker.monotone,
        most_checked=max(LEAST_CHECKED, MOST_WORK // table.records),
    )
    rows = checker.remaining(found.node)
    assert rows is not None
    class_of, classes = checker.classes(found.node, rows)
    progress("partition", 1.0)
    split = count_split(table.person[rows], class_of, classes)
    return Recoded(rows, class_of, classes, _levels(found, columns, split))


def shown_at(table: Table, levels: Levels) -> Table:
    """The table whose hierarchies show no class below the levels that were found.

    Parameters
    ----------
    table
        Records with the hierarchies that were recoded.
    levels
        The level of each quasi-identifier.
    """
    columns: list[CodedColumn] = []
    for column, chosen in zip(table.quasi_identifiers, levels.columns, strict=True):
        assert column.hierarchy is not None
        floor = replace(column.hierarchy, floor=chosen.level)
        columns.append(replace(column, hierarchy=floor))
    return replace(table, quasi_identifiers=tuple(columns))


def _levels(found: Found, columns: Sequence[Recodings], split: int) -> Levels:
    chosen = tuple(
        ColumnLevel(column.name, column.levels[level], column.height, column.labels[level])
        for column, level in zip(columns, found.node, strict=True)
    )
    return Levels(
        chosen,
        found.loss,
        found.exact,
        found.bound,
        math.prod(len(column.levels) for column in columns),
        found.checked,
        split,
    )
