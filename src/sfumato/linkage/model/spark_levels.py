"""Levels of comparisons by DuckDB on Spark's executors, so that they are those of DuckDB here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.core.errors import SfumatoError
from sfumato.core.optional_packages import needed
from sfumato.linkage.spec.columns import quoted

if TYPE_CHECKING:
    import duckdb

_OWN = "sfumato_levels_"
_PLAIN = ("Column", "Identifier", "EQ", "NEQ", "And", "Or", "Not", "Is", "Null", "Paren")
"""What means the same in every SQL, as sqlglot calls it."""


@dataclass(frozen=True)
class Levels:
    """The levels of one comparison as a function of its columns.

    Attributes
    ----------
    name
        Name of the function.
    columns
        Its arguments.
    query
        What DuckDB is asked of a table ``pairs`` with these columns: the place of the level.
    """

    name: str
    columns: tuple[str, ...]
    query: str

    def register(self, session: Any) -> None:
        """Make the function known.

        Parameters
        ----------
        session
            The Spark session.
        """
        functions = needed("pyspark.sql.functions", extra="spark")
        if hasattr(functions, "arrow_udf"):
            function = functions.arrow_udf(self._on_arrow(), "int", functions.ArrowUDFType.SCALAR)
        else:
            scalar = functions.PandasUDFType.SCALAR
            function = functions.pandas_udf(self._on_pandas(), "int", scalar)
        session.udf.register(self.name, function)

    def _on_arrow(self) -> Callable[..., pa.Array]:
        names, query = list(self.columns), self.query

        def levels(*columns: pa.Array) -> pa.Array:
            return levels_of(pa.table(list(columns), names), query)

        return levels

    def _on_pandas(self) -> Callable[..., Any]:
        """The same for Spark 4.0, whose functions of columns take pandas."""
        on_arrow = self._on_arrow()

        def levels(*columns: Any) -> Any:
            return on_arrow(*map(pa.Array.from_pandas, columns)).to_pandas()

        return levels


def levels_of(pairs: pa.Table, query: str) -> pa.Array:
    """The place of the level of each pair; runs on an executor.

    Parameters
    ----------
    pairs
        The compared columns.
    query
        Of `Levels`.

    Raises
    ------
    SfumatoError
        If DuckDB fails, whose words may hold values: Spark logs them.
    """
    connection, failure = _database(), needed("duckdb").Error
    connection.register("pairs", pairs)
    try:
        return pa.array(connection.execute(query).fetchnumpy()["level"], pa.int32())
    except failure as error:
        raise SfumatoError(f"an executor stopped with {type(error).__name__}.") from None
    finally:
        connection.unregister("pairs")


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One of each Python process of an executor; every task has a process of its own."""
    connection: duckdb.DuckDBPyConnection = needed("duckdb").connect(config={"threads": 1})
    return connection


def as_functions(settings: dict[str, Any]) -> tuple[dict[str, Any], tuple[Levels, ...]]:
    """Splink settings whose conditions ask a function for the level, and the functions.

    Conditions that mean the same in every SQL, such as that two columns are equal, stay.

    Parameters
    ----------
    settings
        Settings with the SQL of DuckDB; they are left as they are.
    """
    comparisons, functions = [], []
    for number, comparison in enumerate(settings["comparisons"]):
        conditions = [each["sql_condition"] for each in comparison["comparison_levels"]]
        if not all(map(_is_plain, conditions)):
            function = _function(f"{_OWN}{number}", conditions)
            functions.append(function)
            call = f"{function.name}({', '.join(map(quoted, function.columns))})"
            conditions = [
                sql if _is_plain(sql) else f"{call} = {place}"
                for place, sql in enumerate(conditions)
            ]
        levels = [
            {**level, "sql_condition": sql}
            for level, sql in zip(comparison["comparison_levels"], conditions, strict=True)
        ]
        comparisons.append({**comparison, "comparison_levels": levels})
    return {**settings, "comparisons": comparisons}, tuple(functions)


def _function(name: str, conditions: list[str]) -> Levels:
    sqlglot = needed("sqlglot")
    trees = [sqlglot.parse_one(sql, dialect="duckdb") for sql in conditions if not _is_else(sql)]
    columns = [column.name for tree in trees for column in tree.find_all(sqlglot.exp.Column)]
    ways = [
        f"ELSE {place}" if _is_else(sql) else f"WHEN {sql} THEN {place}"
        for place, sql in enumerate(conditions)
    ]
    case = f"CASE {' '.join(ways)} END"
    query = f"SELECT CAST(coalesce({case}, -1) AS INTEGER) AS level FROM pairs"
    return Levels(name, tuple(dict.fromkeys(columns)), query)


def _is_else(sql: str) -> bool:
    return sql.strip().upper() == "ELSE"


def _is_plain(sql: str) -> bool:
    if _is_else(sql):
        return True
    tree = needed("sqlglot").parse_one(sql, dialect="duckdb")
    return all(type(node).__name__ in _PLAIN for node in tree.walk())
