"""The file of what each row has shown, which an attack on the review reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.atomic import all_or_none, atomic_path, check_target
from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.review import review_journal, review_settings
from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import holder_of
from sfumato.review.review_project import ID, SOURCE, Project, index_of, review_of
from sfumato.review.review_sources import open_folder
from sfumato.review.worker_state import WorkerState

SHOWN = pa.schema(
    [
        ("row", pa.string()),
        ("attribute", pa.string()),
        ("kind", pa.string()),
        ("case", pa.bool_()),
        ("accents", pa.bool_()),
        ("missing", pa.bool_()),
        ("length", pa.int32()),
        ("places", pa.list_(pa.int32())),
        ("characters", pa.list_(pa.string())),
        ("least", pa.int64()),
        ("most", pa.int64()),
    ]
)
"""A line for each row and attribute that showed.

``kind`` is ``text``, ``category`` or the order of a date; ``case`` and ``accents`` say whether they
count where values are compared; ``missing`` that there is no value; ``length`` is the number of
characters where masked ones show it; ``places`` and ``characters`` are what is disclosed, from 0,
separators of dates not counted; ``least`` and ``most`` bound how many records have the value, as
identity marks and marks of rarity say.
"""
_TWICE = 2


@dataclass(slots=True)
class ShownRow:
    """What showed of a record.

    Attributes
    ----------
    size
        K, the size of its anonymity set as the review counts it.
    cells
        By attribute, what showed: columns of `SHOWN`, characters by their places.
    """

    record: int
    size: int
    cells: dict[str, dict[str, Any]] = field(default_factory=dict)

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """The lines of the row; identifying text."""
        for attribute, cell in self.cells.items():
            places = sorted(cell["characters"])
            characters = [cell["characters"][place] for place in places]
            own = {"row": name, "attribute": attribute, "places": places, "characters": characters}
            yield {**cell, **own}


def shown_rows(state: WorkerState) -> list[ShownRow]:
    """What a worker has seen: by record or, under the paper's policy, by row of a pair.

    It is taken from the drawn pairs, not from what anonymity sets count of them.
    """
    review, found = state.review, dict[int, ShownRow]()
    for row in state.disclosed():
        holder = holder_of(review, row.pair, row.side)
        record = review.facts(row.pair).records[row.side]
        into = found.setdefault(holder, ShownRow(record, row.set_size))
        for attribute, drawn in zip(review.attributes, state.render(row.pair), strict=True):
            cell = into.cells.setdefault(attribute.name, _nothing(attribute))
            _add(cell, drawn, row.side, review.settings)
    return list(found.values())


def _nothing(attribute: review_settings.Attribute) -> dict[str, Any]:
    return {
        "kind": _kind(attribute),
        "case": attribute.case_sensitive,
        "accents": attribute.accent_sensitive,
        "missing": False,
        "length": None,
        "characters": {},
        "least": 0,
        "most": None,
    }


def _add(
    cell: dict[str, Any],
    drawn: review_settings.RenderedAttribute,
    side: int,
    settings: review_settings.Settings,
) -> None:
    """Add what a row shows of an attribute."""
    cells = [row for row in drawn.rows[side] if row.kind is not review_settings.CellKind.SEPARATOR]
    if any(each.kind is review_settings.CellKind.MISSING for each in cells):
        cell["missing"] = True
        return
    if (
        settings.mask_width is review_settings.MaskWidth.TRUE
        or drawn.mode is not review_settings.Mode.MASKED
    ):
        cell["length"] = len(cells)
    # A union over pairs, as a worker remembers what showed elsewhere of the record.
    cell["characters"] |= {
        place: each.text
        for place, each in enumerate(cells)
        if each.kind is review_settings.CellKind.CHARACTER
    }
    least, most = _bounds(drawn.rarity[side], settings)
    twice = _TWICE if review_settings.Mark.IDENTICAL in drawn.marks else 0
    # An identity mark says that two records have the value, whatever the band says.
    cell["least"] = max(cell["least"], least, twice)
    cell["most"] = most if cell["most"] is None else cell["most"]


def _bounds(
    band: review_settings.Rarity | None, settings: review_settings.Settings
) -> tuple[int, int | None]:
    match band:
        case review_settings.Rarity.RARE:
            return 1, settings.rare_below - 1
        case review_settings.Rarity.UNCOMMON:
            return settings.rare_below, settings.common_from - 1
        case review_settings.Rarity.COMMON:
            return settings.common_from, None
    return 0, None


def _kind(attribute: review_settings.Attribute) -> str:
    if attribute.kind is review_settings.AttributeKind.DATE:
        return attribute.date_order.value
    return "category" if attribute.kind is review_settings.AttributeKind.CATEGORY else "text"


TRUTH = pa.schema(
    [
        ("row", pa.string()),
        ("worker", pa.string()),
        ("source", pa.large_string()),
        ("id", pa.large_string()),
        ("anonymity_set", pa.int64()),
    ]
)
"""A line for each row: who saw it, whose record it is, and the size of its anonymity set."""


@dataclass(frozen=True, eq=False)
class WorkerShown:
    """What one worker's screen showed in the end.

    Attributes
    ----------
    cells
        What showed, columns of `SHOWN`; identifying text.
    truth
        Whose record each row is, columns of `TRUTH`; for whoever scores an attack.
    kapr
        KAPR of what was shown (paper 001, Definition 4.6), as the status of the review says it.
    """

    worker: str
    cells: pa.Table = field(repr=False)
    truth: pa.Table = field(repr=False)
    kapr: float


def shown_in(folder: Path, rng: np.random.Generator, progress: Progress) -> tuple[WorkerShown, ...]:
    """What the screens of all workers of a review showed, from their journals.

    Under the policy ``consistent`` a row is a record, with what the worker has seen of it in
    whatever pair; under ``paper`` it is one row of one pair. Anonymity sets are counted by the
    same rows. Rows are named at random.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project, with the journals of a review in it.
    """
    project = open_folder(folder).project
    journals = review_journal.checked_journals(folder, project)
    if not journals:
        raise _error(folder, "no journal")
    index: Index | None = None
    states = []
    for written in journals:
        # What showed has been granted: a budget of all workers would only ask for their common
        # state.
        settings = written.beginning.settings.model_copy(update={"project_budget": None})
        # Bands of rarity are built into the index; all else of it is the same for all workers.
        if index is None or not _same_bands(index.database, settings):
            index = index_of(project, settings, progress)
        number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
        review = review_of(project, settings, index)
        state, _ = review_journal.restored(review, number_of, written.beginning, written.entries)
        states.append((written.beginning.worker, state, shown_rows(state)))
    if not any(rows for *_, rows in states):
        raise _error(folder, "one with pairs that were not seen")
    # Random names over all workers, so that the order of rows tells nothing of records.
    names = iter(rng.permutation(sum(len(rows) for *_, rows in states)).tolist())
    return tuple(_shown(project, *each, names) for each in states if each[2])


def write_shown(
    shown: Sequence[WorkerShown],
    target: str | os.PathLike[str],
    truth: str | os.PathLike[str] | None = None,
) -> None:
    """Write what screens showed to a file, and whose rows these are to another one.

    The first holds identifying text, the second the ids of the records; both can be read by
    their owner only.

    Parameters
    ----------
    shown
        What `shown_in` returned.
    truth
        The Parquet file of whose records the rows are; none where not given.
    """
    check_shown_path(Path(target))
    # Cells without their truth cannot be scored, and neither file may be left alone.
    with all_or_none():
        if truth is not None:
            check_shown_path(Path(truth))
            _write([each.truth for each in shown], Path(truth))
        _write([each.cells for each in shown], Path(target))


def check_shown_path(path: Path) -> None:
    """Refuse a path that no Parquet file can be written to."""
    check_target(path)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"output {path.name}", "must be a Parquet file", accepted=".parquet")


def _write(tables: list[pa.Table], path: Path) -> None:
    table = pa.concat_tables(tables)
    order = pc.sort_indices(table["row"].cast(pa.int64()))
    with atomic_path(path) as temporary:
        pq.write_table(table.take(order), temporary)


def _error(folder: Path, found: str) -> InputError:
    return InputError(
        f"folder {folder.name or folder}",
        "must hold a review",
        found=found,
        advice="begin with: sfumato open FOLDER",
    )


def _same_bands(database: Database, settings: review_settings.Settings) -> bool:
    bands = (database.rare_below, database.common_from)
    return bands == (settings.rare_below, settings.common_from)


def _shown(
    project: Project, worker: str, state: WorkerState, rows: list[ShownRow], names: Iterator[int]
) -> WorkerShown:
    lines: list[dict[str, Any]] = []
    truth = []
    for row, number in zip(rows, names, strict=False):
        lines += row.lines(str(number))
        source, ident = (project.records[name][row.record].as_py() for name in (SOURCE, ID))
        truth.append((str(number), worker, source, ident, row.size))
    columns = zip(*truth, strict=True)
    return WorkerShown(
        worker,
        pa.Table.from_pylist(lines, schema=SHOWN),
        pa.table([pa.array(column) for column in columns], names=TRUTH.names).cast(TRUTH),
        state.score,
    )
