"""The candidate cuts of large nodes, from what the cluster counts of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.axes import Axes
from sfumato.engines.spark.medians import Medians, at_once, find_medians
from sfumato.engines.spark.routes import LEAST, MOST, Bounds, Routes
from sfumato.release.cuts import DOUBTFUL_VARIANCE, Candidates, Nodes, joined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
KNOWN = -1
"""The rank of cuts whose place is known without a look at ties."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where the cuts along ordered axes are; shape (nodes, ordered axes).

    Attributes
    ----------
    bin, whole, fraction, records
        As in `sfumato.engines.spark.routes.Bounds`.
    rank
        How many persons at this position, with this number of records, go left, by their ties;
        `KNOWN` where the numbers before say it.
    group
        Number of these persons.
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

    Parameters
    ----------
    people
        The persons.
    axes
        The file's axes.
    routes
        Where the persons are.
    ids
        The open nodes of the tree.
    nodes
        Their numbers.

    Returns
    -------
    tuple
        The cuts, and where those along ordered axes are.
    """
    found: list[Candidates] = []
    places: list[Places] = []
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
    """Where cuts are, as far as that is known without a look at ties.

    Parameters
    ----------
    candidates
        The cuts.
    places
        Where those along ordered axes are.
    """
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
    """The person of the median record goes left, unless nobody is behind; see `kernels.cuts`."""
    place = median.before_group[:, 0] + median.place
    rank = median.place + (place + 1 < nodes.high - nodes.low)
    own = np.column_stack([rank, rank * median.records, rank * median.records**2])
    left = median.before_group + own
    lacking = median.bin == missing
    left[lacking] = median.before[lacking]
    whole_group = rank == median.group
    bound = np.where(lacking, 0, median.records + whole_group)
    rank = np.where(lacking | whole_group | (rank == 0), KNOWN, rank)
    return left, Places(median.bin, median.whole, median.fraction, bound, rank, median.group)


def _strict(median: Medians, nodes: Nodes, missing: int) -> tuple[Ints, Places]:
    """Between two positions, as near to the median record as can be; see `kernels.cuts`."""
    del missing  # is a position like any other
    sizes, records = nodes.high - nodes.low, nodes.records
    below, above = median.before, median.before + median.at
    nearer_below = records - 2 * below[:, 1] <= 2 * above[:, 1] - records
    last = above[:, 0] == sizes
    use_below = (below[:, 0] > 0) & (last | nearer_below)
    left = np.where(use_below[:, None], below, np.where(last[:, None], 0, above))
    bound = np.where(use_below, 0, MOST)
    rank = np.full(len(sizes), KNOWN)
    return left, Places(median.bin, median.whole, median.fraction, bound, rank, median.group)


def _spread(axes: Axes, index: int, nodes: int, numbers: pa.Table) -> tuple[Floats, Floats, Flags]:
    """Variance and normalised range of each node along an axis, and whether values differ."""
    here = np.flatnonzero(numbers.column("axis").to_numpy() == index)
    node = numbers.column("node").to_numpy()[here]
    total, square, present = (
        np.bincount(node, numbers.column(name).to_numpy()[here], nodes)
        for name in ("total", "square", "present")
    )
    counted = np.maximum(present, 1)
    mean = total / counted
    variance = np.maximum(square / counted - mean * mean, 0.0)
    lowest, highest = np.full(nodes, np.iinfo(np.int32).max), np.full(nodes, -1)
    np.minimum.at(lowest, node, numbers.column("lowest").to_numpy()[here])
    np.maximum.at(highest, node, numbers.column("highest").to_numpy()[here])
    differs = lowest < highest
    scale = axes.ordered[index].normalized
    width = np.where(differs, scale[highest] - scale[np.minimum(lowest, highest)], 0.0)
    return variance, width, (variance >= DOUBTFUL_VARIANCE) | differs


def _kept(
    index: int, left: Ints, sizes: Ints, variance: Floats, width: Floats, differs: Flags
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
                variance=((inside / whole) * ((whole - inside) / whole))[kept],
                width=(np.maximum(distinct[node] - 1, 1) / max(axis.columns - 1, 1))[kept],
            )
        )
    return found
