"""The paper's tree: partition persons until no cut keeps the promises.

Kartal & Li 2020 (paper 003), Section 5 and Table 5. Persons stay in one order per attribute
that every cut divides stably, so that nothing is sorted at a node and no table is copied. The
nodes of a level are cut together: O(d·N) per level, O(d·N log N) in all for N persons' records
and d quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.release.candidates import Candidates, Nodes, find_candidates, first_that_meet, ranked
from sfumato.release.growth import Growth
from sfumato.release.loss import LossSpace
from sfumato.release.options import Split
from sfumato.release.partition import Partition
from sfumato.release.persons import PersonTable
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.sides import sides_of


def grow(
    persons: PersonTable,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget] = (),
    *,
    split: Split = Split.BALANCE,
    loss: LossSpace | None = None,
    upper: int = 0,
    progress: Progress = silent,
) -> Partition:
    """Cut the persons into classes that all keep the promises.

    In each node the candidate cuts are tried in the order of the split's key; a cut whose
    sides do not both meet every constraint is undone and the next one tried; a node that no
    quasi-identifier can cut is a class. Budgets are spent afterwards: the cuts that gain least
    for what they cost are taken back.

    Parameters
    ----------
    persons
        What is known of the persons.
    constraints
        Promises about every class. The persons as one class must meet them.
    budgets
        Promises about the whole release.
    split
        The criterion.
    loss
        The persons' share in the loss; needed where there are budgets.
    upper
        Nodes of at most so many persons stay as they are.
    progress
        Told the share of persons whose class is final.
    """
    growth = _MedianGrowth(persons, constraints, budgets, split, progress, loss)
    del persons  # a caller who keeps no table either lets it go as it is put in order
    return growth.run(upper)


class _MedianGrowth(Growth):
    """The state of the paper's partitioning."""

    def __init__(
        self,
        persons: PersonTable,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        split: Split,
        progress: Progress,
        loss: LossSpace | None,
    ) -> None:
        super().__init__(persons, constraints, budgets, progress, loss)
        self.split = split

    def run(self, upper: int) -> Partition:
        """Cut nodes of more than ``upper`` persons, level by level."""
        everybody = np.full(1, self.persons.persons)
        nodes = replace(self.root(), most_shared=dict.fromkeys(self.persons.sensitive, everybody))
        while True:
            nodes = nodes.take(nodes.high - nodes.low > upper)
            if len(nodes):
                self.draw_together(nodes)
                chosen = self._choose(nodes)
                nodes = nodes.take(chosen.node)
            self.tell(nodes)
            if not len(nodes):
                return self.partition()
            nodes = self.descend(nodes, chosen)

    def _choose(self, nodes: Nodes) -> Candidates:
        """The cut of each node that is cut, by ascending node."""
        candidates, _ = ranked(
            find_candidates(self.persons, self.orders, nodes, self.split), nodes, self.split
        )
        divisible = _divisible(candidates, len(nodes), self.persons)
        if self.shadow is not None:
            candidates = self.shadow.counted(self.persons, self.orders, nodes, candidates)
        kept = np.ones(len(candidates.node), dtype=bool)
        sides = sides_of(nodes, candidates)
        for constraint in self.cheap:
            kept &= constraint.met(sides).reshape(-1, 2).all(axis=1)
        candidates = candidates.take(np.flatnonzero(kept))
        tried = np.flatnonzero(np.diff(candidates.node, prepend=-1))
        self.most_shared = {name: np.repeat(each, 2) for name, each in nodes.most_shared.items()}
        if self.costly:
            tried = first_that_meet(candidates, tried, partial(self.meets_costly, nodes))
        chosen = candidates.take(tried)
        self.divisible = divisible[chosen.node]
        self.most_shared = {
            name: each.reshape(-1, 2)[chosen.node].ravel()
            for name, each in self.most_shared.items()
        }
        return chosen


def _divisible(candidates: Candidates, nodes: int, persons: PersonTable) -> npt.NDArray[np.bool_]:
    """Which axes have a cut in each node."""
    divisible = np.zeros((nodes, len(persons.ordered) + len(persons.indicators)), dtype=bool)
    divisible[candidates.node, candidates.axis] = True
    return divisible
