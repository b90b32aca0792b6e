"""Top and bottom coding of quasi-identifiers on Spark, before persons are divided."""

from __future__ import annotations

from dataclasses import replace

from sfumato.core.optional_packages import needed
from sfumato.engines.spark.names import quasi_identifier
from sfumato.engines.spark.table import SparkTable
from sfumato.release.generalisation import outermost_codes
from sfumato.table.table import MISSING


def with_coded_ends_on_spark(table: SparkTable) -> SparkTable:
    """The table whose records have every value beyond a coded end set to that end.

    Only the codes of the records change, not the numbers of records with each; lazy.

    Parameters
    ----------
    table
        The encoded original.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    clipped = {}
    for place, column in enumerate(table.quasi_identifiers):
        if column.ends is not None:
            low, high = map(f.lit, outermost_codes(column))
            code = f.col(quasi_identifier(place))
            inside = f.least(f.greatest(code, low), high)
            clipped[quasi_identifier(place)] = f.when(code == MISSING, code).otherwise(inside)
    return replace(table, frame=table.frame.withColumns(clipped)) if clipped else table
