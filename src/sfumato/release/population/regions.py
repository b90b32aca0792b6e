"""The whole cell of each class: all values on its side of every cut, not only those it has.

Where only the size of a population is known, a class's share of it is estimated from the
class's share of the file. That holds for the cell that the cuts made, not for the range of the
values that the file happens to have in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.release.candidates import Candidates, Nodes
from sfumato.release.persons import IndicatorAxis, OrderedAxis, PersonTable
from sfumato.release.register.cells import Cells
from sfumato.table.table import CodedColumn, Codes, NumberDomain, Table

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
ROUNDING = 1e-15
"""A number in the middle of two is one's that may be so much larger than the computed middle."""


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
) -> Cells:
    """The values of each class's cell; those of the file lie in it anyway.

    A cut between two values gives those in between to the nearer one. Quasi-identifiers whose
    values differ between the records of a person are left out.

    Parameters
    ----------
    persons
        The file's persons.
    parents, places
        Per level of the tree, the parent of each node and where each pair of siblings was cut
        apart; the first level has neither.
    leaves, class_of
        Per level, the nodes that are classes, and which ones.
    """
    none = np.empty(0, dtype=np.int32)
    axes: tuple[OrderedAxis | IndicatorAxis, ...] = (*persons.ordered, *persons.indicators)
    columns = 1 + max(axis.column for axis in axes)
    codes: list[Codes] = [none] * columns
    classes: list[Codes] = [none] * columns
    for index, axis in enumerate(axes):
        if isinstance(axis, OrderedAxis):
            tracked: _Between | _Among | None = _Between.of(axis)
        else:
            tracked = _Among.of(axis) if axis.categories else None
        if tracked is None:
            continue
        for level, (some, of) in enumerate(zip(leaves, class_of, strict=True)):
            if level:
                tracked = tracked.below(parents[level], places[level - 1], index)
            values, owner = tracked.values(some)
            codes[axis.column] = np.concatenate([codes[axis.column], values])
            classes[axis.column] = np.concatenate([classes[axis.column], of[owner]])
    return Cells(tuple(codes), tuple(each.astype(np.int32) for each in classes), whole=True)


@dataclass(frozen=True, eq=False)
class _Between:
    """Lowest and highest code of each node of a level."""

    low: Ints
    high: Ints
    rank: Ints

    @classmethod
    def of(cls, axis: OrderedAxis) -> _Between | None:
        known = axis.position != axis.missing_position
        same = axis.lowest == axis.highest
        if not (same & (axis.position == axis.highest))[known].all() or not known.any():
            return None
        held = np.zeros(len(axis.normalized), dtype=bool)
        held[axis.highest[known]] = True
        low, high = np.flatnonzero(held)[[0, -1]]
        return cls(np.full(1, low), np.full(1, high), _nearest(axis.normalized, held))

    def below(self, parents: Ints, places: CutPlaces, axis: int) -> _Between:
        low, high = self.low[parents], self.high[parents]
        here = np.flatnonzero(places.axis == axis)
        last = places.last[here]
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


def _nearest(normalized: npt.NDArray[np.float64], held: Bools) -> Ints:
    """Rank of the held code that each code is nearest to, the lower one of two."""
    places = np.flatnonzero(held)
    middle = (normalized[places[:-1]] + normalized[places[1:]]) / 2 * (1 + ROUNDING)
    nearest: Ints = np.searchsorted(middle, normalized, "left")
    return nearest


@dataclass(frozen=True, eq=False)
class _Among:
    """The codes that each node of a level may hold; shape (nodes, codes)."""

    allowed: Bools
    first: int
    missing: int

    @classmethod
    def of(cls, axis: IndicatorAxis) -> _Among:
        size = axis.categories
        single = axis.held.size == 1 and size == 2
        return cls(np.ones((1, size), dtype=bool), int(single), size)

    def below(self, parents: Ints, places: CutPlaces, axis: int) -> _Among:
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
        table, quasi_identifiers=tuple(_with_gaps(each) for each in table.quasi_identifiers)
    )


def _with_gaps(column: CodedColumn) -> CodedColumn:
    domain = column.domain
    if not isinstance(domain, NumberDomain) or column.hierarchy is not None or column.ends:
        return column
    points = domain.points
    apart = np.flatnonzero(np.diff(points) > 1)
    middle = points[apart] + (points[apart + 1] - points[apart]) // 2
    more = np.unique(np.concatenate([points, middle, middle + 1]))
    codes = np.append(np.searchsorted(more, points), -1)[column.codes].astype(np.int32)
    return replace(column, codes=codes, domain=replace(domain, points=more))
