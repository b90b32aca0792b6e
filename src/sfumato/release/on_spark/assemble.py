"""Put the released file together on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.core.optional_packages import needed
from sfumato.engines.spark.checkpoint import cut_lineage
from sfumato.engines.spark.frames import column
from sfumato.engines.spark.names import OWN, PERSON
from sfumato.engines.spark.session import said_plainly
from sfumato.engines.spark.table import SparkTable
from sfumato.release.on_spark.secret import NUMBER, PSEUDONYM, Secret, with_secrets
from sfumato.table.door import carried_columns as handed_on

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHOLE = r"^-?\d+$"
"""A whole number, as it is printed."""


@dataclass(frozen=True)
class CellColumn:
    """One released column of a quasi-identifier on the cluster.

    Attributes
    ----------
    name
        Its name in the release.
    cells
        The column of its cells, as text.
    is_number
        Whether every cell is one number.
    """

    name: str
    cells: str
    is_number: bool


def cell_columns(
    names: Sequence[Sequence[str]], numbers: Sequence[bool]
) -> tuple[tuple[CellColumn, ...], ...]:
    """The released columns of each quasi-identifier.

    Parameters
    ----------
    names
        Their names, by quasi-identifier.
    numbers
        Whether every cell is one number, column by column.
    """
    left = iter(numbers)
    return tuple(
        tuple(CellColumn(name, f"{OWN}c{place}_{end}", next(left)) for end, name in enumerate(each))
        for place, each in enumerate(names)
    )


def with_cells(
    table: SparkTable, classes: DataFrame, cells: Sequence[Sequence[CellColumn]]
) -> DataFrame:
    """The records with the cells of their persons, the lineage cut.

    Parameters
    ----------
    table
        The encoded file.
    classes
        One row per person, with the cells.
    cells
        The released columns of each quasi-identifier.
    """
    chosen = classes.select(PERSON, *(each.cells for own in cells for each in own))
    return cut_lineage(table.frame.join(chosen, PERSON))


def assembled(
    table: SparkTable, records: DataFrame, cells: Sequence[Sequence[CellColumn]], secret: Secret
) -> DataFrame:
    """The released file, in the file's column order, its records in a secret order.

    Parameters
    ----------
    table
        The encoded file.
    records
        What `with_cells` gave.
    cells
        The released columns of each quasi-identifier.
    secret
        What pseudonyms and order are made with.

    Returns
    -------
    DataFrame
        Computed, its lineage cut.
    """
    schema = table.schema
    typed = _types(records, [each for own in cells for each in own])
    of = dict(zip(schema.quasi_identifiers, cells, strict=True))
    kept = handed_on(table.columns, schema)
    needed_here = [*(each.cells for own in cells for each in own), *kept]
    some = records.select(*(column(name) for name in needed_here))
    named = with_secrets(some, secret, schema.person)
    order = column(NUMBER)
    shuffled = named.repartition(order).sortWithinPartitions(order)
    columns: list[Column] = []
    for name in table.columns:
        if name in of:
            columns += [
                column(each.cells).cast(typed[each.cells]).alias(each.name) for each in of[name]
            ]
        elif name == schema.person:
            columns.append(column(PSEUDONYM).alias(name))
        elif name in kept:
            columns.append(column(name))
    return cut_lineage(shuffled.select(*columns))


def _types(records: DataFrame, cells: Sequence[CellColumn]) -> dict[str, str]:
    """The type of each column of cells: of numbers whole or not, of others text."""
    types = {each.cells: "string" for each in cells}
    numbers = [each.cells for each in cells if each.is_number]
    if not numbers:
        return types
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    whole = [f.min(f.col(name).rlike(WHOLE)) for name in numbers]
    with said_plainly("read the released cells"):
        (row,) = records.select(*whole).collect()
    for name, every in zip(numbers, row, strict=True):
        types[name] = "double" if every is False else "bigint"
    return types
