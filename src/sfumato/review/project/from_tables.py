"""A project from tables with the same columns, and a file of pairs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.review.attributes import Attribute
from sfumato.review.project.find_records import find_pairs
from sfumato.review.project.gold import with_gold
from sfumato.review.project.kinds import about_a_person, proposed_attributes
from sfumato.review.project.project import (
    ADDED,
    ID,
    LEFT,
    PAIR,
    RIGHT,
    SOURCE,
    Project,
    check_ids,
)
from sfumato.review.project.read_table import read_text_table
from sfumato.review.settings import Settings
from sfumato.table.schema_guess import identifies, words_of


def from_tables(
    tables: Mapping[str, object],
    pairs: object = None,
    *,
    id_column: str | None = None,
    settings: Settings | None = None,
    attributes: Sequence[Attribute] | None = None,
    gold: object = None,
) -> Project:
    """A project of some tables' pairs, over all their records.

    Headers that differ in case, spaces and punctuation only are one column. Without attributes,
    columns that are in every table and whose name is about who a person is are proposed.

    Parameters
    ----------
    tables
        By source, its table: a path or a dataframe.
    pairs
        The pairs, a path or a dataframe: source_l, id_l, source_r, id_r and, where they have
        ids, pair; they come in the order given. Without it there must be two tables, and the
        records of one row are a pair.
    id_column
        The column that names each record within its table. Without it, a column is taken whose
        name says so and whose values differ, and else the number of the row, from 1.
    settings
        The rules; the defaults where not given.
    attributes
        What a worker may see.
    gold
        Pairs of known truth: source_l, id_l, source_r, id_r, same.

    Raises
    ------
    InputError
        If a table lacks an attribute, ids are missing or there twice, a pair names an unknown
        record, or there is no pair.
    """
    read = {name: _with_plain_names(data, f"source {name}") for name, data in tables.items()}
    if not read:
        raise InputError("a project", "must have a table", found="none")
    key = _key(read, id_column)
    found = attributes
    if found is None:
        names = _shared(read, key)
        found = proposed_attributes(_stacked(read, key, names), tuple(names))
    records = _stacked(read, key, [each.name for each in found])
    check_ids(records)
    table = _given(records, pairs) if pairs is not None else _by_rows(read)
    same: dict[str, bool] = {}
    if gold is not None:
        table, same = with_gold(records, table, read_text_table(gold, "the gold pairs"))
    return Project(
        attributes=tuple(found),
        settings=settings or Settings(),
        records=records,
        pairs=table,
        gold=same,
        fingerprints={name: _fingerprint(data) for name, data in tables.items()},
    )


def _with_plain_names(data: object, subject: str) -> pa.Table:
    table = read_text_table(data, subject)
    plain = [_plain(name) for name in table.column_names]
    if len(set(plain)) < len(plain):
        raise InputError(subject, "must have headers that differ in letters", found="two alike")
    return table


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name


def _column(table: pa.Table, name: str) -> pa.ChunkedArray | None:
    by_plain = dict(zip(map(_plain, table.column_names), table.columns, strict=True))
    return by_plain.get(_plain(name))


def _key(read: Mapping[str, pa.Table], id_column: str | None) -> str | None:
    """The header of the records' ids; ``None`` where rows are counted."""
    if id_column is not None:
        for source, table in read.items():
            if _column(table, id_column) is None:
                raise InputError(f"column '{id_column}'", f"must be a column of source {source}")
        return id_column
    for name in next(iter(read.values())).column_names:
        columns = [_column(table, name) for table in read.values()]
        if identifies(words_of(name)) and all(
            each is not None and _differ(each) for each in columns
        ):
            return str(name)
    return None


def _differ(column: pa.ChunkedArray) -> bool:
    return not column.null_count and pc.count_distinct(column).as_py() == len(column)


def _shared(read: Mapping[str, pa.Table], key: str | None) -> list[str]:
    """The columns of all tables that are about who a person is."""
    names = [
        name
        for name in next(iter(read.values())).column_names
        if (key is None or _plain(name) != _plain(key))
        and about_a_person(name)
        and name not in {SOURCE, ID}
        and all(_column(table, name) is not None for table in read.values())
    ]
    if not names:
        raise InputError(
            "the tables",
            "must have columns in common that tell who a person is",
            found="none by their names",
            advice="say what the attributes are, or give both tables the same headers",
        )
    return names


def _stacked(read: Mapping[str, pa.Table], key: str | None, names: Sequence[str]) -> pa.Table:
    parts = []
    for source, table in read.items():
        count = len(table)
        ids = pa.array(np.arange(1, count + 1)).cast(pa.large_string())
        columns = {SOURCE: pa.array([source] * count, pa.large_string())}
        columns[ID] = ids if key is None else _column(table, key)
        for name in names:
            column = _column(table, name)
            if column is None:
                raise InputError(
                    f"attribute '{name}'", f"must be a column of source {source}", found="none"
                )
            columns[name] = column
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _given(records: pa.Table, pairs: object) -> pa.Table:
    subject = "the pairs"
    table = read_text_table(pairs, subject)
    left, right = find_pairs(records, table, subject)
    if PAIR not in table.column_names:
        return _numbered(left, right)
    ids = table[PAIR].cast(pa.string())
    wrong = pc.or_kleene(pc.is_null(ids), pc.starts_with(ids, ADDED))
    if pc.any(wrong).as_py():
        raise InputError(
            f"column '{PAIR}'",
            "must hold an id for each pair",
            found=f"none, or one with a {ADDED} first, in row {pc.index(wrong, True).as_py() + 1}",
        )
    return pa.table({PAIR: ids, LEFT: left, RIGHT: right})


def _by_rows(read: Mapping[str, pa.Table]) -> pa.Table:
    counts = [len(table) for table in read.values()]
    if len(counts) != 2 or counts[0] != counts[1]:
        raise InputError(
            "a project",
            "must have pairs to review",
            found="no pairs, and not two tables of the same number of rows",
            advice="give the pairs, or link the tables first and review the linkage",
        )
    left = np.arange(counts[0], dtype=np.int64)
    return _numbered(left, left + counts[0])


def _numbered(left: np.ndarray, right: np.ndarray) -> pa.Table:
    ids = pa.array([f"p{number}" for number in range(1, len(left) + 1)], pa.string())
    return pa.table({PAIR: ids, LEFT: left, RIGHT: right})


def _fingerprint(data: object) -> str:
    """SHA-256 of a file; ``""`` of another table."""
    if not isinstance(data, (str, os.PathLike)):
        return ""
    with Path(os.fsdecode(data)).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
