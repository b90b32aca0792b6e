"""Bring the records of each node of a tree together, and let one task finish the node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.optional_packages import needed
from sfumato.engines.spark.axes import Axes
from sfumato.engines.spark.batches import PeopleBatch, columns_of
from sfumato.engines.spark.names import NODE, PERSON, TIE, code_columns
from sfumato.engines.spark.routes import Routes
from sfumato.engines.spark.table import SparkTable
from sfumato.engines.spark.tasks import WithoutValues, gathered, without_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TOGETHER = 1 << 16
"""Persons that are looked at together."""
SPREAD = 2
"""Partitions per node, so that few tasks have several nodes while others have none."""
MOST_PARTITIONS = 1 << 13


def node_of_people(people: DataFrame, axes: Axes, routes: Routes) -> DataFrame:
    """The node that each person comes to: ``sfumato_person`` and ``sfumato_node``.

    Parameters
    ----------
    people
        The persons.
    axes
        The file's axes.
    routes
        Where they are.
    """
    names = [PERSON, *columns_of(axes, routes.bounds.axis.tolist())]
    person = people.schema[PERSON].dataType.simpleString()
    task = WithoutValues(partial(_nodes, axes=axes.bare(), routes=routes))
    return people.select(*names).mapInArrow(task, f"{PERSON} {person}, {NODE} bigint")


def _nodes(
    batches: Iterator[pa.RecordBatch], axes: Axes, routes: Routes
) -> Iterator[pa.RecordBatch]:
    for batch in gathered(batches, TOGETHER):
        node = routes.node_of(PeopleBatch(batch, axes))
        yield pa.record_batch({PERSON: batch.column(PERSON), NODE: node})


def by_node(
    table: SparkTable,
    people: DataFrame,
    axes: Axes,
    routes: Routes,
    finish: Callable[[pa.Table], pa.Table],
    schema: str,
) -> DataFrame:
    """What a function makes of the records of each node, one executor's task per node.

    Two shuffles of the records' codes: to the persons, where a person of very many records is
    no more than these, and to the nodes.

    Parameters
    ----------
    table
        The encoded file.
    people
        Its persons.
    axes
        Its axes.
    routes
        Where the persons are.
    finish
        Given ``sfumato_node``, ``sfumato_person``, ``sfumato_tie`` and the codes of the records
        of one node; runs on the executors.
    schema
        The columns that it gives, as Spark writes them.
    """
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    codes = code_columns(table.schema)
    records = table.frame.select(PERSON, TIE, *codes)
    if routes.depth:
        placed = records.join(node_of_people(people, axes, routes), PERSON)
    else:
        placed = records.withColumn(NODE, functions.lit(0).cast("bigint"))
    ends = int((routes.cut < 0).sum())
    placed = placed.repartition(min(SPREAD * ends, MOST_PARTITIONS), NODE)
    return placed.groupBy(NODE).applyInArrow(without_values(finish), schema)


def numbered(
    persons: pa.ChunkedArray,
) -> tuple[pa.Array, np.ndarray[tuple[int], np.dtype[np.int32]]]:
    """The distinct ids of a column, and the number of the id of each row.

    Parameters
    ----------
    persons
        Ids of persons, none of them null.
    """
    ids = persons.combine_chunks().dictionary_encode()
    whole = ids.chunk(0) if isinstance(ids, pa.ChunkedArray) else ids
    return whole.dictionary, whole.indices.to_numpy().astype(np.int32)
