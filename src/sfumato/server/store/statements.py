"""Plain SQL statements for what every click asks, several in one trip to the database.

What SQLite has written ahead is moved into the database beside the requests.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from django.db import connection, models
from django.db.models.sql import Query

Statement = tuple[str, Sequence[Any]]
Row = tuple[Any, ...]
Kind = TypeVar("Kind", bound=models.Model)


def ask(*statements: Statement) -> list[list[Row]]:
    """Run statements in their order, and give the rows of each.

    PostgreSQL gets them in one message; each of them sees what others committed before it began.

    Parameters
    ----------
    *statements
        Each with a ``%s`` for every one of its values.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            values = [value for _, given in statements for value in given]
            # In one message, as each trip to the database costs a click more than the statement
            # itself.
            cursor.execute("; ".join(text for text, _ in statements), values)
            found = [cursor.fetchall() if cursor.description else []]
            while cursor.nextset():
                found.append(cursor.fetchall() if cursor.description else [])
            return found
        found = []
        for text, given in statements:
            cursor.execute(text, given)
            found.append(cursor.fetchall() if cursor.description else [])
        return found


def locks_rows() -> bool:
    """Whether the database locks rows; on SQLite a transaction has the only write lock."""
    return connection.vendor == "postgresql"


def columns(names: Sequence[str], table: str) -> str:
    """Columns as a statement names them."""
    return ", ".join(f"{table}.{name}" for name in names)


def value(attribute: Any, given: Any) -> Any:
    """A value as the database has it.

    Parameters
    ----------
    attribute
        Attribute of a model that it is of, such as ``Project.id``.
    """
    return attribute.field.get_db_prep_value(given, connection, prepared=False)


def instance(model: type[Kind], names: Sequence[str], row: Row) -> Kind:
    """A row as a model; fields that are not among its columns are read where they are needed."""
    values = list(row)
    for place, expression, convert in _converters(cast(Any, model), tuple(names)):
        for each in convert:
            values[place] = each(values[place], expression, connection)
    return model.from_db(connection.alias, list(names), values)


@cache
def _converters(model: Any, names: tuple[str, ...]) -> tuple[tuple[int, Any, tuple[Any, ...]], ...]:
    """Per place of a column that is not as Python has it, what makes it so."""
    shown = [getattr(model, name).field.get_col("") for name in names]
    found = Query(model).get_compiler(connection=connection).get_converters(shown)
    return tuple((place, each, tuple(convert)) for place, (convert, each) in found.items())


CHECKPOINT_SECONDS = 5.0
"""Seconds from one checkpoint to the next."""


def checkpoint_beside(path: Path) -> None:
    """Move what is written ahead into the database every few seconds, in a thread of its own.

    A commit that does it instead waits for the disk much longer than the others, and everybody
    who waits for that commit as well. Nobody waits for a passive checkpoint.
    """
    threading.Thread(target=_checkpoint, args=(path,), daemon=True, name="checkpoints").start()


def _checkpoint(path: Path) -> None:
    while True:
        time.sleep(CHECKPOINT_SECONDS)
        try:
            # A connection of its own: that of a request would wait for its transaction.
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error:
            continue  # SQLite does it itself where it was not done for long
