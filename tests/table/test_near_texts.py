"""Ids that are one prefix and a number are numbered as a dictionary does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.encoding.many_values import ManyValues
from sfumato.table.encoding.near_texts import DIGITS, NearTexts

KINDS = [pa.string(), pa.large_string(), pa.string_view()]
near = st.builds("P{:04d}".format, st.integers(0, 400))
# Numbers behind a prefix, of which some are written with zeros in front, and now and then others.
spelled = st.builds(
    lambda prefix, width, number: f"{prefix}{number:0{width}d}",
    st.sampled_from(["", "P", "P", "A1B"]),
    st.integers(0, 3),
    st.integers(0, 40) | st.integers(0, 10**19),
)
batches = st.lists(
    st.lists(st.none() | near, max_size=70)
    | st.lists(near, max_size=70)
    | st.lists(st.none() | spelled, max_size=9)
    | st.lists(st.text(max_size=4), max_size=3),
    max_size=5,
)


@given(batches, st.sampled_from(KINDS), st.sampled_from([0, 50, 1_000, 10**6]))
def test_numbers_by_first_appearance(
    given_batches: list[list[str | None]], kind: pa.DataType, records: int
) -> None:
    many, numbers = ManyValues(kind, records), dict[str, int]()
    for batch in given_batches:
        expected = [-1 if v is None else numbers.setdefault(v, len(numbers)) for v in batch]
        padded = pa.array(["P1", *batch, None], kind).slice(1, len(batch))
        assert many.number(padded).tolist() == expected
    assert many.values().to_pylist() == list(numbers)


@pytest.mark.parametrize("step", [1, -1])
def test_ids_that_count_need_no_hash(step: int) -> None:
    ids = [f"P{number:05d}" for number in range(20_000)][::step]
    many = ManyValues(pa.string(), len(ids))
    for start in range(0, len(ids), 1_000):
        codes = many.number(pa.array(ids[start : start + 1_000]))
        np.testing.assert_array_equal(codes, np.arange(start, start + 1_000))
    assert isinstance(many._near, NearTexts)
    again = many.number(pa.array([*ids[:3], None, "Q1", "P00001x", *ids[:3]]))
    assert again.tolist() == [0, 1, 2, -1, 20_000, 20_001, 0, 1, 2]
    assert many._near is None
    assert many.values().to_pylist() == [*ids, "Q1", "P00001x"]


@pytest.mark.parametrize(
    "others",
    [["P"], [""], ["Q5"], ["P5 "], ["P-5"], ["P" + "5" * (DIGITS + 1)], ["P\u0665"], ["P5", "p5"]],
)
def test_other_texts_are_left_to_others(others: list[str]) -> None:
    texts = NearTexts(1_000)
    assert texts.number(pa.array(["P7", None, "P7"])) is not None
    assert texts.number(pa.array(others)) is None
    assert texts.values().to_pylist() == ["P7"]


def test_a_number_with_zeros_in_front_is_another_id() -> None:
    codes = NearTexts(10_000).number(pa.array(["P7", "P07", "P007", "P7"]))
    assert codes is not None
    assert codes.tolist() == [0, 1, 2, 0]
