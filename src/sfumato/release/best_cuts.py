"""The best cut that each axis offers each node: the search's candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.kernels import node_counts
from sfumato.release.candidates import Candidates, Nodes, joined
from sfumato.release.loss import LossSpace
from sfumato.release.persons import IndicatorAxis, OrderedAxis, PersonTable
from sfumato.release.population.shadow import Shadow
from sfumato.release.promises.promise import Constraint
from sfumato.release.sides import sides_of
from sfumato.risk.classes import ClassSummary

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
LEAST_GAIN = 1e-12
"""The least share of a node's loss that a cut must gain."""
SCANNED = frozenset({"affiliation", "distinct", "fewest_sharing"})
"""What can be counted on both sides of every place of an order in one pass."""


@dataclass(frozen=True, eq=False)
class Search:
    """What the search for cuts reads.

    Attributes
    ----------
    persons
        What is known of the persons.
    loss
        Their share in the loss.
    constraints
        Promises about every class.
    orders
        One order of the persons per ordered axis (one in any order where there is none).
    shadow
        A register's persons in the same nodes; ``None`` without one.
    """

    persons: PersonTable
    loss: LossSpace
    constraints: tuple[Constraint, ...]
    orders: list[npt.NDArray[np.int32]]
    shadow: Shadow | None = None

    def cheap(self) -> list[Constraint]:
        """Constraints that need nothing but numbers of records and of persons."""
        return [each for each in self.constraints if each.needs <= {"population"}]

    def with_population(self, nodes: Nodes, candidates: Candidates) -> Candidates:
        """The candidates with the register's persons who look like their sides, once."""
        if self.shadow is None or candidates.population is not None:
            return candidates
        return self.shadow.counted(self.persons, self.orders, nodes, candidates)

    def that_meet(self, nodes: Nodes, candidates: Candidates) -> Candidates:
        """The candidates whose sides keep the cheap promises."""
        if any(each.needs for each in self.cheap()):
            candidates = self.with_population(nodes, candidates)
        return candidates.take(_met(self.cheap(), sides_of(nodes, candidates)))

    def scanned(self) -> list[Constraint]:
        """Constraints that can be checked at every place of an order in one pass."""
        return [each for each in self.constraints if each.needs and each.needs <= SCANNED]


def best_cuts(search: Search, nodes: Nodes, shares: Floats) -> Candidates:
    """The best cut of every node along every axis, by node and key.

    Among the places where both sides keep the promises that can be scanned and hold at least
    ``shares`` of the records (or the largest share that can be had), the one of least loss. The
    key is the loss after the cut over the loss before, plus 1 where the share was not to be had.
    The candidates' ``variance`` is the loss after the cut.

    Parameters
    ----------
    search
        What is read.
    nodes
        The open nodes.
    shares
        The share α of each node.
    """
    orders = search.orders
    whole, after = _losses(search, orders[0], nodes)
    found = []
    for index, axis in enumerate(search.persons.ordered):
        if index > 0:
            _, after = _losses(search, orders[index], nodes)
        places = _Places(search, axis, orders[index], nodes)
        found.append(_best(nodes, places.candidates(index, whole, after), whole, shares))
    for index, indicator in enumerate(search.persons.indicators, len(search.persons.ordered)):
        among = _among(search, indicator, index, orders[0], nodes, whole)
        key = among.variance / whole[among.node]
        key += _smaller_side(nodes, among) < shares[among.node]
        found.append((among, key))
    candidates = joined([part for part, _ in found])
    keys = np.concatenate([key for _, key in found])
    order = np.lexsort((candidates.column, candidates.axis, keys, candidates.node))
    return search.with_population(nodes, candidates.take(order))


def _losses(search: Search, order: npt.NDArray[np.int32], nodes: Nodes) -> tuple[Floats, Floats]:
    loss = search.loss
    return node_counts.scan_losses(
        order,
        nodes.low,
        nodes.high,
        search.persons.records,
        loss.totals,
        loss.squares,
        loss.presents,
        loss.offsets,
        loss.values,
        loss.counts,
        loss.weights,
    )


class _Places:
    """The places of an order behind which its nodes may be cut."""

    def __init__(
        self, search: Search, axis: OrderedAxis, order: npt.NDArray[np.int32], nodes: Nodes
    ) -> None:
        self.search = search
        self.axis = axis
        self.order = order
        self.nodes = nodes
        sizes = nodes.high - nodes.low - 1
        self.node = np.repeat(np.arange(len(nodes)), sizes)
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.place = nodes.low[self.node] + within

    def candidates(self, index: int, whole: Floats, after: Floats) -> Candidates:
        """Cuts that gain, divide no equal ones that belong together, and keep the promises."""
        position = self.axis.position[self.order]
        apart = position[self.place] != position[self.place + 1]
        if not self.axis.strict:
            apart |= position[self.place] != self.axis.missing_position
        kept = apart & _gains(after[self.place], whole[self.node])
        place, node = self.place[kept], self.node[kept]
        records = self.search.persons.records[self.order]
        start = self.nodes.low[node]
        candidates = Candidates(
            node=node,
            axis=np.full(len(node), index),
            column=np.zeros(len(node), dtype=np.int32),
            left=place + 1 - start,
            left_records=_sums(records, start, place),
            left_squares=_sums(records * records, start, place),
            variance=after[place],
            width=np.zeros(len(node)),
        )
        candidates = self.search.that_meet(self.nodes, candidates)
        place = self.nodes.low[candidates.node] + candidates.left - 1
        scanned = self.search.scanned()
        if not scanned or not len(place):
            return candidates
        return candidates.take(_met(scanned, self._sides(candidates, place)))

    def _sides(self, candidates: Candidates, place: Ints) -> ClassSummary:
        needs = frozenset[str]().union(*(each.needs for each in self.search.scanned()))
        segments = self.order, self.nodes.low, self.nodes.high
        sides = sides_of(self.nodes, candidates)
        affiliation, distinct = {}, {}
        sensitive = self.search.persons.sensitive if needs & {"affiliation", "distinct"} else {}
        for name, values in sensitive.items():
            left, right, left_distinct, right_distinct = node_counts.scan_affiliations(
                *segments, values.offsets, values.values, values.size
            )
            affiliation[name] = np.column_stack([left[place], right[place]]).ravel()
            distinct[name] = np.column_stack([left_distinct[place], right_distinct[place]]).ravel()
        sides = replace(sides, affiliation=affiliation, distinct=distinct)
        if "fewest_sharing" not in needs:
            return sides
        left, right = node_counts.scan_sharing(*segments, self.search.persons.records)
        return replace(sides, fewest_sharing=np.column_stack([left[place], right[place]]).ravel())


def _among(
    search: Search,
    axis: IndicatorAxis,
    index: int,
    order: npt.NDArray[np.int32],
    nodes: Nodes,
    whole: Floats,
) -> Candidates:
    """Every 0/1 column that gains and whose sides keep the cheap promises."""
    loss = search.loss
    node, column, right, right_records, right_squares, after = node_counts.member_losses(
        order,
        nodes.low,
        nodes.high,
        axis.member,
        axis.held.size,
        search.persons.records,
        loss.totals,
        loss.squares,
        loss.presents,
        loss.offsets,
        loss.values,
        loss.counts,
        loss.weights,
    )
    size = (nodes.high - nodes.low)[node]
    kept = np.flatnonzero((right < size) & _gains(after, whole[node]))
    node = node[kept]
    candidates = Candidates(
        node=node,
        axis=np.full(len(node), index),
        column=column[kept],
        left=size[kept] - right[kept],
        left_records=nodes.records[node] - right_records[kept],
        left_squares=nodes.squares[node] - right_squares[kept],
        variance=after[kept],
        width=np.zeros(len(node)),
    )
    return search.that_meet(nodes, candidates)


def _best(
    nodes: Nodes, candidates: Candidates, whole: Floats, shares: Floats
) -> tuple[Candidates, Floats]:
    """Of each node's places, the one of least loss among those that divide evenly enough."""
    share = _smaller_side(nodes, candidates)
    widest = np.zeros(len(nodes))
    np.maximum.at(widest, candidates.node, share)
    even = np.flatnonzero(share >= np.minimum(shares, widest)[candidates.node] - LEAST_GAIN)
    order = even[np.lexsort((even, candidates.variance[even], candidates.node[even]))]
    best = candidates.take(order[np.flatnonzero(np.diff(candidates.node[order], prepend=-1))])
    key = best.variance / whole[best.node] + (widest < shares)[best.node]
    return best, key


def _smaller_side(nodes: Nodes, candidates: Candidates) -> Floats:
    whole = nodes.records[candidates.node]
    smaller: Floats = np.minimum(candidates.left_records, whole - candidates.left_records) / whole
    return smaller


def _gains(after: Floats, before: Floats) -> Bools:
    return after < before * (1 - LEAST_GAIN) - LEAST_GAIN


def _sums(values: Ints, start: Ints, place: Ints) -> Ints:
    """Sum of ``values[start : place + 1]``."""
    cumulative = np.concatenate([[0], np.cumsum(values)])
    sums: Ints = cumulative[place + 1] - cumulative[start]
    return sums


def _met(constraints: list[Constraint], sides: ClassSummary) -> Bools:
    checks: list[Callable[[ClassSummary], Bools]] = [each.met for each in constraints]
    kept = np.ones(sides.classes // 2, dtype=bool)
    for check in checks:
        kept &= check(sides).reshape(-1, 2).all(axis=1)
    return kept
