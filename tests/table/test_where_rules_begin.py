"""Where rules about what columns hold begin and end: each is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.table import (
    dependence,
    file_layout,
    person_candidates,
    scalars,
    schema_guess,
    table_files,
    table_keys,
    value_forms,
)


@pytest.mark.parametrize(
    ("text", "free"),
    [("a" * 32 + " a a a a", True), ("a" * 31 + " a a a a", False), ("a" * 40 + " a a a", False)],
)
def test_forty_letters_and_four_blanks_are_a_sentence(text, free):
    assert person_candidates._is_free_text(pa.array([text])) is free


@pytest.mark.parametrize(("different", "named"), [(8, True), (7, False)])
def test_four_of_five_different_values_name_somebody(different, named):
    assert person_candidates._names_each(np.arange(10) % different) is named


@pytest.mark.parametrize(("step", "counted"), [(19, True), (21, False)])
def test_a_key_is_counted_up_where_one_number_of_twenty_is_there(step, counted):
    key = object.__new__(table_keys.IdColumn)
    object.__setattr__(key, "values", pa.array([str(n * step + 100_000) for n in range(100)]))
    assert key.is_counted is counted


@pytest.mark.parametrize(("other", "same"), [("cities", False), ("cat", False), ("cars", True)])
def test_a_plural_shares_three_letters_with_its_word(other, same):
    assert table_keys._same_stem("car", other) is same


@pytest.mark.parametrize(("text", "exact"), [("0.123456789", True), ("0.1234567891", False)])
def test_numbers_are_taken_exactly_to_nine_decimal_places(text, exact):
    """More places are kept to 15 digits of the largest number: nine beside six before the point."""
    points = scalars._points_of_texts(pa.array([text, "123456.5"]))
    assert points.decimals == 9
    assert points.rounded is not exact


@pytest.mark.parametrize(("marks", "missing"), [(9, 9), (10, 0)])
def test_nine_numbers_below_zero_may_stand_for_missing_values(marks, missing):
    numbers = np.array([*range(-marks, 0), *range(20, 40)], dtype=float)
    if marks == 10:
        numbers[0] = -77
    found = value_forms._marks_among(numbers, np.full(len(numbers), 2))
    assert found.sum() == missing


@pytest.mark.parametrize(("largest", "missing"), [(60, 1), (63, 0)])
def test_all_nines_beyond_a_gap_stand_for_a_missing_value(largest, missing):
    numbers = np.array([10.0, 20, largest, 99])
    assert value_forms._marks_among(numbers, np.full(4, 2)).sum() == missing


def test_two_digits_of_a_year_are_of_the_last_hundred_years():
    assert value_forms._this_year() - value_forms._pivot() + 1 == 100


@pytest.mark.parametrize(("shapes", "form"), [(10, True), (12, None)])
def test_ten_shapes_of_cells_are_a_form(shapes, form):
    """Each comes once: of twelve, ten are fewer than nine in ten."""
    cells = [f"{'-' * n}{n % 10}x" for n in range(1, shapes + 1)]
    assert file_layout._has_form("-7x", cells) is form


@pytest.mark.parametrize(("largest", "answers"), [(999, True), (1_000, False)])
def test_few_numbers_below_a_thousand_are_counts_or_answers(largest, answers):
    column = SimpleNamespace(
        content=None, distinct=3, look="numbers", numbers=lambda: np.array([1.0, 2, largest])
    )
    assert schema_guess._counts_or_answers(column) is answers


@pytest.mark.parametrize(("records", "dummy"), [(5, True), (4, None)])
def test_five_records_make_a_dummy(records, dummy):
    column = np.repeat([1, 0], [records, 20])
    codes = np.append(np.zeros(records, dtype=int), 1 + np.arange(20) % 7)
    assert bool(schema_guess._is_dummy(column, codes)) is bool(dummy)


@pytest.mark.parametrize(("latin", "encoding"), [(19, "utf-16-le"), (17, None)])
def test_nine_of_ten_letters_are_latin_in_utf_16_without_a_mark(latin, encoding):
    head = ("a" * latin + "\u4e00" * (20 - latin)).encode("utf-16-le")
    assert table_files._encoding_of(head) == encoding


@pytest.mark.parametrize(("persons", "tested"), [(50, True), (49, False)])
def test_of_fewer_than_fifty_persons_nothing_can_be_said(persons, tested):
    assert (dependence.untested_events(SimpleNamespace(persons=persons)) == ()) is tested
