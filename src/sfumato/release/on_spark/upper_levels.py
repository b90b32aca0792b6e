"""The upper levels of the tree on Spark: the cluster counts, the driver decides.

The same cuts as `sfumato.release.tree` makes, ties included. For each level a few passes over
the persons: over bins, over the positions within the bin of the median, over the ties of the
persons that a cut tells apart by nothing else, and, for the promises that need it, over the
values of both sides of the cuts that are tried. No person moves: the cuts made so far say
where everybody is.

The driver holds the cuts, and of each pass at most about a million sums of some hundred bytes,
whatever the number of records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.core.declaration import Progress, silent
from sfumato.engines.spark.cut_histograms import Medians, at_once, find_medians
from sfumato.engines.spark.cut_selection import SideCounts, Targets, select, side_counts
from sfumato.engines.spark.spark_persons import LEAST, MOST, Axes, Bounds, Routes, unrouted
from sfumato.release.cuts import (
    DOUBTFUL_VARIANCE,
    Candidates,
    Nodes,
    both_sides_meet,
    first_that_meet,
    joined,
    ranked,
    side_summary,
)
from sfumato.release.promises.promise import Bounded, Constraint
from sfumato.release.release_options import Split
from sfumato.risk.classes import ClassSummary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


KNOWN = -1
"""The rank of cuts whose place is known without a look at ties."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where the cuts along ordered axes are; shape (nodes, ordered axes).

    Attributes
    ----------
    bin, whole, fraction, records
        As in `sfumato.engines.spark.spark_persons.Bounds`.
    rank
        How many persons at this position, with this number of records, go left, by their ties;
        `KNOWN` where the numbers before say it.
    """

    bin: Codes
    whole: Ints
    fraction: Floats
    records: Ints
    rank: Ints
    group: Ints


def large_candidates(
    people: DataFrame, axes: Axes, routes: Routes, ids: Ints, nodes: Nodes
) -> tuple[Candidates, Places]:
    """What `sfumato.release.cuts.find_candidates` finds, without the persons.

    The same cuts with the same counts; variances may differ in their last digits.
    """
    found: list[Candidates] = []
    places: list[Places] = []
    # Some nodes at a time, as the driver holds the counts of all axes for each of them.
    most = at_once(axes)
    for start in range(0, len(ids), most):
        part = np.arange(start, min(start + most, len(ids)))
        some = nodes.take(part)
        medians, numbers = find_medians(people, axes, routes, ids[part], some.records)
        along, place = _along(axes, some, medians, numbers)
        candidates = joined([*along, *_among(axes, some, numbers)])
        found.append(_numbered(candidates, part))
        places.append(place)
    arrays = (np.concatenate([getattr(p, f.name) for p in places]) for f in fields(Places))
    return joined(found), Places(*arrays)


def bounds_of(candidates: Candidates, places: Places) -> Bounds:
    """Where cuts are, as far as that is known without a look at ties."""
    cuts = len(candidates.node)
    ordered = np.flatnonzero(candidates.axis < places.bin.shape[1])
    at = candidates.node[ordered], candidates.axis[ordered]

    def filled(values: npt.NDArray[np.generic], nothing: npt.NDArray[np.generic]) -> None:
        nothing[ordered] = values[at]

    position = np.zeros(cuts, dtype=np.int32)
    whole, records, fraction = np.zeros(cuts, np.int64), np.zeros(cuts, np.int64), np.zeros(cuts)
    for values, target in (
        (places.bin, position),
        (places.whole, whole),
        (places.fraction, fraction),
        (places.records, records),
    ):
        filled(values, target)
    least = np.full(cuts, LEAST)
    return Bounds(
        candidates.axis.astype(np.int32),
        candidates.column,
        position,
        whole,
        fraction,
        records,
        least,
        least.copy(),
    )


def _numbered(candidates: Candidates, nodes: Ints) -> Candidates:
    own = {f.name: getattr(candidates, f.name) for f in fields(Candidates)}
    return Candidates(**own | {"node": nodes[candidates.node]})


def _along(
    axes: Axes, nodes: Nodes, medians: Medians, numbers: pa.Table
) -> tuple[Sequence[Candidates], Places]:
    shape = medians.bin.shape
    sizes = nodes.high - nodes.low
    left, place = np.zeros((*shape, 3), dtype=np.int64), []
    for index, axis in enumerate(axes.ordered):
        one = Medians(*(getattr(medians, f.name)[:, index] for f in fields(Medians)))
        cut = _strict if axis.strict else _relaxed
        left[:, index], own = cut(one, nodes, axis.size)
        place.append(own)
    nothing = np.zeros(shape, dtype=np.int64)
    arrays: list[Any] = [
        np.column_stack([getattr(each, f.name) for each in place]) if place else nothing
        for f in fields(Places)
    ]
    found = [
        _kept(index, left[:, index], sizes, *_spread(axes, index, len(nodes), numbers))
        for index in range(shape[1])
    ]
    return found, Places(*arrays)


def _relaxed(median: Medians, nodes: Nodes, missing: int) -> tuple[Ints, Places]:
    """The person of the median record goes left, unless nobody is behind (`kernels.tree_loops`)."""
    place = median.before_group[:, 0] + median.place
    rank = median.place + (place + 1 < nodes.high - nodes.low)
    own = np.column_stack([rank, rank * median.records, rank * median.records**2])
    left = median.before_group + own
    lacking = median.bin == missing
    # Where the median misses the value, all who miss it go right: nobody could tell some from
    # others.
    left[lacking] = median.before[lacking]
    whole_group = rank == median.group
    bound = np.where(lacking, 0, median.records + whole_group)
    rank = np.where(lacking | whole_group | (rank == 0), KNOWN, rank)
    return left, Places(median.bin, median.whole, median.fraction, bound, rank, median.group)


def _strict(median: Medians, nodes: Nodes, missing: int) -> tuple[Ints, Places]:
    """Between two positions, as near to the median record as can be; see `kernels.tree_loops`."""
    del missing  # is a position like any other
    sizes, records = nodes.high - nodes.low, nodes.records
    below, above = median.before, median.before + median.at
    # N/2 - below ≤ above - N/2, doubled to stay in integers. Of two equally near the lower one
    # (paper 003).
    nearer_below = records - 2 * below[:, 1] <= 2 * above[:, 1] - records
    # Behind the last position nobody would be left for the right side.
    last = above[:, 0] == sizes
    use_below = (below[:, 0] > 0) & (last | nearer_below)
    left = np.where(use_below[:, None], below, np.where(last[:, None], 0, above))
    bound = np.where(use_below, 0, MOST)
    rank = np.full(len(sizes), KNOWN)
    return left, Places(median.bin, median.whole, median.fraction, bound, rank, median.group)


def _spread(axes: Axes, index: int, nodes: int, numbers: pa.Table) -> tuple[Floats, Floats, Bools]:
    """Variance and normalised range of each node along an axis, and whether values differ."""
    here = np.flatnonzero(numbers.column("axis").to_numpy() == index)
    node = numbers.column("node").to_numpy()[here]
    total, square, present = (
        np.bincount(node, numbers.column(name).to_numpy()[here], nodes)
        for name in ("total", "square", "present")
    )
    counted = np.maximum(present, 1)
    mean = total / counted
    # Rounding may lead below 0 where all values are equal.
    variance = np.maximum(square / counted - mean * mean, 0.0)
    lowest, highest = np.full(nodes, np.iinfo(np.int32).max), np.full(nodes, -1)
    np.minimum.at(lowest, node, numbers.column("lowest").to_numpy()[here])
    np.maximum.at(highest, node, numbers.column("highest").to_numpy()[here])
    differs = lowest < highest
    scale = axes.ordered[index].normalized
    width = np.where(differs, scale[highest] - scale[np.minimum(lowest, highest)], 0.0)
    return variance, width, (variance >= DOUBTFUL_VARIANCE) | differs


def _kept(
    index: int, left: Ints, sizes: Ints, variance: Floats, width: Floats, differs: Bools
) -> Candidates:
    kept = np.flatnonzero((left[:, 0] > 0) & (left[:, 0] < sizes) & differs)
    return Candidates(
        node=kept,
        axis=np.full(len(kept), index),
        column=np.zeros(len(kept), dtype=np.int32),
        left=left[kept, 0],
        left_records=left[kept, 1],
        left_squares=left[kept, 2],
        variance=variance[kept],
        width=width[kept],
    )


def _among(axes: Axes, nodes: Nodes, numbers: pa.Table) -> list[Candidates]:
    """Every 0/1 column of every node; as `sfumato.release.cuts` does it."""
    first = len(axes.ordered)
    found = []
    axis_of = numbers.column("axis").to_numpy()
    for index, axis in enumerate(axes.indicators, first):
        here = axis_of == index
        node, column, right, records, squares, inside = (
            numbers.column(name).to_numpy()[here]
            for name in ("node", "bin", "persons", "records", "squares", "inside")
        )
        held = inside > 0
        sizes, whole = (nodes.high - nodes.low)[node], nodes.records[node]
        distinct = np.bincount(node[held], minlength=len(nodes))
        kept = np.flatnonzero(held & (right > 0) & (right < sizes))
        found.append(
            Candidates(
                node=node[kept],
                axis=np.full(len(kept), index),
                column=column[kept].astype(np.int32),
                left=(sizes - right)[kept],
                left_records=(whole - records)[kept],
                left_squares=(nodes.squares[node] - squares)[kept],
                # Shares first, since the product of two counts of a large file may not fit into 64
                # bits.
                variance=((inside / whole) * ((whole - inside) / whole))[kept],
                width=(np.maximum(distinct[node] - 1, 1) / max(axis.columns - 1, 1))[kept],
            )
        )
    return found


OF_VALUES = frozenset({"affiliation", "distinct", "distance", "ordered_distance"})
"""What constraints may need of the sensitive values."""


@dataclass(frozen=True, eq=False)
class Upper:
    """The upper levels of a tree; its ends are nodes without a cut, each a subtree."""

    routes: Routes
    ends: Ints
    levels: int


def cut_upper_on_spark(
    people: DataFrame,
    axes: Axes,
    whole: ClassSummary,
    names: Sequence[str],
    constraints: Sequence[Constraint],
    *,
    split: Split,
    upper: int,
    progress: Progress = silent,
) -> Upper:
    """Cut nodes of more than ``upper`` persons at the median, level by level.

    Parameters
    ----------
    people
        The persons; see `sfumato.engines.spark.spark_persons.persons_frame`.
    constraints
        Promises about every class. The persons as one class must meet them.
    progress
        Told the share of persons who are in such a node.
    """
    growth = _UpperGrowth(people, axes, names, constraints, split)
    nodes = _nodes(whole.persons, whole.records, whole.squares)
    most_shared = dict.fromkeys(names, whole.persons)
    nodes = replace(nodes, most_shared=most_shared)
    ids = np.zeros(1, dtype=np.int64)
    levels = 0
    while True:
        large = nodes.high - nodes.low > upper
        nodes, ids = nodes.take(large), ids[large]
        if not len(ids):
            break
        nodes, ids = growth.cut(nodes, ids)
        levels += bool(len(ids))
        sizes = nodes.high - nodes.low
        progress("partition", 1 - float(sizes[sizes > upper].sum() / whole.persons[0]))
    ends = np.flatnonzero(growth.routes.cut < 0)
    return Upper(growth.routes, ends, levels)


def _nodes(persons: Ints, records: Ints, squares: Ints) -> Nodes:
    """Nodes as if their persons stood one behind the other."""
    high = np.cumsum(persons)
    return Nodes(high - persons, high, records, squares)


class _UpperGrowth:
    """The tree so far, and the counts of the level that is cut."""

    def __init__(
        self,
        people: DataFrame,
        axes: Axes,
        names: Sequence[str],
        constraints: Sequence[Constraint],
        split: Split,
    ) -> None:
        self.people, self.axes, self.names, self.split = people, axes, names, split
        # Sizes and squares are known of every cut, so that these refuse most cuts without a job of
        # Spark.
        self.cheap = [constraint for constraint in constraints if not constraint.needs]
        self.costly = [constraint for constraint in constraints if constraint.needs]
        self.needs = frozenset[str]().union(*(constraint.needs for constraint in constraints))
        self.routes = unrouted()
        self.known: dict[tuple[int, int], tuple[int, int]] = {}
        self.most_shared: Mapping[str, Ints] = {}

    def cut(self, nodes: Nodes, ids: Ints) -> tuple[Nodes, Ints]:
        """Cut each node once where that keeps the promises; their children."""
        self.known = {}
        candidates, places = large_candidates(self.people, self.axes, self.routes, ids, nodes)
        candidates, _ = ranked(candidates, nodes, self.split)
        candidates = candidates.take(both_sides_meet(self.cheap, side_summary(nodes, candidates)))
        self.most_shared = {name: np.repeat(each, 2) for name, each in nodes.most_shared.items()}
        meets = partial(self._meets_costly, nodes, ids, places) if self.costly else None
        tried = first_that_meet(candidates, meets)
        chosen = candidates.take(tried)
        if not len(tried):
            return nodes.take(chosen.node), ids[chosen.node]
        first = self.routes.nodes
        self.routes = self.routes.grown(ids[chosen.node], self._bounds(ids, chosen, places))
        sides = side_summary(nodes, chosen)
        children = _nodes(sides.persons, sides.records, sides.squares)
        shared = {
            n: each.reshape(-1, 2)[chosen.node].ravel() for n, each in self.most_shared.items()
        }
        numbers = first + np.arange(2 * len(tried), dtype=np.int64)
        return replace(children, most_shared=shared), numbers

    def _meets_costly(
        self, nodes: Nodes, ids: Ints, places: Places, cuts_tried: Candidates
    ) -> Bools:
        """Whether both sides of each cut meet everything; counted where bounds do not tell."""
        shared = {
            name: np.repeat(each[cuts_tried.node], 2) for name, each in nodes.most_shared.items()
        }
        sides = replace(side_summary(nodes, cuts_tried), affiliation=shared)
        met = np.full(len(cuts_tried.node), all(isinstance(e, Bounded) for e in self.costly))
        for constraint in self.costly:
            if isinstance(constraint, Bounded):
                met &= constraint.surely_met(sides).reshape(-1, 2).all(axis=1)
        unsure = np.flatnonzero(~met)
        if len(unsure):
            counted = self._counted(nodes, ids, cuts_tried.take(unsure), places)
            met[unsure] = both_sides_meet(self.costly, counted)
            for name, found in counted.affiliation.items():
                shared[name].reshape(-1, 2)[unsure] = found.reshape(-1, 2)
        for name, each in shared.items():
            self.most_shared[name].reshape(-1, 2)[cuts_tried.node] = each.reshape(-1, 2)
        return met

    def _counted(
        self, nodes: Nodes, ids: Ints, cuts_tried: Candidates, places: Places
    ) -> ClassSummary:
        """The sides of each cut with all that the constraints need."""
        bounds = self._bounds(ids, cuts_tried, places)
        routes = self.routes.grown(ids[cuts_tried.node], bounds)
        sides = np.arange(self.routes.nodes, routes.nodes, dtype=np.int64)
        counts = side_counts(
            self.people,
            self.axes,
            routes,
            sides,
            values=bool(self.needs & OF_VALUES),
            numbers="fewest_sharing" in self.needs,
        )
        return with_counts(side_summary(nodes, cuts_tried), counts, self.axes, self.names)

    def _bounds(self, ids: Ints, cuts: Candidates, places: Places) -> Bounds:
        """Where cuts are, ties included; at most one cut of each node."""
        bounds = bounds_of(cuts, places)
        width = places.rank.shape[1]
        along = np.flatnonzero(cuts.axis < width)
        own = cuts.node[along], cuts.axis[along]
        told = along[places.rank[own] != KNOWN]
        # A look at ties is a job of Spark. What was looked up for a promise serves the cut that is
        # chosen.
        new = [each for each in told.tolist() if self._key(cuts, each) not in self.known]
        if new:
            some = np.array(new)
            at = cuts.node[some], cuts.axis[some]
            targets = Targets(
                ids[cuts.node[some]], bounds.take(some), places.group[at], places.rank[at]
            )
            found = select(self.people, self.axes, self.routes, targets)
            for each, tie, second in zip(new, *(f.tolist() for f in found), strict=True):
                self.known[self._key(cuts, each)] = tie, second
        for each in told.tolist():
            bounds.tie[each], bounds.second[each] = self.known[self._key(cuts, each)]
        return bounds

    @staticmethod
    def _key(cuts: Candidates, cut: int) -> tuple[int, int]:
        return int(cuts.node[cut]), int(cuts.axis[cut])


def with_counts(
    classes: ClassSummary, counts: SideCounts, axes: Axes, names: Sequence[str]
) -> ClassSummary:
    """Add to classes what the cluster has counted of their persons."""
    ranked_places = {attribute.place for attribute in axes.sensitive if attribute.rank is not None}
    return replace(
        classes,
        affiliation={names[place]: each for place, each in counts.most.items()},
        distinct={names[place]: each for place, each in counts.distinct.items()},
        distance={names[place]: each for place, each in counts.distance.items()},
        ordered_distance={
            names[place]: each for place, each in counts.ordered.items() if place in ranked_places
        },
        fewest_sharing=counts.fewest_sharing,
    )
