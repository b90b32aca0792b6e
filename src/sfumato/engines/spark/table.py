"""An encoded file on Spark: codes in a DataFrame, domains and counts on the driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sfumato.engines.spark.ran import Ran
from sfumato.schema import Schema
from sfumato.schema.recipe import StepCount
from sfumato.table.sources import Ints
from sfumato.table.table import CodedColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class SparkTable:
    """An encoded file whose records stay on the cluster.

    Attributes
    ----------
    schema
        The schema, with the kind of every quasi-identifier settled.
    frame
        One row per record, its lineage cut: ``sfumato_person`` (the id as it prints, a text or
        a bigint; without a person column a number of the record), ``sfumato_tie`` (bigint),
        ``sfumato_q0``, ... and ``sfumato_s0``, ... (int codes, -1 for missing),
        ``sfumato_household`` where there is one, ``sfumato_weight`` (double) where sampling
        weights were asked for, and the columns that a release hands on under their own names
        where they were kept.
    quasi_identifiers, sensitive
        The columns, in the schema's order, with empty ``codes``; the labels of sensitive
        attributes are in natural order.
    value_counts
        Number of records with each code, by the name of the column, shape ``(domain.size,)``.
    missing
        Number of records without a value, by the name of the column.
    columns
        Names of all columns of the file, in its order.
    warnings
        What the reader should know; publishable.
    records, persons
        Their numbers.
    ran
        What it was encoded on.
    preparation
        What each step of the schema's recipe did to the columns that were read.
    """

    schema: Schema
    frame: DataFrame = field(repr=False)
    quasi_identifiers: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    value_counts: Mapping[str, Ints] = field(repr=False)
    missing: Mapping[str, int]
    columns: tuple[str, ...]
    warnings: tuple[str, ...]
    records: int
    persons: int
    ran: Ran
    preparation: tuple[StepCount, ...] = ()
