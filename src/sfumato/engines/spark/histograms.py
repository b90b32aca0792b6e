"""Counts of persons over bins, for many nodes and all axes in one pass over the persons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.axes import Axes
from sfumato.engines.spark.batches import PeopleBatch, columns_of
from sfumato.engines.spark.routes import Routes
from sfumato.engines.spark.tallies import Arrays, Tally, tallied

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
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
    step
        How many of them are counted as one.
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
        """The persons in the window of their node, as indices of ``person``, and their bins.

        Parameters
        ----------
        people
            A batch of persons.
        axis
            Index of the ordered axis.
        person, node
            Indices of the persons, and the numbers of their nodes.
        """
        own = people.axes.ordered[axis].place
        place = people.numbers(f"{'k' if self.within is None else 'w'}{own}")[person]
        inside = (self.low[node, axis] <= place) & (place < self.high[node, axis])
        if self.within is not None:
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
    people
        The persons.
    axes
        The file's axes.
    routes
        Where the persons are.
    windows
        What is counted.
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
    return found.sort_by([(each, "ascending") for each in NUMBERS.keys])


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
    return found.sort_by([(each, "ascending") for each in GROUPS.keys])


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
        held = _rows(number[owner[here]], index, column[here], nobody)
        yield held | {"persons": nobody, "inside": count[here].astype(np.int64)}


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
