"""Decisions about pairs: what people have said, and what several people together say of a pair."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.arrays import Bools, Floats, Ints, Levels
from sfumato.core.errors import InputError
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.review_pairs import known_records, named_records
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
    answer
        From -3 (different, high confidence) to 3 (same, high confidence), never 0.
    time
        Microseconds since 1970.
    """

    left: Ints
    right: Ints
    worker: npt.NDArray[np.object_]
    answer: Levels
    time: Ints
    withdrawn: Bools

    def __len__(self) -> int:
        """Number of answers, withdrawn ones included."""
        return len(self.left)

    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays, in their order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def take(self, which: Ints | Bools) -> Decisions:
        """Some of the answers: their numbers, or which they are."""
        return Decisions(*(column[which] for column in self.columns()))


def read_decisions(path: Path, pairs: Pairs) -> Decisions:
    """Read decisions.parquet (pair, worker, answer, time, withdrawn).

    Other columns are not opened.
    """
    columns = _columns(path)
    for name, column in columns.items():
        if column.null_count:
            raise _wrong(name, f"an empty cell in row {_first(pc.is_null(column))}")
    pair = _pair_numbers(columns["pair"], len(pairs))
    # Unsafe: nanoseconds are cut to microseconds, which tell answers apart well enough.
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

    Answers about records that are gone, -1, are left out.
    """
    left, right = number[decisions.left], number[decisions.right]
    # An answer about a record that is gone says nothing of any other.
    there = (left >= 0) & (right >= 0)
    return replace(decisions.take(there), left=left[there], right=right[there])


def together(earlier: Decisions, later: Decisions) -> Decisions:
    """The answers of two files about the same records, the earlier ones first."""
    return Decisions(*map(np.concatenate, zip(earlier.columns(), later.columns(), strict=True)))


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
                subject, f"must have one column '{name}'", found=found, accepted=", ".join(COLUMNS)
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
            advice="apply decisions to the run that was reviewed",
        )
    return number


def _workers(column: pa.Array) -> npt.NDArray[np.object_]:
    empty = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(column)), 0)
    if pc.any(empty, min_count=0).as_py():
        raise _wrong("worker", f"an empty text in row {_first(empty)}")
    return np.array(column.to_pylist(), dtype=np.object_)


def _answers(column: pa.Array) -> Levels:
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


SAME = 1
DIFFERENT = -1


@dataclass(frozen=True, eq=False)
class Votes:
    """The answers that count; arrays of shape (votes,), ascending by verdict."""

    verdict: Ints
    worker: Ints
    same: Bools
    workers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """One result for each two records that somebody answered about; arrays of shape (verdicts,).

    Attributes
    ----------
    left, right
        Numbers of the two records, left below right; ascending.
    pair
        0-based number among the candidate pairs, -1 where those do not hold the two records.
    result
        1 same person, -1 different persons, 0 undecided.
    confidence
        Size of the mean answer: 1 low, 2 medium, 3 high; 0 where undecided. Once answers are
        weighed, the log odds that they speak with instead.
    """

    left: Ints
    right: Ints
    pair: Ints
    result: Levels
    confidence: Floats
    workers: Ints
    votes: Votes

    def __len__(self) -> int:
        """Number of verdicts."""
        return len(self.left)

    def take(self, which: Bools) -> Verdicts:
        """Some of the verdicts, with the answers about them."""
        votes, number = self.votes, np.cumsum(which) - 1
        own = which[votes.verdict]
        columns = {
            field.name: getattr(self, field.name)[which]
            for field in fields(self)
            if field.name != "votes"
        }
        verdict = number[votes.verdict[own]]
        kept = Votes(verdict, votes.worker[own], votes.same[own], votes.workers)
        return replace(self, votes=kept, **columns)


def join_workers(decisions: Decisions | None, pairs: Pairs) -> Verdicts:
    """Join all answers about the same two records into one result.

    Of each worker the latest answer counts (of the same time, the later row); where it is
    withdrawn, the worker has no say until there is a new one. An answer is a vote with its
    confidence as weight: answers are added up, a positive sum says same, a negative one
    different, and a sum of 0 leaves the pair undecided, a possible match. Without answers there are
    no verdicts.
    """
    if not decisions:
        return no_verdicts()
    low = np.minimum(decisions.left, decisions.right)
    high = np.maximum(decisions.left, decisions.right)
    workers, worker = np.unique(decisions.worker.astype(str), return_inverse=True)
    counts = _in_force(decisions, low, high, worker)
    counts = counts[np.lexsort((high[counts], low[counts]))]
    low, high, answer = low[counts], high[counts], decisions.answer[counts].astype(np.int64)
    change = _changes(low, high)
    starts = np.flatnonzero(change)
    if not len(starts):
        return no_verdicts()
    # Votes with their confidence as weight: 3 + (−1) says same.
    total = np.add.reduceat(answer, starts)
    number = np.diff(np.append(starts, len(answer)))
    return Verdicts(
        left=low[starts],
        right=high[starts],
        pair=_numbers(low[starts], high[starts], pairs),
        result=np.sign(total).astype(np.int8),
        confidence=np.abs(total) / number,
        workers=number,
        votes=Votes(np.cumsum(change) - 1, worker[counts], answer > 0, tuple(workers.tolist())),
    )


def no_verdicts() -> Verdicts:
    """Nobody has answered."""
    none = np.zeros(0, dtype=np.int64)
    return Verdicts(
        left=none,
        right=none,
        pair=none,
        result=none.astype(np.int8),
        confidence=none.astype(np.float64),
        workers=none,
        votes=Votes(none, none, none.astype(np.bool_), ()),
    )


def _in_force(decisions: Decisions, low: Ints, high: Ints, worker: Ints) -> Ints:
    """Rows that are their worker's latest about the two records, and not withdrawn."""
    order = np.lexsort((decisions.time, worker, high, low))  # stable: equal times keep file order
    change = _changes(low[order], high[order], worker[order])
    # Withdrawn ones are dropped after this, or an older answer would stand again.
    latest = order[np.append(change[1:], True)]
    in_force: Ints = latest[~decisions.withdrawn[latest]]
    return in_force


def _changes(*columns: Ints) -> Bools:
    """Where a row of sorted columns differs from the one before; true for the first."""
    change = np.ones(len(columns[0]), dtype=np.bool_)
    if len(change):
        change[1:] = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return change


def _numbers(low: Ints, high: Ints, pairs: Pairs) -> Ints:
    """Number of the pair of each two records, sorted, among all; O(pairs · log verdicts)."""
    space = 1 + max(int(high.max()), int(pairs.right.max()) if len(pairs) else 0)
    keys = low * space + high
    # One number for two records; the verdicts' are sorted, so that each pair is found by bisection.
    sought = pairs.left * space + pairs.right
    place = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    found = np.flatnonzero(keys[place] == sought)
    number = np.full(len(keys), -1, dtype=np.int64)
    number[place[found]] = found
    return number


def answers_table(decisions: Decisions, records: Records) -> pa.Table:
    """The answers as a table: both records by source and id, worker, answer, time, withdrawn."""
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
    """Read such a table; answers about records that are no longer there are left out."""
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
    """The answers, each once where the same one was read from several files."""
    rows = zip(*(column.tolist() for column in decisions.columns()), strict=True)
    last = {row: number for number, row in enumerate(rows)}
    return decisions.take(np.array(sorted(last.values()), dtype=np.int64))
