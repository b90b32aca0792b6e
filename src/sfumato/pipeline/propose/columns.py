"""What each column of several tables is, proposed as one schema."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.linkage.spec.columns import sql_name
from sfumato.schema import Schema
from sfumato.table.schema_guess import ROWS, Guess, guess_schema
from sfumato.table.table_files import open_source

_ROLES = ("direct_identifiers", "sensitive", "quasi_identifiers", "insensitive")
"""Roles, the most careful one first: where tables differ, a column has the first of them."""


def guess_one(path: Path, delimiter: str | None) -> Guess:
    """A schema for one table.

    Parameters
    ----------
    path
        The table.
    delimiter
        The separator of a CSV file.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    return guess_schema(open_source(path, delimiter=delimiter))


def guess_all(tables: Mapping[str, Path], delimiter: str | None) -> Guess:
    """One schema for tables that are linked: a column has the same role wherever it stands.

    The persons are not named: the linkage finds them.

    Parameters
    ----------
    tables
        The tables by the names of their sources, and those that are attached.
    delimiter
        The separator of CSV files.

    Raises
    ------
    InputError
        If one cannot be read.
    """
    guesses = [guess_one(path, delimiter) for path in tables.values()]
    fields: dict[str, Any] = {role: {} for role in _ROLES}
    notes: dict[str, str] = {}
    missing: dict[str, None] = {}
    taken: set[str] = set()
    for role in _ROLES:
        for guess in guesses:
            for name in getattr(guess.schema, role):
                if sql_name(name) in taken:
                    continue
                taken.add(sql_name(name))
                plain = name.strip()  # a header of the linked file
                fields[role][plain] = guess.schema.quasi_identifiers.get(name)
                notes[plain] = guess.notes.get(name, "")
    for guess in guesses:
        missing |= dict.fromkeys(guess.schema.missing)
    if not fields["quasi_identifiers"]:
        return guesses[0]
    quasi = fields.pop("quasi_identifiers")
    lists = {role: tuple(names) for role, names in fields.items()}
    return Guess(Schema(quasi_identifiers=quasi, missing=tuple(missing), **lists), notes)


def naming_column(source: Path, attached: Path, delimiter: str | None) -> str | None:
    """The column by which further records belong to those of a table; ``None`` without one.

    Parameters
    ----------
    source
        The table, in which each value of the column stands once.
    attached
        The further records.
    delimiter
        The separator of CSV files.

    Raises
    ------
    InputError
        If one cannot be read.
    """
    table = open_source(source, delimiter=delimiter)
    both = set(table.names) & set(open_source(attached).names)
    for name in (each for each in table.names if each in both):
        values = pa.chunked_array([batch.column(0) for batch in table.batches([name])])
        if not values.null_count and pc.count_distinct(values).as_py() == len(values):
            return name
    return None


def without(schema: Schema, column: str | None) -> Schema:
    """A schema that does not name a column, such as the one that numbers records.

    Parameters
    ----------
    schema
        The schema.
    column
        The column, in any spelling.
    """
    if column is None:
        return schema
    own = sql_name(column)
    kept: dict[str, Any] = {
        role: tuple(name for name in getattr(schema, role) if sql_name(name) != own)
        for role in ("direct_identifiers", "sensitive", "insensitive")
    }
    quasi = {n: each for n, each in schema.quasi_identifiers.items() if sql_name(n) != own}
    return schema.model_copy(update=kept | {"quasi_identifiers": quasi or schema.quasi_identifiers})


def most_frequent(paths: Mapping[str, Path], delimiter: str | None, column: str) -> float:
    """Share of the records of the first table with a column that have its most frequent value.

    Parameters
    ----------
    paths
        The tables.
    delimiter
        The separator of CSV files.
    column
        The column.

    Raises
    ------
    InputError
        If one cannot be read.
    """
    for path in paths.values():
        source = open_source(path, delimiter=delimiter)
        if column not in source.names:
            continue
        counts: dict[Any, int] = {}
        rows = 0
        for batch in source.batches([column]):
            for each in pc.value_counts(batch.column(0)).to_pylist():
                counts[each["values"]] = counts.get(each["values"], 0) + each["counts"]
            rows += batch.num_rows
            if rows >= ROWS:
                break
        return max(counts.values(), default=0) / max(rows, 1)
    return 0.0
