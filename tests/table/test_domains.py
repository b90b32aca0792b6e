"""What a column's values are taken as, and the codes that they get; counted or not."""

from __future__ import annotations

import random
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.schema import IntervalHierarchy, Kind, QuasiIdentifier
from sfumato.table.domains import encode_quasi_identifier, encode_sensitive
from sfumato.table.door import spaces_warning
from sfumato.table.numbering import Accumulator, RawColumn, counted_column
from sfumato.table.table import CodedColumn, LabelDomain, NumberDomain


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
        "column 'x' is taken as categorical: it holds numbers or dates but for text in row 21. "
        "Declare kind = \"numeric\" and name that text in 'missing' if it stands for a missing "
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
    assert cells(encode_sensitive(raw_of(pa.array(["a", " ", "b"])), (), [])) == ["a", None, "b"]


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
    column = encode_sensitive(raw_of(pa.array([2.0, 1.0, 2.0, float("nan")])), (), [])
    assert isinstance(column.domain, LabelDomain)
    assert cells(column) == ["2", "1", "2", None]
    assert column.kind is Kind.CATEGORICAL


TEXTS = ["1", "2.50", "-9", "-9.0", "007", "123", " 4", "a", " a", "", "NA", "2024-01-31", "inf"]
MISSING = ("NA", "-9")

counted_texts = st.lists(st.sampled_from([*TEXTS, None]), min_size=1, max_size=12)
counted_numbers = st.lists(st.sampled_from([1, -9, 2**53, None]), min_size=1, max_size=8)


def result(raw: RawColumn, kind: Kind | None) -> tuple[CodedColumn | None, list[str]]:
    said: list[str] = spaces_warning(raw)
    try:
        return encode_quasi_identifier(raw, QuasiIdentifier(kind=kind), MISSING, said), said
    except InputError as error:
        return None, [*said, str(error)]


def content(column: CodedColumn) -> Any:
    domain = column.domain
    if isinstance(domain, NumberDomain):
        return column.kind, domain.points.tolist(), domain.decimals, domain.unit, domain.width
    return column.kind, domain.labels


@given(
    st.one_of(
        counted_texts.map(lambda values: pa.array(values, pa.large_string())),
        counted_numbers.map(lambda values: pa.array(values, pa.int64())),
    ),
    st.sampled_from([None, Kind.NUMERIC, Kind.CATEGORICAL]),
    st.randoms(use_true_random=False),
)
def test_as_the_records(array: pa.Array, kind: Kind | None, random: Any) -> None:
    accumulator = Accumulator("x")
    accumulator.add(array)
    here, said = result(accumulator.finish(), kind)
    values = list(Counter(array.to_pylist()).items())
    random.shuffle(values)
    distinct = pa.array([value for value, _ in values], array.type)
    raw = counted_column("x", distinct, pa.array([count for _, count in values]))
    there, also_said = result(raw, kind)
    said = [re.sub(r", the first in row \d+", "", each) for each in said]
    assert also_said == [re.sub(r"\brow \d+", "1 record", each) for each in said]
    if here is None or there is None:
        assert here is there
        return
    assert content(there) == content(here)
    code_of = dict(zip(distinct.to_pylist(), there.codes.tolist(), strict=True))
    assert [code_of[value] for value in array.to_pylist()] == here.codes.tolist()
    known = here.codes[here.codes >= 0]
    counts = raw.of_codes(there.codes, there.domain.size)
    np.testing.assert_array_equal(counts, np.bincount(known, minlength=here.domain.size))
