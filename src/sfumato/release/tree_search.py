"""A better tree: cuts at any place, chosen by what they lose.

At every node each quasi-identifier offers its best cut: among the places where both sides keep
every promise and hold at least a share α of the records (or the largest share that can be had),
the one with the least squared distance from the means of the two sides. A small α follows the
data, a large one keeps room for further cuts where promises are tight. Which α serves a node
best cannot be told from the node, so at some sizes the whole subtree is grown once for each α,
and the α whose classes lose least is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.kernels import tree_loops
from sfumato.kernels.tree_loops import Axes, Known, Limits
from sfumato.release import cuts
from sfumato.release.person_table import IndicatorAxis, OrderedAxis, PersonTable, Values
from sfumato.release.promises.promise import Budget, Constraint, Counted, Thresholds
from sfumato.release.tree import LEAST_GAIN, GrownTree, Growth, Partition
from sfumato.risk.classes import ClassSummary

_Found = TypeVar("_Found")

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
CERTAIN = 1e-6
"""By so much fewer persons than a promise implies are surely too few."""
SCANNED = frozenset({"affiliation", "distinct", "fewest_sharing"})
"""What can be counted on both sides of every place of an order in one pass."""


def search(
    persons: PersonTable,
    loss: cuts.LossSpace,
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
    loss
        Their share in the loss.
    constraints
        Promises about every class. The persons as one class must meet them.
    price
        What the budgets are expected to save per share spent, in loss: the price that another
        tree of the same persons found.
    part
        Whether the persons are part of a large file, so that only small nodes are tried.
    progress
        Told the share of persons whose class is final.
    """
    first_tried = SMALL if part or persons.persons > LARGE else LARGE
    growth = SearchGrowth(persons, constraints, budgets, progress, loss)
    del persons, loss  # a caller who keeps neither lets them go as they are put in order
    return growth.run(first_tried, price)


class SearchGrowth(Growth):
    """The state of one search, its loss known."""

    loss: cuts.LossSpace
    thresholds: Limits | None
    compiled: tuple[Known, Axes, Limits] | None = None
    price = 0.0

    def run(self, first_tried: int, price: float) -> Partition:
        """Cut level by level; nodes of at most ``first_tried`` persons are tried first."""
        self.price = price
        # The compiled loops know thresholds, but no register's persons.
        self.thresholds = (
            limits_of(self.constraints, self.persons) if self.register_tree is None else None
        )
        nodes = self.root()
        shares = np.full(1, FIRST_SHARE)
        tried_at = np.full(1, first_tried)
        while True:
            self.compiled = None  # frees its arrays, before those that replace them are made
            self.renumber_by_node(nodes)
            self.compile()
            sizes = nodes.high - nodes.low
            due = np.flatnonzero(sizes <= tried_at)
            if len(due):
                shares[due] = self._tried(nodes.take(due))
                tried_at[due] = sizes[due] // TRIED_EVERY
            chosen = self.choose(nodes, shares)
            nodes = nodes.take(chosen.node)
            self.report_progress(nodes)
            if not len(nodes):
                return self.partition()
            nodes = self.descend(nodes, chosen)
            shares, tried_at = (np.repeat(each[chosen.node], 2) for each in (shares, tried_at))

    def compile(self) -> None:
        """Gather what the compiled loops read, where they know all promises."""
        if self.thresholds is not None:
            known = known_of(self.persons, self.loss, self.thresholds)
            self.compiled = known, axes_of(self.persons, self.loss), self.thresholds

    def _in_compiled_loops(
        self, loop: Callable[..., _Found], nodes: cuts.Nodes, shares: Floats
    ) -> _Found:
        assert self.compiled is not None
        return loop(np.vstack(self.orders), nodes.low, nodes.high, shares, *self.compiled)

    def choose(self, nodes: cuts.Nodes, shares: Floats) -> cuts.Candidates:
        """The cut of each node that is cut, by ascending node."""
        if self.compiled is None:
            candidates = self._best_cuts(nodes, shares)
            met = partial(self.meets_costly, nodes) if self.costly else None
            return candidates.take(cuts.first_that_meet(candidates, met))
        found = self._in_compiled_loops(tree_loops.best_cuts, nodes, shares)
        node = np.flatnonzero(found.axis >= 0)
        names = ("axis", "column", "left", "left_records", "left_squares", "lost")
        numbers = [getattr(found, name)[node] for name in names]
        return cuts.Candidates(node, *numbers, *[np.zeros(len(node))])

    def _best_cuts(self, nodes: cuts.Nodes, shares: Floats) -> cuts.Candidates:
        """The best cut of every node along every axis, by node and key.

        Among the places where both sides keep the promises that can be scanned and hold at least
        ``shares`` of the records (or the largest share that can be had), the one of least loss. The
        key is the loss after the cut over the loss before, plus 1 where the share was not to be
        had. The candidates' ``variance`` is the loss after the cut.
        """
        records, orders = self.persons.records, self.orders
        whole, after = self.loss.scanned(orders[0], nodes.low, nodes.high, records)
        found = []
        for index, axis in enumerate(self.persons.ordered):
            if index > 0:
                _, after = self.loss.scanned(orders[index], nodes.low, nodes.high, records)
            places = self._places(axis, index, nodes, whole, after)
            found.append(_best_places(nodes, places, whole, shares))
        for index, indicator in enumerate(self.persons.indicators, len(self.persons.ordered)):
            members = self._members(indicator, index, nodes, whole)
            key = members.variance / whole[members.node]
            # The loss after a cut over the loss before is below 1. So 1 more puts uneven cuts
            # behind all even ones.
            key += _smaller_side(nodes, members) < shares[members.node]
            found.append((members, key))
        candidates = cuts.joined([part for part, _ in found])
        keys = np.concatenate([key for _, key in found])
        # Of equal keys the earlier axis and column, so that the tree is the same on every machine.
        order = np.lexsort((candidates.column, candidates.axis, keys, candidates.node))
        return self._with_population(nodes, candidates.take(order))

    def _with_population(self, nodes: cuts.Nodes, candidates: cuts.Candidates) -> cuts.Candidates:
        """The candidates with the register's persons who look like their sides, once."""
        if self.register_tree is None or candidates.population is not None:
            return candidates
        return self.register_tree.counted(self.persons, self.orders, nodes, candidates)

    def _that_meet(self, nodes: cuts.Nodes, candidates: cuts.Candidates) -> cuts.Candidates:
        """The candidates whose sides keep the cheap promises."""
        if any(each.needs for each in self.cheap):
            candidates = self._with_population(nodes, candidates)
        return candidates.take(
            cuts.both_sides_meet(self.cheap, cuts.side_summary(nodes, candidates))
        )

    def _places(
        self, axis: OrderedAxis, index: int, nodes: cuts.Nodes, whole: Floats, after: Floats
    ) -> cuts.Candidates:
        """Cuts that gain, divide no equal ones that belong together, and keep the promises."""
        order = self.orders[index]
        sizes = nodes.high - nodes.low - 1
        node = np.repeat(np.arange(len(nodes)), sizes)
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        place = nodes.low[node] + within
        position = axis.position[order]
        apart = position[place] != position[place + 1]
        if not axis.strict:
            apart |= position[place] != axis.missing_position
        kept = apart & _gains(after[place], whole[node])
        place, node = place[kept], node[kept]
        records, start = self.persons.records[order], nodes.low[node]
        candidates = cuts.Candidates(
            node=node,
            axis=np.full(len(node), index),
            column=np.zeros(len(node), dtype=np.int32),
            left=place + 1 - start,
            left_records=_range_sums(records, start, place),
            left_squares=_range_sums(records * records, start, place),
            variance=after[place],
            width=np.zeros(len(node)),
        )
        candidates = self._that_meet(nodes, candidates)
        scanned = [
            constraint
            for constraint in self.constraints
            if constraint.needs and constraint.needs <= SCANNED
        ]
        if not scanned or not len(candidates.node):
            return candidates
        sides = self._scanned_sides(order, nodes, candidates, scanned)
        return candidates.take(cuts.both_sides_meet(scanned, sides))

    def _scanned_sides(
        self,
        order: Codes,
        nodes: cuts.Nodes,
        candidates: cuts.Candidates,
        scanned: Sequence[Constraint],
    ) -> ClassSummary:
        """The sides with what promises need that one pass over the order tells of all places."""
        needs = frozenset[str]().union(*(each.needs for each in scanned))
        place = nodes.low[candidates.node] + candidates.left - 1
        segments = order, nodes.low, nodes.high
        sides = cuts.side_summary(nodes, candidates)
        affiliation, distinct, holders = {}, {}, {}
        sensitive = self.persons.sensitive if needs & {"affiliation", "distinct"} else {}
        for name, values in sensitive.items():
            left, right, left_distinct, right_distinct = tree_loops.scan_affiliations(
                *segments, values.offsets, values.values, values.size
            )
            affiliation[name] = np.column_stack([left[place], right[place]]).ravel()
            distinct[name] = np.column_stack([left_distinct[place], right_distinct[place]]).ravel()
            if values.told is not None:
                left, right, *_ = tree_loops.scan_affiliations(*segments, *values.holders)
                holders[name] = np.column_stack([left[place], right[place]]).ravel()
        sides = replace(sides, affiliation=affiliation, distinct=distinct, holders=holders)
        if "fewest_sharing" not in needs:
            return sides
        left, right = tree_loops.scan_sharing(*segments, self.persons.records)
        return replace(sides, fewest_sharing=np.column_stack([left[place], right[place]]).ravel())

    def _members(
        self, axis: IndicatorAxis, index: int, nodes: cuts.Nodes, whole: Floats
    ) -> cuts.Candidates:
        """Every 0/1 column that gains and whose sides keep the cheap promises."""
        node, column, right, right_records, right_squares, after = self.loss.without_members(
            axis, self.orders[0], nodes.low, nodes.high, self.persons.records
        )
        size = (nodes.high - nodes.low)[node]
        kept = np.flatnonzero((right < size) & _gains(after, whole[node]))
        node = node[kept]
        candidates = cuts.Candidates(
            node=node,
            axis=np.full(len(node), index),
            column=column[kept],
            left=size[kept] - right[kept],
            left_records=nodes.records[node] - right_records[kept],
            left_squares=nodes.squares[node] - right_squares[kept],
            variance=after[kept],
            width=np.zeros(len(node)),
        )
        return self._that_meet(nodes, candidates)

    def _tried(self, nodes: cuts.Nodes) -> Floats:
        """The share of each node whose subtree loses least."""
        shares = np.array(SHARES)
        if self.compiled is not None and not self.budgets:
            losses = self._in_compiled_loops(tree_loops.subtree_losses, nodes, shares)
            return _least(shares, losses)
        orders, register = (
            self.orders,
            [] if self.register_tree is None else self.register_tree.orders,
        )
        found = []
        for share in SHARES:
            # A trial divides the orders in place, and each share must start from the same ones.
            self.orders = [order.copy() for order in orders]
            if self.register_tree is not None:
                self.register_tree.orders = [order.copy() for order in register]
            lost = self._lost_for_a_price if self.budgets else self._lost_below
            found.append(lost(nodes, share))
        self.orders = orders
        if self.register_tree is not None:
            self.register_tree.orders = register
        return _least(shares, np.column_stack(found))

    def _lost_below(self, nodes: cuts.Nodes, share: float) -> Floats:
        """Loss of the classes that each node is cut into with one share."""
        losses = np.zeros(len(nodes))
        origin = np.arange(len(nodes))
        while len(nodes):
            chosen = self.choose(nodes, np.full(len(nodes), share))
            final = np.ones(len(nodes), dtype=bool)
            final[chosen.node] = False
            ended = nodes.take(final)
            lost = self.loss.of_classes(self.orders[0], ended.low, ended.high, self.persons.records)
            np.add.at(losses, origin[final], lost)
            nodes, origin = nodes.take(chosen.node), np.repeat(origin[chosen.node], 2)
            if len(nodes):
                nodes = self.cut(nodes, chosen)
        return losses

    def _lost_for_a_price(self, nodes: cuts.Nodes, share: float) -> Floats:
        """Loss and cost, at the price, of the best subtree below each node with one share."""
        grown, parents = GrownTree(), np.arange(len(nodes))
        while len(nodes):
            self.add_level(grown, nodes, parents)
            chosen = self.choose(nodes, np.full(len(nodes), share))
            nodes, parents = nodes.take(chosen.node), np.repeat(chosen.node, 2)
            if len(nodes):
                nodes = self.cut(nodes, chosen)
        best = grown.pruned(self.price)
        lost: Floats = best.losses[0] + self.price * best.costs[0]
        return lost


def _least(shares: Floats, losses: Floats) -> Floats:
    """Of each node, the first share whose loss is the least but for rounding."""
    least = losses.min(axis=1, keepdims=True)
    found: Floats = shares[np.argmax(losses <= least * (1 + LEAST_GAIN), axis=1)]
    return found


def _best_places(
    nodes: cuts.Nodes, candidates: cuts.Candidates, whole: Floats, shares: Floats
) -> tuple[cuts.Candidates, Floats]:
    """Of each node's places, the one of least loss among those that divide evenly enough."""
    share = _smaller_side(nodes, candidates)
    widest = np.zeros(len(nodes))
    np.maximum.at(widest, candidates.node, share)
    even = np.flatnonzero(share >= np.minimum(shares, widest)[candidates.node] - LEAST_GAIN)
    # Of places that lose alike the first along the order, whatever processor added the sums.
    order = even[np.lexsort((even, candidates.variance[even], candidates.node[even]))]
    best = candidates.take(order[np.flatnonzero(np.diff(candidates.node[order], prepend=-1))])
    key = best.variance / whole[best.node] + (widest < shares)[best.node]
    return best, key


def _smaller_side(nodes: cuts.Nodes, candidates: cuts.Candidates) -> Floats:
    whole = nodes.records[candidates.node]
    smaller: Floats = np.minimum(candidates.left_records, whole - candidates.left_records) / whole
    return smaller


def _gains(after: Floats, before: Floats) -> Bools:
    # The absolute part refuses to cut nodes whose whole loss is rounding.
    return after < before * (1 - LEAST_GAIN) - LEAST_GAIN


def _range_sums(values: Ints, start: Ints, place: Ints) -> Ints:
    """Sum of ``values[start : place + 1]``."""
    # Integers, so that a difference of cumulative sums is exact however long the order is.
    cumulative = np.concatenate([[0], np.cumsum(values)])
    sums: Ints = cumulative[place + 1] - cumulative[start]
    return sums


def limits_of(constraints: Sequence[Constraint], persons: PersonTable) -> Limits | None:
    """All thresholds in one; ``None`` where a promise is more than thresholds."""
    counted = [constraint for constraint in constraints if isinstance(constraint, Counted)]
    # Nor do they know who has records of a table.
    shared = any(constraint.needs & {"affiliation", "distinct"} for constraint in constraints)
    # The compiled loops know nothing but thresholds, and must not keep less than all promises.
    if len(counted) < len(constraints) or (shared and persons.of_tables):
        return None
    stated = [each.thresholds() for each in counted]
    squares = min((each.squares for each in stated), default=np.inf)
    # By Cauchy-Schwarz Σc² ≥ N²/n for n persons. So Σc² ≤ s·N² needs n ≥ 1/s, which is quicker to
    # test.
    implied = int(np.ceil(1 / squares - CERTAIN))
    names = list(persons.sensitive)
    sizes = [persons.sensitive[name].size for name in names]
    about = [[each for each in stated if each.attribute in (None, name)] for name in names]
    return Limits(
        records=max((each.records for each in stated), default=0),
        persons=max(1, implied, *(each.persons for each in stated)),
        squares=squares,
        attribute_of=np.repeat(np.arange(len(names)), sizes).astype(np.int32),
        affiliation=np.array([_least_shared(each) for each in about], dtype=np.float64),
        distinct=np.array([_most_distinct(each) for each in about], dtype=np.int64),
        sharing=max((each.sharing for each in stated), default=1),
    )


def _least_shared(stated: Sequence[Thresholds]) -> float:
    return min((thresholds.affiliation for thresholds in stated), default=np.inf)


def _most_distinct(stated: Sequence[Thresholds]) -> int:
    return max((thresholds.distinct for thresholds in stated), default=0)


def axes_of(persons: PersonTable, loss: cuts.LossSpace) -> Axes:
    """The axes, and what their values weigh."""
    ordered = persons.ordered
    return Axes(
        strict=np.array([axis.strict for axis in ordered], dtype=bool),
        missing=np.array([axis.missing_position for axis in ordered], dtype=np.int64),
        columns=np.array([axis.indicators.size for axis in persons.indicators], dtype=np.int64),
        complete=all(np.array_equal(axis.present, persons.records) for axis in ordered),
        attribute_weights=loss.attribute_weights.astype(np.float64),
        weights=loss.weights,
        axis_of=loss.axis_of,
        error_weights=loss.error_weights,
        width_weights=loss.width_weights,
        width_scales=loss.width_scales,
    )


def known_of(persons: PersonTable, loss: cuts.LossSpace, limits: Limits) -> Known:
    """What is known of the persons, as they are numbered now."""
    count = persons.persons
    none = np.empty((0, count), dtype=np.int32)
    # Sensitive values are gathered only for a threshold that reads them; they may be many.
    asked = np.isfinite(limits.affiliation).any() or limits.distinct.any()
    offsets, values = _together(list(persons.sensitive.values()) if asked else [], count)
    return Known(
        records=persons.records,
        positions=np.vstack([none, *(axis.position for axis in persons.ordered)]),
        members=np.vstack([none, *(axis.member for axis in persons.indicators)]),
        totals=loss.totals,
        presents=loss.presents,
        lowest=loss.lowest,
        highest=loss.highest,
        squares=loss.squares,
        offsets=loss.offsets,
        values=loss.values,
        counts=loss.counts,
        sensitive_offsets=offsets,
        sensitive=values,
    )


def _together(attributes: Sequence[Values], persons: int) -> tuple[Ints, Codes]:
    """The sensitive values of each person (CSR), those of each attribute after the last one's."""
    if len(attributes) == 1:
        return attributes[0].offsets, attributes[0].values
    numbers = [np.diff(attribute.offsets) for attribute in attributes]
    offsets = np.zeros(persons + 1, dtype=np.int64)
    np.cumsum(sum(numbers, np.zeros(persons, dtype=np.int64)), out=offsets[1:])
    values, start, first = np.empty(offsets[-1], dtype=np.int32), offsets[:-1].copy(), 0
    for lengths, attribute in zip(numbers, attributes, strict=True):
        place = np.repeat(start - attribute.offsets[:-1], lengths) + np.arange(
            len(attribute.values)
        )
        values[place] = attribute.values + first
        start += lengths
        first += attribute.size
    return offsets, values
