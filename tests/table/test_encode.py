"""What a column's values are taken as, and the codes that they get."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.schema import IntervalHierarchy, Kind, QuasiIdentifier
from sfumato.table.columns import CodedColumn, LabelDomain, NumberDomain
from sfumato.table.encoding import accumulate
from sfumato.table.encoding.accumulate import Accumulator, RawColumn
from sfumato.table.encoding.arrow_types import trimmed
from sfumato.table.encoding.encode import encode_quasi_identifier, encode_sensitive


def raw_of(*batches: pa.Array) -> RawColumn:
    accumulator = Accumulator("x")
    for batch in batches:
        accumulator.add(batch)
    return accumulator.finish()


def encoded(
    values: pa.Array | list[object], missing: tuple[str, ...] = (), **fields: object
) -> tuple[CodedColumn, list[str]]:
    warnings: list[str] = []
    array = values if isinstance(values, pa.Array) else pa.array(values)
    column = encode_quasi_identifier(
        raw_of(array), QuasiIdentifier.model_validate(fields), missing, warnings
    )
    return column, warnings


def cells(column: CodedColumn) -> list[str | None]:
    return [None if code < 0 else column.domain.label(code) for code in column.codes]


def domain_labels(column: CodedColumn) -> list[str]:
    return [column.domain.label(code) for code in range(column.domain.size)]


spaced = st.text(st.sampled_from("a~!\u00e9 \t\n\x1f\x7f\x85\u2003\u3000\U0001d7d8"), max_size=3)


@given(
    st.lists(st.none() | spaced, max_size=9) | st.lists(st.text("ab", min_size=1), max_size=9),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_spaces_around_texts_are_found(texts: list[str | None], kind: pa.DataType) -> None:
    values = pa.array(["abc", *texts, ""], kind).slice(1, len(texts))
    assert trimmed(values).equals(pc.utf8_trim_whitespace(values))


def test_a_column_that_is_used_up_keeps_its_place() -> None:
    raw = raw_of(pa.array(["b", None, "a", "b"]))
    place = raw.codes
    assert raw.recoded(np.array([0, 1])) is not place
    assert raw.handed_on(np.array([0, 1])) is place
    assert raw.handed_on(np.array([1, 0])) is place
    assert place.tolist() == [1, -1, 0, 1]
    place.flags.writeable = False
    assert raw.handed_on(np.array([0, 1])) is not place


maybe_texts = st.lists(st.one_of(st.none(), st.text("abé ", max_size=2)), max_size=12)


@given(st.lists(maybe_texts, max_size=6), st.integers(1, 6), st.booleans())
def test_batches_give_the_codes_of_the_whole(
    parts: list[list[str | None]], merge_at: int, as_dictionary: bool
) -> None:
    whole = [text for part in parts for text in part]
    expected: dict[str, int] = {}
    codes = [-1 if t is None else expected.setdefault(t, len(expected)) for t in whole]
    before, accumulate.MERGE_AT = accumulate.MERGE_AT, merge_at
    try:
        arrays = [pa.array(part, pa.string()) for part in parts]
        raw = raw_of(*(a.dictionary_encode() if as_dictionary else a for a in arrays))
    finally:
        accumulate.MERGE_AT = before
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


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([3, 1, None], Kind.NUMERIC),
        (["3", " 1.50", None], Kind.NUMERIC),
        ([2.5, float("nan")], Kind.NUMERIC),
        (["2024-01-31", "1999-12-01"], Kind.NUMERIC),
        (["a", "b"], Kind.CATEGORICAL),
        (["1", "b"], Kind.CATEGORICAL),
        ([True, False], Kind.CATEGORICAL),
        (["2024", "2024-01-31"], Kind.CATEGORICAL),
    ],
)
def test_kinds_settle_from_the_data(values: list[object], kind: Kind) -> None:
    column, _ = encoded(values)
    assert column.kind is kind
    assert isinstance(column.domain, NumberDomain) == (kind is Kind.NUMERIC)


def test_numbers_but_for_some_text_are_categorical_with_a_warning() -> None:
    column, warnings = encoded([*(str(n) for n in range(20)), "unknown"])
    assert column.kind is Kind.CATEGORICAL
    (warning,) = warnings
    assert warning == (
        "column 'x' is taken as categorical: it holds numbers or dates but for text in row 21; "
        "declare kind = \"numeric\" and name that text in 'missing' if it stands for a missing "
        "value."
    )
    column, warnings = encoded([*(str(n) for n in range(20)), "unknown"], ("unknown",))
    assert column.kind is Kind.NUMERIC
    assert not warnings
    assert cells(column)[-1] is None


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, -9, 2]),
        pa.array([1.0, -9.0, 2.0]),
        pa.array(["1", "-9", "2"]),
        pa.array(["1", "-9.0", "2"]),
        pa.array([Decimal(1), Decimal(-9), Decimal(2)], pa.decimal128(5, 1)),
    ],
    ids=lambda array: f"{array.type}-{array[1]}",
)
def test_missing_numbers_compare_by_value(values: pa.Array) -> None:
    column, _ = encoded(values, ("-9",))
    assert cells(column) == ["1", None, "2"]


def test_missing_texts_in_codes_and_categories_compare_as_text() -> None:
    assert cells(encoded(["009", "120", "9"], ("9",), kind="categorical")[0]) == [
        "009",
        "120",
        None,
    ]
    assert cells(encoded(["009", "120"], ("9",))[0]) == ["009", "120"]
    assert cells(encoded(pa.array([True, False]), ("true",))[0]) == [None, "false"]


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_a_sentinel_date_can_be_named_missing(unit: str) -> None:
    seconds = pa.array([0, 3600, 86400 * 10_000]).cast(pa.timestamp("s")).cast(pa.timestamp(unit))
    for text in ("1997-05-19", "1997-05-19 00:00:00", "1997-05-19T00:00:00"):
        assert cells(encoded(seconds, (text,))[0])[2] is None


def test_empty_and_blank_cells_are_missing() -> None:
    column, _ = encoded(["a", "", "  ", None, "b"])
    assert column.codes.tolist() == [0, -1, -1, -1, 1]
    assert cells(encode_sensitive(raw_of(pa.array(["a", " ", "b"])), ())) == ["a", None, "b"]


def test_one_number_in_several_spellings_is_one_value() -> None:
    column, _ = encoded(["3.10", "3.1", "+3.1", " 3.10 ", "2"])
    assert column.codes.tolist() == [1, 1, 1, 1, 0]
    assert domain_labels(column) == ["2.0", "3.1"]


def test_zip_codes_keep_their_zeros() -> None:
    column, warnings = encoded(["02138", "10001", "02139"])
    assert (column.kind, column.domain.width) == (Kind.NUMERIC, 5)  # type: ignore[union-attr]
    assert cells(column) == ["02138", "10001", "02139"]
    assert not warnings
    _, warnings = encoded(["02138", "2139"])
    assert "leading zeros (row 1)" in warnings[0]


def test_rounding_is_said() -> None:
    _, warnings = encoded([1 / 3, 2 / 3])
    (warning,) = warnings
    assert warning == (
        "column 'x' holds numbers with more than 15 significant digits: they are rounded to 15 "
        "decimal places."
    )


def test_the_order_is_the_schema_s_then_the_file_s_then_natural(tmp_path: Path) -> None:
    values = ["10th", "9th", "none", None, "9th"]
    file = tmp_path / "education.csv"
    file.write_text("none;low;*\n9th;low;*\n10th;low;*\n11th;high;*\n", encoding="utf-8")
    natural, _ = encoded(values, kind="ordered")
    assert domain_labels(natural) == ["9th", "10th", "none"]
    by_file, _ = encoded(values, kind="ordered", hierarchy=file)
    assert domain_labels(by_file) == ["none", "9th", "10th"]
    assert by_file.hierarchy is not None
    assert by_file.hierarchy.leaves == ("none", "9th", "10th")
    given_order, _ = encoded(
        values, kind="ordered", hierarchy=file, order=("11th", "10th", "none", "9th")
    )
    assert domain_labels(given_order) == ["10th", "none", "9th"]
    assert given_order.codes.tolist() == [0, 2, 1, -1, 2]


def test_a_numeric_column_s_hierarchy_speaks_about_its_printed_numbers() -> None:
    column, _ = encoded(
        pa.array([37.0, 41.0, None, 44.0]), hierarchy=IntervalHierarchy(widths=(10,)), weight=2
    )
    assert column.weight == 2
    assert column.hierarchy is not None
    assert column.hierarchy.leaves == ("37", "41", "44")
    assert len(column.hierarchy.labels[1]) == 2


quasi_cells = st.lists(
    st.one_of(st.none(), st.integers(-99, 99).map(str), st.sampled_from(["a", "b 2", "b 10"])),
    min_size=1,
    max_size=20,
).filter(lambda values: any(value is not None for value in values))


@given(quasi_cells, st.sampled_from([None, "ordered", "categorical"]), st.randoms())
def test_the_order_of_the_rows_changes_no_code(
    values: list[str | None], kind: str | None, randoms: random.Random
) -> None:
    column, _ = encoded(pa.array(values, pa.string()), kind=kind)
    order = list(range(len(values)))
    randoms.shuffle(order)
    shuffled, _ = encoded(pa.array([values[i] for i in order], pa.string()), kind=kind)
    assert shuffled.kind is column.kind
    assert shuffled.codes.tolist() == [column.codes[i] for i in order]
    assert domain_labels(shuffled) == domain_labels(column)
    assert column.codes.dtype == np.int32
    assert set(column.codes[column.codes >= 0].tolist()) == set(range(column.domain.size))


def test_sensitive_values_are_categories() -> None:
    column = encode_sensitive(raw_of(pa.array([2.0, 1.0, 2.0, float("nan")])), ())
    assert isinstance(column.domain, LabelDomain)
    assert cells(column) == ["2", "1", "2", None]
    assert column.kind is Kind.CATEGORICAL
