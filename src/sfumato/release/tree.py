"""The paper's tree: partition persons until no cut keeps the promises.

Kartal & Li 2020 (paper 003), Section 5 and Table 5. Persons stay in one order per attribute
that every cut divides stably, so that nothing is sorted at a node and no table is copied. The
nodes of a level are cut together: O(d·N) per level, O(d·N log N) in all for N persons' records
and d quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.kernels import tree_loops
from sfumato.release import cuts
from sfumato.release.generalisation import ExtraValues
from sfumato.release.person_table import PersonTable, take_persons
from sfumato.release.population_cells import CutPlaces, RegisterTree, cut_places, whole_cells
from sfumato.release.promises.promise import TOLERANCE, Bounded, Budget, Constraint
from sfumato.release.release_options import Split
from sfumato.risk.classes import ClassSummary

LEAST_GAIN = 1e-12
"""A cut must lower the loss by more than this share of it."""
CLOSE = 1e-7
"""Prices relatively nearer than this are one."""
DEAREST = 1e30
"""A price at which nothing is cut that costs anything."""
WITHOUT_PERSONS = frozenset({"population"})
"""What constraints may need that is counted without a look at the file's persons."""
WORTH_MOVING = 50_000
"""Persons of whom more do not fit into a cache, so that it pays to number them by node."""
SHRUNK = 16
"""How much smaller the nodes are when persons are numbered by node again."""
NEAR = 4096
"""Persons of a node that are near enough to each other in memory."""


@dataclass(frozen=True)
class TreeClasses:
    """The tree's own classes, before those with the same released cells became one.

    The published tables count these; a reader of the release sees the merged ones. GIDR is of paper
    003, Section 7.
    """

    classes: int
    max_gidr: float
    avg_gidr: float


@dataclass(frozen=True, eq=False)
class Partition:
    """Which class each person belongs to.

    Attributes
    ----------
    price
        What a budget's last share saved, in loss; 0 where it was not used up.
    class_of_register
        Class that each person of a register looks like, -1 for none; ``None`` without one.
    cells
        The whole cell of each class, where released cells are to reach to the cuts.
    """

    class_of_person: Codes
    classes: int
    depth: int
    price: float = 0.0
    class_of_register: Codes | None = None
    cells: ExtraValues | None = None

    @property
    def population(self) -> Ints:
        """Number of the register's persons who look like each class; empty without one."""
        if self.class_of_register is None:
            return np.empty(0, dtype=np.int64)
        alike = self.class_of_register[self.class_of_register >= 0]
        return np.bincount(alike, minlength=self.classes)

    def gidr(self, records: Ints) -> Floats:
        """GIDR of each class (paper 003, Section 7), from the persons' numbers of records."""
        largest = np.zeros(self.classes, dtype=np.int64)
        np.maximum.at(largest, self.class_of_person, records)
        risk: Floats = largest / np.bincount(self.class_of_person, records)
        return risk

    def measured(self, records: Ints) -> TreeClasses:
        """What is published of the classes, from the persons' numbers of records."""
        gidr = self.gidr(records)
        return TreeClasses(self.classes, float(gidr.max()), float(gidr.mean()))


@dataclass(eq=False)
class GrownTree:
    """A tree, level by level; every list has an array per level, with an entry per node.

    Attributes
    ----------
    parents
        Index of each node's parent in the level above; of the first level whatever.
    costs
        What each node spends as one class, as a share of the budget.
    """

    parents: list[Ints] = field(default_factory=list)
    losses: list[Floats] = field(default_factory=list)
    costs: list[Floats] = field(default_factory=list)

    def add(self, parents: Ints, losses: Floats, costs: Floats) -> None:
        """The next level."""
        self.parents.append(parents)
        self.losses.append(losses)
        self.costs.append(costs)

    def pruned(self, price: float) -> PrunedTree:
        """The subtree of least loss + price x cost below each node; O(nodes)."""
        pruned_tree = PrunedTree([], [], [])
        for level in reversed(range(len(self.losses))):
            loss, cost = self.losses[level], self.costs[level]
            cut = np.zeros(len(loss), dtype=bool)
            if level + 1 < len(self.losses):
                parents = self.parents[level + 1]
                cut[parents] = True
                below = np.bincount(parents, pruned_tree.losses[-1], len(loss))
                spent = np.bincount(parents, pruned_tree.costs[-1], len(loss))
                value = loss + price * cost
                # At equality the node stays whole, so that the rounding of sums never decides what
                # is released.
                cut &= below + price * spent < value - LEAST_GAIN * np.abs(value)
                loss, cost = np.where(cut, below, loss), np.where(cut, spent, cost)
            pruned_tree.cut.append(cut)
            pruned_tree.losses.append(loss)
            pruned_tree.costs.append(cost)
        return PrunedTree(pruned_tree.cut[::-1], pruned_tree.losses[::-1], pruned_tree.costs[::-1])

    def leaves(self, cut: Sequence[Bools]) -> list[Ints]:
        """The classes of each level, by the nodes that stay cut."""
        leaves, open_ = [], np.ones(len(self.losses[0]), dtype=bool)
        for level, cut_here in enumerate(cut):
            if level:
                open_ = open_[self.parents[level]]
            leaves.append(np.flatnonzero(open_ & ~cut_here))
            open_ = open_ & cut_here
        return leaves

    def within_budget(self) -> tuple[list[Ints], float]:
        """The classes of each level that together cost no more than 1, and their price."""
        free = self.pruned(0.0)
        if free.cost <= 1 + TOLERANCE:
            return self.leaves(free.cut), 0.0
        price, dear, cheap = self._price(free)
        # A price finds only subtrees on the lower convex hull of (cost, loss). Between two of them
        # budget may be left over.
        self._fill(dear, cheap)
        return self.leaves(dear.cut), price

    def _price(self, free: PrunedTree) -> tuple[float, PrunedTree, PrunedTree]:
        """A price that fits the budget and the nearest cheaper one that does not."""
        high = max(float(self.losses[0].sum()), LEAST_GAIN)
        low, cheap, dear = 0.0, free, self.pruned(high)
        while dear.cost > 1 + TOLERANCE and high < DEAREST:
            low, cheap = high, dear
            high *= 4
            dear = self.pruned(high)
        # The geometric middle needs a low end above 0.
        low = max(low, high * LEAST_GAIN)
        while high > low * (1 + CLOSE) and cheap.cost != dear.cost:
            # Prices differ by orders of magnitude, so their interval is halved on a logarithmic
            # scale.
            middle = float(np.sqrt(low * high))
            pruned_tree = self.pruned(middle)
            if pruned_tree.cost <= 1 + TOLERANCE:
                high, dear = middle, pruned_tree
            else:
                low, cheap = middle, pruned_tree
        return high, dear, cheap

    def _fill(self, dear: PrunedTree, cheap: PrunedTree) -> None:
        """Keep branches of the cheaper price while the budget pays; ``dear`` is changed."""
        left = 1 + TOLERANCE - dear.cost
        open_ = np.ones(len(self.losses[0]), dtype=bool)
        branches: list[tuple[float, float, int, int]] = []
        for level, (few, many) in enumerate(zip(dear.cut, cheap.cut, strict=True)):
            if level:
                open_ = open_[self.parents[level]]
            more = np.flatnonzero(open_ & many & ~few)
            gain = self.losses[level][more] - cheap.losses[level][more]
            extra = cheap.costs[level][more] - self.costs[level][more]
            worth = gain / np.maximum(extra, LEAST_GAIN)
            numbers = worth.tolist(), extra.tolist(), more.tolist()
            branches += [(*branch, level) for branch in zip(*numbers, strict=True)]
            open_ = open_ & few
        # Most gain for its cost first, the greedy answer to a knapsack. A later, smaller branch may
        # still fit.
        for _, cost, node, level in sorted(branches, reverse=True):
            if cost <= left:
                left -= cost
                self._copy(dear, cheap, level, node)

    def _copy(self, dear: PrunedTree, cheap: PrunedTree, level: int, node: int) -> None:
        """Cut below a node as the cheaper price does."""
        here = np.array([node])
        while True:
            dear.cut[level][here] = cheap.cut[level][here]
            level += 1
            if level == len(dear.cut):
                return
            here = np.flatnonzero(np.isin(self.parents[level], here))
            if not len(here):
                return


@dataclass(eq=False)
class PrunedTree:
    """The best subtree below every node at one price; lists as in `GrownTree`."""

    cut: list[Bools]
    losses: list[Floats]
    costs: list[Floats]

    @property
    def cost(self) -> float:
        """Cost of all classes below the first level."""
        return float(self.costs[0].sum())


class Growth:
    """Persons, their orders, and the levels of nodes so far.

    Persons stay in one order per attribute that every cut divides stably, so that nothing is
    sorted at a node and no table is copied.

    Attributes
    ----------
    orders
        One order of the persons per ordered axis; one by tie where there is none.
    cheap, costly
        Constraints that need numbers of records and persons only, and the others.
    loss
        The persons' share in the loss, by which budgets are spent.
    register_tree
        A register's persons in the same nodes; ``None`` without one.
    """

    def __init__(
        self,
        persons: PersonTable,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        progress: Progress,
        loss: cuts.LossSpace | None = None,
    ) -> None:
        self.persons = replace(persons, ties=None)
        self.constraints = constraints
        self.cheap = [
            constraint for constraint in constraints if constraint.needs <= WITHOUT_PERSONS
        ]
        self.costly = [
            constraint for constraint in constraints if not constraint.needs <= WITHOUT_PERSONS
        ]
        self.needs = frozenset[str]().union(*(constraint.needs for constraint in constraints))
        self.budgets = budgets
        self.progress = progress
        self.loss = loss
        self.register_tree = None if persons.register is None else RegisterTree(persons.register)
        self.levels: list[cuts.Nodes] = []
        self.parents: list[Ints] = []
        self.places: list[CutPlaces] = []
        self.grown = GrownTree()
        self.orders = persons.orders()
        self.side = np.zeros(persons.persons, dtype=np.int8)
        # Persons are renumbered on the way down; the classes are told by their first numbers.
        self.ids = np.arange(persons.persons, dtype=np.int32)
        self.renumber_below = persons.persons
        self.divisible: Bools | None = None
        self.most_shared: dict[str, Ints] = {}
        self.starts: list[Ints] = [np.zeros(1, dtype=np.int64)]

    def root(self) -> cuts.Nodes:
        """All persons as one node."""
        count, records = self.persons.persons, self.persons.records
        nodes = cuts.Nodes(
            np.zeros(1, dtype=np.int64),
            np.full(1, count),
            records.sum(keepdims=True),
            (records**2).sum(keepdims=True),
        )
        if self.register_tree is not None:
            everybody = np.array([self.register_tree.members.persons])
            nodes = replace(nodes, register=self.register_tree.root(), population=everybody)
        self.limits = [
            budget.limit(int(nodes.records[0]), self.persons.persons) for budget in self.budgets
        ]
        self.record_level(nodes, np.zeros(1, dtype=np.int64))
        return nodes

    def descend(self, nodes: cuts.Nodes, chosen: cuts.Candidates) -> cuts.Nodes:
        """Cut nodes for good, one cut each, and give their children."""
        if self.persons.whole_cells:
            # Before the cut, because the values on both sides of it are read from the undivided
            # orders.
            self.places.append(cut_places(self.persons, self.orders, nodes, chosen))
        children = self.cut(nodes, chosen)
        self.record_level(children, np.repeat(chosen.node, 2))
        return children

    def record_level(self, nodes: cuts.Nodes, parents: Ints) -> None:
        """Remember a level, as far as it is needed to find the classes at the end."""
        # A left child begins where its parent begins. Only right children begin at a new place.
        self.starts.append(nodes.low[1::2])
        if self.register_tree is not None or self.budgets or self.persons.whole_cells:
            # Divisibility and bounds serve the next cut only, and would hold memory at every level.
            self.levels.append(replace(nodes, divisible=None, most_shared={}))
            self.parents.append(parents)
        if self.budgets:
            self.add_level(self.grown, nodes, parents)

    def add_level(self, grown: GrownTree, nodes: cuts.Nodes, parents: Ints) -> None:
        """Add the losses and the costs of a level's nodes."""
        assert self.loss is not None
        losses = self.loss.of_classes(self.orders[0], nodes.low, nodes.high, self.persons.records)
        classes = cuts.node_summary(nodes)
        costs = [
            budget.spent(classes) / limit
            for budget, limit in zip(self.budgets, self.limits, strict=True)
        ]
        # One price needs one cost. The sum of each node's largest share is at least every budget's
        # own sum, so that none is overspent.
        grown.add(parents, losses, np.max(costs, axis=0))

    def report_progress(self, nodes: cuts.Nodes) -> None:
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
        lows = np.concatenate([end.low for end in ends])
        found = replace(self._starting_at(lows, depth), price=price)
        if self.register_tree is not None:
            segments = cuts.joined_segments([end.register for end in ends], np.argsort(lows))
            own = found.class_of_person[self.ids]
            found = replace(
                found, class_of_register=self.register_tree.classes(self.persons, segments, own)
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

    def renumber_by_node(self, nodes: cuts.Nodes) -> None:
        """Number the persons by node, so that what is known of a node's persons lies together.

        Of many persons who are numbered as they came, each step along an order is a jump in
        memory. It changes no result.
        """
        size = int((nodes.high - nodes.low).mean())
        if self.persons.persons <= WORTH_MOVING or size > self.renumber_below:
            return
        self.renumber_below = size // SHRUNK if size > NEAR else 0
        order = self.orders[0]
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        # Handed over in a list, so that each old array is freed as soon as its copy is made.
        owned = [self.persons]
        del self.persons
        self.persons = take_persons(owned, order)
        self.orders = [place[each] for each in self.orders]
        self.ids = self.ids[order]
        if self.loss is not None:
            self.loss = self.loss.take(order)

    def meets_costly(self, nodes: cuts.Nodes, cuts_tried: cuts.Candidates) -> Bools:
        """Whether both sides of each cut meet everything; counted where bounds do not tell."""
        # Of several tables bounds on who shares a value say little: fewer may have a record of one.
        shared = {
            name: np.repeat(each[cuts_tried.node], 2)
            for name, each in nodes.most_shared.items()
            if not self.persons.of_tables
        }
        met = _surely_met(
            self.costly, replace(cuts.side_summary(nodes, cuts_tried), affiliation=shared)
        )
        unsure = np.flatnonzero(~met)
        sides = self._counted(nodes, cuts_tried.take(unsure))
        met[unsure] = cuts.both_sides_meet(self.costly, sides)
        for name, each in shared.items():
            if name in sides.affiliation:
                each.reshape(-1, 2)[unsure] = sides.affiliation[name].reshape(-1, 2)
            # What is counted here bounds all parts of a side: no more of their persons share a
            # value.
            self.most_shared[name].reshape(-1, 2)[cuts_tried.node] = each.reshape(-1, 2)
        return met

    def _counted(self, nodes: cuts.Nodes, cuts_tried: cuts.Candidates) -> ClassSummary:
        """The sides of each cut with all that the constraints need."""
        chosen = nodes.take(cuts_tried.node)
        self._mark(chosen, cuts_tried)
        sides = cuts.side_summary(nodes, cuts_tried)
        return cuts.counted_side_summary(
            self.persons, self.needs, sides, self.orders[0], chosen, self.side
        )

    def _mark(self, nodes: cuts.Nodes, chosen: cuts.Candidates) -> None:
        """Set the side of every person of ``nodes``, each cut as ``chosen`` says."""
        ordered = self.persons.ordered
        for axis in np.unique(chosen.axis).tolist():
            here = np.flatnonzero(chosen.axis == axis)
            some = nodes.take(here)
            if axis < len(ordered):
                end = some.low + chosen.left[here]
                tree_loops.mark_cut(self.orders[axis], some.low, some.high, end, self.side)
            else:
                member = self.persons.indicators[axis - len(ordered)].member
                column = chosen.column[here]
                tree_loops.mark_members(
                    self.orders[0], some.low, some.high, column, member, self.side
                )

    def cut(self, nodes: cuts.Nodes, chosen: cuts.Candidates) -> cuts.Nodes:
        """Divide every order, and give the two children of each node, left ones first."""
        register = None
        if self.register_tree is not None:
            # The register first: it finds the place of a cut in the persons' orders, which are
            # divided next.
            register = self.register_tree.cut(self.persons, self.orders, nodes, chosen)
        self._mark(nodes, chosen)
        for axis, order in enumerate(self.orders):
            # The first order says who is in which node; others matter only where they can be cut.
            if axis == 0 or self.divisible is None:
                tree_loops.partition(order, nodes.low, nodes.high, self.side)
            else:
                some = nodes.take(self.divisible[:, axis])
                tree_loops.partition(order, some.low, some.high, self.side)
        middle = nodes.low + chosen.left
        sides = cuts.side_summary(nodes, replace(chosen, node=np.arange(len(nodes))))
        return cuts.Nodes(
            np.column_stack([nodes.low, middle]).ravel(),
            np.column_stack([middle, nodes.high]).ravel(),
            sides.records,
            sides.squares,
            None if self.divisible is None else np.repeat(self.divisible, 2, axis=0),
            self.most_shared,
            register,
            None if register is None else sides.population,
        )


def _surely_met(constraints: Sequence[Constraint], sides: ClassSummary) -> Bools:
    """Cuts whose sides meet all constraints if ``affiliation`` holds upper bounds."""
    # Without a bound of any attribute nothing is known to be met.
    met = np.full(sides.classes // 2, bool(sides.affiliation))
    for constraint in constraints:
        if not isinstance(constraint, Bounded):
            # One promise that bounds cannot settle leaves every cut to be counted.
            return np.zeros_like(met)
        met &= constraint.surely_met(sides).reshape(-1, 2).all(axis=1)
    return met


def grow(
    persons: PersonTable,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget] = (),
    *,
    split: Split = Split.BALANCE,
    loss: cuts.LossSpace | None = None,
    subtree_persons: int = 0,
    progress: Progress = silent,
) -> Partition:
    """Cut the persons into classes that all keep the promises.

    In each node the candidate cuts are tried in the order of the split's key; a cut whose
    sides do not both meet every constraint is undone and the next one tried; a node that no
    quasi-identifier can cut is a class. Budgets are spent afterwards: the cuts that gain least
    for what they cost are taken back.

    Parameters
    ----------
    constraints
        Promises about every class. The persons as one class must meet them.
    loss
        The persons' share in the loss; needed where there are budgets.
    subtree_persons
        Nodes of at most so many persons stay as they are.
    progress
        Told the share of persons whose class is final.
    """
    growth = _MedianGrowth(persons, constraints, budgets, progress, loss)
    del persons  # a caller who keeps no table either lets it go as it is put in order
    return growth.run(split, subtree_persons)


class _MedianGrowth(Growth):
    """The state of the paper's partitioning."""

    def run(self, split: Split, subtree_persons: int) -> Partition:
        """Cut nodes of more than ``subtree_persons`` persons, level by level."""
        everybody = np.full(1, self.persons.persons)
        nodes = replace(self.root(), most_shared=dict.fromkeys(self.persons.sensitive, everybody))
        while True:
            nodes = nodes.take(nodes.high - nodes.low > subtree_persons)
            if len(nodes):
                self.renumber_by_node(nodes)
                chosen = self._choose(nodes, split)
                nodes = nodes.take(chosen.node)
            self.report_progress(nodes)
            if not len(nodes):
                return self.partition()
            nodes = self.descend(nodes, chosen)

    def _choose(self, nodes: cuts.Nodes, split: Split) -> cuts.Candidates:
        """The cut of each node that is cut, by ascending node."""
        found = cuts.find_candidates(self.persons, self.orders, nodes, split)
        candidates, _ = cuts.ranked(found, nodes, split)
        axes = len(self.persons.ordered) + len(self.persons.indicators)
        divisible = np.zeros((len(nodes), axes), dtype=bool)
        # Noted before promises are asked: an axis without a cut here has none below, whatever is
        # promised, and its order need not be divided.
        divisible[candidates.node, candidates.axis] = True
        if self.register_tree is not None:
            candidates = self.register_tree.counted(self.persons, self.orders, nodes, candidates)
        candidates = candidates.take(
            cuts.both_sides_meet(self.cheap, cuts.side_summary(nodes, candidates))
        )
        self.most_shared = {name: np.repeat(each, 2) for name, each in nodes.most_shared.items()}
        met = partial(self.meets_costly, nodes) if self.costly else None
        chosen = candidates.take(cuts.first_that_meet(candidates, met))
        self.divisible = divisible[chosen.node]
        self.most_shared = {
            name: each.reshape(-1, 2)[chosen.node].ravel()
            for name, each in self.most_shared.items()
        }
        return chosen
