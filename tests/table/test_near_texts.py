"""Ids that are one prefix and a number are numbered as a dictionary does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.table.encoding import accumulate
from sfumato.table.encoding.accumulate import Accumulator
from sfumato.table.encoding.checks import have_spaces
from sfumato.table.encoding.labels import mean_missing
from sfumato.table.encoding.many_values import ManyValues
from sfumato.table.encoding.near_texts import DIGITS, NearTexts, SpelledTexts

KINDS = [pa.string(), pa.large_string(), pa.string_view()]
near = st.builds("P{:04d}".format, st.integers(0, 400))
# Numbers behind a prefix, of which some are written with zeros in front, and now and then others.
spelled = st.builds(
    lambda prefix, width, number: f"{prefix}{number:0{width}d}",
    st.sampled_from(["", "P", "P", "A1B", "\u00e9", " ", "https://clinic.example/\u65e5\u672c/"]),
    st.integers(0, 3) | st.integers(7, 17),
    st.integers(0, 40) | st.integers(0, 10**19),
)
# Ids of one prefix, most of them of one width: from one letter to four words of eight.
PREFIXES = ["", "P", "P0-", "\u00e9-", "patient", "patient/", "https://clinic.example/"]
of_one_width = st.builds(
    lambda prefix, width, numbers: [f"{prefix}{n % 10**width:0{width}d}" for n in numbers],
    st.sampled_from(PREFIXES),
    st.integers(1, DIGITS),
    st.lists(st.integers(0, 10**DIGITS), min_size=1, max_size=30),
)
batches = st.lists(
    st.lists(st.none() | near, max_size=70)
    | st.lists(near, max_size=70)
    | st.lists(st.none() | spelled, max_size=9)
    | of_one_width
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
    assert texts.texts().spelled_out().to_pylist() == ["P7"]


def test_a_number_with_zeros_in_front_is_another_id() -> None:
    codes = NearTexts(10_000).number(pa.array(["P7", "P07", "P007", "P7"]))
    assert codes is not None
    assert codes.tolist() == [0, 1, 2, 0]


@given(of_one_width, st.integers(1, 9), st.data())
def test_one_letter_that_does_not_belong_is_found(
    ids: list[str], offset: int, data: st.DataObject
) -> None:
    texts = NearTexts(1_000)
    first = pa.array([*["x"] * offset, ids[0]]).slice(offset)
    assert texts.number(first).tolist() == [0]  # type: ignore[union-attr]
    prefix = texts.texts().prefix.decode()
    row = data.draw(st.integers(0, len(ids) - 1))
    place = data.draw(st.integers(0, len(ids[row]) - 1))
    letter = data.draw(st.characters(max_codepoint=127) | st.sampled_from("/:\x00 \x7f"))
    other = ids[row][:place] + letter + ids[row][place + 1 :]
    read = texts.number(pa.array([*ids[:row], other, *ids[row + 1 :]]))
    belongs = other.startswith(prefix) and set(other[len(prefix) :]) <= set("0123456789")
    if not belongs:
        assert read is None
    keys = {int("1" + each[len(prefix) :]) for each in (ids[0], *ids, other)} if belongs else set()
    if belongs and max(keys) - min(keys) < 1_000:
        assert read is not None


@given(st.lists(spelled, max_size=9), st.lists(spelled | st.text(max_size=3), max_size=3))
def test_ids_that_are_plain_are_not_missing_and_have_no_spaces(
    ids: list[str], missing: list[str]
) -> None:
    near = NearTexts(10**6)
    if near.number(pa.array(ids, pa.string())) is None:
        return
    texts = near.texts()
    values = texts.spelled_out()
    assert values.to_pylist() == list(dict.fromkeys(ids))
    if texts.are_plain(missing):
        assert not mean_missing(values, missing).any()
        assert not have_spaces(values).any()


@pytest.mark.parametrize(
    ("prefix", "missing", "plain"),
    [
        (b"P", ["", "NA", "P", "-9"], True),
        (b"P", ["NA", "P12"], False),
        (b"", ["NA"], True),
        (b"", ["NA", "999"], False),
        (b" P", [], False),
        ("\u2003".encode(), [], False),
        ("\u00e9 ".encode(), [], True),
    ],
)
def test_ids_are_plain_without_being_spelled_out(
    prefix: bytes, missing: list[str], plain: bool
) -> None:
    assert SpelledTexts(prefix, [np.array([17])]).are_plain(missing) is plain


def test_bytes_that_are_not_utf8_are_refused_behind_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate, "MANY_RECORDS", 2)
    monkeypatch.setattr(accumulate, "SORTING", 1)
    accumulator = Accumulator("id", 8)
    accumulator.add(pa.array(["P1", "P2", "P3"]))
    accumulator.add(pa.array(["P2", "P5"]))
    assert isinstance(accumulator._many, ManyValues)
    assert accumulator._many.spelled() is not None
    for other in (b"P\xff", b"\xff1", b"\xd9"):
        with pytest.raises(InputError, match="UTF-8"):
            accumulator.add(pa.array([b"P4", other]).view(pa.string()))
    raw = accumulator.finish()
    assert raw.has_plain_values(["NA"])
    assert not raw.has_plain_values(["P2"])
    assert raw.values.to_pylist() == ["P1", "P2", "P3", "P5"]
    assert not raw.without(np.array([True, False, False, False])).has_plain_values([])


@pytest.mark.parametrize("offsets", [[0, 9, 4], [0, -9, 4]])
def test_offsets_that_lead_elsewhere_are_not_followed(offsets: list[int]) -> None:
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"P1P2")]
    assert NearTexts(100).number(pa.Array.from_buffers(pa.string(), 2, buffers)) is None


def test_no_texts_have_no_numbers() -> None:
    near = NearTexts(100)
    for none in (pa.array([], pa.string()), pa.array([None, None], pa.string())):
        assert near.number(none).tolist() == [-1] * len(none)  # type: ignore[union-attr]
    assert near.texts().spelled_out().equals(pa.array([], pa.large_string()))
