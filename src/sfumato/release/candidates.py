"""All candidate cuts of all open nodes of a level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sfumato.kernels import node_counts
from sfumato.release.options import Split
from sfumato.release.persons import IndicatorAxis, OrderedAxis, PersonTable
from sfumato.release.register.segments import Segments
from sfumato.release.splits import g_changes, rounded, split_keys

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
DOUBTFUL_VARIANCE = 1e-9
"""Below this a variance may be nothing but rounding: whether values differ is then counted."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Open nodes: segments of the orders, with the numbers that their cuts are compared to.

    Attributes
    ----------
    low, high
        Segment of each node.
    records, squares
        Number of records, and sum of squared record counts.
    divisible
        Which axes may have a cut, shape (nodes, axes); ``None`` where all may. An axis that has
        no cut in a node has none in any part of it.
    most_shared
        Per sensitive attribute, at most so many persons share a value.
    register
        Where the persons of a register stand; ``None`` without one.
    population
        Number of them who look like the node; ``None`` without a register.
    """

    low: Ints
    high: Ints
    records: Ints
    squares: Ints
    divisible: npt.NDArray[np.bool_] | None = None
    most_shared: Mapping[str, Ints] = field(default_factory=dict)
    register: Segments | None = None
    population: Ints | None = None

    def take(self, chosen: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Nodes:
        """Some of the nodes."""
        return Nodes(
            self.low[chosen],
            self.high[chosen],
            self.records[chosen],
            self.squares[chosen],
            None if self.divisible is None else self.divisible[chosen],
            {name: bounds[chosen] for name, bounds in self.most_shared.items()},
            None if self.register is None else self.register.take(chosen),
            None if self.population is None else self.population[chosen],
        )

    def divisible_by(self, axis: int) -> Ints:
        """Indices of the nodes that may have a cut along an axis."""
        if self.divisible is None:
            return np.arange(len(self))
        return np.flatnonzero(self.divisible[:, axis])

    def __len__(self) -> int:
        return len(self.low)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Cuts, one entry each.

    Attributes
    ----------
    node
        Index of the node in the level.
    axis
        Index of the axis: the ordered ones first, then the indicators.
    column
        The 0/1 column of an indicator; 0 for ordered axes.
    left, left_records, left_squares
        Persons, records and squared record counts on the left.
    variance
        Population variance of the normalised values over records.
    width
        Normalised range.
    population
        Persons of a register who look like the left and the right side, shape (cuts, 2);
        ``None`` where they are not counted.
    """

    node: Ints
    axis: Ints
    column: npt.NDArray[np.int32]
    left: Ints
    left_records: Ints
    left_squares: Ints
    variance: Floats
    width: Floats
    population: Ints | None = None

    def take(self, chosen: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Candidates:
        """Some of the candidates."""
        population = None if self.population is None else self.population[chosen]
        some = (getattr(self, name)[chosen] for name in NUMBERS)
        return replace(Candidates(*some), population=population)


def joined(parts: Sequence[Candidates]) -> Candidates:
    """All candidates of several axes."""
    counted = [part.population for part in parts if part.population is not None]
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in NUMBERS)
    return replace(Candidates(*columns), population=np.concatenate(counted) if counted else None)


NUMBERS = tuple(Candidates.__dataclass_fields__)[:-1]
"""The fields that every candidate has."""


def find_candidates(
    persons: PersonTable,
    orders: list[npt.NDArray[np.int32]],
    nodes: Nodes,
    split: Split,
) -> Candidates:
    """Every cut of every node that leaves persons on both sides, where values differ.

    Parameters
    ----------
    persons
        What is known of the persons.
    orders
        One order of the persons per ordered axis (one by tie where there is none).
    nodes
        The open nodes.
    split
        The criterion; normalised ranges are counted only where it asks for them.
    """
    found = []
    axes: tuple[OrderedAxis | IndicatorAxis, ...] = (*persons.ordered, *persons.indicators)
    for index, axis in enumerate(axes):
        some = nodes.divisible_by(index)
        part = nodes.take(some)
        if isinstance(axis, OrderedAxis):
            cuts_found = _along(axis, index, persons, orders[index], part, split)
        else:
            cuts_found = _among(axis, index, persons, orders[0], part)
        found.append(replace(cuts_found, node=some[cuts_found.node]))
    return joined(found)


def ranked(candidates: Candidates, nodes: Nodes, split: Split) -> tuple[Candidates, Floats]:
    """The candidates by node, then by the split's key, then by variance and axis.

    Keys and variances are compared after rounding to 11 significant digits. Of equal ones the
    lower axis is first (the ordered ones before the indicators, each in the schema's order), and
    then the lower column.
    """
    records, squares = nodes.records[candidates.node], nodes.squares[candidates.node]
    change = g_changes(records, squares, candidates.left_records, candidates.left_squares)
    keys = split_keys(split, change, candidates.variance, candidates.width)
    variance = rounded(candidates.variance)
    order = np.lexsort(
        (candidates.column, candidates.axis, -variance, rounded(keys), candidates.node)
    )
    return candidates.take(order), keys[order]


def _along(
    axis: OrderedAxis,
    index: int,
    persons: PersonTable,
    order: npt.NDArray[np.int32],
    nodes: Nodes,
    split: Split,
) -> Candidates:
    left, left_records, left_squares, variance = node_counts.ordered_cuts(
        order,
        nodes.low,
        nodes.high,
        nodes.records,
        persons.records,
        axis.position,
        axis.missing_position,
        axis.strict,
        axis.total,
        axis.square,
        axis.present,
    )
    width = np.zeros(len(nodes))
    differs = np.ones(len(nodes), dtype=bool)
    asked = np.flatnonzero((split is Split.RANGE) | (variance < DOUBTFUL_VARIANCE))
    if len(asked):
        some = nodes.take(asked)
        lowest, highest = node_counts.ordered_spreads(
            order, some.low, some.high, axis.lowest, axis.highest
        )
        differs[asked] = lowest < highest
        spread = axis.normalized[highest] - axis.normalized[np.minimum(lowest, highest)]
        width[asked] = np.where(lowest < highest, spread, 0.0)
    kept = np.flatnonzero((left > 0) & (left < nodes.high - nodes.low) & differs)
    return Candidates(
        node=kept,
        axis=np.full(len(kept), index),
        column=np.zeros(len(kept), dtype=np.int32),
        left=left[kept],
        left_records=left_records[kept],
        left_squares=left_squares[kept],
        variance=variance[kept],
        width=width[kept],
    )


def _among(
    axis: IndicatorAxis,
    index: int,
    persons: PersonTable,
    order: npt.NDArray[np.int32],
    nodes: Nodes,
) -> Candidates:
    node, column, right, right_records, right_squares, inside = node_counts.indicator_cuts(
        order,
        nodes.low,
        nodes.high,
        persons.records,
        axis.member,
        axis.held.offsets,
        axis.held.values,
        axis.held.counts,
        axis.held.size,
    )
    size = (nodes.high - nodes.low)[node]
    whole = nodes.records[node]
    distinct = np.bincount(node, minlength=len(nodes))
    kept = np.flatnonzero((right > 0) & (right < size))
    return Candidates(
        node=node[kept],
        axis=np.full(len(kept), index),
        column=column[kept],
        left=(size - right)[kept],
        left_records=(whole - right_records)[kept],
        left_squares=(nodes.squares[node] - right_squares)[kept],
        variance=(inside * (whole - inside) / whole**2)[kept],
        width=(np.maximum(distinct[node] - 1, 1) / max(axis.held.size - 1, 1))[kept],
    )


def first_that_meet(
    candidates: Candidates, tried: Ints, met: Callable[[Candidates], npt.NDArray[np.bool_]]
) -> Ints:
    """Of each node's candidates, the first whose sides keep all promises.

    Parameters
    ----------
    candidates
        The cuts by node, those to be tried first before others.
    tried
        The first candidate of each node.
    met
        Whether cuts, one of each node at most, keep the promises.
    """
    ends = np.append(tried[1:], len(candidates.node))
    accepted = [tried[:0]]
    while len(tried):
        kept = met(candidates.take(tried))
        accepted.append(tried[kept])
        going_on = ~kept & (tried + 1 < ends)
        tried, ends = tried[going_on] + 1, ends[going_on]
    found: Ints = np.sort(np.concatenate(accepted))
    return found
