"""A better tree: cuts at any place, chosen by what they lose.

At every node each quasi-identifier offers its best cut: among the places where both sides keep
every promise and hold at least a share α of the records (or the largest share that can be had),
the one with the least squared distance from the means of the two sides. A small α follows the
data, a large one keeps room for further cuts where promises are tight. Which α serves a node
best cannot be told from the node, so at some sizes the whole subtree is grown once for each α,
and the α whose classes lose least is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.release.best_cuts import Search, best_cuts
from sfumato.release.candidates import Candidates, Nodes, first_that_meet
from sfumato.release.flat_search import FlatSearch, axes_of, known_of, limits_of
from sfumato.release.growth import Growth
from sfumato.release.loss import LossSpace
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.prune import Grown

Floats = npt.NDArray[np.float64]
SHARES = (0.02, 0.1, 0.2, 0.3, 0.4)
"""The shares α that are tried."""
FIRST_SHARE = 0.3
"""The share α of nodes that are too large to try."""
LARGE = 1 << 16
"""Persons of a file from which only small nodes are tried, because trying them all costs much."""
SMALL = 256
"""Persons of a node that is small."""
TRIED_EVERY = 8
"""A node is tried again when it has become so many times smaller."""
ROUNDING = 1e-12
"""Relative difference of losses that are equal."""


def search(
    persons: PersonTable,
    loss: LossSpace,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget] = (),
    *,
    price: float = 0.0,
    part: bool = False,
    progress: Progress = silent,
) -> Partition:
    """Cut the persons into classes that keep the promises and lose little.

    Costs some three times the paper's tree where all promises are thresholds, and some twenty
    times where they are not: O(d·N log N) all the same, every level being passed over at most
    once for each α at each of the sizes at which nodes are tried.

    Parameters
    ----------
    persons
        What is known of the persons.
    loss
        Their share in the loss.
    constraints
        Promises about every class. The persons as one class must meet them.
    budgets
        Promises about the whole release.
    price
        What the budgets are expected to save per share spent, in loss: the price that another
        tree of the same persons found.
    part
        Whether the persons are part of a large file, so that only small nodes are tried.
    progress
        Told the share of persons whose class is final.
    """
    first_tried = SMALL if part or persons.persons > LARGE else LARGE
    growth = _SearchGrowth(persons, loss, constraints, budgets, price, progress)
    del persons, loss  # a caller who keeps neither lets them go as they are put in order
    return growth.run(first_tried)


class _SearchGrowth(Growth):
    """The state of one search."""

    def __init__(
        self,
        persons: PersonTable,
        loss: LossSpace,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        price: float,
        progress: Progress,
    ) -> None:
        super().__init__(persons, constraints, budgets, progress, loss)
        self.price = price
        self.constraints = tuple(constraints)
        self.thresholds = limits_of(constraints, persons)
        if self.shadow is not None:
            self.thresholds = None
        self.flat: FlatSearch | None = None

    def run(self, first_tried: int) -> Partition:
        """Cut level by level; nodes of at most ``first_tried`` persons are tried first."""
        nodes = self.root()
        shares = np.full(1, FIRST_SHARE)
        tried_at = np.full(1, first_tried)
        while True:
            self.flat = None
            self.draw_together(nodes)
            self.flat = self._flat()
            sizes = nodes.high - nodes.low
            due = np.flatnonzero(sizes <= tried_at)
            if len(due):
                shares[due] = self._tried(nodes.take(due))
                tried_at[due] = sizes[due] // TRIED_EVERY
            chosen = self._choose(nodes, shares)
            nodes = nodes.take(chosen.node)
            self.tell(nodes)
            if not len(nodes):
                return self.partition()
            nodes = self.descend(nodes, chosen)
            shares, tried_at = (np.repeat(each[chosen.node], 2) for each in (shares, tried_at))

    def _flat(self) -> FlatSearch | None:
        """The search in compiled loops, where they know all promises."""
        if self.thresholds is None or self.loss is None:
            return None
        known = known_of(self.persons, self.loss, self.thresholds)
        return FlatSearch(known, axes_of(self.persons, self.loss), self.thresholds)

    def _choose(self, nodes: Nodes, shares: Floats) -> Candidates:
        """The cut of each node that is cut, by ascending node."""
        assert self.loss is not None
        if self.flat is not None:
            return self.flat.best_cuts(self.orders, nodes, shares)
        found = Search(self.persons, self.loss, self.constraints, self.orders, self.shadow)
        candidates = best_cuts(found, nodes, shares)
        tried = np.flatnonzero(np.diff(candidates.node, prepend=-1))
        if self.costly:
            tried = first_that_meet(candidates, tried, partial(self.meets_costly, nodes))
        return candidates.take(tried)

    def _tried(self, nodes: Nodes) -> Floats:
        """The share of each node whose subtree loses least."""
        shares = np.array(SHARES)
        if self.flat is not None and not self.budgets:
            return _least(shares, self.flat.losses(self.orders, nodes, shares))
        orders, register = self.orders, [] if self.shadow is None else self.shadow.orders
        losses = []
        for share in SHARES:
            self.orders = [order.copy() for order in orders]
            if self.shadow is not None:
                self.shadow.orders = [order.copy() for order in register]
            lost = self._lost_for_a_price if self.budgets else self._lost_below
            losses.append(lost(nodes, share))
        self.orders = orders
        if self.shadow is not None:
            self.shadow.orders = register
        return _least(shares, np.column_stack(losses))

    def _lost_below(self, nodes: Nodes, share: float) -> Floats:
        """Loss of the classes that each node is cut into with one share."""
        assert self.loss is not None
        losses = np.zeros(len(nodes))
        origin = np.arange(len(nodes))
        while len(nodes):
            chosen = self._choose(nodes, np.full(len(nodes), share))
            final = np.ones(len(nodes), dtype=bool)
            final[chosen.node] = False
            ended = nodes.take(final)
            lost = self.loss.of_classes(self.orders[0], ended.low, ended.high, self.persons.records)
            np.add.at(losses, origin[final], lost)
            nodes, origin = nodes.take(chosen.node), np.repeat(origin[chosen.node], 2)
            if len(nodes):
                nodes = self.cut(nodes, chosen)
        return losses

    def _lost_for_a_price(self, nodes: Nodes, share: float) -> Floats:
        """Loss and cost, at the price, of the best subtree below each node with one share."""
        grown, parents = Grown(), np.arange(len(nodes))
        while len(nodes):
            self.add_level(grown, nodes, parents)
            chosen = self._choose(nodes, np.full(len(nodes), share))
            nodes, parents = nodes.take(chosen.node), np.repeat(chosen.node, 2)
            if len(nodes):
                nodes = self.cut(nodes, chosen)
        best = grown.pruned(self.price)
        lost: Floats = best.losses[0] + self.price * best.costs[0]
        return lost


def _least(shares: Floats, losses: Floats) -> Floats:
    """Of each node, the first share whose loss is the least but for rounding."""
    least = losses.min(axis=1, keepdims=True)
    found: Floats = shares[np.argmax(losses <= least * (1 + ROUNDING), axis=1)]
    return found
