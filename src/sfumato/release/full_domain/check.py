"""Whether the classes of a choice of levels keep the promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.engines.embedded.counts import group
from sfumato.hierarchies import Hierarchy
from sfumato.kernels.key_numbering import number_by_first_appearance
from sfumato.release.full_domain.lattice import Node
from sfumato.release.promises.promise import Budget, Constraint, ordered_attributes, overspent
from sfumato.risk.class_measures import ranks_of
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.table.table import MISSING, CodedColumn, Codes, Table

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
MERGED = frozenset({"g_balance", "k", "pid_k", "l"})
"""Promises that two classes keep together if each does, even where they share persons."""
GROWING = frozenset({"k", "pid_k", "l"})
"""Promises that a class keeps with whatever is added to it."""
_Array = TypeVar("_Array", Codes, Floats)


@dataclass(frozen=True, eq=False)
class Recodings:
    """A column at each of its levels; levels with the labels of the one below are left out.

    Attributes
    ----------
    name
        Name of the column.
    height
        Level of the root of its hierarchy.
    levels
        The levels of its hierarchy.
    labels
        Number of labels of each level.
    label_of
        Index of each code's label, the last entry that of a missing value (-1 is missing);
        shape (domain size + 1,) each.
    penalty_of
        NCP of each code's label, the last entry that of a missing value.
    """

    name: str
    height: int
    levels: tuple[int, ...]
    labels: tuple[int, ...]
    label_of: tuple[Codes, ...]
    penalty_of: tuple[Floats, ...]


def recodings(column: CodedColumn) -> Recodings:
    """The distinct levels of a column; at the root a missing value counts like any other."""
    hierarchy = column.hierarchy
    assert hierarchy is not None
    sizes = [len(labels) for labels in hierarchy.labels]
    levels = [level for level, size in enumerate(sizes) if level == 0 or size < sizes[level - 1]]
    if column.has_missing and levels[-1] < hierarchy.height:
        levels.append(hierarchy.height)
    return Recodings(
        column.name,
        hierarchy.height,
        tuple(levels),
        tuple(sizes[level] for level in levels),
        tuple(_label_of(hierarchy, level, column.has_missing) for level in levels),
        tuple(_penalty_of(hierarchy, level, column.has_missing) for level in levels),
    )


def _label_of(hierarchy: Hierarchy, level: int, has_missing: bool) -> Codes:
    missing = 0 if has_missing and level == hierarchy.height else MISSING
    return np.append(hierarchy.ancestors[level], missing).astype(np.int32)


def _penalty_of(hierarchy: Hierarchy, level: int, has_missing: bool) -> Floats:
    size = len(hierarchy.leaves)
    if size <= 1:
        return np.zeros(size + 1)
    counts = hierarchy.leaf_counts(level)[hierarchy.ancestors[level]]
    missing = 1.0 if has_missing and level == hierarchy.height else 0.0
    return np.append((counts - 1) / (size - 1), missing)


class Checker:
    """Counts the classes of nodes of the lattice, and who must go for them.

    Parameters
    ----------
    table
        The records.
    columns
        Each quasi-identifier at each of its levels.
    constraints, budgets
        What the classes must keep.
    most_suppressed
        Number of persons that may be suppressed.
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[Recodings],
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        most_suppressed: int,
    ) -> None:
        self.table = table
        self.columns = columns
        self.constraints = constraints
        self.budgets = budgets
        self.most_suppressed = most_suppressed
        needed = frozenset[str]().union(*(each.needs for each in constraints))
        costly = bool(needed - {"fewest_sharing"})
        self.sensitive = {each.name: each.codes for each in table.sensitive} if costly else {}
        ordered = ordered_attributes([*constraints], table.schema.sensitive)
        self.ranks = ranks_of(table, ordered) if costly else {}
        self.weights = np.array([each.weight for each in table.quasi_identifiers])
        self.weights = self.weights / self.weights.sum()

    @property
    def monotone(self) -> bool:
        """Whether a node keeps what was asked as soon as one below it does."""
        names = {each.name for each in self.constraints}
        if self.most_suppressed:
            return names <= GROWING and not self.budgets
        return names <= MERGED or not self.split_persons((0,) * len(self.columns))

    def classes(self, node: Node, rows: Rows | None = None) -> tuple[Codes, int]:
        """The class of each record, or of those in ``rows``, and the number of classes."""
        codes = [
            column.label_of[level][_of(each.codes, rows)] for column, level, each in self._at(node)
        ]
        return group(codes, [column.labels[level] for column, level, _ in self._at(node)])

    def split_persons(self, node: Node) -> int:
        """Number of persons who have records in several classes."""
        class_of, classes = self.classes(node)
        return count_split(self.table.person, class_of, classes)

    def remaining(self, node: Node) -> Rows | None:
        """Rows that remain when the persons in classes that break a promise are suppressed.

        Ascending; ``None`` where they are too many, or a budget is overspent.
        """
        rows: Rows | None = None
        person = self.table.person
        gone = np.zeros(self.table.persons, dtype=bool)
        while True:
            class_of, classes = self.classes(node, rows)
            summary = summarize(
                class_of,
                classes,
                _of(person, rows),
                {name: _of(codes, rows) for name, codes in self.sensitive.items()},
                ranks=self.ranks,
            )
            met = self._met(summary)
            if met.all():
                break
            gone[_of(person, rows)[~met[class_of]]] = True
            if np.count_nonzero(gone) > self.most_suppressed or gone.all():
                return None
            rows = np.flatnonzero(~gone[person])
        left = int(self.table.persons - np.count_nonzero(gone))
        if any(overspent(each, summary, left) for each in self.budgets):
            return None
        return np.arange(self.table.records) if rows is None else rows

    def added_loss(self, node: Node) -> float | None:
        """What suppression adds to the loss of a node; ``None`` where it breaks a promise."""
        rows = self.remaining(node)
        if rows is None:
            return None
        if len(rows) == self.table.records:
            return 0.0
        gone = np.ones(self.table.records, dtype=bool)
        gone[rows] = False
        spared: float = sum(
            float(weight) * float((1 - column.penalty_of[level][each.codes[gone]]).sum())
            for weight, (column, level, each) in zip(self.weights, self._at(node), strict=True)
        )
        return spared / self.table.records

    def losses(self) -> list[Floats]:
        """The weighted NCP of each level of each column, over all records."""
        return [
            weight * np.array([penalty[each.codes].mean() for penalty in column.penalty_of])
            for weight, column, each in zip(
                self.weights, self.columns, self.table.quasi_identifiers, strict=True
            )
        ]

    def _at(self, node: Node) -> list[tuple[Recodings, int, CodedColumn]]:
        return list(zip(self.columns, node, self.table.quasi_identifiers, strict=True))

    def _met(self, summary: ClassSummary) -> npt.NDArray[np.bool_]:
        met = np.ones(summary.classes, dtype=bool)
        for constraint in self.constraints:
            met &= constraint.met(summary)
        return met


def count_split(person: Codes, class_of: Codes, classes: int) -> int:
    """Number of persons who have records in several classes.

    Parameters
    ----------
    person, class_of
        Person and class of each record; shape (records,).
    classes
        Number of classes.
    """
    pair, pairs = number_by_first_appearance(
        person.astype(np.int64) * classes + class_of, (int(person.max()) + 1) * classes
    )
    owner = np.empty(pairs, dtype=np.int64)
    owner[pair] = person
    return int(np.count_nonzero(np.bincount(owner) > 1))


def _of(values: _Array, rows: Rows | None) -> _Array:
    return values if rows is None else values[rows]
