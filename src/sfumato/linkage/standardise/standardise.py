"""Standardise the identifying halves into tables of the database, one per source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.linkage.spec.columns import quoted, sql_name
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import ComparedColumn, LinkSpec
from sfumato.linkage.standardise.columns import parts_sql, standardised_sql
from sfumato.linkage.standardise.dates import date_sql, day_first_sql
from sfumato.linkage.standardise.names import given_name_sql
from sfumato.linkage.standardise.nicknames import formal_sql, read_nicknames

if TYPE_CHECKING:
    import duckdb

UNIQUE_ID = "unique_id"
"""The column of the standardised tables that holds the number of the record."""
FORMAL = "_formal"
"""Ends the name of the column with the names that nicknames stand for."""


@dataclass(frozen=True)
class Standardised:
    """The standardised tables in the database.

    Attributes
    ----------
    tables
        Name of each source's table.
    impossible
        By column of dates: number of values that are no date in any spelling; they are missing.
    formal
        Whether given names have a second column, with the names that nicknames stand for.
    """

    tables: tuple[str, ...]
    impossible: Mapping[str, int]
    formal: bool


def standardise(
    connection: duckdb.DuckDBPyConnection, halves: Sequence[Path], spec: LinkSpec
) -> Standardised:
    """Make a table of standardised values per source, columns that it lacks missing throughout.

    Parameters
    ----------
    connection
        The database.
    halves
        Per source, the file of its identifying half.
    spec
        What is linked, and how.

    Raises
    ------
    InputError
        If the table of nicknames cannot be read.
    """
    if spec.nicknames is not None:
        _add_nicknames(connection, spec.nicknames)
    impossible = dict.fromkeys((n for n, c in spec.columns.items() if _is_date(c)), 0)
    tables = []
    for number, half in enumerate(halves):
        relation = connection.read_parquet(str(half))
        having = set(relation.columns)
        columns = {n: c for n, c in spec.columns.items() if sql_name(n) in having}
        first = _day_first(relation, columns)
        select = [f"record AS {UNIQUE_ID}"]
        for name, column in spec.columns.items():
            own = sql_name(name)
            sql = _column_sql(own, column, first) if name in columns else "CAST(NULL AS VARCHAR)"
            select.append(f"{sql} AS {quoted(own)}")
        table = table_name(number)
        parts = ", ".join(_parts(spec))
        connection.execute(
            f"CREATE TABLE {table} AS SELECT *{', ' + parts if parts else ''} FROM "
            f"(SELECT {', '.join(select)} FROM read_parquet($1))",
            [str(half)],
        )
        tables.append(table)
        for name in impossible:
            if name in columns:
                impossible[name] += _lost(connection, table, half, sql_name(name))
    return Standardised(tuple(tables), impossible, spec.nicknames is not None)


def table_name(number: int) -> str:
    """Name of a source's table; the names are in the order of the sources."""
    return f"source_{number:03}"


def _is_date(column: ComparedColumn) -> bool:
    return column.kind is ColumnKind.DATE


def _column_sql(own: str, column: ComparedColumn, day_first: Mapping[str, bool]) -> str:
    if _is_date(column):
        return date_sql(quoted(own), day_first=day_first[own])
    return standardised_sql(column.kind, quoted(own))


def _parts(spec: LinkSpec) -> list[str]:
    """What is taken of standardised columns: the parts of full names, and formal names."""
    parts = []
    for name, column in spec.columns.items():
        given = quoted(sql_name(name))
        if column.kind is ColumnKind.FULL_NAME:
            named = parts_sql(sql_name(name))
            parts += [f"{sql} AS {quoted(part)}" for part, sql in named.items()]
            given = next(iter(named.values()))
        if spec.nicknames is not None and column.kind in {
            ColumnKind.GIVEN_NAME,
            ColumnKind.FULL_NAME,
        }:
            own = sql_name(name) + ("_given" if column.kind is ColumnKind.FULL_NAME else "")
            parts.append(f"{formal_sql(given)} AS {quoted(own + FORMAL)}")
    return parts


def _add_nicknames(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    table = read_nicknames(path)
    connection.register("nicknames_as_given", table)
    nickname, name = given_name_sql("nickname"), given_name_sql("name")
    connection.execute(
        "CREATE TABLE nicknames AS SELECT nickname AS nickname__, min(name) AS formal__ FROM "
        f"(SELECT {nickname} AS nickname, {name} AS name FROM nicknames_as_given) "
        "WHERE nickname IS NOT NULL AND name IS NOT NULL GROUP BY nickname"
    )
    connection.unregister("nicknames_as_given")


def _day_first(
    relation: duckdb.DuckDBPyRelation, columns: Mapping[str, ComparedColumn]
) -> dict[str, bool]:
    """Per column of dates: as the specification says, else as most of its dates say."""
    said = {sql_name(n): c.day_first for n, c in columns.items() if _is_date(c)}
    asked = [name for name, order in said.items() if order is None]
    votes: dict[str, int] = {}
    if asked:
        sums = ", ".join(f"coalesce(sum({day_first_sql(quoted(name))}), 0)" for name in asked)
        votes = dict(zip(asked, relation.aggregate(sums).fetchall()[0], strict=True))
    return {n: votes.get(n, 0) >= 0 if order is None else order for n, order in said.items()}


def _lost(connection: duckdb.DuckDBPyConnection, table: str, half: Path, own: str) -> int:
    count = f"count({quoted(own)})"
    rows = connection.execute(
        f"SELECT (SELECT {count} FROM read_parquet($1)) - (SELECT {count} FROM {table})",
        [str(half)],
    ).fetchall()
    return int(rows[0][0])
