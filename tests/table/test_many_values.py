"""Columns of very many values are numbered as a dictionary numbers them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.kernels import choose
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
    monkeypatch.setattr(choose, "COMPILED_ABOVE", 2)
    accumulator = Accumulator("id", 8)
    for batch in ([10**15, 7, None, 5], [5, 10**12], [None, 10**15]):
        accumulator.add(pa.array(batch, pa.int64()).cast(kind))
    raw = accumulator.finish()
    assert raw.codes.tolist() == [0, 1, -1, 2, 2, 3, -1, 0]
    assert raw.values.cast(pa.int64()).to_pylist() == [10**15, 7, 5, 10**12]
    accumulator = Accumulator("id")
    accumulator.add(pa.array([10**15, 7, None, 5]).cast(kind))
    with pytest.raises(InputError, match="one type"):
        accumulator.add(pa.array([0.5]))
