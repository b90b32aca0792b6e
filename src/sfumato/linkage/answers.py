"""People's answers kept with a linkage, by records, so that they hold in later ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.linkage.pairs.table import known_records, named_records
from sfumato.linkage.persons.decisions import Decisions
from sfumato.linkage.values import Records


def answers_table(decisions: Decisions, records: Records) -> pa.Table:
    """The answers as a table: both records by source and id, worker, answer, time, withdrawn.

    Parameters
    ----------
    decisions
        The answers.
    records
        The records.
    """
    source_l, id_l = named_records(records, decisions.left)
    source_r, id_r = named_records(records, decisions.right)
    return pa.table(
        {
            "source_l": source_l,
            "id_l": id_l,
            "source_r": source_r,
            "id_r": id_r,
            "worker": pa.array(decisions.worker.tolist(), pa.string()),
            "answer": pa.array(decisions.answer),
            "time": pa.array(decisions.time).cast(pa.timestamp("us")),
            "withdrawn": pa.array(decisions.withdrawn),
        }
    )


def read_answers(path: Path, records: Records) -> Decisions:
    """Read such a table; answers about records that are no longer there are left out.

    Parameters
    ----------
    path
        The file.
    records
        The records.

    Raises
    ------
    InputError
        If it is not whole.
    """
    try:
        table = pq.read_table(path)
        left = known_records(records, table["source_l"], table["id_l"])
        right = known_records(records, table["source_r"], table["id_r"])
        there = np.flatnonzero((left >= 0) & (right >= 0))
        rest = table.take(pa.array(there))
        return Decisions(
            left=left[there],
            right=right[there],
            worker=np.array(rest["worker"].to_pylist(), dtype=np.object_),
            answer=np.asarray(rest["answer"], dtype=np.int8),
            time=np.asarray(rest["time"].cast(pa.int64()), dtype=np.int64),
            withdrawn=np.asarray(rest["withdrawn"], dtype=np.bool_),
        )
    except (pa.ArrowException, OSError, ValueError, KeyError):
        raise InputError(
            f"file {path.name}", "must be one that sfumato link wrote", found="another or a cut one"
        ) from None


def each_once(decisions: Decisions) -> Decisions:
    """The answers, each once where the same one was read from several files.

    Parameters
    ----------
    decisions
        The answers.
    """
    seen: dict[tuple[object, ...], None] = {}
    columns = (
        decisions.left.tolist(),
        decisions.right.tolist(),
        decisions.worker.tolist(),
        decisions.answer.tolist(),
        decisions.time.tolist(),
        decisions.withdrawn.tolist(),
    )
    for row in zip(*columns, strict=True):
        seen.pop(row, None)
        seen[row] = None
    rows = list(zip(*seen, strict=True)) if seen else [()] * 6
    return Decisions(
        left=np.array(rows[0], dtype=np.int64),
        right=np.array(rows[1], dtype=np.int64),
        worker=np.array(rows[2], dtype=np.object_),
        answer=np.array(rows[3], dtype=np.int8),
        time=np.array(rows[4], dtype=np.int64),
        withdrawn=np.array(rows[5], dtype=np.bool_),
    )
