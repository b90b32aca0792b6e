"""The distinct values of each column with their numbers of records, counted on the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.engines.spark.session import said_plainly
from sfumato.table.numbering import CountedColumn, counted_column
from sfumato.table.sources import check_utf8, plain_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_VALUES = 1 << 22
"""Distinct values of one column that come to the driver."""
AT_ONCE = 30
"""Columns that are counted in one pass; Spark numbers the sets of groups by a bit of each."""
AT_ONE_TIME = 1 << 16
"""Values of all columns up to which they come to the driver together, which is one job."""
_GROUP, _COUNT = "sfumato_group", "sfumato_count"


def distinct_values(
    frame: DataFrame,
    columns: Mapping[str, str],
    *,
    most: int = MOST_VALUES,
) -> dict[str, CountedColumn]:
    """Count the records of each value of each column.

    Sets of groups, one per column, take one pass over the records for all columns and one
    shuffle of what is left of them: a task first counts what it has itself, so that a value that
    all records have is one row per task. What comes to the driver is as large as the domains.

    Parameters
    ----------
    frame
        The records.
    columns
        Names of columns of ``frame``, by what errors call them.
    most
        Distinct values of one column that may come to the driver.

    Raises
    ------
    InputError
        If a column has more distinct values than that, or texts that are not UTF-8.
    SfumatoError
        If Spark fails.
    """
    found: dict[str, CountedColumn] = {}
    names = list(columns)
    for start in range(0, len(names), AT_ONCE):
        part = names[start : start + AT_ONCE]
        with said_plainly("count the values of the columns"):
            for name, table in _counted(frame, {name: columns[name] for name in part}, most):
                found[name] = _column(name, table)
    return found


def _counted(
    frame: DataFrame, columns: Mapping[str, str], most: int
) -> Iterator[tuple[str, pa.Table]]:
    """Each column's distinct values and their counts."""
    functions: Any = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    own = list(columns.values())
    grouped = (
        frame.groupingSets([[column] for column in own], *own)
        .agg(functions.grouping_id().alias(_GROUP), functions.count("*").alias(_COUNT))
        .persist()
    )
    group = dict(zip(columns, _groups(own), strict=True))
    try:
        sizes = dict(grouped.groupBy(_GROUP).count().collect())
        for name in columns:
            _check_size(name, sizes.get(group[name], 0), most)
        if sum(sizes.values()) <= AT_ONE_TIME:
            few = grouped.toArrow()
            for name, column in columns.items():
                rows = few.filter(pc.equal(few[_GROUP], group[name]))
                yield name, rows.select([column, _COUNT])
            return
        for name, column in columns.items():
            many = grouped.where(functions.col(_GROUP) == group[name])
            yield name, many.select(column, _COUNT).toArrow()
    finally:
        grouped.unpersist()


def _groups(columns: Sequence[str]) -> list[int]:
    """How Spark numbers the groups: a bit for every column that is left out."""
    every = (1 << len(columns)) - 1
    return [every ^ (1 << (len(columns) - 1 - place)) for place in range(len(columns))]


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise InputError(
            f"column '{name}'",
            f"must have at most {most:,} different values, as a quasi-identifier or sensitive "
            "attribute on Spark",
            found="more",
            advice="round its values or shorten its codes before, or name it among the direct "
            "identifiers if it is one",
        )


def _column(name: str, table: pa.Table) -> CountedColumn:
    values = table.column(0)
    if pa.types.is_string(values.type):
        values = values.cast(pa.large_string())
    whole = pa.concat_arrays(values.chunks) if values.num_chunks else pa.nulls(0, values.type)
    check_utf8(whole, name)
    counts = table.column(1).combine_chunks()
    return counted_column(name, plain_column(whole, name), counts)
