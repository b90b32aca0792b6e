"""What the records of an equivalence class agree on: one number, where 64 bits hold it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from sfumato.core.extra import needed
from sfumato.engines.embedded.counts import LARGEST_SPACE
from sfumato.engines.spark.names import CLASS, quasi_identifier
from sfumato.engines.spark.table import SparkTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def keyed(table: SparkTable) -> tuple[DataFrame, list[str]]:
    """The file with its quasi-identifiers packed into one column, where 64 bits hold them.

    Parameters
    ----------
    table
        The file.

    Returns
    -------
    tuple
        The records, and the columns that those of a class agree on.
    """
    return packed(table.frame, [column.domain.size for column in table.quasi_identifiers])


def packed(frame: DataFrame, sizes: Sequence[int]) -> tuple[DataFrame, list[str]]:
    """Records with the codes of their quasi-identifiers packed into one column.

    Parameters
    ----------
    frame
        One row per record.
    sizes
        Number of codes of each quasi-identifier, in the schema's order.

    Returns
    -------
    tuple
        The records, and the columns that those of a class agree on.
    """
    names = [quasi_identifier(place) for place in range(len(sizes))]
    widths = [size + 1 for size in sizes]
    if prod(widths) > LARGEST_SPACE:
        return frame, names
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    key = f.lit(0).cast("bigint")
    for name, width in zip(names, widths, strict=True):
        key = key * width + f.col(name) + 1
    return frame.withColumn(CLASS, key), [CLASS]
