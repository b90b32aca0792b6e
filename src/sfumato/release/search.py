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

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.release.best_cuts import Search, best_cuts
from sfumato.release.candidates import Candidates, Nodes
from sfumato.release.constraints import Budget, Constraint
from sfumato.release.growth import Growth, Partition
from sfumato.release.loss import LossSpace
from sfumato.release.persons import PersonTable

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


def search(
    persons: PersonTable,
    loss: LossSpace,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget] = (),
    *,
    progress: Progress = silent,
) -> Partition:
    """Cut the persons into classes that keep the promises and lose little.

    Costs some twenty times the paper's tree, O(d·N log N) all the same: every level is passed
    over once for each α at each of the sizes at which nodes are tried.

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
    progress
        Told the share of persons whose class is final.
    """
    return _SearchGrowth(persons, loss, constraints, budgets, progress).run()


class _SearchGrowth(Growth):
    """The state of one search."""

    def __init__(
        self,
        persons: PersonTable,
        loss: LossSpace,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        progress: Progress,
    ) -> None:
        super().__init__(persons, constraints, budgets, progress)
        self.loss = loss
        self.constraints = tuple(constraints)

    def run(self) -> Partition:
        """Cut level by level."""
        nodes = self.root()
        shares = np.full(1, FIRST_SHARE)
        tried_at = np.full(1, SMALL if self.persons.persons > LARGE else LARGE)
        while True:
            renumbered = self.draw_together(nodes)
            if renumbered is not None:
                self.loss = self.loss.take(renumbered)
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
            nodes = self.cut(nodes, chosen)
            shares, tried_at = (np.repeat(each[chosen.node], 2) for each in (shares, tried_at))
            self.starts.append(nodes.low[1::2])

    def _choose(self, nodes: Nodes, shares: Floats) -> Candidates:
        """The cut of each node that is cut, by ascending node."""
        found = Search(self.persons, self.loss, self.constraints)
        candidates, keys = best_cuts(found, self.orders, nodes, shares)
        tried = np.flatnonzero(np.diff(candidates.node, prepend=-1))
        if self.costly:
            tried = self.first_that_meets(nodes, candidates, tried)
        return candidates.take(self.affordable(nodes, candidates, keys, tried))

    def _tried(self, nodes: Nodes) -> Floats:
        """The share of each node whose subtree loses least."""
        orders, unspent = self.orders, self.unspent
        losses = []
        for share in SHARES:
            self.orders = [order.copy() for order in orders]
            losses.append(self._lost_below(nodes, share))
            self.unspent = unspent
        self.orders = orders
        best: Floats = np.array(SHARES)[np.argmin(losses, axis=0)]
        return best

    def _lost_below(self, nodes: Nodes, share: float) -> Floats:
        """Loss of the classes that each node is cut into with one share."""
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
