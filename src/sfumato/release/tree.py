"""The paper's tree: partition persons until no cut keeps the promises.

Kartal & Li 2020 (paper 003), Section 5 and Table 5. Persons stay in one order per attribute
that every cut divides stably, so that nothing is sorted at a node and no table is copied. The
nodes of a level are cut together: O(d·N) per level, O(d·N log N) in all for N persons' records
and d quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.core.progress import Progress, silent
from sfumato.kernels import cuts
from sfumato.release.candidates import Candidates, Nodes, find_candidates, ranked
from sfumato.release.constraints import TOLERANCE, Budget, Constraint
from sfumato.release.persons import PersonTable
from sfumato.release.splits import Split
from sfumato.risk.classes import ClassSummary

Ints = npt.NDArray[np.int64]


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


def grow(
    persons: PersonTable,
    constraints: Sequence[Constraint],
    budgets: Sequence[Budget] = (),
    *,
    split: Split = Split.BALANCE,
    progress: Progress = silent,
) -> Partition:
    """Cut the persons into classes that all keep the promises.

    In each node the candidate cuts are tried in the order of the split's key; a cut whose
    sides do not both meet every constraint is undone and the next one tried; a node that no
    quasi-identifier can cut is a class. A budget is spent on the cuts of a level in the order
    of their keys, until it is used up.

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
    progress
        Told the share of persons whose class is final.
    """
    return _Growth(persons, constraints, budgets, split, progress).run()


class _Growth:
    """The state of one partitioning."""

    def __init__(
        self,
        persons: PersonTable,
        constraints: Sequence[Constraint],
        budgets: Sequence[Budget],
        split: Split,
        progress: Progress,
    ) -> None:
        self.persons = persons
        self.cheap = [each for each in constraints if not each.uses_sensitive]
        self.costly = [each for each in constraints if each.uses_sensitive]
        self.budgets = budgets
        self.split = split
        self.progress = progress
        self.orders = [axis.order(persons.records) for axis in persons.ordered]
        if not self.orders:
            self.orders = [np.arange(persons.persons, dtype=np.int32)]
        self.side = np.zeros(persons.persons, dtype=np.int8)

    def run(self) -> Partition:
        """Cut level by level."""
        count, records = self.persons.persons, self.persons.records
        nodes = Nodes(
            np.zeros(1, dtype=np.int64),
            np.full(1, count),
            records.sum(keepdims=True),
            (records**2).sum(keepdims=True),
        )
        whole = _summary(nodes.records, nodes.high, nodes.squares)
        self.unspent = [
            budget.limit(int(nodes.records[0]), count) - float(budget.spent(whole)[0])
            for budget in self.budgets
        ]
        starts = [nodes.low]
        depth = 0
        while True:
            chosen = self._choose(nodes)
            nodes = nodes.take(chosen.node)
            self.progress("partition", 1 - int((nodes.high - nodes.low).sum()) / count)
            if not len(nodes):
                break
            nodes = self._cut(nodes, chosen)
            starts.append(nodes.low[1::2])
            depth += 1
        first = np.zeros(count, dtype=np.int32)
        first[np.concatenate(starts[1:] or [nodes.low])] = 1
        class_of_person = np.empty(count, dtype=np.int32)
        class_of_person[self.orders[0]] = np.cumsum(first)
        return Partition(class_of_person, int(first.sum()) + 1, depth)

    def _choose(self, nodes: Nodes) -> Candidates:
        """The cut of each node that is cut, by ascending node."""
        candidates, keys = ranked(
            find_candidates(self.persons, self.orders, nodes, self.split), nodes, self.split
        )
        kept = np.ones(len(candidates.node), dtype=bool)
        sides = _sides(nodes, candidates)
        for constraint in self.cheap:
            kept &= constraint.met(sides).reshape(-1, 2).all(axis=1)
        kept_at = np.flatnonzero(kept)
        candidates, keys = candidates.take(kept_at), keys[kept_at]
        tried = np.flatnonzero(np.diff(candidates.node, prepend=-1))
        if self.costly:
            tried = self._first_that_meets(nodes, candidates, tried)
        tried = self._affordable(nodes, candidates, keys, tried)
        return candidates.take(tried)

    def _first_that_meets(self, nodes: Nodes, candidates: Candidates, tried: Ints) -> Ints:
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
        chosen = nodes.take(cuts_tried.node)
        self._mark(chosen, cuts_tried)
        affiliation, distinct = {}, {}
        for name, values in self.persons.sensitive.items():
            shared, different = cuts.side_affiliations(
                self.orders[0],
                chosen.low,
                chosen.high,
                self.side,
                values.offsets,
                values.values,
                values.size,
            )
            affiliation[name], distinct[name] = shared.ravel(), different.ravel()
        sides = replace(_sides(nodes, cuts_tried), affiliation=affiliation, distinct=distinct)
        met = np.ones(len(chosen), dtype=bool)
        for constraint in self.costly:
            met &= constraint.met(sides).reshape(-1, 2).all(axis=1)
        return met

    def _affordable(
        self, nodes: Nodes, candidates: Candidates, keys: npt.NDArray[np.float64], tried: Ints
    ) -> Ints:
        """The cuts that the budgets still pay for, those of smallest key first."""
        whole = _summary(nodes.records, nodes.high - nodes.low, nodes.squares)
        by_key = tried[np.argsort(keys[tried], kind="stable")]
        costs = []
        for budget, unspent in zip(self.budgets, self.unspent, strict=True):
            chosen = candidates.take(by_key)
            after = budget.spent(_sides(nodes, chosen)).reshape(-1, 2).sum(axis=1)
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

    def _cut(self, nodes: Nodes, chosen: Candidates) -> Nodes:
        """Divide every order, and give the two children of each node, left ones first."""
        self._mark(nodes, chosen)
        for order in self.orders:
            cuts.partition(order, nodes.low, nodes.high, self.side)
        middle = nodes.low + chosen.left
        sides = _sides(nodes, replace(chosen, node=np.arange(len(nodes))))
        return Nodes(
            np.column_stack([nodes.low, middle]).ravel(),
            np.column_stack([middle, nodes.high]).ravel(),
            sides.records,
            sides.squares,
        )


def _summary(records: Ints, persons: Ints, squares: Ints) -> ClassSummary:
    return ClassSummary(records, persons, squares, np.zeros_like(records))


def _sides(nodes: Nodes, candidates: Candidates) -> ClassSummary:
    """Numbers of the left and right side of each cut, interleaved."""
    of = candidates.node
    size = (nodes.high - nodes.low)[of]

    def interleaved(whole: Ints, left: Ints) -> Ints:
        return np.column_stack([left, whole - left]).ravel()

    return _summary(
        interleaved(nodes.records[of], candidates.left_records),
        interleaved(size, candidates.left),
        interleaved(nodes.squares[of], candidates.left_squares),
    )
