"""The shadow of the tree: a register's persons, divided by the cuts of the file's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.kernels import node_counts
from sfumato.release.candidates import Candidates, Nodes
from sfumato.release.persons import PersonTable
from sfumato.release.register.members import Members
from sfumato.release.register.segments import Segments

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class Shadow:
    """One order of the register's persons per ordered axis, over the nodes of the tree.

    A person goes to the side where the cut puts a person of the file with the same position;
    one between the last position on the left and the first on the right goes right.

    Parameters
    ----------
    members
        The register's persons.
    """

    def __init__(self, members: Members) -> None:
        self.members = members
        self.orders = [
            np.lexsort((position, members.pattern)).astype(np.int32)
            for position in members.positions
        ]
        if not self.orders:
            self.orders = [np.arange(members.persons, dtype=np.int32)]
        self.side = np.zeros(members.persons, dtype=np.int8)

    def root(self) -> Segments:
        """Everybody as one node."""
        numbers = np.arange(len(self.members.traits))
        low = np.searchsorted(self.members.pattern, numbers, "left")
        high = np.searchsorted(self.members.pattern, numbers, "right")
        return Segments(low[:, None].astype(np.int64), high[:, None].astype(np.int64))

    def counted(
        self, persons: PersonTable, orders: list[Codes], nodes: Nodes, candidates: Candidates
    ) -> Candidates:
        """The candidates with the number of persons who look like each of their sides.

        O(register log register) per axis.

        Parameters
        ----------
        persons, orders
            The file's persons and their orders.
        nodes
            The open nodes.
        candidates
            Their cuts.
        """
        population = np.zeros((len(candidates.node), 2), dtype=np.int64)
        for axis in np.unique(candidates.axis).tolist():
            here = np.flatnonzero(candidates.axis == axis)
            some = candidates.take(here)
            assert nodes.register is not None
            left = self._left(axis, persons, orders, nodes, some)
            right = nodes.register.sizes[:, some.node] - left
            sides = _sides_with_traits(axis, persons, orders, nodes, some)
            for side, standing in enumerate((left, right)):
                alike = _alike(self.members.traits, sides[:, :, side])
                population[here, side] = (standing * alike).sum(axis=0)
        return replace(candidates, population=population)

    def cut(
        self, persons: PersonTable, orders: list[Codes], nodes: Nodes, chosen: Candidates
    ) -> Segments:
        """Divide every order, and give the segments of both children of each node.

        Parameters
        ----------
        persons, orders
            The file's persons and their orders, before they are divided.
        nodes
            The nodes that are cut.
        chosen
            Their cuts, one each, in the order of the nodes.
        """
        assert nodes.register is not None
        left = np.zeros_like(nodes.register.low)
        for axis in np.unique(chosen.axis).tolist():
            here = np.flatnonzero(chosen.axis == axis)
            some = replace(chosen.take(here), node=np.arange(len(here)))
            part = nodes.take(here)
            left[:, here] = self._left(axis, persons, orders, part, some)
            self._mark(axis, len(persons.ordered), part, some, left[:, here])
        sizes = nodes.register.sizes.ravel()
        low, high = nodes.register.low.ravel()[sizes > 0], nodes.register.high.ravel()[sizes > 0]
        for order in self.orders:
            node_counts.partition(order, low, high, self.side)
        return nodes.register.divided(left)

    def _left(
        self,
        axis: int,
        persons: PersonTable,
        orders: list[Codes],
        nodes: Nodes,
        candidates: Candidates,
    ) -> Ints:
        """Persons of each pattern on the left of each cut; shape (patterns, cuts)."""
        segments = nodes.register
        assert segments is not None
        sizes = segments.sizes
        starts = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
        number = np.arange(sizes.size).reshape(sizes.shape)[:, candidates.node]
        segment = np.repeat(np.arange(sizes.size), sizes.ravel())
        if axis < len(persons.ordered):
            own = persons.ordered[axis]
            last = orders[axis][nodes.low[candidates.node] + candidates.left - 1]
            position = self.members.positions[axis][self.orders[axis][segments.places()]]
            width = own.missing_position + 1
            key = segment * width + position
            found = np.searchsorted(key, number * width + own.position[last], "right")
            below: Ints = found - starts[:, candidates.node]
            return below
        indicator = axis - len(persons.ordered)
        member = self.members.columns[indicator][self.orders[0][segments.places()]]
        width = persons.indicators[indicator].held.size + 1
        key = np.sort(segment * width + member + 1)
        asked = number * width + candidates.column + 1
        right = np.searchsorted(key, asked, "right") - np.searchsorted(key, asked, "left")
        left: Ints = sizes[:, candidates.node] - right
        return left

    def _mark(self, axis: int, ordered: int, nodes: Nodes, chosen: Candidates, left: Ints) -> None:
        assert nodes.register is not None
        low, high = nodes.register.low.ravel(), nodes.register.high.ravel()
        some = np.flatnonzero(high > low)
        if axis < ordered:
            end = (low + left.ravel())[some]
            node_counts.mark_cut(self.orders[axis], low[some], high[some], end, self.side)
            return
        column = np.tile(chosen.column, len(left))[some]
        member = self.members.columns[axis - ordered]
        node_counts.mark_members(self.orders[0], low[some], high[some], column, member, self.side)

    def classes(self, persons: PersonTable, segments: Segments, class_of: Codes) -> Codes:
        """The class that each person of the register looks like; -1 for none.

        Parameters
        ----------
        persons
            The file's persons.
        segments
            Those of the classes, in their order.
        class_of
            Class of each of the file's persons.
        """
        assert persons.traits is not None
        count = segments.low.shape[1]
        having = np.zeros((persons.traits.shape[1], count), dtype=bool)
        for trait, held in enumerate(persons.traits.T):
            having[trait, class_of[held]] = True
        alike = _alike(self.members.traits, having)
        everywhere = np.tile(np.arange(count), len(segments.low))
        number = np.repeat(np.where(alike.ravel(), everywhere, -1), segments.sizes.ravel())
        found = np.full(self.members.everybody, -1, dtype=np.int32)
        found[self.members.numbers[self.orders[0][segments.places()]]] = number
        return found


def _alike(traits: Bools, having: Bools) -> Bools:
    """Whether classes have all traits of each pattern; shape (patterns, classes).

    Parameters
    ----------
    traits
        Shape (patterns, traits).
    having
        Shape (traits, classes).
    """
    alike = np.ones((len(traits), having.shape[1]), dtype=bool)
    for pattern, wanted in enumerate(traits):
        alike[pattern] = having[wanted].all(axis=0)
    return alike


def _sides_with_traits(
    axis: int, persons: PersonTable, orders: list[Codes], nodes: Nodes, candidates: Candidates
) -> Bools:
    """Whether anybody of the file on either side has each trait; shape (traits, cuts, 2)."""
    assert persons.traits is not None
    found = np.zeros((persons.traits.shape[1], len(candidates.node), 2), dtype=bool)
    low, high = nodes.low[candidates.node], nodes.high[candidates.node]
    ordered = axis < len(persons.ordered)
    for trait, held in enumerate(persons.traits.T):
        order = orders[axis if ordered else 0]
        before = np.concatenate([[0], np.cumsum(held[order])])
        whole = before[high] - before[low]
        if ordered:
            left = before[low + candidates.left] - before[low]
        else:
            left = whole - _members_having(axis, persons, order, nodes, candidates, held)
        found[trait] = np.column_stack([left > 0, whole > left])
    return found


def _members_having(
    axis: int,
    persons: PersonTable,
    order: Codes,
    nodes: Nodes,
    candidates: Candidates,
    held: Bools,
) -> Ints:
    """Number of the file's members of each cut's column who have a trait."""
    indicator = persons.indicators[axis - len(persons.ordered)]
    sizes = nodes.high - nodes.low
    starts = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum())) + np.repeat(nodes.low - starts, sizes)
    person = order[places]
    width = indicator.held.size + 1
    key = np.repeat(np.arange(len(nodes)), sizes) * width + indicator.member[person] + 1
    key = np.sort(key[held[person]])
    asked = candidates.node * width + candidates.column + 1
    having: Ints = np.searchsorted(key, asked, "right") - np.searchsorted(key, asked, "left")
    return having
