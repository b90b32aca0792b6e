"""The screens of a review, as an intruder who saw them holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Ints
from sfumato.core.declaration import Progress
from sfumato.intruder.guesses.screen_attack import ShownRows, rows_of
from sfumato.intruder.knowledge import Knowledge, hold
from sfumato.intruder.referee.judgements import Truth, owned
from sfumato.review.review_project import ID, IDENTIFYING, PROJECT, RECORDS, SOURCE, read_parquet
from sfumato.review.shown_rows import WorkerShown, shown_in
from sfumato.schema import Schema


@dataclass(frozen=True, eq=False)
class Screen:
    """What one worker's screen showed, and whose records these are.

    Attributes
    ----------
    knowledge
        The identified tables, which somebody who holds them compares.
    truth
        Whose each row is; for the referee.
    sizes
        K, the anonymity set of each row as the review counts it, shape (rows,); for the referee.
    kapr
        KAPR of what was shown (paper 001, Definition 4.6).
    """

    worker: str
    shown: ShownRows
    knowledge: Knowledge
    truth: Truth = field(repr=False)
    sizes: Ints = field(repr=False)
    kapr: float


def screens_of(folder: Path, rng: np.random.Generator, progress: Progress) -> tuple[Screen, ...]:
    """What each worker of a review was shown.

    The folder is what ``sfumato link`` wrote, or a project, with the journals of a review in it.
    """
    all_shown = shown_in(folder, rng, progress)
    table = read_parquet(folder / (RECORDS if (folder / PROJECT).is_file() else IDENTIFYING))
    # Screens show texts: 07 and 7 are two values there.
    table = table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))
    names = [name for name in table.column_names if name not in {SOURCE, ID}]
    # No text means a missing value there: what is written is what a screen shows.
    knowledge = hold(table, Schema(quasi_identifiers=names, missing=()))
    sides = (table[SOURCE].to_pylist(), table[ID].to_pylist())
    record_of = {key: record for record, key in enumerate(zip(*sides, strict=True))}
    return tuple(_screen(each, knowledge, record_of) for each in all_shown)


def _screen(
    shown: WorkerShown, knowledge: Knowledge, record_of: dict[tuple[str, str], int]
) -> Screen:
    rows = rows_of(shown.cells, "what screens showed")
    truth = {each["row"]: each for each in shown.truth.to_pylist()}
    known = [truth[row] for row in rows.rows]
    records = np.array([record_of[each["source"], each["id"]] for each in known], dtype=np.int64)
    return Screen(
        worker=shown.worker,
        shown=rows,
        knowledge=knowledge,
        truth=owned(knowledge.person[records], knowledge.persons),
        sizes=np.array([each["anonymity_set"] for each in known], dtype=np.int64),
        kapr=shown.kapr,
    )
