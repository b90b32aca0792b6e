"""Files of many kinds: roles are right, or asked, or more careful; at most three questions."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from unfamiliar_files import KINDS, judged, unfamiliar_file

from sfumato.core.errors import InputError
from sfumato.linkage.column_meanings import may_be_compared
from sfumato.schema import Kind, Schema
from sfumato.table.classification import open_classified
from sfumato.table.contents import Content
from sfumato.table.schema_guess import BATTERY, MOST_QUESTIONS, Guess, guess_schema
from sfumato.table.table_files import open_source
from sfumato.table.value_forms import Form, form_of

N = 300


def guess(columns: dict[str, list[Any]]) -> Guess:
    return guess_schema(open_source(pa.table(columns)))


def form(values: list[Any]) -> Form:
    return form_of(pa.chunked_array([pa.array(values)]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", fast_first(1, [40, 44]))
def test_nothing_is_wrong_without_a_question(kind: str, seed: int) -> None:
    made = unfamiliar_file(kind, seed)
    if seed % 2 == 0 and seed % 5:  # as text, as a CSV file has it
        texts = {n: [str(each) for each in made.table[n].to_pylist()] for n in made.truth}
        made = replace(made, table=pa.table(texts))
    found = judged(made)
    assert {made.keys[name] for name, each in found.items() if each == "wrong"} == set()
    assert len(guess_schema(open_source(made.table)).questions) <= MOST_QUESTIONS == 3


PLACEHOLDERS = [
    [*(f"{1940 + i % 50}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)), *["9999-12-31"] * 9],
    [*(f"{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i % 50}" for i in range(N)), *["31.12.9999"] * 9],
    [*(dt.date(1940 + i % 50, 1 + i % 12, 1 + i % 28) for i in range(N)), dt.date(1900, 1, 1)],
    [*(f"{1950 + i % 50}/{1 + i % 12:02}/{1 + i % 28:02}" for i in range(N)), "2999/12/31"],
]


@pytest.mark.parametrize("values", PLACEHOLDERS)
def test_dates_that_stand_for_none_are_missing(values: list[Any]) -> None:
    found = form(values)
    assert found.cleaning is not None
    assert len(found.cleaning.missing) == 1
    assert float(np.ptp(found.numbers())) < 51 * 366
    profile = guess({"since": values, "sex": [i % 2 for i in range(len(values))]}).profile
    assert profile is not None
    assert profile.columns["since"].content is Content.DATE_OF_BIRTH


def test_dates_far_ahead_or_of_a_new_year_are_dates() -> None:
    ahead = [f"{2030 + i % 90}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)]
    assert form(ahead).cleaning is None
    assert form([f"{1900 + i % 90}-01-0{1 + i % 3}" for i in range(N)]).cleaning is None


def dates(shape: str, days: int) -> list[str]:
    born = (dt.date(1940 + i % 60, 1 + i * 7 % 12, 1 + i * 5 % days) for i in range(N))
    return [each.strftime(shape) for each in born]


def test_which_stands_first_day_or_month_is_asked_where_no_date_tells() -> None:
    sexes = [i % 2 for i in range(N)]
    open_ = guess({"born": dates("%m/%d/%Y", 12), "came": dates("%d/%m/%Y", 12), "sex": sexes})
    assert len(open_.questions) == 1
    ((first, others),) = open_.together.items()
    assert {first, *others} == {"born", "came"}
    for way, text in (("day first", "%d/%m/%Y"), ("month first", "%m/%d/%Y")):
        schema = open_.answered({first: way})
        assert {each.date for each in schema.recipe.values()} == {(text,)}
        assert {"born", "came"} <= set(schema.quasi_identifiers)
    assert not guess({"b": dates("%m/%d/%Y", 28), "c": dates("%m/%d/%Y", 12), "s": sexes}).questions
    assert not guess({"b": dates("01/%m/%Y", 12), "s": sexes}).questions
    with pytest.raises(InputError, match="day first"):
        open_.answered({first: "backwards"})


def test_a_question_stops_a_release_and_nothing_alike_goes_out() -> None:
    columns = {"born": dates("%m/%d/%Y", 12), "came": dates("%d/%m/%Y", 12),
               "sex": [i % 2 for i in range(N)]}  # fmt: skip
    found = guess(columns)
    with pytest.raises(InputError, match="decided about"):
        open_classified(open_source(pa.table(columns)), found.schema)
    assert {"born", "came"} <= found.schema.withheld()


def test_a_number_that_others_are_cut_off_at_is_asked_about() -> None:
    pay = [1000 + i * i % 41_310 for i in range(N)] + [99_999] * 6
    columns = {"pay": pay, "age": [18 + i % 70 for i in range(N + 6)]}
    found = guess(columns)
    assert set(found.questions) == {"pay"}
    assert "pay" not in found.answered({"pay": "that much and more"}).recipe
    assert found.answered({"pay": "missing"}).recipe["pay"].missing == ("99999",)
    schooling = {"years": [i % 19 for i in range(N)] + [99] * 6, "age": columns["age"]}
    assert not guess(schooling).questions


def test_numbers_of_households_are_asked_about_and_their_risk_is_measured() -> None:
    home = [i // 3 for i in range(N)]
    columns = {
        "v1": [each + 1 for each in home],
        "v2": [each * each % 17 for each in home],
        "v3": [(each * 31 + 7) % 900 + 400 for each in home],
        "v4": [18 + i * 37 % 70 for i in range(N)],
    }
    found = guess(columns)
    assert "v1" in found.questions
    assert found.answered().household == "v1"
    assert found.answered({"v1": "sensitive"}).household is None


def test_moments_of_computers_are_dates_and_numbers_are_none() -> None:
    rng = np.random.default_rng(5)
    moments = (1_500_000_000 + rng.integers(0, 10**7, N)).tolist()
    beside = {"sex": [i % 2 for i in range(N)], "age": [18 + i % 70 for i in range(N)]}
    named = guess({"created_at": [1000 * each for each in moments], **beside})
    assert named.roles["created_at"].role == "quasi-identifier"
    assert "v1" in guess({"v1": moments, **beside}).questions
    numbers = list(range(1_500_000_000, 1_500_000_000 + N))
    assert guess({"created": numbers, **beside}).roles["created"].role == "direct identifier"


def test_codes_of_few_values_have_no_ranges_and_measures_have() -> None:
    columns = {
        "region": [11 + i % 9 for i in range(N)], "kinship": [i % 10 for i in range(N)],
        "branch": [i * 7 % 31 + 1 for i in range(N)], "children": [i % 7 for i in range(N)],
        "age": [18 + i % 70 for i in range(N)], "poids": [45 + i * 7 % 41 for i in range(N)],
    }  # fmt: skip
    quasi = guess(columns).answered().quasi_identifiers
    categories = {name for name, each in quasi.items() if each.kind is Kind.CATEGORICAL}
    assert categories == {"region", "kinship", "branch"}


def test_what_is_worked_out_of_a_column_is_left_out() -> None:
    rng = np.random.default_rng(3)
    ages, race = rng.integers(18, 90, N), rng.integers(1, 5, N)
    found = guess({
        "age": ages.tolist(), "age_sq": (ages**2).tolist(), "ln": np.log(ages).round(3).tolist(),
        "race": race.tolist(), "black": (race == 2).astype(int).tolist(),
        "is_third": ["yes" if each == 3 else "no" for each in race],
        "owner": rng.integers(0, 2, N).tolist(), "age_born": (2020 - ages).tolist(),
    })  # fmt: skip
    out = {name for name, each in found.roles.items() if each.role == "direct identifier"}
    assert out == {"age_sq", "ln", "black", "is_third"}


def test_marks_are_sensitive_and_steps_without_a_name_are_asked_as_one() -> None:
    rng = np.random.default_rng(4)
    steps = {f"q{i}": rng.integers(1, 6, N).tolist() for i in range(1, BATTERY + 5)}
    found = guess({"age": [18 + i % 70 for i in range(N)], "rating": steps["q1"][::-1], **steps})
    assert found.roles["rating"].role == "sensitive"
    assert len(found.questions) == 1
    ((first, others),) = found.together.items()
    assert {first, *others} == set(steps)
    assert set(steps) <= set(found.answered({first: "sensitive"}).sensitive)
    assert set(others) <= set(found.schema.direct_identifiers)


def test_a_header_and_values_that_differ_are_asked_about_and_the_careful_role_is_proposed() -> None:
    rng = np.random.default_rng(6)
    columns = {
        "diagnosis": [f"{each:05d}" for each in rng.integers(1000, 1060, N) * 7],
        "age": [18 + i % 70 for i in range(N)],
    }
    found = guess(columns)
    assert "diagnosis" in found.questions
    assert found.roles["diagnosis"].role == "quasi-identifier"


def test_amounts_of_five_and_six_digits_are_no_dates() -> None:
    rng = np.random.default_rng(9)
    amounts = [str(each) for each in np.exp(rng.normal(10.4, 0.6, N)).astype(int)]
    assert form(amounts).look == "numbers"
    assert form([str(100_000 + 7 * i) for i in range(N)]).look == "numbers"
    stamps = [f"2020{1 + i % 12:02}{1 + i % 28:02}1030{i % 60:02}" for i in range(N)]
    assert form(stamps).look == "dates"


@pytest.mark.parametrize("header", ["income", "HH_INCOME", "Lohn", "revenu_mensuel"])
def test_a_sum_of_money_is_no_postcode_and_is_not_compared(header: str) -> None:
    rng = np.random.default_rng(7)
    incomes = rng.choice(rng.integers(10_000, 90_000, 60), N)
    for values in (incomes.tolist(), [f"{each}" for each in incomes]):
        found = guess({header: values, "age": [18 + i % 70 for i in range(N)]})
        assert found.profile is not None
        assert found.profile.columns[header].content is Content.NUMBER
    schema = Schema(quasi_identifiers=[header, "age"])
    assert not may_be_compared(header, schema)
    assert not may_be_compared("v1", Schema(quasi_identifiers=["age"], undecided={"v1": "what?"}))


def test_numbers_of_records_and_people_are_no_ages() -> None:
    age = [18 + i % 40 for i in range(100)]
    records = guess({"v1": list(range(100)), "v2": age}).profile
    assert records is not None
    assert records.columns["v1"].content is Content.IDENTIFIER
    person = [i // 5 for i in range(N)]
    visits = {"v1": person, "v2": [each * 7 % 3 for each in person],
              "v3": [1930 + each * 37 % 80 for each in person]}  # fmt: skip
    assert guess(visits).schema.person == "v1"


def test_more_than_three_questions_are_not_asked_and_said() -> None:
    rng = np.random.default_rng(8)
    words = ["".join(rng.choice(list("bdfgklmnprstaeiou"), 6)) for _ in range(60)]
    columns = {name: rng.choice(words, N).tolist() for name in ("wa", "xb", "yc", "zd", "kf")}
    found = guess({**columns, "age": [18 + i % 70 for i in range(N)]})
    assert len(found.questions) + len(found.unasked) + sum(map(len, found.together.values())) == 5
    assert len(found.questions) <= MOST_QUESTIONS
    assert found.schema.withheld() >= set(columns)
