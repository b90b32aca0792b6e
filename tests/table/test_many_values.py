"""Columns of very many values are numbered as a dictionary numbers them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.table.encoding import accumulate
from sfumato.table.encoding.accumulate import Accumulator
from sfumato.table.encoding.many_values import ManyValues

KINDS = {
    pa.string(): st.text(max_size=20),
    pa.large_string(): st.text(max_size=3),
    pa.string_view(): st.text(max_size=20),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.int16(): st.integers(-9, 9),
    pa.uint64(): st.integers(2**64 - 3, 2**64 - 1) | st.integers(0, 3),
}


@given(st.data(), st.sampled_from(list(KINDS)))
def test_numbers_by_first_appearance(data: st.DataObject, kind: pa.DataType) -> None:
    values = st.lists(st.none() | KINDS[kind], max_size=30)
    many, numbers = ManyValues(kind), dict[object, int]()
    for batch in data.draw(st.lists(values, max_size=3)):
        expected = [-1 if v is None else numbers.setdefault(v, len(numbers)) for v in batch]
        padded = pa.array([None, *batch, None], kind).slice(1, len(batch))
        assert many.number(padded).tolist() == expected
    assert many.values().to_pylist() == list(numbers)


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_the_door_turns_to_them_after_a_batch_of_many(
    kind: pa.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accumulate, "MANY_RECORDS", 2)
    monkeypatch.setattr(accumulate, "SORTING", 1)
    accumulator = Accumulator("id", 8)
    for batch in ([10**15, 7, None, 5], [5, 10**12], [None, 10**15]):
        accumulator.add(pa.array(batch, pa.int64()).cast(kind))
    assert accumulator._many is not None
    raw = accumulator.finish()
    assert raw.codes.tolist() == [0, 1, -1, 2, 2, 3, -1, 0]
    assert raw.values.cast(pa.int64()).to_pylist() == [10**15, 7, 5, 10**12]
    accumulator = Accumulator("id")
    accumulator.add(pa.array([10**15, 7, None, 5]).cast(kind))
    with pytest.raises(InputError, match="one type"):
        accumulator.add(pa.array([0.5]))


ids = st.builds("P{}".format, st.integers(0, 30))
batches = st.lists(
    st.tuples(
        st.lists(st.none() | ids | st.text("P1\u00e9 ", max_size=3), max_size=12)
        | st.lists(ids, max_size=12),
        st.sampled_from([*list(KINDS)[:3], pa.dictionary(pa.int32(), pa.string())]),
    ),
    max_size=5,
)


@given(batches, st.booleans(), st.sampled_from([1, 4]))
def test_ids_in_every_form_of_text_are_numbered_alike(
    given_batches: list[tuple[list[str | None], pa.DataType]], known: bool, sample: int
) -> None:
    records = sum(len(batch) for batch, _ in given_batches)
    accumulator = Accumulator("id", records if known else None)
    with (
        patch.object(accumulate, "MANY_RECORDS", 4),
        patch.object(accumulate, "SORTING", 1),
        patch.object(accumulate, "SAMPLE", sample),
    ):
        for batch, kind in given_batches:
            accumulator.add(pa.array(batch, pa.string()).cast(kind))
        raw = accumulator.finish()
    numbers: dict[str | None, int] = {None: -1}
    expected = [
        numbers.setdefault(v, len(numbers) - 1) for batch, _ in given_batches for v in batch
    ]
    assert raw.codes.tolist() == expected
    assert raw.values.to_pylist() == [*numbers][1:]


@pytest.mark.parametrize(
    ("texts", "at_once"),
    [
        ([f"P{n}" for n in range(64)], True),
        ([f"P{n * 7919:x}" for n in range(64)], True),
        ([f"P{n // 4}" for n in range(64)], True),
        (["f", "m"] * 32, False),
        ([None] * 64, False),
    ],
)
def test_columns_of_mostly_distinct_texts_are_taken_for_ids(
    texts: list[str | None], at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accumulate, "MANY_RECORDS", 32)
    monkeypatch.setattr(accumulate, "SORTING", 1)
    accumulator = Accumulator("id", 100)
    accumulator.add(pa.array(texts, pa.string()))
    assert (accumulator._many is not None) == at_once
    accumulator.add(pa.array(texts[::-1], pa.string()))
    codes = accumulator.finish().codes
    np.testing.assert_array_equal(codes[:64], codes[64:][::-1])


def test_a_first_batch_that_is_not_utf8_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate, "MANY_RECORDS", 2)
    monkeypatch.setattr(accumulate, "SORTING", 1)
    for other in (b"P\xff", b"\xff1"):
        texts = [b"P1", b"P2", b"P3", b"P4"]
        for place in range(5):
            batch = pa.array([*texts[:place], other, *texts[place:]]).view(pa.string())
            with pytest.raises(InputError, match="UTF-8"):
                Accumulator("id", 5).add(batch)
