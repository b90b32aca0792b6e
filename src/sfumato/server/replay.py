"""The rows that the entries of the log state, and where the tables differ from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection

from sfumato.server import stated_rows
from sfumato.server.stated_rows import MORE, PAIRS, ROWS, STATED, Columns, Table, image, table_of
from sfumato.server.store import models
from sfumato.server.store.statements import locks_rows

_TABLES = {table_of(model).name: table_of(model) for model in STATED}
_WITH_PROJECT = tuple(
    table_of(model).name
    for model in (
        *(models.Proposal, models.Member, models.Grant, models.Link),
        *(models.Allowance, models.Dealt),
    )
)
"""Tables whose rows go when their project is purged."""
_SHOWN = 40
"""Letters of a value that a difference tells at most."""


@dataclass
class Replay:
    """What the entries state, by table and key of the row.

    Attributes
    ----------
    kept
        By table that is kept, its columns that are; all of all tables where empty.
    """

    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)
    rows: dict[str, dict[str, Columns]] = field(default_factory=dict)

    def take(self, detail: str) -> None:
        """Go on with the detail of an entry."""
        # Most entries of an idle log state nothing: a search is quicker than reading them.
        if f'"{ROWS}":' not in detail:
            return
        for table, of_table in json.loads(detail).get(ROWS, {}).items():
            if self.kept and table not in self.kept:
                continue
            known, kept = self.rows.setdefault(table, {}), self.kept.get(table)
            for key, columns in of_table.items():
                if columns is None:
                    known.pop(key, None)
                else:
                    _build(known.setdefault(key, {}), columns, table, kept)
            if table == "project":
                self._purge(of_table)

    def columns(self, table: str, key: object) -> Columns | None:
        """What is stated of a row, the usual values included."""
        found = self.rows.get(table, {}).get(str(key))
        if found is None or table == PAIRS:
            return found
        return {**_TABLES[table].usual, **found}

    def _purge(self, projects: dict[str, Columns | None]) -> None:
        purged = {
            key
            for key, columns in projects.items()
            if columns and columns.get("state") == models.ProjectState.PURGED
        }
        if not purged:
            return
        for table in _WITH_PROJECT:
            known = self.rows.get(table, {})
            for key in [key for key, row in known.items() if row.get("project_id") in purged]:
                del known[key]
        dealt = self.rows.get("dealt", {})
        events = self.rows.get("decision_event", {})
        for key in [key for key, row in events.items() if str(row["dealt_id"]) not in dealt]:
            del events[key]
        for key in purged:
            self.rows.get(PAIRS, {}).pop(key, None)


def _build(known: Columns, columns: Columns, table: str, kept: frozenset[str] | None) -> None:
    for name, value in columns.items():
        column = name.removeprefix(MORE)
        if kept and column not in kept:
            continue
        if column == name:
            known[name] = value
        else:
            had = known[column] if column in known else _TABLES[table].usual[column]
            known[column] = stated_rows.with_more(had, value)


def differences(replay: Replay) -> Iterator[str]:
    """Where the tables differ from what the entries state, a sentence each.

    It names table, key and column, and what stands there and should; of what is secret or names
    a person only that it is another.
    """
    tables: tuple[Any, ...] = STATED
    for model in tables:
        table = table_of(model)
        stated = replay.rows.get(table.name, {})
        found = set()
        rows = model.objects.order_by("pk").values_list("pk", *table.secret)
        for key, *values in rows.iterator(chunk_size=2000):
            name = str(key)
            found.add(name)
            if name not in stated:
                yield f"{table.name} {name} is there, and no entry states it"
            else:
                yield from _of_row(table, name, values, stated[name])
        for name in stated.keys() - found:
            yield f"{table.name} {name} is gone, and an entry states it"
    yield from _of_pairs(replay)


def _of_row(table: Table, key: str, values: list[Any], stated: Columns) -> Iterator[str]:
    for (column, secret), value in zip(table.secret.items(), values, strict=True):
        wanted = stated[column] if column in stated else table.usual[column]
        if not secret and value == wanted:
            continue
        is_there = image(table.name, column, value, secret=secret)
        if is_there != wanted:
            told = "is another" if secret else f"is {_text(is_there)}"
            should = "than an entry states" if secret else f"and should be {_text(wanted)}"
            yield f"{table.name} {key}: {column} {told}{' ' if secret else ', '}{should}"


def _of_pairs(replay: Replay) -> Iterator[str]:
    stated = dict(replay.rows.get(PAIRS, {}))
    pairs = models.StoredPair.objects.order_by("project_id", "pk")
    rows = pairs.values_list("project_id", "pk", "number", "gold").iterator(chunk_size=10_000)
    for project, of_project in groupby(rows, itemgetter(0)):
        wanted = stated.pop(str(project), None)
        found = stated_rows.columns_of_pairs(row[1:] for row in of_project)
        if wanted is None:
            yield f"{PAIRS} of project {project} are there, and no entry states them"
        elif found != wanted:
            count = found["pairs"], wanted["pairs"]
            yield f"{PAIRS} of project {project} are {count[0]}, others than the {count[1]} stated"
    for project, wanted in stated.items():
        if wanted["pairs"]:
            yield f"{PAIRS} of project {project} are gone, and an entry states {wanted['pairs']}"


def _text(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@contextmanager
def one_view() -> Iterator[None]:
    """The database as it is now, for as long as is read, while others go on writing."""
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        # Not Django's transaction, which takes SQLite's only lock for writing.
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ" if locks_rows() else "BEGIN")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
