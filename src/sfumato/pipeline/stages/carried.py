"""Answers about pairs of an earlier linkage, for the pairs that still read the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.review.decisions.decisions import Decisions
from sfumato.review.decisions.export import decisions_table
from sfumato.review.project.project import LEFT, PAIR, RIGHT, Project
from sfumato.table.table_files import write_table

_ANSWER = ("worker", "answer", "time")
_KEPT = (LEFT, RIGHT, *_ANSWER)
"""Columns of the file: hashes of the two records, and the answer."""


def keep_answers(answers: Decisions, project: Project, file: Path) -> None:
    """Keep the answers of a review by what its records read, beside those kept before.

    Parameters
    ----------
    answers
        The answers.
    project
        The review's records and pairs.
    file
        Where they are kept.

    Raises
    ------
    InputError
        If the file is damaged, or cannot be written.
    """
    table = decisions_table(answers, project.of_linkage)
    table = table.filter(pc.invert(table["withdrawn"]))
    hashes = _hashes(project)
    left, right = ([hashes[pair][side] for pair in table[PAIR].to_pylist()] for side in (0, 1))
    texts = {LEFT: pa.array(left, pa.string()), RIGHT: pa.array(right, pa.string())}
    now = pa.table({**texts, **{name: table[name] for name in _ANSWER}})
    before = _kept(file)
    both = now if before is None else pa.concat_tables([before, now])
    rows = list(dict.fromkeys(tuple(row.values()) for row in both.to_pylist()))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(_KEPT)
    arrays = [
        pa.array(column, both.schema.field(name).type)
        for name, column in zip(_KEPT, columns, strict=True)
    ]
    write_table(pa.table(arrays, names=list(_KEPT)), file)


def carried_answers(project: Project, file: Path) -> pa.Table:
    """The kept answers about a project's pairs whose two records read as they did.

    Parameters
    ----------
    project
        Records and pairs as they are now.
    file
        Where answers are kept.

    Returns
    -------
    pa.Table
        The columns of a file of answers.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    empty = decisions_table(Decisions(), frozenset())
    kept = _kept(file)
    if kept is None:
        return empty
    pair_of = {}
    for pair, (left, right) in _hashes(project).items():
        pair_of[left, right] = pair_of[right, left] = pair
    named = zip(kept[LEFT].to_pylist(), kept[RIGHT].to_pylist(), strict=True)
    pairs = pa.array([pair_of.get(each) for each in named], pa.string())
    columns = {
        PAIR: pairs,
        **{name: kept[name] for name in _ANSWER},
        "withdrawn": pa.array(np.zeros(len(kept), dtype=np.bool_)),
    }
    there = pa.table(columns).filter(pc.is_valid(pairs))
    return there.select(empty.column_names).cast(empty.schema)


def _hashes(project: Project) -> dict[str, tuple[str, str]]:
    """By pair, a hash of all that each of its two records says."""
    numbers = [np.asarray(project.pairs[side]) for side in (LEFT, RIGHT)]
    names = project.records.column_names
    sides = [
        [_hash(names, row) for row in project.records.take(pa.array(each)).to_pylist()]
        for each in numbers
    ]
    return dict(zip(project.pair_ids, zip(*sides, strict=True), strict=True))


def _hash(names: list[str], row: dict[str, str | None]) -> str:
    text = json.dumps([[name, row[name]] for name in names], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _kept(file: Path) -> pa.Table | None:
    if not file.is_file():
        return None
    try:
        table = pq.read_table(file)
    except (pa.ArrowException, OSError, ValueError):
        table = None
    if table is None or table.column_names != list(_KEPT):
        raise InputError(f"file {file.name}", "must be one that 'sfumato run' wrote")
    return table
