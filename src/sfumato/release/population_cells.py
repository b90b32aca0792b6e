"""Where the persons of a population lie when the persons of a file are cut into classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.kernels import tree_loops
from sfumato.release.cuts import Candidates, Nodes, Segments
from sfumato.release.generalisation import ExtraValues
from sfumato.release.person_table import IndicatorAxis, OrderedAxis, PersonTable, RegisterPersons
from sfumato.table.table import CodedColumn, Codes, NumberDomain, Table

MIDDLE_ROUNDING = 1e-15
"""A number in the middle of two is one's that may be so much larger than the computed middle."""


class RegisterTree:
    """One order of the register's persons per ordered axis, over the nodes of the tree.

    A person goes to the side where the cut puts a person of the file with the same position;
    one between the last position on the left and the first on the right goes right.
    """

    def __init__(self, members: RegisterPersons) -> None:
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
        """Divide every order by a cut of each node, and give the segments of both children."""
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
        # Every order, as a later cut may be along any of them.
        for order in self.orders:
            tree_loops.partition(order, low, high, self.side)
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
            # Segments and positions in one ascending key, so that one search finds the place of
            # every cut.
            key = segment * width + position
            found = np.searchsorted(key, number * width + own.position[last], "right")
            below: Ints = found - starts[:, candidates.node]
            return below
        indicator = axis - len(persons.ordered)
        member = self.members.columns[indicator][self.orders[0][segments.places()]]
        width = persons.indicators[indicator].indicators.size + 1
        key = np.sort(segment * width + member + 1)
        target = number * width + candidates.column + 1
        right = np.searchsorted(key, target, "right") - np.searchsorted(key, target, "left")
        left: Ints = sizes[:, candidates.node] - right
        return left

    def _mark(self, axis: int, ordered: int, nodes: Nodes, chosen: Candidates, left: Ints) -> None:
        assert nodes.register is not None
        low, high = nodes.register.low.ravel(), nodes.register.high.ravel()
        some = np.flatnonzero(high > low)
        if axis < ordered:
            end = (low + left.ravel())[some]
            tree_loops.mark_cut(self.orders[axis], low[some], high[some], end, self.side)
            return
        column = np.tile(chosen.column, len(left))[some]
        member = self.members.columns[axis - ordered]
        tree_loops.mark_members(self.orders[0], low[some], high[some], column, member, self.side)

    def classes(self, persons: PersonTable, segments: Segments, class_of: Codes) -> Codes:
        """The class, by segments, that each person of the register looks like; -1 for none."""
        assert persons.traits is not None
        count = segments.low.shape[1]
        having = np.zeros((persons.traits.shape[1], count), dtype=bool)
        for trait, having_trait in enumerate(persons.traits.T):
            having[trait, class_of[having_trait]] = True
        alike = _alike(self.members.traits, having)
        everywhere = np.tile(np.arange(count), len(segments.low))
        number = np.repeat(np.where(alike.ravel(), everywhere, -1), segments.sizes.ravel())
        found = np.full(self.members.everybody, -1, dtype=np.int32)
        found[self.members.numbers[self.orders[0][segments.places()]]] = number
        return found


def _alike(traits: Bools, having: Bools) -> Bools:
    """Whether classes (traits, classes) have all traits of patterns (patterns, traits).

    Shape (patterns, classes).
    """
    alike = np.ones((len(traits), having.shape[1]), dtype=bool)
    for pattern, trait in enumerate(traits):
        alike[pattern] = having[trait].all(axis=0)
    return alike


def _sides_with_traits(
    axis: int, persons: PersonTable, orders: list[Codes], nodes: Nodes, candidates: Candidates
) -> Bools:
    """Whether anybody of the file on either side has each trait; shape (traits, cuts, 2)."""
    assert persons.traits is not None
    sides = np.zeros((persons.traits.shape[1], len(candidates.node), 2), dtype=bool)
    low, high = nodes.low[candidates.node], nodes.high[candidates.node]
    ordered = axis < len(persons.ordered)
    for trait, having_trait in enumerate(persons.traits.T):
        order = orders[axis if ordered else 0]
        before = np.concatenate([[0], np.cumsum(having_trait[order])])
        whole = before[high] - before[low]
        if ordered:
            left = before[low + candidates.left] - before[low]
        else:
            left = whole - _members_having(axis, persons, order, nodes, candidates, having_trait)
        sides[trait] = np.column_stack([left > 0, whole > left])
    return sides


def _members_having(
    axis: int,
    persons: PersonTable,
    order: Codes,
    nodes: Nodes,
    candidates: Candidates,
    having_trait: Bools,
) -> Ints:
    """Number of the file's members of each cut's column who have a trait."""
    indicator = persons.indicators[axis - len(persons.ordered)]
    sizes = nodes.high - nodes.low
    starts = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum())) + np.repeat(nodes.low - starts, sizes)
    person = order[places]
    width = indicator.indicators.size + 1
    key = np.repeat(np.arange(len(nodes)), sizes) * width + indicator.member[person] + 1
    key = np.sort(key[having_trait[person]])
    target = candidates.node * width + candidates.column + 1
    having: Ints = np.searchsorted(key, target, "right") - np.searchsorted(key, target, "left")
    return having


@dataclass(frozen=True, eq=False)
class CutPlaces:
    """Where nodes were cut; every array has shape (cuts,).

    Attributes
    ----------
    axis
        Index of the axis: the ordered ones first, then the indicators.
    column
        The 0/1 column of an indicator.
    last, first
        Last position on the left and first on the right of an ordered axis.
    """

    axis: Ints
    column: Codes
    last: Ints
    first: Ints


def cut_places(
    persons: PersonTable, orders: list[Codes], nodes: Nodes, chosen: Candidates
) -> CutPlaces:
    """Where the nodes are cut, one cut each, before the orders are divided."""
    last, first = (np.zeros(len(nodes), dtype=np.int64) for _ in range(2))
    for index, axis in enumerate(persons.ordered):
        here = np.flatnonzero(chosen.axis == index)
        end = nodes.low[here] + chosen.left[here]
        last[here] = axis.position[orders[index][end - 1]]
        first[here] = axis.position[orders[index][end]]
    return CutPlaces(chosen.axis, chosen.column, last, first)


def whole_cells(
    persons: PersonTable,
    parents: Sequence[Ints],
    places: Sequence[CutPlaces],
    leaves: Sequence[Ints],
    class_of: Sequence[Ints],
) -> ExtraValues:
    """The values of each class's cell; those of the file lie in it anyway.

    A cut between two values gives those in between to the nearer one. Quasi-identifiers whose
    values differ between the records of a person are left out.

    Parameters
    ----------
    parents, places
        Per level of the tree, the parent of each node and where each pair of siblings was cut
        apart; the first level has neither.
    """
    none = np.empty(0, dtype=np.int32)
    axes: tuple[OrderedAxis | IndicatorAxis, ...] = (*persons.ordered, *persons.indicators)
    columns = 1 + max(axis.column for axis in axes)
    codes: list[Codes] = [none] * columns
    classes: list[Codes] = [none] * columns
    for index, axis in enumerate(axes):
        if isinstance(axis, OrderedAxis):
            tracked: _CodeRanges | _CodeSets | None = _CodeRanges.of(axis)
        else:
            tracked = _CodeSets.of(axis) if axis.categories else None
        if tracked is None:
            continue
        for level, (some, of) in enumerate(zip(leaves, class_of, strict=True)):
            if level:
                tracked = tracked.below(parents[level], places[level - 1], index)
            values, owner = tracked.values(some)
            codes[axis.column] = np.concatenate([codes[axis.column], values])
            classes[axis.column] = np.concatenate([classes[axis.column], of[owner]])
    return ExtraValues(tuple(codes), tuple(each.astype(np.int32) for each in classes), whole=True)


@dataclass(frozen=True, eq=False)
class _CodeRanges:
    """Lowest and highest code of each node of a level."""

    low: Ints
    high: Ints
    rank: Ints

    @classmethod
    def of(cls, axis: OrderedAxis) -> _CodeRanges | None:
        known = axis.position != axis.missing_position
        same = axis.lowest == axis.highest
        # Where a person's records differ, the position is a mean, and no range of codes follows
        # from a cut.
        if not (same & (axis.position == axis.highest))[known].all() or not known.any():
            return None
        occurring = np.zeros(len(axis.normalized), dtype=bool)
        occurring[axis.highest[known]] = True
        low, high = np.flatnonzero(occurring)[[0, -1]]
        return cls(np.full(1, low), np.full(1, high), _nearest(axis.normalized, occurring))

    def below(self, parents: Ints, places: CutPlaces, axis: int) -> _CodeRanges:
        low, high = self.low[parents], self.high[parents]
        here = np.flatnonzero(places.axis == axis)
        last = places.last[here]
        # The place of the missing lies behind all codes. A cut there divides no values, so that
        # nothing has a middle.
        to_missing = places.first[here] >= len(self.rank)
        first = np.where(to_missing, last, places.first[here])
        middle = (self.rank[last] + self.rank[first]) // 2
        end = np.searchsorted(self.rank, middle, "right") - 1
        high[2 * here] = np.where(to_missing, high[2 * here], end)
        low[2 * here + 1] = np.where(to_missing, len(self.rank), end + 1)
        return replace(self, low=low, high=high)

    def values(self, nodes: Ints) -> tuple[Codes, Ints]:
        some = np.flatnonzero(self.low[nodes] <= self.high[nodes])
        ends = np.concatenate([self.low[nodes[some]], self.high[nodes[some]]])
        return ends.astype(np.int32), np.concatenate([some, some])


def _nearest(normalized: Floats, occurring: Bools) -> Ints:
    """Rank of the occurring code that each code is nearest to, the lower one of two."""
    places = np.flatnonzero(occurring)
    middle = (normalized[places[:-1]] + normalized[places[1:]]) / 2 * (1 + MIDDLE_ROUNDING)
    nearest: Ints = np.searchsorted(middle, normalized, "left")
    return nearest


@dataclass(frozen=True, eq=False)
class _CodeSets:
    """The codes that each node of a level may hold; shape (nodes, codes)."""

    allowed: Bools
    first: int
    missing: int

    @classmethod
    def of(cls, axis: IndicatorAxis) -> _CodeSets:
        size = axis.categories
        single = axis.indicators.size == 1 and size == 2
        return cls(np.ones((1, size), dtype=bool), int(single), size)

    def below(self, parents: Ints, places: CutPlaces, axis: int) -> _CodeSets:
        allowed = self.allowed[parents]
        here = np.flatnonzero(places.axis == axis)
        code = places.column[here] + self.first
        here, code = here[code < self.missing], code[code < self.missing]
        allowed[2 * here, code] = False
        only = np.zeros((len(here), self.missing), dtype=bool)
        only[np.arange(len(here)), code] = True
        allowed[2 * here + 1] = only
        return replace(self, allowed=allowed)

    def values(self, nodes: Ints) -> tuple[Codes, Ints]:
        owner, code = np.nonzero(self.allowed[nodes])
        return code.astype(np.int32), owner


def with_gaps(table: Table) -> Table:
    """The table with the numbers in the middle between two that occur in every domain.

    So that a range can end where the values in between are divided.
    """
    return replace(
        table,
        quasi_identifiers=tuple(_with_gaps(identifier) for identifier in table.quasi_identifiers),
    )


def _with_gaps(column: CodedColumn) -> CodedColumn:
    domain = column.domain
    # A hierarchy and coded ends are made of the values that occur, and know no code in between.
    if not isinstance(domain, NumberDomain) or column.hierarchy is not None or column.ends:
        return column
    points = domain.points
    apart = np.flatnonzero(np.diff(points) > 1)
    middle = points[apart] + (points[apart + 1] - points[apart]) // 2
    # Both neighbours of the middle, so that the lower range can end and the upper one begin there.
    more = np.unique(np.concatenate([points, middle, middle + 1]))
    codes = np.append(np.searchsorted(more, points), -1)[column.codes].astype(np.int32)
    return replace(column, codes=codes, domain=replace(domain, points=more))
