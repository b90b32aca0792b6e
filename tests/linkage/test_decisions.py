"""decisions.parquet: what is read, what is refused, how workers are joined, what contradicts."""

import datetime as dt
import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.linkage.match_decisions import (
    Decisions,
    Verdicts,
    join_workers,
    no_verdicts,
    read_decisions,
    renumbered,
    together,
)
from sfumato.linkage.match_thresholds import Pairs
from sfumato.linkage.person_clusters import find_contradictions

NOON = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)


def pairs_of(*records):
    left, right = (np.array(side, dtype=np.int64) for side in zip(*records, strict=True))
    return Pairs(left, right, np.full(len(left), 0.5), {}, np.zeros(len(left), np.int16))


PAIRS = pairs_of((0, 5), (1, 5), (2, 6))


def column(name, **changed):
    columns = {
        "pair": pa.array(["p1", "p3", "p1"]),
        "worker": pa.array(["ann", "ann", "bob"]),
        "answer": pa.array([3, -1, 2]),
        "time": pa.array([NOON] * 3),
        "withdrawn": pa.array([False, True, False]),
    }
    return {**columns, **changed}[name]


def write(folder, **changed):
    names = ["pair", "worker", "answer", "time", "withdrawn", *changed]
    columns = {name: column(name, **changed) for name in dict.fromkeys(names)}
    path = folder / "decisions.parquet"
    pq.write_table(pa.table({name: own for name, own in columns.items() if own is not None}), path)
    return path


def test_read(tmp_path):
    found = read_decisions(write(tmp_path), PAIRS)
    assert found.left.tolist() == [0, 2, 0]
    assert found.right.tolist() == [5, 6, 5]
    assert found.worker.tolist() == ["ann", "ann", "bob"]
    assert found.answer.tolist() == [3, -1, 2]
    assert found.withdrawn.tolist() == [False, True, False]
    assert found.time.tolist() == [round(NOON.timestamp() * 1e6)] * 3
    assert len(found) == 3


def test_the_types_that_other_tools_write(tmp_path):
    path = write(
        tmp_path,
        pair=pa.array(["p1", "p3", "p1"], pa.large_string()).dictionary_encode(),
        worker=pa.array(["ann", "ann", "bob"], pa.string_view()),
        answer=pa.array([3, -1, 2], pa.int8()),
        time=pa.array([NOON] * 3, pa.timestamp("ns", "Europe/Berlin")),
        comment=pa.array(["not read"] * 3),
    )
    found, plain = read_decisions(path, PAIRS), read_decisions(write(tmp_path), PAIRS)
    assert found.time.tolist() == plain.time.tolist()
    assert found.answer.tolist() == plain.answer.tolist()


def test_nobody_has_answered(tmp_path):
    path = tmp_path / "decisions.parquet"
    pq.write_table(pq.read_table(write(tmp_path)).slice(0, 0), path)
    found = read_decisions(path, PAIRS)
    assert len(found) == 0
    assert len(join_workers(found, PAIRS)) == 0
    assert find_contradictions(join_workers(found, PAIRS), 7, np.full(7, -1)) == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"pair": pa.array(["p1", "p4", "p1"])}, ["'pair'", "unknown pair in row 2", "p1 to p3"]),
        ({"pair": pa.array(["p1", "SECRET", "p1"])}, ["'pair'", "no pair id in row 2"]),
        ({"pair": pa.array(["p0", "p1", "p1"])}, ["'pair'", "no pair id in row 1"]),
        ({"pair": pa.array(["p1", "p1", "p99999999999999999999"])}, ["row 3"]),
        ({"pair": pa.array([1, 2, 3])}, ["'pair'", "another type"]),
        ({"pair": None}, ["decisions.parquet", "one column 'pair'"]),
        ({"worker": pa.array(["ann", None, "bob"])}, ["'worker'", "an empty cell in row 2"]),
        ({"worker": pa.array(["ann", "bob", " "])}, ["'worker'", "an empty text in row 3"]),
        ({"answer": pa.array([3, 0, 2])}, ["'answer'", "0 in row 2"]),
        ({"answer": pa.array([3, 1, -4])}, ["'answer'", "beyond them in row 3"]),
        ({"answer": pa.array([3, 1, 1000], pa.int64())}, ["'answer'", "beyond them in row 3"]),
        ({"answer": pa.array([250, 1, 2], pa.uint8())}, ["'answer'", "beyond them in row 1"]),
        ({"answer": pa.array([3.0, 1.0, 2.0])}, ["'answer'", "another type"]),
        ({"answer": pa.array([3, None, 2])}, ["'answer'", "an empty cell in row 2"]),
        ({"time": pa.array(["2024-05-01"] * 3)}, ["'time'", "date-times", "another type"]),
        ({"time": pa.array([NOON, NOON, None])}, ["'time'", "an empty cell in row 3"]),
        ({"withdrawn": pa.array([0, 1, 0])}, ["'withdrawn'", "true or false", "another type"]),
    ],
)
def test_refusals(tmp_path, changed, words):
    with pytest.raises(InputError) as caught:
        read_decisions(write(tmp_path, **changed), PAIRS)
    for word in words:
        assert word in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_no_parquet(tmp_path):
    path = tmp_path / "decisions.parquet"
    path.write_text("pair,worker,answer,time,withdrawn\n")
    with pytest.raises(InputError, match="whole Parquet file"):
        read_decisions(path, PAIRS)


def decisions(*rows):
    """Rows (left, right, worker, answer[, withdrawn]), one after the other in time."""
    full = [(*row, False)[:5] for row in rows]
    left, right, worker, answer, withdrawn = zip(*full, strict=True)
    return Decisions(
        np.array(left),
        np.array(right),
        np.array(worker, dtype=object),
        np.array(answer, dtype=np.int8),
        np.arange(len(rows)),
        np.array(withdrawn),
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("ann", 3)], (1, 3.0, 1)),
        ([("ann", -2)], (-1, 2.0, 1)),
        ([("ann", 3), ("bob", -1)], (1, 1.0, 2)),
        ([("ann", 1), ("bob", 1), ("cyd", -3)], (-1, 1 / 3, 3)),
        ([("ann", 2), ("bob", -2)], (0, 0.0, 2)),
        ([("ann", 3), ("ann", -1)], (-1, 1.0, 1)),
        ([("ann", 3), ("ann", -1, True)], None),
        ([("ann", 3, True), ("ann", -1)], (-1, 1.0, 1)),
        ([("ann", 3), ("ann", 3, True), ("bob", -1)], (-1, 1.0, 1)),
    ],
)
def test_workers_are_joined(rows, expected):
    verdicts = join_workers(decisions(*((1, 5, *row) for row in rows)), PAIRS)
    if expected is None:
        assert len(verdicts) == 0
        return
    assert (verdicts.left.tolist(), verdicts.right.tolist()) == ([1], [5])
    assert verdicts.pair.tolist() == [1]
    found = (verdicts.result, verdicts.confidence, verdicts.workers)
    assert tuple(each[0] for each in found) == pytest.approx(expected)


def test_the_latest_answer_is_told_by_time_not_by_row():
    late = decisions((0, 5, "ann", 3), (0, 5, "ann", -3))
    late.time[:] = [10, 5]
    assert join_workers(late, PAIRS).result.tolist() == [1]
    late.time[:] = 5
    assert join_workers(late, PAIRS).result.tolist() == [-1]


def test_decisions_hold_when_records_are_renumbered_and_pairs_are_new():
    old = decisions((0, 5, "ann", 3), (1, 5, "ann", -3), (2, 6, "ann", 2))
    number = np.array([9, 0, -1, 3, 4, 1, 2])
    new = together(renumbered(old, number), decisions((0, 1, "bob", 1)))
    verdicts = join_workers(new, pairs_of((1, 9), (2, 8)))
    assert list(zip(verdicts.left, verdicts.right, verdicts.result, strict=True)) == [
        (0, 1, -1),
        (1, 9, 1),
    ]
    assert verdicts.pair.tolist() == [-1, 0]
    assert verdicts.workers.tolist() == [2, 1]


def verdicts_of(rows):
    """Verdicts from rows (left, right, result)."""
    left, right, result = (np.array(each, dtype=np.int64) for each in zip(*rows, strict=True))
    ones, votes = np.ones(len(rows)), no_verdicts().votes
    return Verdicts(
        left, right, np.arange(len(rows)), result.astype(np.int8), ones, ones.astype(int),
        votes,
    )  # fmt: skip


def test_a_contradiction_is_listed_with_its_chain():
    rows = [(0, 1, 1), (1, 2, 1), (0, 2, -1), (0, 3, 1), (2, 3, 0), (4, 5, -1)]
    (found,) = find_contradictions(verdicts_of(rows), 6, np.full(6, -1))
    assert (found.left, found.right, found.different, found.chain) == (0, 2, 2, (0, 1))


def test_the_chain_is_a_shortest_one():
    ring = [(0, 1, 1), (0, 5, 1), (1, 2, 1), (2, 3, 1), (3, 4, -1), (3, 5, 1), (4, 5, 1)]
    ring.insert(2, (0, 3, -1))
    found = find_contradictions(verdicts_of(ring), 6, np.full(6, -1))
    assert [(each.left, each.right, len(each.chain)) for each in found] == [(0, 3, 2), (3, 4, 2)]


def test_two_records_of_a_source_without_duplicates_are_a_contradiction():
    rows = [(0, 4, 1), (1, 4, 1), (2, 3, 1)]
    (found,) = find_contradictions(verdicts_of(rows), 5, np.array([0, 0, 0, 1, 1]))
    assert (found.left, found.right, found.different, found.chain) == (0, 1, None, (0, 1))


@st.composite
def decided(draw):
    records = draw(st.integers(2, 8))
    every = list(itertools.combinations(range(records), 2))
    chosen = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    return records, [(*pair, draw(st.sampled_from([-1, 0, 1, 1]))) for pair in sorted(chosen)]


@given(decided(), st.booleans())
def test_contradictions_agree_with_brute_force(case, one_each):
    records, rows = case
    verdicts, limited = verdicts_of(rows), np.full(records, -1)
    if one_each:
        limited[: records // 2] = 0
    found = find_contradictions(verdicts, records, limited)

    far = np.full((records, records), np.inf)
    np.fill_diagonal(far, 0)
    for one, other, result in rows:
        if result == 1:
            far[one, other] = far[other, one] = 1
    for middle in range(records):
        far = np.minimum(far, far[:, [middle]] + far[[middle], :])
    expected = {
        index for index, (a, b, result) in enumerate(rows) if result < 0 and far[a, b] < np.inf
    }
    assert {each.different for each in found} - {None} == expected
    for each in found:
        assert len(each.chain) == far[each.left, each.right]
        at = each.left
        for index in each.chain:
            one, other, result = rows[index]
            assert result == 1
            assert at in (one, other)
            at = one + other - at
        assert at == each.right
    doubled = {(each.left, each.right) for each in found if each.different is None}
    first = {}
    for record in np.flatnonzero(limited >= 0).tolist():
        group = min(np.flatnonzero(far[record] < np.inf).tolist())
        if group in first:
            assert (first[group], record) in doubled
            doubled.discard((first[group], record))
        first.setdefault(group, record)
    assert not doubled
