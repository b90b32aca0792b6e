"""The codes that a column's batches get, and the columns that codes make."""

from __future__ import annotations

from decimal import Decimal
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.table.numbering import Accumulator, RawColumn


def raw_of(*batches: pa.Array) -> RawColumn:
    accumulator = Accumulator("x")
    for batch in batches:
        accumulator.add(batch)
    return accumulator.finish()


def test_a_column_that_is_used_up_keeps_its_place() -> None:
    raw = raw_of(pa.array(["b", None, "a", "b"]))
    place = raw.codes
    assert raw.recoded(np.array([0, 1])) is not place
    assert raw.recoded_in_place(np.array([0, 1])) is place
    assert raw.recoded_in_place(np.array([1, 0])) is place
    assert place.tolist() == [1, -1, 0, 1]
    place.flags.writeable = False
    assert raw.recoded_in_place(np.array([0, 1])) is not place


maybe_texts = st.lists(st.one_of(st.none(), st.text("abé ", max_size=2)), max_size=12)


@given(st.lists(maybe_texts, max_size=6), st.integers(1, 6), st.booleans())
def test_batches_give_the_codes_of_the_whole(
    parts: list[list[str | None]], merge_at: int, as_dictionary: bool
) -> None:
    whole = [text for part in parts for text in part]
    expected: dict[str, int] = {}
    codes = [-1 if t is None else expected.setdefault(t, len(expected)) for t in whole]
    with patch("sfumato.table.numbering.MERGE_AT", merge_at):
        arrays = [pa.array(part, pa.string()) for part in parts]
        raw = raw_of(*(a.dictionary_encode() if as_dictionary else a for a in arrays))
    assert raw.codes.dtype == np.int32
    assert raw.codes.tolist() == codes
    assert raw.values.to_pylist() == list(expected)


def test_a_dictionary_may_hold_nulls_doubles_and_values_that_do_not_occur() -> None:
    dictionary = pa.array(["never", "b", None, "a", "b"])
    batch = pa.DictionaryArray.from_arrays(pa.array([3, 4, None, 2, 1], pa.uint8()), dictionary)
    raw = raw_of(batch, batch.slice(1, 2))
    assert raw.codes.tolist() == [0, 1, -1, -1, 1, 1, -1]
    assert raw.values.to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", None, "a"], pa.string_view()),
        pa.array(["a", None, "a"], pa.large_string()),
        pa.array([1, None, 1], pa.uint64()),
        pa.array([b"a", None, b"a"]),
        pa.array([True, None, True]),
        pa.array([Decimal(1), None, Decimal(1)], pa.decimal32(5, 2)),
        pa.array(["a", None, "a"]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_every_arrow_type_of_single_values_is_coded(array: pa.Array) -> None:
    raw = raw_of(pa.nulls(1), array)
    assert raw.codes.tolist() == [-1, 0, -1, 0]
    assert raw.missing == 2


def test_run_ends_are_decoded() -> None:
    array = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8]))
    assert raw_of(array).codes.tolist() == [0, 0, 1]


def test_a_type_that_changes_is_refused() -> None:
    with pytest.raises(InputError, match="must have one type throughout"):
        raw_of(pa.array([1, 2]), pa.array(["a"]))
