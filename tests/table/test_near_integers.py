"""Integers and dates that lie close together are numbered as a dictionary does."""

from __future__ import annotations

import datetime as dt
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.encoding import accumulate
from sfumato.table.encoding.accumulate import Accumulator
from sfumato.table.encoding.near_integers import NearIntegers

WIDEST = 40
batches = st.lists(st.lists(st.none() | st.integers(-60, 60), max_size=30), min_size=1, max_size=4)


def numbered(given_batches: list[list[int | None]]) -> tuple[list[int], list[int]]:
    numbers: dict[int, int] = {}
    codes = [
        -1 if value is None else numbers.setdefault(value, len(numbers))
        for batch in given_batches
        for value in batch
    ]
    return codes, list(numbers)


@given(batches, st.booleans(), st.sampled_from([pa.int8(), pa.int64(), pa.uint64()]))
def test_numbers_by_first_appearance_however_far_apart(
    given_batches: list[list[int | None]], known: bool, kind: pa.DataType
) -> None:
    if kind == pa.uint64():
        given_batches = [[None if v is None else abs(v) for v in batch] for batch in given_batches]
    records = sum(map(len, given_batches))
    accumulator = Accumulator("x", records if known else None)
    with patch.object(accumulate, "WIDEST", WIDEST):
        for batch in given_batches:
            accumulator.add(pa.array(batch, kind))
        raw = accumulator.finish()
    codes, values = numbered(given_batches)
    assert raw.codes.tolist() == codes
    assert raw.values.to_pylist() == values
    assert not values or raw.values.type == kind


def test_values_too_far_apart_are_left_to_others() -> None:
    near = NearIntegers(pa.int64(), WIDEST)
    assert near.number(pa.array([5, 5 + WIDEST])) is None
    assert near.number(pa.array([5, 4 + WIDEST])) is not None
    assert near.number(pa.array([4])) is None


@pytest.mark.parametrize("end", [2**63 - 1, -(2**63)])
def test_the_integers_at_either_end_have_room(end: int) -> None:
    step, near = (1 if end < 0 else -1), NearIntegers(pa.int64(), WIDEST)
    values = [end + 9 * step, end + 3 * step, end, end + 3 * step]
    for value, expected in zip(values, [0, 1, 2, 1], strict=True):
        codes = near.number(pa.array([value]))
        assert codes is not None
        np.testing.assert_array_equal(codes, [expected])
    assert near.values().to_pylist() == values[:3]


@pytest.mark.parametrize("step", [1, -1])
def test_ids_that_count_up_or_down_copy_the_table_seldom(step: int) -> None:
    near, tables = NearIntegers(pa.int64(), 2_000), set()
    for start in range(0, 1_000, 10):
        codes = near.number(pa.array(range(step * start, step * (start + 10), step)))
        assert codes is not None
        np.testing.assert_array_equal(codes, np.arange(start, start + 10))
        tables.add(len(near._table))
    assert len(tables) <= 8
    assert max(tables) <= 2_000


def test_days_stay_days() -> None:
    days = [dt.date(2020, 1, 2), None, dt.date(1969, 12, 31), dt.date(2020, 1, 2)]
    accumulator = Accumulator("day")
    accumulator.add(pa.array(days))
    raw = accumulator.finish()
    assert raw.codes.tolist() == [0, -1, 1, 0]
    assert raw.values.equals(pa.array([days[0], days[2]]))


@pytest.mark.parametrize("kind", [pa.uint64(), pa.date64(), pa.bool_(), pa.float64()])
def test_other_types_are_left_to_others(kind: pa.DataType) -> None:
    assert not NearIntegers.can_be(kind)
