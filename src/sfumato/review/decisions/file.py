"""All events of a project as a file, both ways without loss."""

from __future__ import annotations

import os
from datetime import UTC
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.review.decisions.answers import Answer
from sfumato.review.decisions.decisions import Decisions
from sfumato.review.decisions.events import Event, EventKind, FlagReason
from sfumato.table.table_files import write_table

_SCHEMA = pa.schema(
    [
        ("pair", pa.string()),
        ("worker", pa.string()),
        ("event", pa.string()),
        ("time", pa.timestamp("us", "UTC")),
        ("answer", pa.int8()),
        ("reason", pa.string()),
    ]
)


def events_table(decisions: Decisions) -> pa.Table:
    """The events as a table: pair, worker, event, time, answer, reason.

    Parameters
    ----------
    decisions
        All that happened.
    """
    events = decisions.events
    columns = [
        [event.pair for event in events],
        [event.worker for event in events],
        [event.kind.value for event in events],
        [event.time.astimezone(UTC) for event in events],
        [None if event.answer is None else int(event.answer) for event in events],
        [None if event.reason is None else event.reason.value for event in events],
    ]
    return pa.table(dict(zip(_SCHEMA.names, columns, strict=True)), schema=_SCHEMA)


def write_events(decisions: Decisions, path: str | os.PathLike[str]) -> None:
    """Write the events to a Parquet file, whole or not at all, readable by its owner only.

    Parameters
    ----------
    decisions
        All that happened.
    path
        The file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    write_table(events_table(decisions), path)


def read_events(path: str | os.PathLike[str]) -> Decisions:
    """Read such a file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If it is none, or its events cannot follow one another.
    """
    try:
        rows = pq.read_table(path, schema=_SCHEMA).to_pylist()
        events = tuple(
            Event(
                row["pair"],
                row["worker"],
                EventKind(row["event"]),
                row["time"],
                None if row["answer"] is None else Answer(row["answer"]),
                None if row["reason"] is None else FlagReason(row["reason"]),
            )
            for row in rows
        )
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"file {Path(path).name}",
            "must be the events of a review",
            found="none, or another or a cut one",
        ) from None
    decisions = Decisions(events)
    _ = decisions.histories
    return decisions
