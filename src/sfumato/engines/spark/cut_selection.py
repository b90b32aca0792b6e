"""What the sides of cuts hold beyond their sizes, and the person with a given rank among ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Integers, Ints, Words
from sfumato.engines.spark.cut_histograms import Arrays, Tally, tallied
from sfumato.engines.spark.spark_persons import (
    LEAST,
    SECOND,
    Axes,
    Bounds,
    PeopleBatch,
    Routes,
    Sensitive,
    columns_of,
)
from sfumato.engines.spark.spark_session import TIE, without_values
from sfumato.kernels.tree_loops import side_distances, side_ordered_distances

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


Counted = tuple[int, Words, Ints]
WORDS = 1 << 64
SIGN = np.uint64(1 << 63)
LIMIT = 1 << 20
"""Numbers that the driver reads at once."""
FEWEST = 64
"""Numbers read of each group at least."""
DEVIATIONS = 6
"""Standard deviations within which the tie of a rank is expected; if it is not, it is sought."""
COUNTS = Tally(
    {"target": "bigint", "inside": "int", "bin": "bigint"}, {"persons": ("bigint", "sum")}
)


@dataclass(frozen=True, eq=False)
class Targets:
    """Groups of persons who differ in ties only, and the rank that is asked for in each.

    Attributes
    ----------
    node
        The node of the tree that a group belongs to, each at most once.
    bounds
        Axis, position and number of records of the group; its ties are not looked at.
    rank
        The rank of the person, from 0 on.
    """

    node: Ints
    bounds: Bounds
    group: Ints
    rank: Ints


@dataclass(frozen=True, eq=False)
class _Windows:
    """What is counted: words of a column from ``low`` to ``high``, ``step`` of them as one."""

    name: str
    low: Words
    high: Words
    step: Words
    tie: Ints | None


def select(people: DataFrame, axes: Axes, routes: Routes, targets: Targets) -> tuple[Ints, Ints]:
    """The tie of the person of each rank, and the second hash where ties are equal.

    Ties are hashes, spread evenly: the one of a rank lies in a narrow window around its share.
    One pass counts the persons before the window and those in it by tie; where there are too
    many to read, or the tie lies elsewhere, further passes narrow it down.

    Parameters
    ----------
    routes
        Where they are.

    Returns
    -------
    tuple
        Tie and second hash: persons of smaller (tie, second) are as many as the rank says.
    """
    count = partial(_counted, people, axes, routes)
    # Hashes of 64 bits rarely agree: the second one is read only where they do.
    tie, left, alike = _ranked(targets, TIE, None, count)
    second = np.full(len(tie), LEAST)
    shared = np.flatnonzero(left > 0)
    if len(shared):
        bounds = targets.bounds.take(shared)
        again = Targets(targets.node[shared], bounds, alike[shared], left[shared])
        second[shared] = _ranked(again, SECOND, tie[shared], count)[0]
    return tie, second


class _Search:
    """The window in which the word of one rank is sought."""

    def __init__(self, group: int, rank: int) -> None:
        self.group, self.rank, self.step = group, rank, 1
        self.low, self.high = 0, WORDS - 1
        # So few are all read at once.
        if group > FEWEST:
            # Of n uniform ties that of rank r is near s = (r + 1/2) / n, with deviation √(s (1 − s)
            # / n).
            share = (rank + 0.5) / group
            around = DEVIATIONS * (sqrt(share * (1 - share) / group) + 1 / group)
            self.low = int(max(share - around, 0.0) * WORDS)
            self.high = min(int(min(share + around, 1.0) * WORDS), WORDS - 1)
        self.found: tuple[int, int, int] | None = None

    def read_at_most(self, most: int) -> None:
        """Count so many words as one that about so many numbers are read."""
        span = self.high - self.low + 1
        # Persons expected in the window are group · span / 2^64;
        # where they are too many, bins of ⌈span / most⌉ words.
        self.step = 1 if self.group * span <= most * WORDS else -(-span // most)

    def learn(self, before: int, bins: Words, persons: Ints) -> None:
        """Narrow the window, or find the word, from persons before it and in its bins."""
        # The first bin up to which there are more persons than the rank.
        place = int(np.searchsorted(np.cumsum(persons), self.rank - before, side="right"))
        # The window missed: the tie lies before it, or behind.
        if self.rank < before:
            self.low, self.high = 0, self.low - 1
        elif place == len(bins):
            self.low, self.high = self.high + 1, WORDS - 1
        elif self.step > 1:
            self.low += int(bins[place]) * self.step
            self.high = min(self.low + self.step - 1, self.high)
        else:
            left = self.rank - before - int(persons[:place].sum())
            self.found = self.low + int(bins[place]), left, int(persons[place])


def _ranked(
    targets: Targets, name: str, tie: Ints | None, count: Callable[..., list[Counted]]
) -> tuple[Ints, Ints, Ints]:
    """The number of each rank, the rank among those who share it, and how many these are."""
    pairs = zip(targets.group.tolist(), targets.rank.tolist(), strict=True)
    searches = [_Search(group, rank) for group, rank in pairs]
    while asked := [i for i, search in enumerate(searches) if search.found is None]:
        for place in asked:
            searches[place].read_at_most(max(LIMIT // len(asked), FEWEST))
        low, high, step = (
            np.array([getattr(search, end) for search in searches], dtype=np.uint64)
            for end in ("low", "high", "step")
        )
        counted = count(targets, np.array(asked), _Windows(name, low, high, step, tie))
        for place, numbers in zip(asked, counted, strict=True):
            searches[place].learn(*numbers)
    found = [search.found for search in searches if search.found is not None]
    word = np.array([each[0] for each in found], dtype=np.uint64)
    left, alike = (np.array([each[i] for each in found], dtype=np.int64) for i in (1, 2))
    # Ties are signed, windows are not: turning the sign bit keeps the order.
    return (word ^ SIGN).view(np.int64), left, alike


def _counted(
    people: DataFrame, axes: Axes, routes: Routes, targets: Targets, asked: Ints, windows: _Windows
) -> list[Counted]:
    """Of each target asked: persons before its window, and the bins with persons in it."""
    number = np.full(routes.nodes, -1, dtype=np.int64)
    number[targets.node[asked]] = asked
    along = targets.bounds.axis[asked].tolist()
    names = columns_of(axes, [*routes.bounds.axis.tolist(), *along])
    rows_of = partial(_rows, routes=routes, number=number, bounds=targets.bounds, windows=windows)
    rows = tallied(people, names, axes, rows_of, COUNTS).toArrow()
    target, inside, bins, persons = (rows.column(name).to_numpy() for name in rows.column_names)
    order = np.lexsort((bins.view(np.uint64), inside, target))
    starts, stops = np.searchsorted(target[order], [asked, asked + 1])
    counted = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        own = order[start:stop]
        before, within = own[inside[own] == 0], own[inside[own] == 1]
        words = bins[within].view(np.uint64)
        counted.append((int(persons[before].sum()), words, persons[within]))
    return counted


def _rows(
    people: PeopleBatch, routes: Routes, number: Ints, bounds: Bounds, windows: _Windows
) -> Iterator[Arrays]:
    target = number[routes.node_of(people)]
    person = np.flatnonzero(target >= 0)
    target = target[person]
    kept = _alike(people, bounds, person, target, windows.tie)
    person, target = person[kept], target[kept]
    word = people.numbers(windows.name)[person].view(np.uint64) ^ SIGN
    # Whoever comes after the window changes no rank within it.
    kept = word <= windows.high[target]
    word, target = word[kept], target[kept]
    inside = word >= windows.low[target]
    # Whoever is before the window has one bin together: only their number is asked for.
    bins = np.where(inside, (word - windows.low[target]) // windows.step[target], np.uint64(0))
    yield {
        "target": target,
        "inside": inside.astype(np.int32),
        "bin": bins.view(np.int64),
        "persons": np.ones(len(target), dtype=np.int64),
    }


def _alike(
    people: PeopleBatch, bounds: Bounds, person: Ints, target: Ints, tie: Ints | None
) -> Bools:
    """Whether each person is in the group of a target."""
    alike: Bools = people.records[person] == bounds.records[target]
    if tie is not None:
        alike &= people.numbers(TIE)[person] == tie[target]
    along = bounds.axis[target]
    for axis in np.unique(along).tolist():
        here = np.flatnonzero(along == axis)
        place = people.axes.ordered[axis].place
        position: tuple[npt.NDArray[Any], ...] = bounds.bin, bounds.whole, bounds.fraction
        for name, limits in zip("kwf", position, strict=True):
            alike[here] &= people.numbers(f"{name}{place}")[person[here]] == limits[target[here]]
    return alike


HELD = Tally(
    {"side": "bigint", "attribute": "int", "value": "bigint"},
    {"persons": ("bigint", "sum"), "records": ("bigint", "sum")},
)
SIDE = (
    "side bigint, attribute int, most bigint, fewest bigint, distinct bigint, "
    "distance double, ordered double"
)
NUMBER_OF_RECORDS = -1
"""The attribute that is the number of records of a person."""


@dataclass(frozen=True, eq=False)
class SideCounts:
    """Numbers of sides; shape (sides,) each, by the place of the sensitive attribute.

    Attributes
    ----------
    most
        Persons who share the most shared value.
    distinct
        Distinct values.
    fewest_sharing
        Fewest persons who share a number of records.
    """

    most: dict[int, Ints]
    distinct: dict[int, Ints]
    distance: dict[int, Floats]
    ordered: dict[int, Floats]
    fewest_sharing: Ints


def side_counts(
    people: DataFrame, axes: Axes, routes: Routes, sides: Ints, *, values: bool, numbers: bool
) -> SideCounts:
    """Count the values of some sides, as of nodes without a cut.

    A row of each comes to the driver. A value is counted by every task for itself first, so that
    one that everybody has is no more work than any other.
    """
    number = np.full(routes.nodes, -1, dtype=np.int64)
    number[sides] = np.arange(len(sides))
    asked = axes.sensitive if values else ()
    names = {*columns_of(axes, routes.bounds.axis.tolist())}
    names |= {f"{each}{own.place}" for own in asked for each in ("sv", "sc")}
    rows_of = partial(_held, routes=routes, number=number, asked=asked, numbers=numbers)
    frame = tallied(people, sorted(names), axes, rows_of, HELD)
    measure = partial(measured, sensitive=asked)
    rows = frame.groupBy("side", "attribute").applyInArrow(without_values(measure), SIDE).toArrow()
    columns = {name: rows.column(name).to_numpy() for name in rows.column_names}
    side, attribute = columns["side"], columns["attribute"]
    # A side without a value of an attribute gives no row, and keeps 0.
    counts = SideCounts({}, {}, {}, {}, np.zeros(len(sides), dtype=np.int64))
    for own in asked:
        here = attribute == own.place
        for name in ("most", "distinct", "distance", "ordered"):
            found = np.zeros(len(sides), dtype=columns[name].dtype)
            found[side[here]] = columns[name][here]
            getattr(counts, name)[own.place] = found
    here = attribute == NUMBER_OF_RECORDS
    counts.fewest_sharing[side[here]] = columns["fewest"][here]
    return counts


def _held(
    people: PeopleBatch, routes: Routes, number: Ints, asked: tuple[Sensitive, ...], numbers: bool
) -> Iterator[Arrays]:
    side = number[routes.node_of(people)]
    if numbers:
        person = np.flatnonzero(side >= 0)
        # The number of records is counted as one more attribute, in the same pass.
        yield _rows_of_sides(
            side[person], NUMBER_OF_RECORDS, people.records[person], people.records[person]
        )
    for own in asked:
        owner, value, count = people.lists(f"sv{own.place}", f"sc{own.place}")
        here = np.flatnonzero(side[owner] >= 0)
        yield _rows_of_sides(side[owner[here]], own.place, value[here], count[here])


def _rows_of_sides(side: Ints, attribute: int, value: Integers, records: Integers) -> Arrays:
    return {
        "side": side,
        "attribute": np.full(len(side), attribute, dtype=np.int32),
        "value": value.astype(np.int64),
        "persons": np.ones(len(side), dtype=np.int64),
        "records": records.astype(np.int64),
    }


def measured(values: pa.Table, sensitive: tuple[Sensitive, ...]) -> pa.Table:
    """The numbers of one side and attribute, from the rows of `HELD`."""
    attribute = values.column("attribute")[0].as_py()
    persons = values.column("persons").to_numpy()
    distance = ordered = 0.0
    for column in sensitive:
        if column.place == attribute:
            distance, ordered = _distances(values, column)
    return pa.table(
        {
            "side": values.column("side").slice(0, 1),
            "attribute": pa.array([attribute], pa.int32()),
            "most": pa.array([persons.max()], pa.int64()),
            "fewest": pa.array([persons.min()], pa.int64()),
            "distinct": pa.array([len(persons)], pa.int64()),
            "distance": pa.array([distance], pa.float64()),
            "ordered": pa.array([ordered], pa.float64()),
        }
    )


def _distances(values: pa.Table, own: Sensitive) -> tuple[float, float]:
    """The distances of one class, its values being those of one person."""
    code = values.column("value").to_numpy().astype(np.int32)
    records = values.column("records").to_numpy()
    # Rows of a shuffle have no order, but sums of floating numbers do.
    by_code = np.argsort(code)
    # By the compiled loop of one machine, so that both
    # engines give the same distance to the last digit.
    one = np.zeros(1, dtype=np.int32), np.zeros(1, np.int64), np.ones(1, np.int64)
    offsets = np.array([0, len(code)], dtype=np.int64)
    side = np.zeros(1, dtype=np.int8)
    held: tuple[Any, ...] = side, offsets, code[by_code], records[by_code], own.file
    equal = float(side_distances(*one, *held)[0, 0])
    if own.rank is None:
        return equal, 0.0
    ranked: tuple[Any, ...] = *held, own.rank
    return equal, float(side_ordered_distances(*one, *ranked)[0, 0])
