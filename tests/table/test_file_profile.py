"""The profile of a file: its persons, keys and events, and that it shows no value."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from few_cases import fast_first
from messy_files import messy_file

import sfumato as sf
from sfumato.reports.report_files import write_profiles
from sfumato.table.contents import Content
from sfumato.table.file_profile import columns_of, profile

RNG = np.random.default_rng(3)
PERSONS = 150


def visits() -> pa.Table:
    """Three visits of each person under headers that say nothing."""
    person = np.repeat(np.arange(PERSONS), 3)
    town = RNG.integers(0, 12, PERSONS)
    names = np.array([f"kanarie{chr(97 + n)}" for n in range(26)])
    return pa.table({
        "a1": [f"X{n * 7919 % 100_000:05d}" for n in person],
        "a2": [f"{10_000 + 17 * n}" for n in town[person]],
        "a3": names[town][person],
        "a4": RNG.integers(1925, 2015, PERSONS)[person],
        "a5": np.array(["m", "f"])[RNG.integers(0, 2, PERSONS)][person],
        "a6": RNG.choice(["A01", "B20.1", "C34", "E11.9"], 3 * PERSONS),
        "a7": RNG.permutation(3 * PERSONS) + 1,
        "a8": RNG.normal(5, 1, 3 * PERSONS).round(2),
    })  # fmt: skip


def test_the_person_the_keys_and_what_changes() -> None:
    found = sf.profile(visits())
    assert found.person == "a1"
    assert found.keys == ("a7",)
    assert set(found.constant) == {"a2", "a3", "a4", "a5"}
    assert {"a6", "a8"} <= set(found.events)
    assert found.columns["a3"].content is Content.PLACE, "the postcodes tell it"
    assert found.columns["a2"].content is Content.POSTCODE
    told = {(each.by, each.of): each.exceptions for each in found.dependences}
    assert told["a2", "a3"] == 0


def test_uniqueness_is_that_of_a_naive_count() -> None:
    table = visits()
    found = sf.profile(table)
    first = table.to_pandas().drop_duplicates("a1")
    columns: list[str] = []
    for step in found.uniqueness:
        columns.append(step.column)
        counts = first.groupby(columns, dropna=False)[columns[0]].transform("size")
        assert step.up_to == pytest.approx((counts == 1).mean()), columns
    shares = [step.up_to for step in found.uniqueness]
    assert shares == sorted(shares), "more columns never single out fewer"


def test_no_value_unless_asked() -> None:
    found = sf.profile(visits())
    shown = json.dumps(found.to_json()) + found._repr_html_() + repr(found.rows())
    assert "kanarie" not in shown
    assert "B20.1" not in shown
    asked = json.dumps(found.to_json(values=True))
    assert "kanarie" in asked
    assert '"lowest": "1925"' in asked or '"lowest": "192' in asked


def test_numbers_and_words_that_mean_missing_are_values_too() -> None:
    table = pa.table({
        "weight": [*(f"{n / 7:.1f} kg".replace(".", ",") for n in range(400, 700)), *["-7777"] * 9],
        "sex": ["w", "m", "F"] * 103,
    })  # fmt: skip
    found = sf.profile(table)
    shown = json.dumps(found.to_json()) + found._repr_html_()
    assert "7777" not in shown
    assert not any("recipe" in each for each in found.to_json()["columns"])
    assert "1 text taken as missing" in shown
    assert "decimal sign ,, without kg" in shown, "how it is written is no value"
    asked = {each["name"]: each["recipe"] for each in found.to_json(values=True)["columns"]}
    assert asked["weight"]["missing"] == ["-7777"]
    assert asked["sex"]["rename"] == {"F": "w"}


def days_of_excel(weekdays: int, since: str, n: int = 600) -> np.ndarray:
    """Numbers of days from 2021 on that fall on so many first days of a week."""
    monday = (np.datetime64("2021-01-04") - np.datetime64(since)).astype(int)
    days = np.array([n for n in range(900) if n % 7 < weekdays])
    return np.asarray(monday + RNG.choice(days, n))


@pytest.mark.parametrize("text", fast_first(1, [False, True]))
def test_numbers_that_excel_made_of_dates(text: bool) -> None:
    birth = RNG.integers(11_000, 42_000, 600)
    table = pa.table({
        "v1": days_of_excel(5, "1899-12-30"),
        "v2": days_of_excel(5, "1904-01-01"),
        "birth_date": birth,
        "entry": days_of_excel(7, "1899-12-30") + 0.5,
        "income": RNG.integers(20_000, 46_000, 600),
        "visit_date": days_of_excel(5, "1970-01-01"),
        "data_id": RNG.choice(np.arange(11_000, 42_000), 600, replace=False),
        "data": np.arange(44_000, 44_600),
        "number_of_visits": RNG.integers(1, 4, 600),
    })  # fmt: skip
    if text:
        table = pa.table({name: table[name].cast(pa.string()) for name in table.column_names})
    found = sf.profile(table).columns
    dates = {name: each.cleaning.date for name, each in found.items() if each.look == "dates"}
    assert dates == {
        "v1": ("days since 1899-12-30",), "v2": ("days since 1904-01-01",),
        "birth_date": ("days since 1899-12-30",),
    }  # fmt: skip
    assert found["birth_date"].content is Content.DATE_OF_BIRTH
    guessed = sf.guess_schema(table).schema
    risk = sf.assess(table, guessed)
    steps = {each.column: each.changed for each in risk.preparation}
    assert {name: steps[name] for name in dates} == dict.fromkeys(dates, 600)


def test_keys_are_counted_in_the_whole_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.table.file_profile.ROWS", 100)
    table = pa.table({
        "key": list(range(1000)), "once": [*range(999), 500], "other": [n % 7 for n in range(1000)],
    })  # fmt: skip
    found = sf.profile(table)
    assert (found.sampled, found.records) == (100, 1000)
    assert found.keys == ("key",)


def test_what_tells_the_records_of_a_person_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    person = np.repeat([f"P{n:05d}" for n in range(PERSONS)], 4)
    births = np.repeat(RNG.integers(1930, 2010, PERSONS), 4)
    sex = np.repeat(np.array(["m", "f"])[RNG.integers(0, 2, PERSONS)], 4)
    days = np.concatenate([RNG.permutation(400)[:4] for _ in range(PERSONS)])
    visit = np.datetime64("2021-01-01") + days
    twice, missing = visit.copy(), visit.astype(object)
    twice[-1], missing[-1] = twice[-2], None
    table = pa.table({"id": person, "born": births, "sex": sex, "dx": np.resize([*"abc"], 600),
                      "visit": visit, "twice": twice, "gap": missing})  # fmt: skip
    assert sf.profile(table).keys_with_person == ("visit",)
    monkeypatch.setattr("sfumato.table.file_profile.ROWS", 500)
    monkeypatch.setattr("sfumato.table.file_profile.LOOKED_AT", 500)
    found = sf.profile(table)
    assert (found.person, found.sampled) == ("id", 500)
    assert found.keys_with_person == ("visit",), "the others are refuted by records further on"
    assert found.persons == 125
    assert found.to_json()["persons"] == 125


def test_parts_of_a_date_and_pairs_of_columns() -> None:
    n = 500
    table = pa.table({
        "DOB_DAY": RNG.integers(1, 32, n), "DOB_MON": RNG.integers(1, 13, n),
        "DOB_YEAR": RNG.integers(1930, 2010, n), "visit_year": RNG.integers(2018, 2022, n),
        "x_lat": RNG.normal(48, 0.1, n).round(5), "x_lon": RNG.normal(11, 0.1, n).round(5),
    })  # fmt: skip
    assert sf.profile(table).dates_in_parts == (("DOB_YEAR", "DOB_MON", "DOB_DAY"),)
    assert columns_of(table)["x_lat"].content is Content.COORDINATE
    guessed = sf.guess_schema(table).schema
    assert guessed.recipe["DOB"].parts == ("DOB_YEAR", "DOB_MON", "DOB_DAY")
    assert "DOB" in guessed.quasi_identifiers


def test_given_names_that_nobody_listed_go_with_the_sex() -> None:
    n = 800
    sex = RNG.integers(0, 2, n)
    stems = [f"Qx{'abcdefghij'[k]}r" for k in RNG.integers(0, 10, n)]
    names = [f"{stem}{'aeiou'[k % 2] * (1 + sex[k])}" for k, stem in enumerate(stems)]
    table = pa.table({
        "s": sex, "n": names,
        "t": RNG.choice([f"Ort{c}" for c in "abcdefghijklmnop"], n),
    })  # fmt: skip
    columns = columns_of(table)
    assert columns["n"].content is Content.GIVEN_NAME
    assert columns["t"].content is not Content.GIVEN_NAME


@pytest.mark.parametrize("seed", fast_first(1, [1, 4]))
def test_reports(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "messy.csv"
    made = messy_file(seed, persons=80)
    made.write(file)
    sf.report(sf.profile(file), tmp_path / "profile.html")
    page = (tmp_path / "profile.html").read_text(encoding="utf-8")
    assert all(name in page for name in made.columns)
    content = json.loads((tmp_path / "profile.json").read_text(encoding="utf-8"))
    assert content["files"][0]["person"] == made.person


def test_a_page_has_examples_only_where_asked_and_says_what_tells_each_other(
    tmp_path: Path,
) -> None:
    code = [n % 7 for n in range(400)]
    file = pa.table(
        {
            "code": code,
            "same": [f"c{each}" for each in code],
            "group": ["ab"[each < 3] for each in code],
        }
    )
    plain, shown = tmp_path / "plain.html", tmp_path / "shown.html"
    found = sf.profile(file)
    sf.report(found, plain)
    write_profiles([found.to_json(values=True)], shown)
    pages = [path.read_text(encoding="utf-8") for path in (plain, shown)]
    assert ["examples</th>" in page for page in pages] == [False, True]
    told = set(re.findall(r'row">(\w+)</th><td>(\w+)( \(and the reverse\))?</td>', pages[0]))
    assert {("code", "same", " (and the reverse)"), ("code", "group", "")} <= told


def test_a_parquet_file_gives_the_same_as_a_frame(tmp_path: Path) -> None:
    table = visits()
    pq.write_table(table, tmp_path / "t.parquet")
    one, other = sf.profile(table).to_json(), sf.profile(tmp_path / "t.parquet").to_json()
    assert one | {"file": ""} == other | {"file": ""}


def test_a_column_that_changes_for_some_people_is_not_constant() -> None:
    people = np.repeat(np.arange(300), 20)
    moved = (people % 5 == 0) & (np.arange(6000) % 20 == 19)
    towns = np.where(moved, "elsewhere", np.array(["Wien", "Graz", "Linz"])[people % 3])
    table = pa.table({
        "patient_id": [f"p{each:04d}" for each in people], "town": towns,
        "sex": np.array(["f", "m"])[people % 2], "day": np.arange(6000) % 977,
    })  # fmt: skip
    found = profile(table)
    assert found.person == "patient_id"
    assert found.changing_people["town"] == pytest.approx(0.2)
    said = found.to_json()
    assert said["constant_within_person"] == ["sex"]
    assert "town" in said["changing_within_person"]
    within = {row[0]: row[-1] for row in found.rows()}
    assert within["sex"] == "constant"
    assert "20" in within["town"]
