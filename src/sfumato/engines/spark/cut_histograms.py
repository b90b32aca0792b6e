"""Counts of persons over bins, and the median record of each node, for many nodes in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.core.optional_packages import needed
from sfumato.engines.spark.spark_persons import Axes, PeopleBatch, Routes, columns_of
from sfumato.engines.spark.spark_session import WithoutValues, gathered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


Arrays = Mapping[str, Any]
BUFFER = 1 << 18
"""Rows that a task holds before it adds them up."""
TOGETHER = 1 << 16
"""Persons that are looked at together; Spark's batches are smaller."""


@dataclass(frozen=True)
class Tally:
    """What is added up, and by what.

    Attributes
    ----------
    keys
        Names of the columns that rows must share, and their types in Spark.
    numbers
        Names of the columns that are added up, with their types in Spark, and ``sum``, ``min``
        or ``max``.
    """

    keys: Mapping[str, str]
    numbers: Mapping[str, tuple[str, str]]

    @property
    def schema(self) -> str:
        """The columns as Spark writes them."""
        kinds = dict(self.keys) | {name: kind for name, (kind, _) in self.numbers.items()}
        return ", ".join(f"{name} {kind}" for name, kind in kinds.items())

    def added_up(self, rows: pa.Table) -> pa.Table:
        """One row for each key."""
        how = [(name, function) for name, (_, function) in self.numbers.items()]
        # Executors have a core per task: more threads would fight over it.
        grouped = rows.group_by(list(self.keys), use_threads=False).aggregate(how)
        names = {f"{name}_{function}": name for name, function in how}
        named = grouped.rename_columns([names.get(name, name) for name in grouped.column_names])
        return named.select([*self.keys, *self.numbers])


def tallied(
    frame: DataFrame,
    columns: Sequence[str],
    axes: Axes,
    rows_of: Callable[[PeopleBatch], Iterator[Arrays]],
    tally: Tally,
) -> DataFrame:
    """Rows that batches of persons give, added up.

    A value that everybody has makes one row per task, not one per person.

    Parameters
    ----------
    columns
        The columns that ``rows_of`` reads.
    rows_of
        Gives tables as columns; runs on the executors.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    task = partial(_task, axes=axes.bare(), rows_of=rows_of, tally=tally)
    parts = frame.select(*columns).mapInArrow(WithoutValues(task), tally.schema)
    how = [
        getattr(functions, function)(name).cast(kind).alias(name)
        for name, (kind, function) in tally.numbers.items()
    ]
    return parts.groupBy(*tally.keys).agg(*how)


def _task(
    batches: Iterator[pa.RecordBatch],
    axes: Axes,
    rows_of: Callable[[PeopleBatch], Iterator[Arrays]],
    tally: Tally,
) -> Iterator[pa.RecordBatch]:
    held: list[pa.Table] = []
    rows, limit = 0, BUFFER
    for batch in gathered(batches, TOGETHER):
        for arrays in rows_of(PeopleBatch(batch, axes)):
            held.append(pa.table(dict(arrays)))
            rows += held[-1].num_rows
        if rows > limit:
            held = [tally.added_up(pa.concat_tables(held))]
            rows = held[0].num_rows
            # Doubled where sums do not shrink, or each batch would
            # add them all up again: O(rows) in the long run.
            limit = max(BUFFER, 2 * rows)
    if rows:
        yield from tally.added_up(pa.concat_tables(held)).to_batches()


WHERE = {"node": "bigint", "axis": "int"}
NUMBERS = Tally(
    WHERE | {"bin": "bigint"},
    dict.fromkeys(("persons", "records", "squares", "inside", "present"), ("bigint", "sum"))
    | {"total": ("double", "sum"), "square": ("double", "sum")}
    | {"lowest": ("int", "min"), "highest": ("int", "max")},
)
GROUPS = Tally(
    WHERE | {"whole": "bigint", "fraction": "double", "records": "bigint"},
    {"persons": ("bigint", "sum")},
)
# The neutral element of a minimum, as -1 is that of a maximum of codes.
_NONE = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Windows:
    """Which bins of which nodes are counted.

    Attributes
    ----------
    number
        Number of each node of the tree among those that are counted, -1 for the others.
    low, high
        The bins of each node and ordered axis, from ``low`` to before ``high``; shape
        (counted nodes, ordered axes).
    within
        The one bin of each node and axis whose whole parts above its point are the bins, of
        width 1; ``None`` where the bins are codes.
    """

    number: Ints
    low: Ints
    high: Ints
    step: Ints
    within: Ints | None = None

    def places(self, people: PeopleBatch, axis: int, person: Ints, node: Ints) -> tuple[Ints, Ints]:
        """The persons in the window of their node along an axis, as indices of ``person``.

        Beside them their bins.
        """
        own = people.axes.ordered[axis].place
        place = people.numbers(f"{'k' if self.within is None else 'w'}{own}")[person]
        inside = (self.low[node, axis] <= place) & (place < self.high[node, axis])
        if self.within is not None:
            # Whole parts count from the bin's own point: those of other bins are other places.
            inside &= people.numbers(f"k{own}")[person] == self.within[node, axis]
        here = np.flatnonzero(inside)
        nodes = node[here]
        return here, (place[here] - self.low[nodes, axis]) // self.step[nodes, axis]


def node_numbers(
    people: DataFrame, axes: Axes, routes: Routes, windows: Windows, *, everything: bool
) -> pa.Table:
    """Persons, records and squared record counts in bins, for the driver: a few sums of each.

    Parameters
    ----------
    routes
        Where the persons are.
    everything
        Whether 0/1 columns and the sums of the values are asked for too, not only bins.

    Returns
    -------
    pyarrow.Table
        The columns of `NUMBERS`. Of a 0/1 column, ``bin`` is its number, the numbers are those
        of the persons who belong to it, and ``inside`` is the number of records that it holds
        for. ``total`` to ``highest`` are added up over bins.
    """
    asked = range(len(axes.ordered) + everything * len(axes.indicators))
    names = {*columns_of(axes, [*routes.bounds.axis.tolist(), *asked])}
    if everything:
        names |= {f"{each}{axis.place}" for axis in axes.ordered for each in "tunaz"}
        alone = [axis.place for axis in axes.indicators if axis.missing_bin < 0]
        names |= {f"{each}{place}" for place in alone for each in "vc"}
    rows_of = partial(_numbers, routes=routes, windows=windows, everything=everything)
    found = tallied(people, sorted(names), axes, rows_of, NUMBERS).toArrow()
    # Rows of a shuffle come in any order, and the medians are read from running sums.
    return found.sort_by([(key, "ascending") for key in NUMBERS.keys])


def position_groups(people: DataFrame, axes: Axes, routes: Routes, windows: Windows) -> pa.Table:
    """Persons by exact position and number of records, in the windows.

    Parameters
    ----------
    people, axes, routes, windows
        As above; every window lies within one bin of codes.

    Returns
    -------
    pyarrow.Table
        The columns of `GROUPS`, ascending.
    """
    names = columns_of(axes, [*routes.bounds.axis.tolist(), *range(len(axes.ordered))])
    rows_of = partial(_groups, routes=routes, windows=windows)
    found = tallied(people, names, axes, rows_of, GROUPS).toArrow()
    return found.sort_by([(key, "ascending") for key in GROUPS.keys])


def _in_nodes(people: PeopleBatch, routes: Routes, number: Ints) -> tuple[Ints, Ints]:
    """The persons in numbered nodes, and the number of the node of each."""
    node = number[routes.node_of(people)]
    person = np.flatnonzero(node >= 0)
    return person, node[person]


def _numbers(
    people: PeopleBatch, routes: Routes, windows: Windows, everything: bool
) -> Iterator[Arrays]:
    person, node = _in_nodes(people, routes, windows.number)
    for index, axis in enumerate(people.axes.ordered):
        here, bins = windows.places(people, index, person, node)
        some, nodes = person[here], node[here]
        rows = _rows(nodes, index, bins, people.records[some])
        if everything:
            names = dict(
                zip(("total", "square", "present", "lowest", "highest"), "tunaz", strict=True)
            )
            rows |= {name: people.numbers(f"{n}{axis.place}")[some] for name, n in names.items()}
        yield rows
    if everything:
        yield from _columns(people, person, node)


def _columns(people: PeopleBatch, person: Ints, node: Ints) -> Iterator[Arrays]:
    number = np.full(people.persons, -1, dtype=np.int64)
    number[person] = node
    for index, axis in enumerate(people.axes.indicators, len(people.axes.ordered)):
        member = people.member(axis)[person]
        some = np.flatnonzero(member >= 0)
        yield _rows(node[some], index, member[some], people.records[person[some]])
        owner, column, count = people.held(axis)
        here = np.flatnonzero(number[owner] >= 0)
        nobody = np.zeros(len(here), dtype=np.int64)
        rows = _rows(number[owner[here]], index, column[here], nobody)
        yield rows | {"persons": nobody, "inside": count[here].astype(np.int64)}


def _rows(node: Ints, axis: int, bins: Codes | Ints, records: Ints) -> dict[str, Any]:
    zeros, nothing = np.zeros(len(node), dtype=np.int64), np.zeros(len(node))
    return {
        "node": node,
        "axis": np.full(len(node), axis, dtype=np.int32),
        "bin": bins.astype(np.int64),
        "persons": np.ones(len(node), dtype=np.int64),
        "records": records,
        "squares": records * records,
        "inside": zeros,
        "present": zeros,
        "total": nothing,
        "square": nothing,
        "lowest": np.full(len(node), _NONE, dtype=np.int32),
        "highest": np.full(len(node), -1, dtype=np.int32),
    }


def _groups(people: PeopleBatch, routes: Routes, windows: Windows) -> Iterator[Arrays]:
    person, node = _in_nodes(people, routes, windows.number)
    for index, axis in enumerate(people.axes.ordered):
        here, _ = windows.places(people, index, person, node)
        some = person[here]
        yield {
            "node": node[here],
            "axis": np.full(len(here), index, dtype=np.int32),
            "whole": people.numbers(f"w{axis.place}")[some],
            "fraction": people.numbers(f"f{axis.place}")[some],
            "records": people.records[some],
            "persons": np.ones(len(here), dtype=np.int64),
        }


LIMIT = 1 << 20
"""Sums that the driver reads at once, some hundred bytes each."""
FEWEST, MOST = 16, 4096
"""Bins of a node and axis that are counted at once."""


@dataclass(frozen=True, eq=False)
class Medians:
    """The median of each node along each ordered axis, by its place among the persons, from 0.

    Shape (nodes, ordered axes); numbers of persons, records and squared record counts have three
    entries more in the last dimension.
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
    routes
        Where the persons are.
    nodes
        The nodes of the tree, at most as many as `at_once` says.
    """
    shape = len(nodes), len(axes.ordered)
    number = np.full(routes.nodes, -1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    # The first record whose cumulative count reaches N/2 (paper 003): ⌈N/2⌉, in integers.
    half = np.repeat((records + 1) // 2, shape[1]).reshape(shape)
    count = partial(node_numbers, people, axes, routes)
    low = np.zeros(shape, dtype=np.int64)
    high = low + np.array([axis.size + 1 for axis in axes.ordered], dtype=np.int64)
    window = _Window(Windows(number, low, high, _step(low, high)), np.zeros((*shape, 3), np.int64))
    # Columns and sums are asked for in the first pass, which reads everybody anyway.
    first = count(window.bins, everything=True)
    window = window.narrowed(first, half)
    while not window.is_narrow:
        window = window.narrowed(count(window.bins, everything=False), half)
    code = window.bins.low
    if not code.size:
        return _nothing(shape), first
    bins = Windows(number, *_whole_parts(axes, code), code)
    window = replace(window, bins=bins)
    # Exact positions come to the driver: the window is narrowed until they are few.
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
            # A mean lies less than the gap to the next point above
            # its own; the last bin and that of missing have none.
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
    # The index −1 of the first segment was put to 0 above, whose sum is not before it.
    before[first == 0] = 0
    return before


def _holding(segment: Ints, records: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """The first row of each segment up to which it has the records wanted; its first row."""
    first = np.searchsorted(segment, np.arange(len(wanted)))
    cumulative = np.cumsum(records)
    # One running sum over all segments: the wanted record of each is one search away.
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
        # All persons of the group have so many records:
        # the record wanted is the (left − 1)-th from 0 on.
        place=((left - 1) // records[row]).reshape(shape),
    )


def _nothing(shape: tuple[int, int]) -> Medians:
    code, whole = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int64)
    three = np.zeros((*shape, 3), dtype=np.int64)
    return Medians(code, whole, np.zeros(shape), whole, three, three, three, whole, whole)
