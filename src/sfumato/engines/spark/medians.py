"""The person who holds the median record of each node along each ordered axis, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.engines.spark.axes import Axes
from sfumato.engines.spark.histograms import Windows, node_numbers, position_groups
from sfumato.engines.spark.routes import Routes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
LIMIT = 1 << 20
"""Sums that the driver reads at once, some hundred bytes each."""
FEWEST, MOST = 16, 4096
"""Bins of a node and axis that are counted at once."""


@dataclass(frozen=True, eq=False)
class Medians:
    """The median of each node along each ordered axis; shape (nodes, ordered axes).

    Numbers of persons, records and squared record counts have three entries more in the last
    dimension.

    Attributes
    ----------
    bin, whole, fraction
        Position of the person who holds the median record.
    records
        Number of records of that person.
    before
        The numbers of the persons before that position.
    at
        Those at that position.
    before_group
        Those before the persons with this position and number of records.
    group
        Number of persons with this position and number of records.
    place
        The place of the person among them, from 0 on.
    """

    bin: Codes
    whole: Ints
    fraction: Floats
    records: Ints
    before: Ints
    at: Ints
    before_group: Ints
    group: Ints
    place: Ints


def find_medians(
    people: DataFrame, axes: Axes, routes: Routes, nodes: Ints, records: Ints
) -> tuple[Medians, pa.Table]:
    """The medians of some nodes, and the numbers of their 0/1 columns and values.

    Two passes over the persons: over bins, and over the exact positions within the bin that
    holds the median. Where a domain has many values, or a bin many persons, further passes narrow
    it down, so that the driver never reads much more than a million sums, or `FEWEST` for each
    node and axis.

    Parameters
    ----------
    people
        The persons.
    axes
        The file's axes.
    routes
        Where the persons are.
    nodes
        The nodes of the tree, at most as many as `at_once` says.
    records
        Number of records of each.

    Returns
    -------
    tuple
        The medians, and what the first pass counted; see `node_numbers`.
    """
    shape = len(nodes), len(axes.ordered)
    number = np.full(routes.nodes, -1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    half = np.repeat((records + 1) // 2, shape[1]).reshape(shape)
    count = partial(node_numbers, people, axes, routes)
    low = np.zeros(shape, dtype=np.int64)
    high = low + np.array([axis.size + 1 for axis in axes.ordered], dtype=np.int64)
    window = _Window(Windows(number, low, high, _step(low, high)), np.zeros((*shape, 3), np.int64))
    first = count(window.bins, everything=True)
    window = window.narrowed(first, half)
    while not window.is_narrow:
        window = window.narrowed(count(window.bins, everything=False), half)
    code = window.bins.low
    if not code.size:
        return _nothing(shape), first
    bins = Windows(number, *_whole_parts(axes, code), code)
    window = replace(window, bins=bins)
    while window.persons > LIMIT and not window.is_narrow:
        window = window.narrowed(count(window.bins, everything=False), half)
    groups = position_groups(people, axes, routes, window.bins)
    return _medians(groups, code.astype(np.int32), window.before, half), first


def at_once(axes: Axes) -> int:
    """How many nodes' numbers the driver reads at once."""
    sums = FEWEST * len(axes.ordered) + sum(axis.columns for axis in axes.indicators)
    return max(LIMIT // max(sums, 1), 1)


@dataclass(frozen=True, eq=False)
class _Window:
    """Between which bins the median of each node and axis is, and what is before them.

    ``persons`` is the number of persons in all windows, once it is known.
    """

    bins: Windows
    before: Ints
    persons: int = 0

    @property
    def is_narrow(self) -> bool:
        """Whether every window has one bin."""
        return not (self.bins.high - self.bins.low > 1).any()

    def narrowed(self, found: pa.Table, half: Ints) -> _Window:
        """The bins, or steps of several, that hold the medians."""
        low, step = self.bins.low, self.bins.step
        along = found.filter(pc.field("axis") < low.shape[1])
        bins = along.column("bin").to_numpy()
        sums = np.column_stack([along.column(name).to_numpy() for name in _THREE])
        segment = _segments(along, low.shape)
        wanted = half.ravel() - self.before[..., 1].ravel()
        row, first = _holding(segment, sums[:, 1], wanted)
        passed = np.cumsum(sums, axis=0)
        passed = passed[row] - sums[row] - _starts(passed, first)
        low = low + bins[row].reshape(low.shape) * step
        high = np.minimum(low + step, self.bins.high)
        return _Window(
            replace(self.bins, low=low, high=high, step=_step(low, high)),
            self.before + passed.reshape(self.before.shape),
            int(sums[row, 0].sum()),
        )


def _step(low: Ints, high: Ints) -> Ints:
    """How many bins are counted as one, so that the driver reads a limited number."""
    bins = int(np.clip(LIMIT // max(low.size, 1), FEWEST, MOST))
    step: Ints = np.maximum(-(-(high - low) // bins), 1)
    return step


def _whole_parts(axes: Axes, code: Ints) -> tuple[Ints, Ints, Ints]:
    """Windows of all whole parts that positions within a code's bin may have above its point."""
    high = np.ones_like(code)
    for index, axis in enumerate(axes.ordered):
        if axis.points is not None:
            gaps = np.append(np.diff(axis.points), [1, 1])
            high[:, index] = gaps[code[:, index]]
    low = np.zeros_like(code)
    return low, high, _step(low, high)


_THREE = ("persons", "records", "squares")


def _segments(rows: pa.Table, shape: tuple[int, int]) -> Ints:
    axis = rows.column("axis").to_numpy().astype(np.int64)
    segments: Ints = rows.column("node").to_numpy() * shape[1] + axis
    return segments


def _starts(cumulative: Ints, first: Ints) -> Ints:
    """What is added up before each segment's first row."""
    before = cumulative[np.maximum(first - 1, 0)]
    before[first == 0] = 0
    return before


def _holding(segment: Ints, records: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """The first row of each segment up to which it has the records wanted; its first row."""
    first = np.searchsorted(segment, np.arange(len(wanted)))
    cumulative = np.cumsum(records)
    row = np.searchsorted(cumulative, _starts(cumulative, first) + wanted)
    return row.astype(np.int64), first


def _medians(groups: pa.Table, bins: Codes, before: Ints, half: Ints) -> Medians:
    shape = bins.shape
    segment = _segments(groups, shape)
    persons, records = (groups.column(name).to_numpy() for name in ("persons", "records"))
    whole, fraction = (groups.column(name).to_numpy() for name in ("whole", "fraction"))
    sums = np.column_stack([persons, persons * records, persons * records * records])
    wanted = half.ravel() - before[..., 1].ravel()
    row, first = _holding(segment, sums[:, 1], wanted)
    until = np.vstack([np.zeros((1, 3), dtype=np.int64), np.cumsum(sums, axis=0)])
    changes = np.ones(len(segment) + 1, dtype=bool)
    changes[1:-1] = np.any([each[1:] != each[:-1] for each in (segment, whole, fraction)], axis=0)
    edges = np.flatnonzero(changes)
    run = np.searchsorted(edges, row, side="right") - 1
    start, stop = edges[run], edges[run + 1]
    three = before.shape
    before_group = before + (until[row] - until[first]).reshape(three)
    left = wanted - (until[row] - until[first])[:, 1]
    return Medians(
        bin=bins,
        whole=whole[row].reshape(shape),
        fraction=fraction[row].reshape(shape),
        records=records[row].reshape(shape),
        before=before + (until[start] - until[first]).reshape(three),
        at=(until[stop] - until[start]).reshape(three),
        before_group=before_group,
        group=persons[row].reshape(shape),
        place=((left - 1) // records[row]).reshape(shape),
    )


def _nothing(shape: tuple[int, int]) -> Medians:
    code, whole = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int64)
    three = np.zeros((*shape, 3), dtype=np.int64)
    return Medians(code, whole, np.zeros(shape), whole, three, three, three, whole, whole)
