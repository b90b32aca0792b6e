"""Every cut that the tree considers, node by node, as Sections 4 and 5 tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.release.candidates import Candidates, Nodes, find_candidates, ranked
from sfumato.release.constraints import Constraint
from sfumato.release.persons import PersonTable, person_table
from sfumato.release.splits import Split, g_changes
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.table.table import Table

Rows = npt.NDArray[np.int64]
DEEPER = {"D": ("t1", "t2")}
"""The paper's names of the sides of the whole dataset; below, a digit is added."""


@dataclass(frozen=True, eq=False)
class Considered:
    """One candidate cut of a node.

    Attributes
    ----------
    node
        Name of the node.
    attribute
        The quasi-identifier.
    g_change, variance, ratio
        Δg, v and r of the cut (Equations 4 and 7).
    left, right
        Rows of the two sides in the file.
    outcome
        ``"cut"``, ``"undone"``, or ``"not tried"`` where an earlier one was kept.
    """

    node: str
    attribute: str
    g_change: float
    variance: float
    ratio: float
    left: Rows
    right: Rows
    outcome: str


@dataclass(frozen=True, eq=False)
class Node:
    """A subset of the persons.

    Attributes
    ----------
    name
        The paper's name: D, t1, t2, t21, ...
    rows
        Its rows in the file.
    cuts
        Its candidate cuts, those of smallest ratio first.
    """

    name: str
    rows: Rows
    cuts: tuple[Considered, ...]

    @property
    def cut_by(self) -> str | None:
        """The attribute that it is cut by, ``None`` for a final one."""
        return next((each.attribute for each in self.cuts if each.outcome == "cut"), None)


def walk(
    table: Table, constraints: Sequence[Constraint], rows: Rows | None = None, name: str = "D"
) -> Iterator[Node]:
    """The nodes of the tree, each before its sides, left before right.

    Meant for small tables: it takes each node's records out of the file.

    Parameters
    ----------
    table
        The encoded file.
    constraints
        What both sides of a cut must keep.
    rows
        Rows of the node to start with; all without it.
    name
        Its name.
    """
    rows = np.arange(table.records) if rows is None else rows
    node = Node(name, rows, tuple(_considered(table, rows, constraints, name)))
    yield node
    for each in node.cuts:
        if each.outcome == "cut":
            sides = DEEPER.get(name, (f"{name}1", f"{name}2"))
            yield from walk(table, constraints, each.left, sides[0])
            yield from walk(table, constraints, each.right, sides[1])


def summary_of(table: Table, *sets: Rows) -> ClassSummary:
    """The numbers of sets of rows, each as one class."""
    class_of = np.repeat(np.arange(len(sets), dtype=np.int32), [len(each) for each in sets])
    part = table.take(np.concatenate(sets))
    sensitive = {column.name: column.codes for column in part.sensitive}
    return summarize(class_of, len(sets), part.person, sensitive)


def _considered(
    table: Table, rows: Rows, constraints: Sequence[Constraint], name: str
) -> Iterator[Considered]:
    part = table.take(rows)
    persons = person_table(part)
    whole = persons.whole()
    nodes = Nodes(np.zeros(1, np.int64), whole.persons, whole.records, whole.squares)
    orders = persons.orders()
    cuts, ratios = ranked(
        find_candidates(persons, orders, nodes, Split.BALANCE), nodes, Split.BALANCE
    )
    changes = g_changes(
        whole.records[cuts.node], whole.squares[cuts.node], cuts.left_records, cuts.left_squares
    )
    kept = False
    for index, axis in enumerate(cuts.axis.tolist()):
        goes_right = _goes_right(persons, orders, cuts, index)[part.person]
        sides = rows[~goes_right], rows[goes_right]
        summary = summary_of(table, *sides)
        meets = all(constraint.met(summary).all() for constraint in constraints)
        axes = (*persons.ordered, *persons.indicators)
        yield Considered(
            name,
            table.quasi_identifiers[axes[axis].column].name,
            float(changes[index]),
            float(cuts.variance[index]),
            float(ratios[index]),
            *sides,
            "not tried" if kept else "cut" if meets else "undone",
        )
        kept = kept or meets


def _goes_right(
    persons: PersonTable, orders: list[npt.NDArray[np.int32]], cuts: Candidates, index: int
) -> npt.NDArray[np.bool_]:
    axis = int(cuts.axis[index])
    if axis >= len(orders):
        member = persons.indicators[axis - len(orders)].member
        return np.asarray(member == cuts.column[index])
    right = np.zeros(persons.persons, dtype=bool)
    right[orders[axis][cuts.left[index] :]] = True
    return right
