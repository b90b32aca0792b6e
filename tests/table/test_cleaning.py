"""The cells of a column, as a line of the recipe reads them, against Python's own reading."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import cleaning as oracle

from sfumato.schema import Cleaning
from sfumato.table.cleaning import MONTHS, Cleaned, cleaned, result_type

PIECES = st.lists(
    st.sampled_from(["-", "+", "1", "23", "456", "7", ".", ",", "'", " "]), max_size=7
)
FORMATS = ("%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y")


def at(*numbers: int) -> datetime:
    """A moment without a zone."""
    return datetime(*numbers, tzinfo=UTC).replace(tzinfo=None)  # type: ignore[misc, arg-type]


def read(values: list[Any], of_schema: tuple[str, ...] = (), **steps: Any) -> Cleaned:
    return cleaned(pa.array(values), Cleaning(**steps), of_schema, name="c")


def done(found: Cleaned) -> dict[str, tuple[int, int]]:
    return {step: (each.changed, each.made_missing) for step, each in found.counts.items()}


@given(
    texts=st.lists(PIECES.map("".join), min_size=1, max_size=8),
    decimal=st.sampled_from(".,"),
    thousands=st.sampled_from([None, "'", ".", ",", " "]),
)
@example(["1.234,56", "12,34,567", "-0", ".5", "5.", "1.5", "- 1", "-"], ",", ".")
def test_numbers(texts: list[str], decimal: str, thousands: str | None) -> None:
    if decimal == thousands:
        thousands = None
    found = read(texts, decimal=decimal, thousands=thousands)
    values = found.values.to_pylist()
    assert values == [oracle.number(text, decimal, thousands) for text in texts]
    assert not any(np.signbit(value) for value in values if value == 0)
    unread = sum(
        value is None and bool(text.strip()) for value, text in zip(values, texts, strict=True)
    )
    assert sum(found.unreadable.values()) == found.counts["number"].made_missing == unread
    if unread:
        assert values[found.first] is None


@given(
    days=st.lists(
        st.tuples(
            st.integers(0, 32), st.integers(0, 13), st.sampled_from([0, 1, 1900, 2000, 9999])
        ),
        min_size=1,
        max_size=6,
    ),
    form=st.sampled_from(["{0:02}.{1:02}.{2:04}", "{2:04}-{1:02}-{0:02}", "{1}/{0}/{2:04}", "{0}"]),
)
@example([(29, 2, 2000), (29, 2, 1900)], "{0:02}.{1:02}.{2:04}")
def test_dates(days: list[tuple[int, int, int]], form: str) -> None:
    texts = [form.format(*each) for each in days]
    found = read(texts, date=FORMATS)
    assert found.values.to_pylist() == [oracle.day(text, FORMATS) for text in texts]
    assert found.values.type == pa.date32()


def test_what_a_format_says() -> None:
    assert read(["5.1.2012", "05.01.2012"], date="%d.%m.%Y").counts["date"].changed == 2
    for text, form in {
        "05JAN2012": "%d%b%Y", "5 janv. 2012": "%d %b %Y", "Jänner 5, 2012": "%B %d, %Y",
        "5. Januar 2012": "%d. %B %Y", "20120105": "%Y%m%d", "5012012": "%d%m%Y",
        "2012年01月05日": "%Y年%m月%d日", "٥/١/٢٠١٢": "%d/%m/%Y", "2012\u20131\u20135": "%Y-%m-%d",
        "100 % 05.01.2012": "100 %% %d.%m.%Y", "05.01.\u00a02012": "%d.%m. %Y",
    }.items():  # fmt: skip
        assert read([text], date=form).values.to_pylist() == [date(2012, 1, 5)], form
    assert read([20120105.0, 20120105], date="%Y%m%d").values.to_pylist() == [date(2012, 1, 5)] * 2
    assert read(["5 foo 2012"], date="%d %b %Y").unreadable == {"no date of the calendar": 1}


def test_no_name_means_two_months() -> None:
    names = Counter(name for names in MONTHS for name in set(names.split()))
    assert set(names.values()) == {1}


def test_years_of_two_digits_begin_with_the_pivot() -> None:
    found = read(["1.1.29", "1.1.30", "1.1.00"], date="%d.%m.%y", pivot=1930)
    assert [each.year for each in found.values.to_pylist()] == [2029, 1930, 2000]


def test_partial_dates_keep_what_all_have() -> None:
    texts, forms = ["2020-05-07", "2020-05", "2020"], ["%Y-%m-%d", "%Y-%m", "%Y"]
    assert read(texts, date=forms, resolution="year").values.to_pylist() == [2020] * 3
    found = read(texts, date=forms[:2], resolution="month", unreadable="missing")
    assert found.values.to_pylist() == [date(2020, 5, 1), date(2020, 5, 1), None]
    assert found.unreadable == {"numbers": 1}


def test_times_of_day() -> None:
    found = read(
        ["5.1.2012 13:05", "5.1.2012", "5.1.2012 24:00"], date=["%d.%m.%Y %H:%M", "%d.%m.%Y"]
    )
    assert found.values.to_pylist() == [at(2012, 1, 5, 13, 5), at(2012, 1, 5), None]
    cut = read(["5.1.2012 13:05:59.25"], date="%d.%m.%Y %H:%M:%S.%f", resolution="day")
    assert cut.values.to_pylist() == [date(2012, 1, 5)]


def test_units_blanks_and_digits_of_other_scripts() -> None:
    texts = [
        "72 kg",
        "72KG",
        "€ -5",
        "-€5",
        "\u221272",
        "\u0663\u0664",
        "7\u00a0kg.",
        " 1\u202f234 ",
    ]
    found = read(texts, unit=["kg", "kg.", "€"], thousands=" ")
    assert found.values.to_pylist() == [72, 72, -5, -5, -72, 34, 7, 1234]
    assert read(["1’234.5"], thousands="'").values.to_pylist() == [1234.5]
    assert read(["72,5", "72.5"], decimal=[",", "."]).values.to_pylist() == [72.5, 72.5]


def test_missing_texts_are_those_of_the_file_by_value_where_they_are_numbers() -> None:
    found = read(
        ["-9", "-9,0", " NA", "unknown", "5"], ("NA",), decimal=",", missing=["-9", "unknown"]
    )
    assert found.values.to_pylist() == [None, None, None, None, 5.0]
    assert done(found) == {"missing": (0, 4), "number": (0, 0)}
    assert not found.unreadable
    typed = read([-9, 5], missing="-9")
    assert (typed.values.to_pylist(), typed.values.type) == ([None, 5], pa.int64())


def test_texts_are_spelled_in_the_order_of_the_steps() -> None:
    found = read(
        [" M ", "w", "W", "", None, "\u00a0 \u200b"], strip=True, case="lower", rename={"w": "f"}
    )
    assert found.values.to_pylist() == ["m", "f", "f", None, None, None]
    assert done(found) == {"strip": (1, 0), "case": (2, 0), "rename": (2, 0)}
    assert read([" a \u00a0 b"], strip=True).values.to_pylist() == ["a b"]
    assert read(["E11.9", "Äöü!"], first=3).values.to_pylist() == ["E11", "Äöü"]


def test_typed_columns_read_as_their_text_does() -> None:
    assert read([1, 2], rename={"1": "male"}).values.to_pylist() == ["male", "2"]
    assert read([5.0, 2.5], type="text").values.to_pylist() == ["5", "2.5"]
    assert read([date(2020, 5, 1)], first=4).values.to_pylist() == ["2020"]


@pytest.mark.parametrize("values", [[date(2020, 5, 4), None], [at(2020, 5, 4, 3), None]])
def test_dates_that_are_dates_stay_and_count_as_nothing(values: list[Any]) -> None:
    found = read(values, date="%d.%m.%Y")
    assert (found.values.to_pylist(), done(found)) == (values, {"date": (0, 0)})
    year = read(values, date="%d.%m.%Y", resolution="year")
    assert (year.values.to_pylist(), done(year)) == ([2020, None], {"date": (1, 0)})


def test_numbers_that_are_numbers_stay_and_count_as_nothing() -> None:
    found = read([1, None], decimal=",")
    assert (found.values.to_pylist(), found.values.type) == ([1, None], pa.int64())
    assert done(found) == {"number": (0, 0)}


def test_kinds_of_what_cannot_be_read() -> None:
    found = read(["1.5", "<5", "5 mg", "1.2.2020", "low", str(2**53)], decimal=",")
    assert found.unreadable == {
        "numbers with other signs between their digits": 1,
        "numbers behind a sign such as <": 1,
        "numbers with other text, such as a unit": 1,
        "dates": 1,
        "other text": 1,
        "numbers of 2**53 or more": 1,
    }
    dates = read(["31.02.2020", "2020-02-01", "7", "x"], date="%d.%m.%Y")
    assert dates.unreadable == {
        "no date of the calendar": 1, "dates in another form": 1, "numbers": 1, "other text": 1
    }  # fmt: skip


STEPS: list[dict[str, Any]] = [
    {"date": "%d.%m.%Y"}, {"date": "%Y"}, {"date": "%Y-%m-%d %H:%M"}, {"decimal": ","},
    {"case": "upper"}, {"type": "text"}, {"missing": "1"}, {"type": "date", "resolution": "month"},
]  # fmt: skip
ARRAYS = [
    pa.array(["1", "01.01.2000", None]), pa.array([1, 2000, None]), pa.array([1.5, None]),
    pa.array([date(2000, 1, 1), None]), pa.array([at(2000, 1, 1, 5), None]),
    pa.array(["1", None]).dictionary_encode(), pa.array([None, None], pa.string()),
    pa.array([], pa.string()), pa.array([True, None]),
]  # fmt: skip


@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_the_type_is_known_before_the_values(steps: dict[str, Any]) -> None:
    line = Cleaning(**steps)
    for values in ARRAYS:
        found = cleaned(values, line)
        assert (found.values.type, len(found.values)) == (
            result_type(values.type, line),
            len(values),
        )
        whole = cleaned(pa.concat_arrays([values, values]), line)
        assert whole.values.to_pylist() == found.values.to_pylist() * 2


@pytest.mark.parametrize(
    ("since", "values", "expected"),
    [
        ("1899-12-30", [44927, 61, 0], ["2023-01-01", "1900-03-01", "1899-12-30"]),
        ("1904-01-01", [43465, 0, -1], ["2023-01-01", "1904-01-01", "1903-12-31"]),
        ("1899-12-30", [44927.75, 44928.0, 44926.999], ["2023-01-01", "2023-01-02", "2022-12-31"]),
        ("1899-12-30", ["44927", "44927.5", " 44928 "], ["2023-01-01", "2023-01-01", "2023-01-02"]),
        ("1960-01-01", ["-3652", "+1", "٤"], ["1950-01-01", "1960-01-02", "1960-01-05"]),
    ],
)  # fmt: skip
def test_numbers_of_days(since: str, values: list[Any], expected: list[str]) -> None:
    found = read(values, date=f"days since {since}")
    assert [str(each) for each in found.values.to_pylist()] == expected
    assert done(found) == {"date": (3, 0)}
    assert found.values.type == pa.date32()


def test_numbers_of_days_that_are_none() -> None:
    given = ["44927", "9999999", "44,927", "4e4", "01.02.2023", None, "soon"]
    found = read(given, date="days since 1899-12-30", unreadable="missing")
    assert found.values.null_count == len(given) - 1
    assert sum(found.unreadable.values()) == 5
    assert found.unreadable["no date of the calendar"] == 1
    both = read(given[:1] + given[4:5], date=["days since 1899-12-30", "%d.%m.%Y"])
    assert both.values.to_pylist() == [date(2023, 1, 1), date(2023, 2, 1)]
    month = read(["44940"], date="days since 1899-12-30", resolution="month")
    assert month.values.to_pylist() == [date(2023, 1, 1)]
    year = read(["44940"], date="days since 1899-12-30", resolution="year")
    assert year.values.to_pylist() == [2023]
