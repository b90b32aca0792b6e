"""What constraints ask of the sides of cuts beyond their sizes, counted on the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark.axes import Axes, Sensitive
from sfumato.engines.spark.batches import PeopleBatch, columns_of
from sfumato.engines.spark.routes import Routes
from sfumato.engines.spark.tallies import Arrays, Tally, tallied
from sfumato.engines.spark.tasks import without_values
from sfumato.kernels.tree_loops import side_distances, side_ordered_distances

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
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
    distance, ordered
        Distances of the values from those of the file.
    fewest_sharing
        Fewest persons who share a number of records.
    """

    most: dict[int, Ints]
    distinct: dict[int, Ints]
    distance: dict[int, Floats]
    ordered: dict[int, Floats]
    fewest_sharing: Ints


def side_counts(
    people: DataFrame,
    axes: Axes,
    routes: Routes,
    sides: Ints,
    *,
    values: bool,
    numbers: bool,
) -> SideCounts:
    """Count the values of some sides: one row of each comes to the driver.

    A value is counted by every task for itself first, so that one that everybody has is no
    more work than any other.

    Parameters
    ----------
    people
        The persons.
    axes
        The file's axes, with its sensitive attributes.
    routes
        Where the persons are, the sides being nodes without a cut.
    sides
        These nodes.
    values, numbers
        Whether sensitive values and numbers of records are asked for.
    """
    number = np.full(routes.nodes, -1, dtype=np.int64)
    number[sides] = np.arange(len(sides))
    asked = axes.sensitive if values else ()
    names = {*columns_of(axes, routes.bounds.axis.tolist())}
    names |= {f"{each}{own.place}" for own in asked for each in ("sv", "sc")}
    rows_of = partial(_held, routes=routes, number=number, asked=asked, numbers=numbers)
    held = tallied(people, sorted(names), axes, rows_of, HELD)
    measure = partial(measured, sensitive=asked)
    rows = held.groupBy("side", "attribute").applyInArrow(without_values(measure), SIDE).toArrow()
    columns = {name: rows.column(name).to_numpy() for name in rows.column_names}
    side, attribute = columns["side"], columns["attribute"]
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
    people: PeopleBatch,
    routes: Routes,
    number: Ints,
    asked: tuple[Sensitive, ...],
    numbers: bool,
) -> Iterator[Arrays]:
    side = number[routes.node_of(people)]
    if numbers:
        person = np.flatnonzero(side >= 0)
        yield _rows(side[person], NUMBER_OF_RECORDS, people.records[person], people.records[person])
    for own in asked:
        owner, value, count = people.lists(f"sv{own.place}", f"sc{own.place}")
        here = np.flatnonzero(side[owner] >= 0)
        yield _rows(side[owner[here]], own.place, value[here], count[here])


def _rows(
    side: Ints,
    attribute: int,
    value: npt.NDArray[np.integer],
    records: npt.NDArray[np.integer],
) -> Arrays:
    return {
        "side": side,
        "attribute": np.full(len(side), attribute, dtype=np.int32),
        "value": value.astype(np.int64),
        "persons": np.ones(len(side), dtype=np.int64),
        "records": records.astype(np.int64),
    }


def measured(values: pa.Table, sensitive: tuple[Sensitive, ...]) -> pa.Table:
    """The numbers of one side and attribute.

    Parameters
    ----------
    values
        The rows of `HELD`: its distinct values, with their persons and records.
    sensitive
        The sensitive attributes.
    """
    attribute = values.column("attribute")[0].as_py()
    persons = values.column("persons").to_numpy()
    distance = ordered = 0.0
    for own in sensitive:
        if own.place == attribute:
            distance, ordered = _distances(values, own)
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
    by_code = np.argsort(code)
    one = np.zeros(1, dtype=np.int32), np.zeros(1, np.int64), np.ones(1, np.int64)
    offsets = np.array([0, len(code)], dtype=np.int64)
    side = np.zeros(1, dtype=np.int8)
    held: tuple[Any, ...] = side, offsets, code[by_code], records[by_code], own.file
    equal = float(side_distances(*one, *held)[0, 0])
    if own.rank is None:
        return equal, 0.0
    ranked: tuple[Any, ...] = *held, own.rank
    return equal, float(side_ordered_distances(*one, *ranked)[0, 0])
