"""The cuts made so far, few enough for every task to know: they say where each person is."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.engines.spark.batches import PeopleBatch

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
LEAST = np.iinfo(np.int64).min
MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Bounds:
    """Where cuts are; every array has shape (cuts,).

    Along an ordered axis a person goes left whose (bin, whole, fraction, records, tie, second)
    comes before that of the bound; to a 0/1 column belongs the right side.

    Attributes
    ----------
    axis
        Index of the axis.
    column
        The 0/1 column; 0 along ordered axes.
    bin, whole, fraction
        The position.
    records, tie, second
        What tells persons at that position apart; the least number where all go right.
    """

    axis: Codes
    column: Codes
    bin: Codes
    whole: Ints
    fraction: Floats
    records: Ints
    tie: Ints
    second: Ints

    def take(self, chosen: npt.NDArray[np.integer] | Flags) -> Bounds:
        """Some of the cuts."""
        return Bounds(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def on_the_right(self, people: PeopleBatch, person: Ints, cut: Codes | Ints) -> Flags:
        """Whether persons are on the right of a cut each.

        Parameters
        ----------
        people
            A batch of persons.
        person, cut
            Indices of the persons and of their cuts.
        """
        right = np.zeros(len(person), dtype=bool)
        along = self.axis[cut]
        axes = people.axes
        for axis in np.unique(along).tolist():
            here = np.flatnonzero(along == axis)
            some, cuts = person[here], cut[here]
            if axis < len(axes.ordered):
                right[here] = ~self._before(people, axes.ordered[axis].place, some, cuts)
            else:
                member = people.member(axes.indicators[axis - len(axes.ordered)])
                right[here] = member[some] == self.column[cuts]
        return right

    def _before(self, people: PeopleBatch, place: int, person: Ints, cut: Codes | Ints) -> Flags:
        before, equal = np.zeros(len(person), dtype=bool), np.ones(len(person), dtype=bool)
        own = (f"k{place}", f"w{place}", f"f{place}")
        bounds: tuple[npt.NDArray[Any], ...] = (
            self.bin,
            self.whole,
            self.fraction,
            self.records,
            self.tie,
            self.second,
        )
        for name, bound in zip((*own, *TOLD_BY), bounds, strict=True):
            values, limits = people.numbers(name)[person], bound[cut]
            before |= equal & (values < limits)
            equal &= values == limits
            if not equal.any():
                break
        return before


TOLD_BY = ("sfumato_records", "sfumato_tie", "sfumato_second")


@dataclass(frozen=True, eq=False)
class Routes:
    """A tree of cuts, its nodes numbered as they came; node 0 is the root.

    Attributes
    ----------
    cut
        The cut of each node, -1 for none; shape (nodes,).
    child
        The left child of each cut; the right one follows it; shape (cuts,).
    bounds
        Where the cuts are.
    depth
        Number of levels of cuts.
    """

    cut: Codes
    child: Ints
    bounds: Bounds
    depth: int

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.cut)

    def grown(self, nodes: Ints, bounds: Bounds) -> Routes:
        """The tree with one more level: a cut of each of some nodes.

        Parameters
        ----------
        nodes
            Nodes without a cut.
        bounds
            Their cuts. Their children are the last nodes, in this order.
        """
        cut = np.concatenate([self.cut, np.full(2 * len(nodes), -1, dtype=np.int32)])
        cut[nodes] = len(self.child) + np.arange(len(nodes))
        both = (
            np.concatenate([getattr(self.bounds, each.name), getattr(bounds, each.name)])
            for each in fields(bounds)
        )
        child = np.concatenate([self.child, self.nodes + 2 * np.arange(len(nodes))])
        return replace(self, cut=cut, child=child, bounds=Bounds(*both), depth=self.depth + 1)

    def node_of(self, people: PeopleBatch) -> Ints:
        """The last node that each person of a batch comes to: O(persons x depth)."""
        node = np.zeros(people.persons, dtype=np.int64)
        going_on = np.arange(people.persons)
        for _ in range(self.depth):
            cut = self.cut[node[going_on]]
            going_on, cut = going_on[cut >= 0], cut[cut >= 0]
            if not len(going_on):
                break
            right = self.bounds.on_the_right(people, going_on, cut)
            node[going_on] = self.child[cut] + right
        return node


def unrouted() -> Routes:
    """The root alone."""
    code, whole = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    nothing = Bounds(code, code, code, whole, np.empty(0), whole, whole, whole)
    return Routes(np.full(1, -1, dtype=np.int32), whole, nothing, 0)
