"""Numbers and dates as exact integers and back, and the ties of ids and contents."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sfumato.table.scalars import (
    MISSING_TIE,
    Points,
    are_dates,
    are_infinite,
    are_numbers,
    are_outside,
    are_too_large,
    date_points,
    loses_zeros,
    natural_order,
    number_points,
    padded_width,
    printed,
    ties_of_codes,
    ties_of_values,
)
from sfumato.table.table import NumberDomain


def texts(values: list[str]) -> pa.Array:
    return pa.array(values, pa.large_string())


def labels(points: Points, width: int = 0) -> list[str]:
    """The printed value of each point, in the points' own order."""
    domain = NumberDomain(points.points, points.decimals, points.unit, width)
    return [domain.label(code) for code in range(domain.size)]


def decimals_of(number: Decimal) -> int:
    """Decimal places of a number, without trailing zeros; by the decimal module alone."""
    exponent = number.normalize().as_tuple().exponent
    return max(0, -int(exponent)) if number else 0


written = st.tuples(
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**6).map(str),
    st.one_of(st.just(""), st.integers(0, 9).flatmap(lambda n: st.text("0123456789", max_size=n))),
    st.booleans(),
).map(lambda p: p[0] + p[1] + ("." + p[2] if p[2] or p[3] else ""))


@given(st.lists(written, min_size=1, max_size=8))
def test_text_numbers_come_back_with_the_smallest_number_of_decimals(values: list[str]) -> None:
    assert are_numbers(texts(values)).all()
    points = number_points(texts(values))
    exact = [Decimal(value) for value in values]
    assert [Decimal(label) for label in labels(points)] == exact
    assert points.decimals == max(decimals_of(number) for number in exact)
    assert not points.rounded


@given(st.lists(st.decimals(-(10**9), 10**9, places=4), min_size=1, max_size=8))
def test_the_types_of_a_number_make_no_difference(values: list[Decimal]) -> None:
    as_text = number_points(texts([str(value) for value in values]))
    for array in (
        pa.array(values, pa.decimal128(20, 4)),
        pa.array(values, pa.decimal128(24, 8)),
        pa.array([float(value) for value in values]),
        texts([f"{value:e}" for value in values]),
        texts([f"  {value}\t" for value in values]),
    ):
        points = number_points(array)
        assert points.points.tolist() == as_text.points.tolist()
        assert points.decimals == as_text.decimals


@given(st.lists(st.floats(-(2.0**53) + 1, 2.0**53 - 1), min_size=1, max_size=8))
def test_any_floats_are_rounded_by_no_more_than_stated_and_keep_their_order(
    values: list[float],
) -> None:
    points = number_points(pa.array(values))
    largest = max(abs(value) for value in values)
    for value, label in zip(values, labels(points), strict=True):
        kept = max(Decimal(largest) * Decimal("1e-14"), Decimal("1e-300"))
        assert abs(Decimal(label) - Decimal(value)) <= kept
    by_value = np.argsort(values, kind="stable")
    assert (np.diff(points.points[by_value]) >= 0).all()
    assert (np.abs(points.points) <= 2**53).all()


def test_a_sum_of_floats_prints_as_its_parts_do() -> None:
    points = number_points(pa.array([0.1, 0.2, 0.1 + 0.2]))
    assert labels(points) == ["0.1", "0.2", "0.3"]
    assert points.rounded


def test_thirds_keep_fifteen_digits() -> None:
    points = number_points(pa.array([1 / 3, 2 / 3]))
    assert labels(points) == ["0.333333333333333", "0.666666666666667"]
    assert points.rounded


def test_single_precision_is_judged_in_single_precision() -> None:
    points = number_points(pa.array([0.1, 2.75], pa.float32()))
    assert labels(points) == ["0.10", "2.75"]


@given(st.lists(st.integers(-(2**53) + 1, 2**53 - 1), min_size=1, max_size=8))
def test_integers_are_themselves(values: list[int]) -> None:
    for array in (pa.array(values, pa.int64()), texts([str(value) for value in values])):
        assert not are_too_large(array).any()
        assert labels(number_points(array)) == [str(value) for value in values]


@pytest.mark.parametrize("size", [2**53, 2**53 + 1, 2**62, 2**63 - 1])
def test_integers_from_two_to_the_53_are_too_large(size: int) -> None:
    for sign in (1, -1):
        for array in (
            pa.array([sign * size, 1], pa.int64()),
            texts([str(sign * size), "1"]),
            pa.array([float(sign * size), 1.0]),
            pa.array([Decimal(sign * size), Decimal(1)], pa.decimal128(38, 0)),
        ):
            assert are_too_large(array).tolist() == [True, False]
    assert are_too_large(pa.array([size], pa.uint64())).all()


def test_numbers_beyond_floats_are_too_large_not_an_error() -> None:
    assert are_too_large(texts(["1e999999", "9" * 400, "1e-999999"])).tolist() == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "is_number"),
    [
        ("5", True), ("-0", True), (".5", True), ("5.", True), (" 7 ", True), ("1E+3", True),
        ("", False), (".", False), ("-", False), ("1,5", False), ("1 000", False), ("0x10", False),
        ("1e", False), ("NaN", False), ("inf", False), ("1\n2", False),
        ("１２", False), ("--1", False),
    ],
)  # fmt: skip
def test_what_counts_as_a_written_number(text: str, is_number: bool) -> None:
    assert are_numbers(texts([text])).tolist() == [is_number]


def test_infinite_numbers_are_told_apart() -> None:
    written = ["inf", "-Infinity", "+INF", "info", "1"]
    assert are_infinite(texts(written)).tolist() == [True, True, True, False, False]
    assert are_infinite(pa.array([1.0, float("-inf")])).tolist() == [False, True]


@given(
    st.integers(2, 9).flatmap(
        lambda n: st.lists(st.text("0123456789", min_size=n, max_size=n), min_size=1)
    )
)
def test_padded_codes_come_back(values: list[str]) -> None:
    width = padded_width(texts(values))
    assert (width > 0) == any(value.startswith("0") for value in values)
    assert labels(number_points(texts(values)), width) == values


@pytest.mark.parametrize(
    "values", [["02138", "2139"], ["0.50", "1.25"], ["-0123", "12345"], ["0", "1"], ["10"]]
)
def test_what_is_not_padded(values: list[str]) -> None:
    assert padded_width(texts(values)) == 0


def test_zeros_that_a_number_would_lose() -> None:
    assert loses_zeros(texts(["02138", "0", "0.5", "-007", "10"])).tolist() == [
        True, False, False, True, False,
    ]  # fmt: skip


@given(st.lists(st.dates(), min_size=1, max_size=8))
def test_dates_come_back_from_every_type(values: list[date]) -> None:
    iso = [value.isoformat() for value in values]
    assert are_dates(texts(iso)).all()
    arrays = [texts(iso), pa.array(values, pa.date32()), pa.array(values, pa.date64())]
    arrays += [pa.array(values, pa.date32()).cast(pa.timestamp(unit)) for unit in ("s", "ms", "us")]
    arrays.append(texts([f" {text}T00:00:00.000Z" for text in iso]))
    for array in arrays:
        points = date_points(array)
        assert points.unit == "date"
        assert labels(points) == iso
    assert printed(arrays[3]) == iso


START = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
moments = st.integers(-(2**53) // 1_001_000, 2**53 // 1_001_000).map(
    lambda milliseconds: START + timedelta(milliseconds=milliseconds, microseconds=milliseconds % 7)
)


@given(st.lists(moments, min_size=1, max_size=8))
def test_datetimes_come_back_from_every_type(values: list[datetime]) -> None:
    values = [*values, START + timedelta(hours=5)]
    iso = [value.isoformat() for value in values]
    for array in (
        texts(iso),
        texts([text.replace("T", " ") + "+01:00" for text in iso]),
        pa.array(values, pa.timestamp("us")),
        pa.array(values, pa.timestamp("us", "UTC")),
    ):
        assert not are_outside(array).any()
        points = date_points(array)
        assert points.unit == "datetime"
        assert labels(points) == iso


def test_a_time_zone_gives_the_time_on_the_wall() -> None:
    noon = datetime(2024, 7, 1, 12, tzinfo=UTC)
    array = pa.array([noon], pa.timestamp("us", "Europe/Paris"))
    assert labels(date_points(array)) == ["2024-07-01T14:00:00"]
    assert labels(date_points(texts(["2024-07-01T14:00:00+02:00"]))) == ["2024-07-01T14:00:00"]


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29", "2023-13-01", "2023-00-10", "2023-01-00", "2023-04-31", "0000-01-01",
        "2023-1-5", "20230105", "05/01/2023", "2023-01", "2023-01-01T24:00", "2023-01-01T10",
        "2023-01-01T10:60", "2023-01-01 x", "", "2023",
    ],
)  # fmt: skip
def test_what_is_not_a_date(text: str) -> None:
    assert are_dates(texts([text, "2024-02-29"])).tolist() == [False, True]


def test_dates_that_cannot_be_points() -> None:
    far = pa.array([10**6 * 4, 0], pa.int32()).cast(pa.date32())
    assert are_outside(far).tolist() == [True, False]
    sentinel = texts(["9999-12-31", "2024-01-01T10:00"])
    assert are_outside(sentinel).tolist() == [True, False]
    assert not are_outside(texts(["9999-12-31", "0001-01-01"])).any()
    seconds = pa.array([2**62, 5], pa.int64()).cast(pa.timestamp("s"))
    assert are_outside(seconds).tolist() == [True, False]


def test_nanoseconds_are_cut_to_microseconds() -> None:
    before_1970 = pa.array([-1, 1_999], pa.int64()).cast(pa.timestamp("ns"))
    assert date_points(before_1970).points.tolist() == [-1, 1]
    first = START - timedelta(microseconds=1)
    assert labels(date_points(before_1970))[0] == first.isoformat()


def test_how_values_print() -> None:
    assert printed(pa.array([5, -3], pa.int8())) == ["5", "-3"]
    assert printed(pa.array([5.0, 0.5, -0.0, 1e16])) == ["5", "0.5", "0", "10000000000000000"]
    assert printed(pa.array([0.1], pa.float32())) == ["0.1"]
    assert printed(pa.array([True, False])) == ["true", "false"]
    assert printed(pa.array([Decimal("1.50"), Decimal("100.00")])) == ["1.5", "100"]
    assert printed(pa.array([3_600], pa.time32("s"))) == ["01:00:00"]


@pytest.mark.parametrize(
    "ordered",
    [
        ["-2", "0.5", "3", "10"],
        ["grade 2", "grade 10", "Grade 11"],
        ["5-9", "10-14", "<5"],
        ["a", "B", "c"],
        ["1st", "2nd", "10th", "none"],
        ["x01", "x1", "x2"],
    ],
)
def test_the_natural_order(ordered: list[str]) -> None:
    assert natural_order(reversed(ordered)) == ordered


def test_the_natural_order_takes_digits_of_any_length() -> None:
    long = "x" + "9" * 5_000
    assert natural_order([long, "x10", "x2"]) == ["x2", "x10", long]


TEXTS = pa.array(["7", "-12", "7"])


def test_ids_of_any_type_have_the_tie_of_their_text():
    expected = ties_of_values(TEXTS)
    assert expected[0] == expected[2] == -3510274804107466857
    numbers = pa.array([7, -12, 7])
    same = [
        TEXTS.cast(pa.large_string()),
        TEXTS.cast(pa.string_view()),
        TEXTS.cast(pa.binary()),
        TEXTS.dictionary_encode(),
        pa.array(["?", "7", "-12", "7", "?"]).slice(1, 3),
        pa.chunked_array([TEXTS.slice(0, 1), TEXTS.slice(1)]),
        numbers,
        numbers.cast(pa.int8()),
        numbers.cast(pa.float64()),
        pa.array([Decimal("7.00"), Decimal("-12.00"), Decimal("7.00")]),
    ]
    for values in same:
        assert_array_equal(ties_of_values(values), expected)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([1.5, 1e16, -0.0]), ["1.5", "10000000000000000", "0"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([date(2024, 1, 31)]), ["2024-01-31"]),
        (
            pa.array([datetime(2024, 1, 31), datetime(2024, 1, 31, 12)]),  # noqa: DTZ001
            ["2024-01-31", "2024-01-31T12:00:00"],
        ),
    ],
)
def test_other_types_print(values, texts):
    assert_array_equal(ties_of_values(values), ties_of_values(pa.array(texts)))


def test_missing_ids():
    for kind in (pa.string(), pa.int64(), pa.float64()):
        values = pa.array([7, None], pa.int64()).cast(kind)
        for each in (values, values.dictionary_encode()):
            assert ties_of_values(each).tolist() == [-3510274804107466857, MISSING_TIE]
    assert ties_of_values(pa.array([], pa.string())).tolist() == []
    assert ties_of_values(pa.nulls(1)).tolist() == [MISSING_TIE]


def test_contents_have_the_same_tie_whatever_the_order_of_labels():
    rng = np.random.default_rng(1)
    quasi = [rng.integers(-1, 3, 200).astype(np.int32) for _ in range(2)]
    codes = rng.integers(-1, 3, 200).astype(np.int32)
    labels = ("flu", "cold", "none")
    turned = np.array([2, 0, 1, -1], dtype=np.int32)
    one = ties_of_codes(quasi, [(codes, labels)])
    assert_array_equal(one, ties_of_codes(quasi, [(turned[codes], ("cold", "none", "flu"))]))
    contents = list(zip(*(each.tolist() for each in (*quasi, codes)), strict=True))
    pairs = set(zip(contents, one.tolist(), strict=True))
    assert len(set(one.tolist())) == len(set(contents)) == len(pairs)
    swapped = ties_of_codes(quasi[::-1], [(codes, labels)])
    assert (swapped == one).mean() < 0.5
