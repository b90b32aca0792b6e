"""What leaves a project once it is closed."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.review.review_decisions import decisions_table
from sfumato.review.review_project import LEFT, RIGHT
from sfumato.server.live.project_files import read_project
from sfumato.server.manager.decisions import decisions_with_ids
from sfumato.server.store.models import Project


def decisions_bytes(project: Project) -> bytes:
    """``decisions.parquet`` for the linkage: pairs by its ids, people by pseudonyms.

    Parameters
    ----------
    project
        The project, not purged.

    Raises
    ------
    InputError
        If a file of the project is missing or was changed.
    """
    return _bytes(_decisions(project, read_project(project).of_linkage))


def identities_bytes(project: Project) -> bytes:
    """The decisions with both records of each pair: sources, ids and all values that were shown.

    Parameters
    ----------
    project
        The project, not purged.

    Raises
    ------
    InputError
        If a file of the project is missing or was changed.
    """
    review = read_project(project)
    table = _decisions(project, frozenset(review.pair_ids))
    place = {pair: number for number, pair in enumerate(review.pair_ids)}
    rows = pa.array([place[pair] for pair in table["pair"].to_pylist()], pa.int64())
    for end, side in (("l", LEFT), ("r", RIGHT)):
        records = review.records.take(review.pairs[side].take(rows))
        for name in records.column_names:
            table = table.append_column(f"{name}_{end}", records[name])
    return _bytes(table)


def _decisions(project: Project, pairs: frozenset[str]) -> pa.Table:
    return decisions_table(decisions_with_ids(project), pairs)


def _bytes(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()
