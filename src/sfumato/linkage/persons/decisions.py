"""What people have answered about pairs, read from decisions.parquet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.errors import InputError
from sfumato.linkage.values import Ints, Pairs
from sfumato.table.sources import check_file, subject_of

COLUMNS = {
    "pair": "text, the pair's id in pairs.parquet",
    "worker": "text, a pseudonym",
    "answer": "whole numbers from -3 (different, high confidence) to 3 (same, high), without 0",
    "time": "date-times",
    "withdrawn": "true or false",
}
"""The columns of decisions.parquet, and what they hold."""
SUREST = 3
"""Size of an answer of high confidence."""
_PAIR_ID = "^p[1-9][0-9]{0,17}$"


@dataclass(frozen=True, eq=False)
class Decisions:
    """Answers of people about two records each; every array has shape (answers,).

    Attributes
    ----------
    left, right
        Numbers of the two records.
    worker
        Pseudonym of the person who answered.
    answer
        From -3 (different, high confidence) to 3 (same, high confidence), never 0.
    time
        Microseconds since 1970.
    withdrawn
        Whether the answer was taken back.
    """

    left: Ints
    right: Ints
    worker: npt.NDArray[np.object_]
    answer: npt.NDArray[np.int8]
    time: Ints
    withdrawn: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        """Number of answers, withdrawn ones included."""
        return len(self.left)


def read_decisions(path: Path, pairs: Pairs) -> Decisions:
    """Read decisions.parquet; other columns than those of the contract are not opened.

    Parameters
    ----------
    path
        The file: pair, worker, answer, time, withdrawn.
    pairs
        The pairs that it speaks of.

    Raises
    ------
    InputError
        If the file is not whole, lacks a column, or holds anything but what the column is for:
        an unknown pair, an answer of 0 or beyond ±3, an empty cell.
    """
    columns = _columns(path)
    for name, column in columns.items():
        if column.null_count:
            raise _wrong(name, f"an empty cell in row {_first(pc.is_null(column))}")
    pair = _pair_numbers(columns["pair"], len(pairs))
    time = columns["time"].cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    return Decisions(
        left=pairs.left[pair],
        right=pairs.right[pair],
        worker=_workers(columns["worker"]),
        answer=_answers(columns["answer"]),
        time=np.asarray(time, dtype=np.int64),
        withdrawn=np.asarray(columns["withdrawn"], dtype=np.bool_),
    )


def renumbered(decisions: Decisions, number: Ints) -> Decisions:
    """The same answers about records that have new numbers, as after an incremental run.

    Parameters
    ----------
    decisions
        Answers that name records by their old numbers.
    number
        New number of each old record, -1 where it is gone; answers about those are left out.
    """
    left, right = number[decisions.left], number[decisions.right]
    there = (left >= 0) & (right >= 0)
    return Decisions(
        left=left[there],
        right=right[there],
        worker=decisions.worker[there],
        answer=decisions.answer[there],
        time=decisions.time[there],
        withdrawn=decisions.withdrawn[there],
    )


def together(earlier: Decisions, later: Decisions) -> Decisions:
    """The answers of two files about the same records, the earlier ones first."""
    return Decisions(
        left=np.concatenate([earlier.left, later.left]),
        right=np.concatenate([earlier.right, later.right]),
        worker=np.concatenate([earlier.worker, later.worker]),
        answer=np.concatenate([earlier.answer, later.answer]),
        time=np.concatenate([earlier.time, later.time]),
        withdrawn=np.concatenate([earlier.withdrawn, later.withdrawn]),
    )


def _columns(path: Path) -> dict[str, pa.Array]:
    """The columns of the contract, of the right kinds of types."""
    check_file(path)
    subject = subject_of(path)
    try:
        with pq.ParquetFile(path) as file:
            there = file.schema_arrow
            names = [name for name in COLUMNS if there.names.count(name) == 1]
            table = file.read(columns=names)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            subject,
            "must be a whole Parquet file",
            found="another format, or a damaged or cut file",
        ) from None
    columns = {}
    for name in COLUMNS:
        if name not in names:
            found = "none" if name not in there.names else "several"
            raise InputError(
                subject,
                f"must have one column '{name}'",
                found=found,
                accepted=", ".join(COLUMNS),
            )
        columns[name] = _of_kind(name, table[name].combine_chunks())
    return columns


def _of_kind(name: str, column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if name in {"pair", "worker"} and (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    ):
        return column.cast(pa.large_string())
    fits = {
        "answer": pa.types.is_integer(kind),
        "time": pa.types.is_timestamp(kind),
        "withdrawn": pa.types.is_boolean(kind),
    }
    if not fits.get(name, False):
        raise _wrong(name, "another type of column")
    return column


def _pair_numbers(column: pa.Array, pairs: int) -> Ints:
    """0-based numbers of the pairs."""
    known = pc.match_substring_regex(column, _PAIR_ID)
    if not pc.all(known, min_count=0).as_py():
        row = _first(pc.invert(known))
        raise _wrong("pair", f"a text that is no pair id in row {row}", accepted="p1, p2, ...")
    number = np.asarray(pc.utf8_slice_codeunits(column, 1).cast(pa.int64()), dtype=np.int64) - 1
    if np.any(number >= pairs):
        row = int(np.argmax(number >= pairs)) + 1
        raise InputError(
            "column 'pair'",
            "must name pairs of this linkage",
            found=f"an unknown pair in row {row}",
            accepted=f"p1 to p{pairs}" if pairs else "none, as there are no pairs",
            advice="apply decisions to the run whose pairs were reviewed",
        )
    return number


def _workers(column: pa.Array) -> npt.NDArray[np.object_]:
    empty = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(column)), 0)
    if pc.any(empty, min_count=0).as_py():
        raise _wrong("worker", f"an empty text in row {_first(empty)}")
    return np.array(column.to_pylist(), dtype=np.object_)


def _answers(column: pa.Array) -> npt.NDArray[np.int8]:
    answer = np.asarray(column)
    wrong = (answer == 0) | (answer > SUREST) | (answer < -SUREST)
    if np.any(wrong):
        row = int(np.argmax(wrong)) + 1
        kind = "0" if answer[row - 1] == 0 else "a number beyond them"
        raise _wrong("answer", f"{kind} in row {row}")
    return answer.astype(np.int8)


def _first(which: pa.Array) -> int:
    """1-based row of the first true."""
    return int(pc.index(which, pa.scalar(True)).as_py()) + 1


def _wrong(name: str, found: str, *, accepted: str = "") -> InputError:
    return InputError(
        f"column '{name}'", f"must hold {COLUMNS[name]}", found=found, accepted=accepted
    )
