"""The records as Splink is given them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.core.optional_packages import quiet
from sfumato.linkage.sources.open import RECORD, Opened
from sfumato.linkage.spec.columns import quoted
from sfumato.linkage.standardise.standardise import (
    UNIQUE_ID,
    Standardised,
    standardise,
    table_name,
)

if TYPE_CHECKING:
    import duckdb


def make_tables(connection: duckdb.DuckDBPyConnection, opened: Opened) -> Standardised:
    """Standardise the identifying halves; for Splink's own settings, take them as they are.

    Parameters
    ----------
    connection
        The database.
    opened
        The tables.

    Raises
    ------
    InputError
        If the table of nicknames cannot be read.
    SfumatoError
        If the database fails.
    """
    with quiet("standardise the records"):
        if opened.spec.splink is None:
            return standardise(connection, opened.identifying, opened.spec)
        tables = []
        for number, half in enumerate(opened.identifying):
            having = set(connection.read_parquet(str(half)).columns)
            columns = ", ".join(
                quoted(name) if name in having else f"NULL AS {quoted(name)}"
                for name in opened.columns
            )
            tables.append(table_name(number))
            connection.execute(
                f"CREATE TABLE {tables[-1]} AS SELECT {RECORD} AS {UNIQUE_ID}, {columns} "
                "FROM read_parquet($1)",
                [str(half)],
            )
        return Standardised(tuple(tables), {}, formal=False)
