"""Distinct values are numbered by first appearance, as a dictionary numbers them."""

from __future__ import annotations

import datetime as dt
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.table.door import have_spaces
from sfumato.table.numbering import (
    DIGITS,
    Accumulator,
    ManyValues,
    NearIntegers,
    NearTexts,
    SpelledTexts,
)
from sfumato.table.scalars import mean_missing

WIDEST = 40
integer_batches = st.lists(
    st.lists(st.none() | st.integers(-60, 60), max_size=30), min_size=1, max_size=4
)


def numbered_integers(given_batches: list[list[int | None]]) -> tuple[list[int], list[int]]:
    numbers: dict[int, int] = {}
    codes = [
        -1 if value is None else numbers.setdefault(value, len(numbers))
        for batch in given_batches
        for value in batch
    ]
    return codes, list(numbers)


@given(integer_batches, st.booleans(), st.sampled_from([pa.int8(), pa.int64(), pa.uint64()]))
def test_numbers_by_first_appearance_however_far_apart(
    given_batches: list[list[int | None]], known: bool, kind: pa.DataType
) -> None:
    if kind == pa.uint64():
        given_batches = [[None if v is None else abs(v) for v in batch] for batch in given_batches]
    records = sum(map(len, given_batches))
    accumulator = Accumulator("x", records if known else None)
    with patch("sfumato.table.numbering.WIDEST", WIDEST):
        for batch in given_batches:
            accumulator.add(pa.array(batch, kind))
        raw = accumulator.finish()
    codes, values = numbered_integers(given_batches)
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


TEXT_KINDS = [pa.string(), pa.large_string(), pa.string_view()]
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
text_batches = st.lists(
    st.lists(st.none() | near, max_size=70)
    | st.lists(near, max_size=70)
    | st.lists(st.none() | spelled, max_size=9)
    | of_one_width
    | st.lists(st.text(max_size=4), max_size=3),
    max_size=5,
)


@given(text_batches, st.sampled_from(TEXT_KINDS), st.sampled_from([0, 50, 1_000, 10**6]))
def test_texts_by_first_appearance(
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
    monkeypatch.setattr("sfumato.table.numbering.MANY_RECORDS", 2)
    monkeypatch.setattr("sfumato.table.numbering.SORTING", 1)
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


KINDS = {
    pa.string(): st.text(max_size=20),
    pa.large_string(): st.text(max_size=3),
    pa.string_view(): st.text(max_size=20),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.int16(): st.integers(-9, 9),
    pa.uint64(): st.integers(2**64 - 3, 2**64 - 1) | st.integers(0, 3),
}


@given(st.data(), st.sampled_from(list(KINDS)))
def test_values_by_first_appearance(data: st.DataObject, kind: pa.DataType) -> None:
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
    monkeypatch.setattr("sfumato.table.numbering.MANY_RECORDS", 2)
    monkeypatch.setattr("sfumato.table.numbering.SORTING", 1)
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
id_batches = st.lists(
    st.tuples(
        st.lists(st.none() | ids | st.text("P1\u00e9 ", max_size=3), max_size=12)
        | st.lists(ids, max_size=12),
        st.sampled_from([*list(KINDS)[:3], pa.dictionary(pa.int32(), pa.string())]),
    ),
    max_size=5,
)


@given(id_batches, st.booleans(), st.sampled_from([1, 4]))
def test_ids_in_every_form_of_text_are_numbered_alike(
    given_batches: list[tuple[list[str | None], pa.DataType]], known: bool, sample: int
) -> None:
    records = sum(len(batch) for batch, _ in given_batches)
    accumulator = Accumulator("id", records if known else None)
    with (
        patch("sfumato.table.numbering.MANY_RECORDS", 4),
        patch("sfumato.table.numbering.SORTING", 1),
        patch("sfumato.table.numbering.SAMPLE", sample),
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
    monkeypatch.setattr("sfumato.table.numbering.MANY_RECORDS", 32)
    monkeypatch.setattr("sfumato.table.numbering.SORTING", 1)
    accumulator = Accumulator("id", 100)
    accumulator.add(pa.array(texts, pa.string()))
    assert (accumulator._many is not None) == at_once
    accumulator.add(pa.array(texts[::-1], pa.string()))
    codes = accumulator.finish().codes
    np.testing.assert_array_equal(codes[:64], codes[64:][::-1])


def test_a_first_batch_that_is_not_utf8_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.table.numbering.MANY_RECORDS", 2)
    monkeypatch.setattr("sfumato.table.numbering.SORTING", 1)
    for other in (b"P\xff", b"\xff1"):
        texts = [b"P1", b"P2", b"P3", b"P4"]
        for place in range(5):
            batch = pa.array([*texts[:place], other, *texts[place:]]).view(pa.string())
            with pytest.raises(InputError, match="UTF-8"):
                Accumulator("id", 5).add(batch)
