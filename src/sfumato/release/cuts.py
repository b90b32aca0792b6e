"""Which cuts each open node of the tree offers, and what the search for the best ones minimises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Bools, Codes, Floats, Integers, Ints, Levels
from sfumato.kernels import class_counts, tree_loops
from sfumato.kernels.tree_loops import side_sharing
from sfumato.release.person_table import IndicatorAxis, OrderedAxis, PersonTable
from sfumato.release.promises.promise import Constraint
from sfumato.release.release_options import Split
from sfumato.risk.classes import ClassSummary
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn


@dataclass(frozen=True, eq=False)
class LossSpace:
    """Each person's share in the loss of a class.

    The loss of a cut is the sum of squared distances from the class means, weighted by the
    quasi-identifiers' weights; a categorical attribute is its 0/1 columns, each squared distance
    halved, so that it counts like a numeric one; being missing is a 0/1 column. The loss of a
    class is its absolute error (ANE) plus the width of its released values (NCP), in records.

    Attributes
    ----------
    totals, presents, lowest, highest
        Per person and ordered attribute: sum of normalised values, their number, least and
        greatest; shape (persons, attributes). Totals carry the root of the weight.
    squares
        Per person the weighted sum of squared values.
    attribute_weights
        Weight of each ordered attribute over the root of it that its totals carry.
    offsets, values, counts
        Per person (CSR) the 0/1 columns of all indicator axes that hold, and for how many
        records.
    weights
        Weight of the squared distance of each 0/1 column.
    axis_of
        Indicator axis of each 0/1 column.
    error_weights, width_weights, width_scales
        Per indicator axis: weight of the absolute error, weight of the width, and the width of
        each category beyond the first.
    """

    totals: Floats
    presents: Ints
    lowest: Floats
    highest: Floats
    squares: Floats
    attribute_weights: Floats
    offsets: Ints
    values: Codes
    counts: Codes
    weights: Floats
    axis_of: Codes
    error_weights: Floats
    width_weights: Floats
    width_scales: Floats

    def take(self, persons: Codes) -> LossSpace:
        """The shares of these persons, in this order."""
        rows = ("totals", "presents", "lowest", "highest", "squares")
        offsets, values, counts = class_counts.take_rows(
            self.offsets, self.values, self.counts, persons
        )
        taken = {name: getattr(self, name)[persons] for name in rows}
        return replace(self, **taken, offsets=offsets, values=values, counts=counts)

    def of_classes(self, order: Codes, low: Ints, high: Ints, records: Ints) -> Floats:
        """Loss of each class, a segment of ``order``."""
        columns = self.totals, self.presents, self.lowest, self.highest, self.attribute_weights
        indicators = self.offsets, self.values, self.counts, self.axis_of
        weights = self.error_weights, self.width_weights, self.width_scales
        return tree_loops.leaf_losses(order, low, high, records, *columns, *indicators, *weights)

    def scanned(self, order: Codes, low: Ints, high: Ints, records: Ints) -> tuple[Floats, Floats]:
        """Squared distances of nodes, and of their sides when cut behind each place of an order."""
        return tree_loops.scan_losses(order, low, high, records, *self._of_squares())

    def without_members(
        self, axis: IndicatorAxis, order: Codes, low: Ints, high: Ints, records: Ints
    ) -> tuple[Ints, Codes, Ints, Ints, Ints, Floats]:
        """Squared distances when the members of each 0/1 column of an axis are cut off."""
        member, columns = axis.member, axis.indicators.size
        return tree_loops.member_losses(
            order, low, high, member, columns, records, *self._of_squares()
        )

    def _of_squares(self) -> tuple[Floats, Floats, Ints, Ints, Codes, Codes, Floats]:
        """What the squared distances are summed from."""
        indicators = self.offsets, self.values, self.counts, self.weights
        return self.totals, self.squares, self.presents, *indicators


def loss_space(
    persons: PersonTable, quasi_identifiers: Sequence[CodedColumn], *, sets: bool
) -> LossSpace:
    """Gather each person's share in the loss.

    Categories that are released as sets have the width of their number; otherwise a class with more
    than one category has the full width.
    """
    roots = np.sqrt([quasi_identifiers[axis.column].weight for axis in persons.ordered])
    ordered = persons.ordered
    none = np.zeros((persons.persons, 0))
    empty = [axis.present == 0 for axis in ordered]
    lowest = [
        np.where(gone, np.inf, axis.normalized[np.minimum(axis.lowest, len(axis.normalized) - 1)])
        for axis, gone in zip(ordered, empty, strict=True)
    ]
    highest = [
        np.where(gone, -np.inf, axis.normalized[axis.highest])
        for axis, gone in zip(ordered, empty, strict=True)
    ]
    totals = np.column_stack([none, *(axis.total for axis in ordered)]) * roots
    squares = np.zeros(persons.persons)
    for axis, root in zip(ordered, roots, strict=True):
        squares += axis.square * root**2
    columns = [_Columns(axis, quasi_identifiers[axis.column], sets) for axis in persons.indicators]
    starts = np.cumsum([0, *(column.size for column in columns)])
    owner = np.concatenate([np.empty(0, np.int64), *(column.owner for column in columns)])
    by_owner = np.argsort(owner, kind="stable")
    values = [
        column.indicators.values + start for column, start in zip(columns, starts, strict=False)
    ]
    counts = [column.indicators.counts for column in columns]
    offsets = np.zeros(persons.persons + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=persons.persons), out=offsets[1:])
    sizes = [column.size for column in columns]
    return LossSpace(
        totals=np.ascontiguousarray(totals),
        presents=np.column_stack([none, *(axis.present for axis in ordered)]).astype(np.int64),
        lowest=np.column_stack([none, *lowest]) * roots,
        highest=np.column_stack([none, *highest]) * roots,
        squares=squares,
        attribute_weights=roots,
        offsets=offsets,
        values=np.concatenate([np.empty(0), *values])[by_owner].astype(np.int32),
        counts=np.concatenate([np.empty(0), *counts])[by_owner].astype(np.int32),
        weights=np.repeat([column.square_weight for column in columns], sizes).astype(np.float64),
        axis_of=np.repeat(np.arange(len(columns)), sizes).astype(np.int32),
        error_weights=np.array([column.error_weight for column in columns], dtype=np.float64),
        width_weights=np.array([column.width_weight for column in columns], dtype=np.float64),
        width_scales=np.array([column.width_scale for column in columns], dtype=np.float64),
    )


class _Columns:
    """The 0/1 columns of one indicator axis, with what they weigh."""

    def __init__(self, axis: IndicatorAxis, column: CodedColumn, sets: bool) -> None:
        self.indicators = axis.indicators
        self.size = axis.indicators.size
        self.owner = np.repeat(
            np.arange(len(axis.indicators.offsets) - 1), np.diff(axis.indicators.offsets)
        )
        single = self.size == 1
        # Two categories are one 0/1 column. Of more, each difference is in two columns, so that
        # each counts half.
        whole = column.weight * (1.0 if single else 0.5)
        self.square_weight = whole * axis.share
        of_missing = column.kind is not Kind.CATEGORICAL
        self.error_weight = 0.0 if of_missing or not axis.of_leaves else 2 * whole
        self.width_weight = 0.0 if of_missing else column.weight * axis.share
        self.width_scale = 1 / max(column.domain.size - 1, 1) if sets else 1.0


TINY = np.finfo(np.float64).tiny
DROPPED = 16
"""Of the 53 significant bits of a double, those that are rounded away."""
DOUBTFUL_VARIANCE = 1e-9
"""Below this a variance may be nothing but rounding: whether values differ is then counted."""


def split_keys(split: Split, g_change: Floats, variance: Floats, width: Floats) -> Floats:
    """The key of each candidate; the smallest is tried first.

    Parameters
    ----------
    g_change
        Δg of the cut (Equation 4, with the factor g1 that its print loses).
    variance
        Population variance of the normalised values over records; positive.
    width
        Normalised range of the values.
    """
    if split is Split.BALANCE:
        # The ratio r = Δg/v of paper 003, Definition 4. Where v is rounded to 0, r stays a number.
        return g_change / np.maximum(variance, TINY)
    return -variance if split is Split.VARIANCE else -width


def g_changes(
    records: Ints,
    squares: Ints,
    left_records: Ints,
    left_squares: Ints,
) -> Floats:
    """Δg = g_p - (N1/N)·g1 - (N2/N)·g2 of each cut, N counting records (Equation 4).

    With S = Σc² this is (S1/N1 + S2/N2)/N - S/N².
    """
    whole = records.astype(np.float64)
    left = left_squares / left_records
    right = (squares - left_squares) / (records - left_records)
    change: Floats = (left + right) / whole - squares / whole**2
    return change


def rounded(values: Floats) -> Floats:
    """The values at 37 significant bits, which is 11 significant digits; O(values).

    Sums of doubles differ in their last digits with the order in which they are added. Numbers that
    are compared are rounded first, so that those differences decide nothing: equal ones are then
    ordered by what is said next. Half of the last bit is rounded away from zero; infinite numbers
    stay so.
    """
    bits = values.astype(np.float64).view(np.int64)
    # The last bits of a double are those of its digits, so that this rounds each number relative
    # to itself. A carry out of the digits raises the exponent, as it should.
    bits = (bits + (1 << (DROPPED - 1))) & -(1 << DROPPED)
    return bits.view(np.float64)


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of the orders of a register's persons; see `RegisterPersons` for the patterns.

    Attributes
    ----------
    low, high
        Segment of each pattern and node, empty where there is nobody; shape (patterns, nodes).
        Taken row by row they are ascending and disjoint.
    """

    low: Ints
    high: Ints

    @property
    def sizes(self) -> Ints:
        """Number of persons; shape (patterns, nodes)."""
        sizes: Ints = self.high - self.low
        return sizes

    def take(self, nodes: npt.NDArray[np.integer[Any]] | Bools) -> Segments:
        """Those of some of the nodes."""
        return Segments(self.low[:, nodes], self.high[:, nodes])

    def places(self) -> Ints:
        """Every place of every segment, row by row."""
        sizes = self.sizes.ravel()
        starts = np.cumsum(sizes) - sizes
        places: Ints = np.arange(int(sizes.sum())) + np.repeat(self.low.ravel() - starts, sizes)
        return places

    def divided(self, left: Ints) -> Segments:
        """Two segments for each one, the first with ``left`` persons, side by side."""
        middle = self.low + left
        patterns = len(self.low)
        return Segments(
            np.stack([self.low, middle], axis=2).reshape(patterns, -1),
            np.stack([middle, self.high], axis=2).reshape(patterns, -1),
        )


def joined_segments(parts: Sequence[Segments | None], order: Ints) -> Segments:
    """The segments of several levels, in another order of their nodes."""
    low = np.concatenate([part.low for part in parts if part is not None], axis=1)
    high = np.concatenate([part.high for part in parts if part is not None], axis=1)
    return Segments(low[:, order], high[:, order])


@dataclass(frozen=True, eq=False)
class Nodes:
    """Open nodes: segments of the orders, with the numbers that their cuts are compared to.

    Attributes
    ----------
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
    divisible: Bools | None = None
    most_shared: Mapping[str, Ints] = field(default_factory=dict)
    register: Segments | None = None
    population: Ints | None = None

    def take(self, chosen: Integers | Bools) -> Nodes:
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
    axis
        Index of the axis: the ordered ones first, then the indicators.
    column
        The 0/1 column of an indicator; 0 for ordered axes.
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
    column: Codes
    left: Ints
    left_records: Ints
    left_squares: Ints
    variance: Floats
    width: Floats
    population: Ints | None = None

    def take(self, chosen: Integers | Bools) -> Candidates:
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
    orders: list[Codes],
    nodes: Nodes,
    split: Split,
) -> Candidates:
    """Every cut of every node that leaves persons on both sides, where values differ.

    Parameters
    ----------
    orders
        One order of the persons per ordered axis (one by tie where there is none).
    split
        The criterion; normalised ranges are counted only where it asks for them.
    """
    found = []
    axes: tuple[OrderedAxis | IndicatorAxis, ...] = (*persons.ordered, *persons.indicators)
    for index, axis in enumerate(axes):
        some = nodes.divisible_by(index)
        part = nodes.take(some)
        if isinstance(axis, OrderedAxis):
            cuts_found = _ordered_cuts(axis, index, persons, orders[index], part, split)
        else:
            cuts_found = _indicator_cuts(axis, index, persons, orders[0], part)
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


def _ordered_cuts(
    axis: OrderedAxis,
    index: int,
    persons: PersonTable,
    order: Codes,
    nodes: Nodes,
    split: Split,
) -> Candidates:
    left, left_records, left_squares, variance = tree_loops.ordered_cuts(
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
    # A range costs a pass over the persons. It is counted where it is the criterion, or where
    # rounding may hide that all values are equal.
    needed = np.flatnonzero((split is Split.RANGE) | (variance < DOUBTFUL_VARIANCE))
    if len(needed):
        some = nodes.take(needed)
        lowest, highest = tree_loops.ordered_spreads(
            order, some.low, some.high, axis.lowest, axis.highest
        )
        differs[needed] = lowest < highest
        spread = axis.normalized[highest] - axis.normalized[np.minimum(lowest, highest)]
        width[needed] = np.where(lowest < highest, spread, 0.0)
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


def _indicator_cuts(
    axis: IndicatorAxis,
    index: int,
    persons: PersonTable,
    order: Codes,
    nodes: Nodes,
) -> Candidates:
    node, column, right, right_records, right_squares, inside = tree_loops.indicator_cuts(
        order,
        nodes.low,
        nodes.high,
        persons.records,
        axis.member,
        axis.indicators.offsets,
        axis.indicators.values,
        axis.indicators.counts,
        axis.indicators.size,
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
        # The variance p(1 - p) of a 0/1 column, p being its share of the node's records.
        variance=(inside * (whole - inside) / whole**2)[kept],
        width=(np.maximum(distinct[node] - 1, 1) / max(axis.indicators.size - 1, 1))[kept],
    )


def first_that_meet(candidates: Candidates, met: Callable[[Candidates], Bools] | None) -> Ints:
    """Of each node's candidates, in their order, the first whose sides keep all promises.

    Without ``met`` all do.
    """
    tried = np.flatnonzero(np.diff(candidates.node, prepend=-1))
    if met is None:
        return tried
    ends = np.append(tried[1:], len(candidates.node))
    accepted = [tried[:0]]
    while len(tried):
        kept = met(candidates.take(tried))
        accepted.append(tried[kept])
        going_on = ~kept & (tried + 1 < ends)
        tried, ends = tried[going_on] + 1, ends[going_on]
    found: Ints = np.sort(np.concatenate(accepted))
    return found


def both_sides_meet(constraints: Iterable[Constraint], sides: ClassSummary) -> Bools:
    """Whether both sides of each cut, interleaved, keep promises; shape (cuts,)."""
    met = np.ones(sides.classes // 2, dtype=bool)
    for constraint in constraints:
        met &= constraint.met(sides).reshape(-1, 2).all(axis=1)
    return met


def class_summary(
    records: Ints, persons: Ints, squares: Ints, population: Ints | None = None
) -> ClassSummary:
    """What is known of classes without looking at their persons."""
    summary = ClassSummary(records, persons, squares, np.zeros_like(records))
    return summary if population is None else replace(summary, population=population.ravel())


def node_summary(nodes: Nodes) -> ClassSummary:
    """What is known of nodes without looking at their persons."""
    return class_summary(nodes.records, nodes.high - nodes.low, nodes.squares, nodes.population)


def side_summary(nodes: Nodes, candidates: Candidates) -> ClassSummary:
    """Numbers of the left and right side of each cut, interleaved; shape (2 x cuts,)."""
    of = candidates.node
    size = (nodes.high - nodes.low)[of]

    def interleaved(whole: Ints, left: Ints) -> Ints:
        return np.column_stack([left, whole - left]).ravel()

    return class_summary(
        interleaved(nodes.records[of], candidates.left_records),
        interleaved(size, candidates.left),
        interleaved(nodes.squares[of], candidates.left_squares),
        candidates.population,
    )


def counted_side_summary(
    persons: PersonTable,
    needs: frozenset[str],
    sides: ClassSummary,
    order: Codes,
    nodes: Nodes,
    side: Levels,
) -> ClassSummary:
    """Add to ``sides`` what constraints need and only counting tells.

    Parameters
    ----------
    needs
        Names of the fields of `ClassSummary` that are needed.
    order, nodes
        The persons of each node; one node per cut.
    side
        The side of each person, 0 or 1.
    """
    marked = order, nodes.low, nodes.high, side
    affiliation, distinct, distance, ordered, holders = {}, {}, {}, {}, {}
    for name, values in persons.sensitive.items():
        if needs & {"affiliation", "distinct"}:
            if values.told is not None:
                holders[name] = tree_loops.side_affiliations(*marked, *values.holders)[0].ravel()
            shared, different = tree_loops.side_affiliations(
                *marked, values.offsets, values.values, values.size
            )
            affiliation[name], distinct[name] = shared.ravel(), different.ravel()
        if "distance" in needs:
            distance[name] = values.distances(*marked).ravel()
        if "ordered_distance" in needs and values.rank is not None:
            ordered[name] = values.ordered_distances(*marked).ravel()
    sides = replace(
        sides,
        affiliation=affiliation,
        distinct=distinct,
        distance=distance,
        ordered_distance=ordered,
        holders=holders,
    )
    if "fewest_sharing" not in needs:
        return sides
    return replace(sides, fewest_sharing=side_sharing(*marked, persons.records).ravel())
