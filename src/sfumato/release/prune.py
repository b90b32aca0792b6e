"""Spend a budget where it saves most: cut everywhere, then take back the cuts that gain least.

A grown tree has a loss and a cost at every node. Of all trees that end earlier in some branches
("pruned"), the one of least loss + price x cost is found bottom-up in one pass, as in the
cost-complexity pruning of Breiman et al. 1984; a dearer price prunes more. The price is the
cheapest at which the classes cost no more than the budget. What is then left of it pays for the
branches that the next cheaper price would keep, those of largest gain per cost first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.release.promises.promise import TOLERANCE

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
ROUNDING = 1e-12
"""A cut must lower the loss by more than this share of it."""
CLOSE = 1e-7
"""Prices relatively nearer than this are one."""
DEAREST = 1e30
"""A price at which nothing is cut that costs anything."""


@dataclass(eq=False)
class Grown:
    """A tree, level by level; every list has an array per level, with an entry per node.

    Attributes
    ----------
    parents
        Index of each node's parent in the level above; of the first level whatever.
    losses
        What each node loses as one class.
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

    def pruned(self, price: float) -> Pruned:
        """The subtree of least loss + price x cost below each node; O(nodes)."""
        found = Pruned([], [], [])
        for level in reversed(range(len(self.losses))):
            loss, cost = self.losses[level], self.costs[level]
            cut = np.zeros(len(loss), dtype=bool)
            if level + 1 < len(self.losses):
                parents = self.parents[level + 1]
                cut[parents] = True
                below = np.bincount(parents, found.losses[-1], len(loss))
                spent = np.bincount(parents, found.costs[-1], len(loss))
                value = loss + price * cost
                cut &= below + price * spent < value - ROUNDING * np.abs(value)
                loss, cost = np.where(cut, below, loss), np.where(cut, spent, cost)
            found.cut.append(cut)
            found.losses.append(loss)
            found.costs.append(cost)
        return Pruned(found.cut[::-1], found.losses[::-1], found.costs[::-1])

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
        self._fill(dear, cheap)
        return self.leaves(dear.cut), price

    def _price(self, free: Pruned) -> tuple[float, Pruned, Pruned]:
        """A price that fits the budget and the nearest cheaper one that does not."""
        high = max(float(self.losses[0].sum()), ROUNDING)
        low, cheap, dear = 0.0, free, self.pruned(high)
        while dear.cost > 1 + TOLERANCE and high < DEAREST:
            low, cheap = high, dear
            high *= 4
            dear = self.pruned(high)
        low = max(low, high * ROUNDING)
        while high > low * (1 + CLOSE) and cheap.cost != dear.cost:
            middle = float(np.sqrt(low * high))
            found = self.pruned(middle)
            if found.cost <= 1 + TOLERANCE:
                high, dear = middle, found
            else:
                low, cheap = middle, found
        return high, dear, cheap

    def _fill(self, dear: Pruned, cheap: Pruned) -> None:
        """Keep branches of the cheaper price while the budget pays; ``dear`` is changed."""
        left = 1 + TOLERANCE - dear.cost
        open_ = np.ones(len(self.losses[0]), dtype=bool)
        ways: list[tuple[float, float, int, int]] = []
        for level, (few, many) in enumerate(zip(dear.cut, cheap.cut, strict=True)):
            if level:
                open_ = open_[self.parents[level]]
            more = np.flatnonzero(open_ & many & ~few)
            gain = self.losses[level][more] - cheap.losses[level][more]
            extra = cheap.costs[level][more] - self.costs[level][more]
            worth = gain / np.maximum(extra, ROUNDING)
            numbers = worth.tolist(), extra.tolist(), more.tolist()
            ways += [(*way, level) for way in zip(*numbers, strict=True)]
            open_ = open_ & few
        for _, cost, node, level in sorted(ways, reverse=True):
            if cost <= left:
                left -= cost
                self._copy(dear, cheap, level, node)

    def _copy(self, dear: Pruned, cheap: Pruned, level: int, node: int) -> None:
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
class Pruned:
    """The best subtree below every node at one price; lists as in `Grown`.

    Attributes
    ----------
    cut
        Whether the node stays cut.
    losses, costs
        Loss and cost of the classes below each node.
    """

    cut: list[Bools]
    losses: list[Floats]
    costs: list[Floats]

    @property
    def cost(self) -> float:
        """Cost of all classes below the first level."""
        return float(self.costs[0].sum())
