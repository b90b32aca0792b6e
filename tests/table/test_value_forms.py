"""How columns are written, and whether the line of the recipe reads them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.table.cleaning import cleaned
from sfumato.table.value_forms import Habits, form_of, habits_of

DAYS = [dt.date(1931, 3, 5) + dt.timedelta(731 * i) for i in range(40)]


def line_of(values: list[Any], habits: Habits | None = None) -> dict[str, Any]:
    form = form_of(pa.chunked_array([values]), habits)
    line = form.cleaning
    return (
        {} if line is None else line.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("%d.%m.%Y", "%d.%m.%Y"), ("%m/%d/%Y", "%m/%d/%Y"), ("%d-%m-%Y", "%d-%m-%Y"),
        ("%Y%m%d", "%Y%m%d"), ("%d %b %Y", "%d %b %Y"), ("%d%b%Y", "%d%b%Y"),
        ("%B %d, %Y", "%b %d, %Y"), ("%Y/%m/%d", "%Y/%m/%d"), ("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M"),
    ],
)  # fmt: skip
def test_dates(written: str, expected: str) -> None:
    values = [f"{day:{written}}" for day in DAYS]
    form = form_of(pa.chunked_array([values]))
    assert form.look == "dates"
    assert line_of(values)["date"] == [expected]
    assert form.values.cast(pa.date32()).to_pylist() == DAYS


def test_dates_that_excel_read_in_part_are_numbers_of_days() -> None:
    serial = [str((day - dt.date(1899, 12, 30)).days) for day in DAYS]
    mixed = [f"{day:%d.%m.%Y}" for day in DAYS[:15]] + serial[15:]
    line = line_of(mixed)
    assert line["date"] == ["days since 1899-12-30", "%d.%m.%Y"] or line["date"] == [
        "%d.%m.%Y", "days since 1899-12-30",
    ]  # fmt: skip
    form = form_of(pa.chunked_array([mixed]))
    assert sorted(form.values.cast(pa.date32()).to_pylist()) == DAYS
    assert form_of(pa.chunked_array([serial])).look == "numbers", "they alone may be anything"


def test_dates_with_ideographs() -> None:
    days = [f"{1950 + i % 60}年{1 + i % 12}月{1 + i % 28:02d}日" for i in range(90)]
    assert line_of([*days])["date"] == ["%Y年%m月%d日"]


def test_dates_as_the_door_reads_them_need_no_line() -> None:
    for values in ([str(day) for day in DAYS], [f"{day}T07:30:00Z" for day in DAYS]):
        form = form_of(pa.chunked_array([values]))
        assert (form.look, form.cleaning, form.distinct) == ("dates", None, 40)


def test_two_digits_of_a_year_have_a_pivot() -> None:
    line = line_of([f"{day:%d.%m.%y}" for day in DAYS])
    assert line["date"] == ["%d.%m.%y"]
    assert line["pivot"] == dt.datetime.now(tz=dt.UTC).year - 99


def test_several_formats_impossible_days_and_partial_dates() -> None:
    mixed = [f"{day:%d.%m.%Y}" for day in DAYS] + [str(day) for day in DAYS[:20]]
    assert line_of(mixed)["date"] == ["%d.%m.%Y", "%Y-%m-%d"]
    wrong = [f"{day:%Y%m%d}" for day in DAYS] + ["19310231"]
    assert form_of(pa.chunked_array([wrong])).unreadable == 1
    assert line_of(wrong)["unreadable"] == "missing"
    partial = [f"{day:%d.%m.%Y}" for day in DAYS] + ["1950", "1951", "1952"]
    assert line_of(partial)["resolution"] == "year"


def test_typed_whole_numbers_that_are_dates() -> None:
    assert line_of([int(f"{day:%Y%m%d}") for day in DAYS])["date"] == ["%Y%m%d"]
    assert line_of([19_000_101 + 37 * i for i in range(40)]) == {}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1,5", "2,25", "10"], {"decimal": [","]}),
        (["1.234,5", "2,25", "10"], {"decimal": [","], "thousands": "."}),
        (["1,234.5", "2.25", "10"], {"decimal": ["."], "thousands": ","}),
        (["1 234,5", "2,25", "10"], {"decimal": [","], "thousands": " "}),
        (["7 kg", "8.5 kg", "9 kg"], {"type": "number", "unit": ["kg"]}),
        (["€ 7,50", "€ 8,25", "€ 9"], {"decimal": [","], "unit": ["€"]}),
        (["12.5", "7", "-3"], {}),
        (["007", "013", "100"], {}),
    ],
)  # fmt: skip
def test_numbers(values: list[str], expected: dict[str, Any]) -> None:
    form = form_of(pa.chunked_array([values * 10]))
    assert form.look == "numbers"
    line = line_of(values * 10)
    assert {key: line[key] for key in line if key != "unreadable"} == expected


def test_three_digits_behind_a_sign_are_read_as_the_file_writes_others() -> None:
    values = ["1.234", "2.500", "9.999"]
    assert line_of(values) == {}
    assert line_of(values, Habits(decimal=","))["thousands"] == "."
    commas = form_of(pa.chunked_array([["1,5", "2,7", "3,25"]]))
    assert habits_of([commas]).decimal == ","


def test_numbers_that_stand_for_something_else() -> None:
    assert line_of([*range(18, 80), -9, -9, -8])["missing"] == ["-9", "-8"]
    assert line_of([*range(18, 80), 999, 999])["missing"] == ["999"]
    assert line_of([*range(18, 100)]) == {}, "people of 99 are there"
    assert line_of([*range(-30, 40)]) == {}, "temperatures"
    assert line_of([*"1234567", "", "unknown"]) == {}


def test_words_for_nothing() -> None:
    form = form_of(pa.chunked_array([["Ulm", "k.A.", "Köln", "Bonn"] * 20]))
    assert form.missing_words == ("k.A.",)
    assert form.distinct == 3
    states = form_of(pa.chunked_array([["NC", "ND", "NV", "CA", "TX"] * 20]))
    assert (states.missing_words, states.distinct) == ((), 5)


def test_spellings_become_one() -> None:
    form = form_of(pa.chunked_array([["Ulm", "ULM ", "Köln", "köln", "Bonn"] * 5]))
    assert (form.distinct, form.spellings) == (3, 2)
    assert line_of(["Ulm", "ULM ", "Köln"] * 5) == {"strip": True, "case": "lower"}
    assert line_of(["m", "M", "f"] * 5) == {"case": "lower"}
    assert line_of(["m", "male", "f", "female"] * 5)["rename"] == {"male": "m", "female": "f"}
    spanish = line_of(["m", "mujer", "h", "hombre"] * 5)["rename"]
    assert spanish == {"mujer": "m", "hombre": "h"}


def test_one_text_that_comes_again_is_missing_however_often() -> None:
    days = [f"{1 + i % 28:02d}-MAY-{1950 + i % 60}" for i in range(200)]
    assert line_of([*days, *["-99"] * 50]) == {"date": ["%d-%b-%Y"], "unreadable": "missing"}
    numbers = [str(i) for i in range(1, 200)]
    assert line_of([*numbers, *["无"] * 50]) == {"type": "number", "unreadable": "missing"}
    words = [["none", "GCSE", "degree"][i % 3] for i in range(90)]
    assert line_of([*words, *["-9"] * 10]) == {"missing": ["-9"]}
    assert form_of(pa.chunked_array([["250.1", "V10", "401"] * 20])).look == "text"


def test_a_few_texts_among_numbers_are_values() -> None:
    assert form_of(pa.chunked_array([["0"] * 97 + ["X", "Y", "Z"]])).look == "text"
    measured = form_of(pa.chunked_array([[f"{n},5" for n in range(97)] + ["<1,0", "hem."]]))
    assert (measured.look, measured.unreadable) == ("numbers", 2)


@given(st.lists(st.none() | st.text(max_size=8) | st.integers(-99, 3000).map(str), min_size=1))
@example(["0", "1", "-1"])
def test_a_line_gives_the_values_of_the_form(values: list[str | None]) -> None:
    column = pa.chunked_array([pa.array(values, pa.string())])
    form = form_of(column)
    assert form.filled <= len(values)
    if form.cleaning is not None:
        read = cleaned(column.combine_chunks(), form.cleaning, form.missing_words).values
        if form.look == "numbers":
            # A line that only takes marks away leaves plain numbers as texts, for the schema.
            read = read.cast(form.values.type)
        assert set(read.drop_null().to_pylist()) <= set(form.values.to_pylist())
        assert np.count_nonzero(read.is_valid()) <= form.filled
