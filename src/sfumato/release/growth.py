"""The state of a partitioning: nodes are cut level by level, every order divided with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress
from sfumato.kernels import cuts
from sfumato.kernels.choose import worth_compiling
from sfumato.release.candidates import Candidates, Nodes
from sfumato.release.constraints import TOLERANCE, Bounded, Budget, Constraint
from sfumato.release.persons import PersonTable, take_persons
from sfumato.release.sides import counted_sides, sides_of, summary_of
from sfumato.risk.classes import ClassSummary

Ints = npt.NDArray[np.int64]
SHRUNK = 16
"""How much smaller the nodes are when persons are numbered by node again."""
NEAR = 4096
"""Persons of a node that are near enough to each other in memory."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Which class each person belongs to.

    Attributes
    ----------
    class_of_person
        Index of the class of each person.
    classes
        Number of classes.
    depth
        Number of levels of cuts.
    """

    class_of_person: npt.NDArray[np.int32]
    classes: int
    depth: int

    def gidr(self, records: Ints) -> npt.NDArray[np.float64]:
        """GIDR of each class (paper 003, Section 7), from the persons' numbers of records."""
        largest = np.zeros(self.classes, dtype=np.int64)
        np.maximum.at(largest, self.class_of_person, records)
        risk: npt.NDArray[np.float64] = largest / np.bincount(self.class_of_person, records)
        return risk


class Growth:
    """Persons, their orders, and what is left of the budgets.

    Persons stay in one order per attribute that every cut divides stably, so that nothing is
    sorted at a node and no table is copied.

    Attributes
    ----------
    persons
        What is known of the persons, as they are numbered now.
    orders
        One order of the persons per ordered axis; one in any order where there is none.
    cheap, costly
        Constraints that need numbers of records and persons only, and the others.
    """

    def __init__(
        self,
        persons: PersonTable,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        progress: Progress,
    ) -> None:
        self.persons = persons
        self.cheap = [each for each in constraints if not each.needs]
        self.costly = [each for each in constraints if each.needs]
        self.needs = frozenset[str]().union(*(each.needs for each in constraints))
        self.budgets = budgets
        self.progress = progress
        self.orders = [axis.order(persons.records) for axis in persons.ordered]
        if not self.orders:
            self.orders = [np.arange(persons.persons, dtype=np.int32)]
        self.side = np.zeros(persons.persons, dtype=np.int8)
        self.ids = np.arange(persons.persons, dtype=np.int32)
        self.drawn_below = persons.persons
        self.divisible: npt.NDArray[np.bool_] | None = None
        self.most_shared: dict[str, Ints] = {}
        self.starts = [np.zeros(1, dtype=np.int64)]

    def root(self) -> Nodes:
        """All persons as one node; it is paid from the budgets."""
        count, records = self.persons.persons, self.persons.records
        nodes = Nodes(
            np.zeros(1, dtype=np.int64),
            np.full(1, count),
            records.sum(keepdims=True),
            (records**2).sum(keepdims=True),
        )
        whole = summary_of(nodes.records, nodes.high, nodes.squares)
        self.unspent = [
            budget.limit(int(nodes.records[0]), count) - float(budget.spent(whole)[0])
            for budget in self.budgets
        ]
        return nodes

    def tell(self, nodes: Nodes) -> None:
        """Tell the share of persons who are in no open node."""
        open_ = int((nodes.high - nodes.low).sum())
        self.progress("partition", 1 - open_ / self.persons.persons)

    def partition(self) -> Partition:
        """The classes, from where the nodes that were cut start."""
        count = self.persons.persons
        first = np.zeros(count, dtype=np.int32)
        first[np.concatenate(self.starts)] = 1
        class_of_person = np.empty(count, dtype=np.int32)
        class_of_person[self.ids[self.orders[0]]] = np.cumsum(first) - 1
        return Partition(class_of_person, int(first.sum()), len(self.starts) - 1)

    def draw_together(self, nodes: Nodes) -> npt.NDArray[np.int32] | None:
        """Number the persons by node, so that what is known of a node's persons lies together.

        Of many persons who are numbered as they came, each step along an order is a jump in
        memory. It changes no result.

        Returns
        -------
        array or None
            The persons in their new order; ``None`` where they keep their numbers.
        """
        size = int((nodes.high - nodes.low).mean())
        if not worth_compiling(self.persons.persons) or size > self.drawn_below:
            return None
        self.drawn_below = size // SHRUNK if size > NEAR else 0
        order = self.orders[0]
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        owned = [self.persons]
        del self.persons
        self.persons = take_persons(owned, order)
        self.orders = [place[each] for each in self.orders]
        self.ids = self.ids[order]
        return order

    def first_that_meets(self, nodes: Nodes, candidates: Candidates, tried: Ints) -> Ints:
        """Of each node's candidates from ``tried`` on, the first whose sides meet everything."""
        ends = np.append(tried[1:], len(candidates.node))
        accepted = []
        while len(tried):
            met = self._meets_costly(nodes, candidates.take(tried))
            accepted.append(tried[met])
            going_on = ~met & (tried + 1 < ends)
            tried, ends = tried[going_on] + 1, ends[going_on]
        return np.sort(np.concatenate(accepted)) if accepted else tried

    def _meets_costly(self, nodes: Nodes, cuts_tried: Candidates) -> npt.NDArray[np.bool_]:
        """Whether both sides of each cut meet everything; counted where bounds do not tell."""
        shared = {
            name: np.repeat(each[cuts_tried.node], 2) for name, each in nodes.most_shared.items()
        }
        met = _surely_met(self.costly, replace(sides_of(nodes, cuts_tried), affiliation=shared))
        unsure = np.flatnonzero(~met)
        sides = self._counted(nodes, cuts_tried.take(unsure))
        verdicts = np.ones(len(unsure), dtype=bool)
        for constraint in self.costly:
            verdicts &= constraint.met(sides).reshape(-1, 2).all(axis=1)
        met[unsure] = verdicts
        for name, each in shared.items():
            if name in sides.affiliation:
                each.reshape(-1, 2)[unsure] = sides.affiliation[name].reshape(-1, 2)
            self.most_shared[name].reshape(-1, 2)[cuts_tried.node] = each.reshape(-1, 2)
        return met

    def _counted(self, nodes: Nodes, cuts_tried: Candidates) -> ClassSummary:
        """The sides of each cut with all that the constraints need."""
        chosen = nodes.take(cuts_tried.node)
        self._mark(chosen, cuts_tried)
        sides = sides_of(nodes, cuts_tried)
        return counted_sides(self.persons, self.needs, sides, self.orders[0], chosen, self.side)

    def affordable(
        self, nodes: Nodes, candidates: Candidates, keys: npt.NDArray[np.float64], tried: Ints
    ) -> Ints:
        """The cuts that the budgets still pay for, those of smallest key first."""
        whole = summary_of(nodes.records, nodes.high - nodes.low, nodes.squares)
        by_key = tried[np.argsort(keys[tried], kind="stable")]
        costs = []
        for budget, unspent in zip(self.budgets, self.unspent, strict=True):
            chosen = candidates.take(by_key)
            after = budget.spent(sides_of(nodes, chosen)).reshape(-1, 2).sum(axis=1)
            costs.append(after - budget.spent(whole)[chosen.node])
            paid = np.cumsum(costs[-1]) <= unspent + TOLERANCE * abs(unspent)
            by_key, costs = by_key[paid], [cost[paid] for cost in costs]
        self.unspent = [
            unspent - float(cost.sum()) for unspent, cost in zip(self.unspent, costs, strict=True)
        ]
        return np.sort(by_key)

    def _mark(self, nodes: Nodes, chosen: Candidates) -> None:
        """Set the side of every person of ``nodes``, each cut as ``chosen`` says."""
        ordered = self.persons.ordered
        for axis in np.unique(chosen.axis).tolist():
            here = np.flatnonzero(chosen.axis == axis)
            some = nodes.take(here)
            if axis < len(ordered):
                end = some.low + chosen.left[here]
                cuts.mark_cut(self.orders[axis], some.low, some.high, end, self.side)
            else:
                member = self.persons.indicators[axis - len(ordered)].member
                column = chosen.column[here]
                cuts.mark_members(self.orders[0], some.low, some.high, column, member, self.side)

    def cut(self, nodes: Nodes, chosen: Candidates) -> Nodes:
        """Divide every order, and give the two children of each node, left ones first."""
        self._mark(nodes, chosen)
        for axis, order in enumerate(self.orders):
            if axis == 0 or self.divisible is None:
                cuts.partition(order, nodes.low, nodes.high, self.side)
            else:
                some = nodes.take(self.divisible[:, axis])
                cuts.partition(order, some.low, some.high, self.side)
        middle = nodes.low + chosen.left
        sides = sides_of(nodes, replace(chosen, node=np.arange(len(nodes))))
        return Nodes(
            np.column_stack([nodes.low, middle]).ravel(),
            np.column_stack([middle, nodes.high]).ravel(),
            sides.records,
            sides.squares,
            None if self.divisible is None else np.repeat(self.divisible, 2, axis=0),
            self.most_shared,
        )


def _surely_met(constraints: Sequence[Constraint], sides: ClassSummary) -> npt.NDArray[np.bool_]:
    """Cuts whose sides meet all constraints if ``affiliation`` holds upper bounds."""
    met = np.full(sides.classes // 2, bool(sides.affiliation))
    for constraint in constraints:
        if not isinstance(constraint, Bounded):
            return np.zeros_like(met)
        met &= constraint.surely_met(sides).reshape(-1, 2).all(axis=1)
    return met
