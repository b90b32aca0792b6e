"""The workers' answers as the file that the linkage applies."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from datetime import UTC, datetime

import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.review.decisions.decisions import Decisions
from sfumato.table.table_files import write_table

DECISIONS = "decisions.parquet"
"""The name that the linkage's documentation gives to the file."""


def decisions_table(
    decisions: Decisions,
    pairs: Container[str],
    *,
    named: Callable[[str], str] = str,
) -> pa.Table:
    """What ``decisions.parquet`` holds: pair, worker, answer, time, withdrawn.

    There is one row for each pair and worker that ever answered: the latest answer, since when
    it stands, or since when it does not. Where a manager has resolved a pair, the resolution is
    a row of the manager's, and the workers' answers are withdrawn: the linkage adds up answers
    as votes, and a resolution holds against any number of them.

    Parameters
    ----------
    decisions
        All that happened.
    pairs
        Ids of the pairs that the linkage knows; answers about others, such as gold pairs of
        another origin, are left out.
    named
        How a worker is called in the file.

    Raises
    ------
    InputError
        If two people are called the same.
    """
    people = dict.fromkeys(worker for _, worker in decisions.histories)
    names = {worker: named(worker) for worker in people}
    if len(set(names.values())) < len(names):
        raise InputError("the workers' pseudonyms", "must differ", found="two that are the same")
    resolved = decisions.resolutions
    rows: list[tuple[str, str, int, datetime, bool]] = []
    for (pair, worker), history in decisions.histories.items():
        now = history.present
        if pair not in pairs or now.last_answer is None or now.since is None:
            continue
        holds = now.answer is not None and resolved.get(pair, (worker,))[0] == worker
        rows.append((pair, names[worker], int(now.last_answer), now.since, not holds))
    rows.sort(key=lambda row: row[3])
    pair_, worker_, answer, time, withdrawn = zip(*rows, strict=True) if rows else ((),) * 5
    return pa.table(
        {
            "pair": pa.array(pair_, pa.string()),
            "worker": pa.array(worker_, pa.string()),
            "answer": pa.array(answer, pa.int8()),
            "time": pa.array([each.astimezone(UTC) for each in time], pa.timestamp("us", "UTC")),
            "withdrawn": pa.array(withdrawn, pa.bool_()),
        }
    )


def write_decisions(
    decisions: Decisions,
    pairs: Container[str],
    path: str | os.PathLike[str],
    *,
    named: Callable[[str], str] = str,
) -> None:
    """Write ``decisions.parquet``, whole or not at all, readable by its owner only.

    Parameters
    ----------
    decisions
        All that happened.
    pairs
        Ids of the pairs that the linkage knows.
    path
        The file.
    named
        How a worker is called in the file.

    Raises
    ------
    InputError
        If two people are called the same, or the file cannot be written.
    """
    write_table(decisions_table(decisions, pairs, named=named), path)
