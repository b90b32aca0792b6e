"""What an entry of the log states of the rows that are written with it.

A row is written together with an entry that states it: the columns that were written, a keyed
digest in place of what is secret or names a person. Of the pairs of a project, which are made at
once and never change, one digest is stated.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.conf import settings

from sfumato.server.store import models

ROWS = "rows"
"""In the detail of an entry: by table and key, the columns that are stated; none for a row that
is gone."""
Columns = dict[str, Any]
Stated = tuple[str, str, "Columns | None"]
"""Table, key of the row, its columns; ``None`` where it is gone."""
PAIRS = "pair"
MORE = "+"
"""Before a column of which an entry states how much was added."""
STATED = (
    *(models.Account, models.Link, models.Project, models.Proposal, models.Member, models.Grant),
    *(models.Allowance, models.Spent, models.Dealt, models.DecisionEvent, models.Resolution),
    models.SourceSketch,
)
"""The tables whose rows are stated one by one."""
# By table, as a migration has models of its own.
_LEFT_OUT = {
    # When somebody was here last, and which code they used up: neither is a right.
    "account": {"last_login", "totp_used"},
}
_SECRET = {
    "account": {"name", "password", "totp", "recovery"},
    "link": {"token"},
    "project": {"title", "attributes", "weights", "wrapped_key"},
    "proposal": {"about", "reason"},
    "source_sketch": {"sketch"},
    "dealt": {"note"},
}
_DIGITS = 32
"""Hexadecimal digits of a digest: 128 bits, which nobody meets by chance."""


@dataclass(frozen=True)
class Table:
    """A table whose rows are stated.

    Attributes
    ----------
    secret
        By column, whether a digest stands for its value.
    usual
        By column, what a new row has that states nothing of it.
    """

    name: str
    secret: Mapping[str, bool]
    usual: Columns


@cache
def table_of(model: Any) -> Table:
    """The table of a model."""
    meta = model._meta  # noqa: SLF001 - where Django has what a model is
    name, hidden = meta.db_table, _SECRET.get(meta.db_table, set())
    left_out = {"id", *_LEFT_OUT.get(name, ())}
    names = [each.attname for each in meta.concrete_fields if each.attname not in left_out]
    secret = {each: each in hidden for each in names}
    new = model()
    # What is drawn for each row is never usual, and so is always stated.
    usual = {each: image(name, each, getattr(new, each), secret=secret[each]) for each in names}
    return Table(name, secret, usual)


def image(table: str, column: str, value: Any, *, secret: bool) -> Any:
    """A value as an entry states it."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = bytes(value).hex()
    if secret:
        # PostgreSQL keeps the keys of an object in an order of its own.
        text = json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value
        return _digest(f"{table} {column} {text}") if value else ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, UUID):
        return str(value)
    return value


def stated(row: Any, *names: str) -> Stated:
    """What is stated of a row that was written.

    Parameters
    ----------
    *names
        The columns that were written; all of a new row without them.
    """
    table = table_of(row.__class__)
    columns = {
        name: image(table.name, name, getattr(row, name), secret=table.secret[name])
        for name in names or table.secret
    }
    if not names:
        columns = {name: told for name, told in columns.items() if told != table.usual[name]}
    return table.name, str(row.pk), columns


def added(row: Any, **more: Any) -> Stated:
    """What is stated of columns that build on what the database had: what was added.

    A total that somebody forged is so never stated as if it were ours.

    Parameters
    ----------
    **more
        By column, a number, or a list of what is added to each digit of a text.
    """
    columns = {f"{MORE}{name}": value for name, value in more.items() if value}
    return table_of(row.__class__).name, str(row.pk), columns


def added_digits(before: str, after: str) -> list[int]:
    """What is added to each digit of a text.

    Parameters
    ----------
    before
        It may be shorter: what it lacks is 0.
    """
    pairs = zip_longest(before, after, fillvalue="0")
    return [int(digit) - int(had) for had, digit in pairs]


def with_more(value: Any, more: Any) -> Any:
    """A value with what was added."""
    if not isinstance(more, list):
        return value + more
    # The value may be one that was forged, and no digits.
    pairs = zip_longest(value, more, fillvalue=0)
    return "".join(str(int(digit) + by) for digit, by in pairs)


def gone(rows: Iterable[Any]) -> Iterator[Stated]:
    """What is stated of rows that are removed."""
    for row in rows:
        yield table_of(row.__class__).name, str(row.pk), None


def stated_pairs(project: Any) -> Stated:
    """What is stated of the pairs of a project."""
    pairs = models.StoredPair.objects.filter(project_id=project.pk).order_by("pk")
    rows = pairs.values_list("pk", "number", "gold").iterator(chunk_size=10_000)
    return PAIRS, str(project.pk), columns_of_pairs(rows)


def secrets() -> Iterator[Stated]:
    """What is stated of all that is told by digests alone."""
    for model in STATED:
        names = [name for name, secret in table_of(model).secret.items() if secret]
        if not names:
            continue
        for row in model.objects.order_by("pk").only(*names).iterator(chunk_size=2000):
            table, key, columns = stated(row, *names)
            # Of what is empty no digest is stated.
            if filled := {name: digest for name, digest in (columns or {}).items() if digest}:
                yield table, key, filled
    yield from map(stated_pairs, models.Project.objects.exclude(state=models.ProjectState.PURGED))


def columns_of_pairs(rows: Iterable[tuple[int, int, bool]]) -> Columns:
    """What is stated of pairs, each its key, number and whether its truth is known."""
    digest, count = hashlib.sha256(), 0
    for key, number, gold in rows:
        digest.update(f"{key} {number} {int(gold)}\n".encode())
        count += 1
    return {"pairs": count, "digest": _digest(f"{PAIRS} {digest.hexdigest()}")}


def rows_of(changes: Iterable[Stated]) -> dict[str, dict[str, Columns | None]]:
    """What an entry's detail says of rows: by table and key, what is stated."""
    rows: dict[str, dict[str, Columns | None]] = {}
    for table, key, columns in changes:
        of_table = rows.setdefault(table, {})
        before = of_table.get(key)
        of_table[key] = columns if before is None or columns is None else _both(before, columns)
    return rows


def _both(before: Columns, columns: Columns) -> Columns:
    """What is stated of a row that one entry states twice."""
    both = dict(before)
    for name, value in columns.items():
        column = name.removeprefix(MORE)
        if column == name:
            both.pop(f"{MORE}{name}", None)
            both[name] = value
        else:
            place = column if column in both else name
            both[place] = with_more(both[place], value) if place in both else value
    return both


_key: ContextVar[bytes | None] = ContextVar("key", default=None)


@contextmanager
def stated_with(key: bytes) -> Iterator[None]:
    """Make digests with a key of the log, not with the newest, while this lasts."""
    token = _key.set(key)
    try:
        yield
    finally:
        _key.reset(token)


def _digest(text: str) -> str:
    key = _key.get() or settings.SFUMATO_KEYS.chaining
    return hmac.digest(key, f"row {text}".encode(), "sha256").hex()[:_DIGITS]
