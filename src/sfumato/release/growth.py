"""The state of a partitioning: nodes are cut level by level, every order divided with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress
from sfumato.kernels import node_counts
from sfumato.release.candidates import Candidates, Nodes
from sfumato.release.loss import LossSpace
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable, take_persons
from sfumato.release.population.regions import CutPlaces, cut_places, whole_cells
from sfumato.release.population.shadow import Shadow
from sfumato.release.promises.promise import Bounded, Budget, Constraint
from sfumato.release.prune import Grown
from sfumato.release.register.segments import joined_segments
from sfumato.release.sides import counted_sides, sides_of, summary_of_nodes
from sfumato.risk.classes import ClassSummary

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
WITHOUT_PERSONS = frozenset({"population"})
"""What constraints may need that is counted without a look at the file's persons."""
WORTH_MOVING = 50_000
"""Persons of whom more do not fit into a cache, so that it pays to number them by node."""
SHRUNK = 16
"""How much smaller the nodes are when persons are numbered by node again."""
NEAR = 4096
"""Persons of a node that are near enough to each other in memory."""


class Growth:
    """Persons, their orders, and the levels of nodes so far.

    Persons stay in one order per attribute that every cut divides stably, so that nothing is
    sorted at a node and no table is copied.

    Attributes
    ----------
    persons
        What is known of the persons, as they are numbered now.
    orders
        One order of the persons per ordered axis; one by tie where there is none.
    cheap, costly
        Constraints that need numbers of records and persons only, and the others.
    loss
        The persons' share in the loss, by which budgets are spent.
    shadow
        A register's persons in the same nodes; ``None`` without one.
    """

    def __init__(
        self,
        persons: PersonTable,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        progress: Progress,
        loss: LossSpace | None = None,
    ) -> None:
        self.persons = replace(persons, ties=None)
        self.cheap = [each for each in constraints if each.needs <= WITHOUT_PERSONS]
        self.costly = [each for each in constraints if not each.needs <= WITHOUT_PERSONS]
        self.needs = frozenset[str]().union(*(each.needs for each in constraints))
        self.budgets = budgets
        self.progress = progress
        self.loss = loss
        self.shadow = None if persons.register is None else Shadow(persons.register)
        self.levels: list[Nodes] = []
        self.parents: list[Ints] = []
        self.places: list[CutPlaces] = []
        self.grown = Grown()
        self.orders = persons.orders()
        self.side = np.zeros(persons.persons, dtype=np.int8)
        self.ids = np.arange(persons.persons, dtype=np.int32)
        self.drawn_below = persons.persons
        self.divisible: npt.NDArray[np.bool_] | None = None
        self.most_shared: dict[str, Ints] = {}
        self.starts: list[Ints] = [np.zeros(1, dtype=np.int64)]

    def root(self) -> Nodes:
        """All persons as one node."""
        count, records = self.persons.persons, self.persons.records
        nodes = Nodes(
            np.zeros(1, dtype=np.int64),
            np.full(1, count),
            records.sum(keepdims=True),
            (records**2).sum(keepdims=True),
        )
        if self.shadow is not None:
            everybody = np.array([self.shadow.members.persons])
            nodes = replace(nodes, register=self.shadow.root(), population=everybody)
        self.limits = [
            budget.limit(int(nodes.records[0]), self.persons.persons) for budget in self.budgets
        ]
        self.keep(nodes, np.zeros(1, dtype=np.int64))
        return nodes

    def descend(self, nodes: Nodes, chosen: Candidates) -> Nodes:
        """Cut nodes for good, one cut each, and give their children."""
        if self.persons.whole_cells:
            self.places.append(cut_places(self.persons, self.orders, nodes, chosen))
        children = self.cut(nodes, chosen)
        self.keep(children, np.repeat(chosen.node, 2))
        return children

    def keep(self, nodes: Nodes, parents: Ints) -> None:
        """Remember a level, as far as it is needed to find the classes at the end."""
        self.starts.append(nodes.low[1::2])
        if self.shadow is not None or self.budgets or self.persons.whole_cells:
            self.levels.append(replace(nodes, divisible=None, most_shared={}))
            self.parents.append(parents)
        if self.budgets:
            self.add_level(self.grown, nodes, parents)

    def add_level(self, grown: Grown, nodes: Nodes, parents: Ints) -> None:
        """Add the losses and the costs of a level's nodes."""
        assert self.loss is not None
        losses = self.loss.of_classes(self.orders[0], nodes.low, nodes.high, self.persons.records)
        classes = summary_of_nodes(nodes)
        costs = [
            budget.spent(classes) / limit
            for budget, limit in zip(self.budgets, self.limits, strict=True)
        ]
        grown.add(parents, losses, np.max(costs, axis=0))

    def tell(self, nodes: Nodes) -> None:
        """Tell the share of persons who are in no open node."""
        open_ = int((nodes.high - nodes.low).sum())
        self.progress("partition", 1 - open_ / self.persons.persons)

    def partition(self) -> Partition:
        """The classes, from where they start."""
        if not self.levels:
            return self._starting_at(np.concatenate(self.starts), len(self.starts) - 2)
        if self.budgets:
            leaves, price = self.grown.within_budget()
        else:
            empty = np.empty(0, dtype=np.int64)
            leaves, price = [], 0.0
            for nodes, parents in zip(self.levels, [*self.parents[1:], empty], strict=True):
                leaves.append(np.setdiff1d(np.arange(len(nodes)), parents))
        ends = [nodes.take(some) for nodes, some in zip(self.levels, leaves, strict=True)]
        depth = max(level for level, some in enumerate(leaves) if len(some))
        lows = np.concatenate([each.low for each in ends])
        found = replace(self._starting_at(lows, depth), price=price)
        if self.shadow is not None:
            segments = joined_segments([each.register for each in ends], np.argsort(lows))
            own = found.class_of_person[self.ids]
            found = replace(
                found, class_of_register=self.shadow.classes(self.persons, segments, own)
            )
        if self.persons.whole_cells:
            place = np.argsort(np.argsort(lows))
            number = np.split(place, np.cumsum([len(some) for some in leaves])[:-1])
            cells = whole_cells(self.persons, self.parents, self.places, leaves, number)
            found = replace(found, cells=cells)
        return found

    def _starting_at(self, starts: Ints, depth: int) -> Partition:
        count = self.persons.persons
        first = np.zeros(count, dtype=np.int32)
        first[starts] = 1
        class_of_person = np.empty(count, dtype=np.int32)
        class_of_person[self.ids[self.orders[0]]] = np.cumsum(first) - 1
        return Partition(class_of_person, int(first.sum()), depth)

    def draw_together(self, nodes: Nodes) -> None:
        """Number the persons by node, so that what is known of a node's persons lies together.

        Of many persons who are numbered as they came, each step along an order is a jump in
        memory. It changes no result.
        """
        size = int((nodes.high - nodes.low).mean())
        if self.persons.persons <= WORTH_MOVING or size > self.drawn_below:
            return
        self.drawn_below = size // SHRUNK if size > NEAR else 0
        order = self.orders[0]
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        owned = [self.persons]
        del self.persons
        self.persons = take_persons(owned, order)
        self.orders = [place[each] for each in self.orders]
        self.ids = self.ids[order]
        if self.loss is not None:
            self.loss = self.loss.take(order)

    def meets_costly(self, nodes: Nodes, cuts_tried: Candidates) -> npt.NDArray[np.bool_]:
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

    def _mark(self, nodes: Nodes, chosen: Candidates) -> None:
        """Set the side of every person of ``nodes``, each cut as ``chosen`` says."""
        ordered = self.persons.ordered
        for axis in np.unique(chosen.axis).tolist():
            here = np.flatnonzero(chosen.axis == axis)
            some = nodes.take(here)
            if axis < len(ordered):
                end = some.low + chosen.left[here]
                node_counts.mark_cut(self.orders[axis], some.low, some.high, end, self.side)
            else:
                member = self.persons.indicators[axis - len(ordered)].member
                column = chosen.column[here]
                node_counts.mark_members(
                    self.orders[0], some.low, some.high, column, member, self.side
                )

    def cut(self, nodes: Nodes, chosen: Candidates) -> Nodes:
        """Divide every order, and give the two children of each node, left ones first."""
        register = None
        if self.shadow is not None:
            register = self.shadow.cut(self.persons, self.orders, nodes, chosen)
        self._mark(nodes, chosen)
        for axis, order in enumerate(self.orders):
            if axis == 0 or self.divisible is None:
                node_counts.partition(order, nodes.low, nodes.high, self.side)
            else:
                some = nodes.take(self.divisible[:, axis])
                node_counts.partition(order, some.low, some.high, self.side)
        middle = nodes.low + chosen.left
        sides = sides_of(nodes, replace(chosen, node=np.arange(len(nodes))))
        return Nodes(
            np.column_stack([nodes.low, middle]).ravel(),
            np.column_stack([middle, nodes.high]).ravel(),
            sides.records,
            sides.squares,
            None if self.divisible is None else np.repeat(self.divisible, 2, axis=0),
            self.most_shared,
            register,
            None if register is None else sides.population,
        )


def _surely_met(constraints: Sequence[Constraint], sides: ClassSummary) -> npt.NDArray[np.bool_]:
    """Cuts whose sides meet all constraints if ``affiliation`` holds upper bounds."""
    met = np.full(sides.classes // 2, bool(sides.affiliation))
    for constraint in constraints:
        if not isinstance(constraint, Bounded):
            return np.zeros_like(met)
        met &= constraint.surely_met(sides).reshape(-1, 2).all(axis=1)
    return met
