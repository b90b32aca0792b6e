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
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.core.shared_options import Progress, silent
from sfumato.engines.spark.axes import Axes
from sfumato.engines.spark.routes import Bounds, Routes, unrouted
from sfumato.engines.spark.selection import Targets, select
from sfumato.engines.spark.sides import SideCounts, side_counts
from sfumato.release.cuts import (
    Candidates,
    Nodes,
    both_sides_meet,
    first_that_meet,
    ranked,
    side_summary,
)
from sfumato.release.on_spark.candidates import KNOWN, Places, bounds_of, large_candidates
from sfumato.release.options import Split
from sfumato.release.promises.promise import Bounded, Constraint
from sfumato.risk.classes import ClassSummary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
OF_VALUES = frozenset({"affiliation", "distinct", "distance", "ordered_distance"})
"""What constraints may need of the sensitive values."""


@dataclass(frozen=True, eq=False)
class Upper:
    """The upper levels of a tree.

    Attributes
    ----------
    routes
        Their cuts.
    ends
        The nodes without a cut, each a subtree.
    levels
        Number of levels of cuts.
    """

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
        The persons; see `sfumato.engines.spark.persons.persons_frame`.
    axes
        The file's axes.
    whole
        All persons as one class.
    names
        Names of the sensitive attributes, in the schema's order.
    constraints
        Promises about every class. The persons as one class must meet them.
    split
        The criterion.
    upper
        The most persons of a node that is left as it is.
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
        self.cheap = [each for each in constraints if not each.needs]
        self.costly = [each for each in constraints if each.needs]
        self.needs = frozenset[str]().union(*(each.needs for each in constraints))
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
    ) -> Flags:
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
    """Add to classes what the cluster has counted of their persons.

    Parameters
    ----------
    classes
        Their sizes.
    counts
        What was counted.
    axes
        The file's axes.
    names
        Names of the sensitive attributes, in the schema's order.
    """
    ranked_places = {own.place for own in axes.sensitive if own.rank is not None}
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
