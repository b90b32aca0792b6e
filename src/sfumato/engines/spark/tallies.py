"""Sums over all persons: each task adds up its own share, Spark the tasks', the driver reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.core.optional_packages import needed
from sfumato.engines.spark.axes import Axes
from sfumato.engines.spark.batches import PeopleBatch
from sfumato.engines.spark.tasks import WithoutValues, gathered

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
        grouped = rows.group_by(list(self.keys), use_threads=False).aggregate(how)
        names = {f"{name}_{function}": name for name, function in how}
        named = grouped.rename_columns([names.get(each, each) for each in grouped.column_names])
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
    frame
        The persons.
    columns
        The columns that ``rows_of`` reads.
    axes
        The file's axes.
    rows_of
        Gives tables as columns; runs on the executors.
    tally
        How they are added up.
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
            limit = max(BUFFER, 2 * rows)
    if rows:
        yield from tally.added_up(pa.concat_tables(held)).to_batches()
