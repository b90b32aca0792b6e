"""The node of least loss in a lattice of levels."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Node = tuple[int, ...]
Losses = Sequence[npt.NDArray[np.float64]]
MOST_VISITED = 300_000
"""Nodes that are looked at before the search is cut short."""


@dataclass(frozen=True)
class Found:
    """The best node.

    Attributes
    ----------
    node
        Level of each column.
    loss
        Its loss, that of suppressed records included.
    exact
        Whether no node loses less.
    bound
        No node loses less than this.
    checked
        Number of nodes that were checked.
    """

    node: Node
    loss: float
    exact: bool
    bound: float
    checked: int


def search_lattice(
    losses: Losses,
    check: Callable[[Node], float | None],
    *,
    monotone: bool,
    most_checked: int,
) -> Found:
    """Search the node of least loss among those that keep the promises.

    The loss of a node is the sum of its columns' losses plus what ``check`` adds for suppressed
    records; a column's loss does not fall from level to level. Nodes are visited in the order
    of that sum (best first), so the first one that cannot be beaten is the optimum. Where
    promises are ``monotone`` (a node keeps them if one below it does), a failure excludes
    everything below it, and is first pushed up by bisection of a path to the top, as in Flash
    (Kohlmayer et al. 2012); Incognito (LeFevre et al. 2005) and OLA (El Emam et al. 2009) use
    the same property. Cut short, the best node so far is improved by lowering one level at a
    time, the one that gains most first.

    Parameters
    ----------
    losses
        Loss of each level of each column, ascending; one array per column.
    check
        What suppression adds to the loss of a node; ``None`` where it breaks a promise. The
        top node, all columns at their last level, keeps them.
    monotone
        Whether a failure excludes what lies below.
    most_checked
        Nodes to check before the search is cut short.
    """
    return _Search(losses, check, monotone, most_checked).run()


class _Search:
    def __init__(
        self,
        losses: Losses,
        check: Callable[[Node], float | None],
        monotone: bool,
        most_checked: int,
    ) -> None:
        self.losses = losses
        self.check = check
        self.monotone = monotone
        self.most_checked = most_checked
        self.top = tuple(len(each) - 1 for each in losses)
        self.known: dict[Node, float | None] = {}
        self.failed = np.empty((0, len(losses)), dtype=np.int64)
        self.node, self.loss = self.top, np.inf

    def run(self) -> Found:
        self._keeps(self.top)
        bottom = (0,) * len(self.top)
        queue, seen = [(self._base(bottom), bottom)], {bottom}
        visited = 0
        while queue and queue[0][0] < self.loss:
            visited += 1
            if visited > MOST_VISITED or len(self.known) >= self.most_checked:
                bound = queue[0][0]
                self._descend()
                return Found(self.node, self.loss, False, min(bound, self.loss), len(self.known))
            _, node = heapq.heappop(queue)
            for above in self._above(node):
                if above not in seen and self._base(above) < self.loss:
                    seen.add(above)
                    heapq.heappush(queue, (self._base(above), above))
            if not self._excluded(node) and not self._keeps(node) and self.monotone:
                self._exclude_from(node)
        return Found(self.node, self.loss, True, self.loss, len(self.known))

    def _base(self, node: Node) -> float:
        return sum(float(each[level]) for each, level in zip(self.losses, node, strict=True))

    def _keeps(self, node: Node) -> bool:
        """Check a node once; the best one so far is remembered."""
        if node not in self.known:
            added = self.known[node] = self.check(node)
            if added is not None and self._base(node) + added < self.loss:
                self.node, self.loss = node, self._base(node) + added
        return self.known[node] is not None

    def _above(self, node: Node) -> Iterator[Node]:
        for column, level in enumerate(node):
            if level < self.top[column]:
                yield (*node[:column], level + 1, *node[column + 1 :])

    def _excluded(self, node: Node) -> bool:
        return bool((np.array(node) <= self.failed).all(axis=1).any())

    def _exclude_from(self, node: Node) -> None:
        """Push a failure as far up one path to the top as it goes, and remember it."""
        path = [node]
        while path[-1] != self.top:
            path.append(min(self._above(path[-1]), key=self._base))
        low, high = 0, len(path) - 1
        while low < high - 1:
            middle = (low + high) // 2
            if self._keeps(path[middle]):
                high = middle
            else:
                low = middle
        highest = np.array(path[low])
        kept = ~(self.failed <= highest).all(axis=1)
        self.failed = np.vstack([self.failed[kept], highest])

    def _descend(self) -> None:
        while True:
            before = self.node
            for column, level in enumerate(before):
                if level:
                    below = (*before[:column], level - 1, *before[column + 1 :])
                    if not (self.monotone and self._excluded(below)):
                        self._keeps(below)
            if self.node == before:
                return
