"""Integers and dates that lie close together are numbered as a dictionary does."""

from __future__ import annotations

import datetime as dt
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.encoding import near_integers
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
    with patch.object(near_integers, "WIDEST", WIDEST):
        for batch in given_batches:
            accumulator.add(pa.array(batch, kind))
        raw = accumulator.finish()
    codes, values = numbered(given_batches)
    assert raw.codes.tolist() == codes
    assert raw.values.to_pylist() == values
    assert not values or raw.values.type == kind


def test_values_too_far_apart_are_left_to_others() -> None:
    near = NearIntegers(pa.int64())
    assert near.number(pa.array([5, 5 + near_integers.WIDEST])) is None
    assert near.number(pa.array([5, 4 + near_integers.WIDEST])) is not None
    assert near.number(pa.array([4])) is None


def test_the_largest_integers_have_room() -> None:
    near = NearIntegers(pa.int64())
    codes = near.number(pa.array([2**63 - 1, 2**63 - 2, 2**63 - 1]))
    assert codes is not None
    np.testing.assert_array_equal(codes, [0, 1, 0])
    assert near.values().to_pylist() == [2**63 - 1, 2**63 - 2]


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
