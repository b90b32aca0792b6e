"""The recipe at the door: every kind of data in, the same columns out, each step counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import cleaning as oracle

import sfumato as sf
from sfumato.release.release_manifest import load_manifest
from sfumato.table.classification import open_classified
from sfumato.table.door import open_table
from sfumato.table.preparation import prepared
from sfumato.table.table import CodedColumn
from sfumato.table.table_files import open_source

CANARY = "kanarienvogel"
VISITS: dict[str, list[Any]] = {
    "patient": ["P1", "p1", " p2", "p3", "p3"],
    "visit": ["31.12.2020", "1.2.2021", "31.12.2020", None, "29.2.2000"],
    "weight": ["72,5", "-9", "1.072,5 kg", "99,0", "80"],
    "sex": ["M", "w", "W", "m", None],
    "year": ["1980", "1980", "1980", "1992", "1992"],
    "month": ["2", "2", "12", "02", "2"],
    "day": ["29", "29", "31", "28", "28"],
    "dx": ["e11.9", "E10", "E11", "e11.0", "F3"],
}
LINES: dict[str, Any] = {
    "patient": {"strip": True, "case": "lower"},
    "visit": {"date": "%d.%m.%Y"},
    "weight": {"decimal": ",", "thousands": ".", "unit": "kg", "missing": ["-9", "99"]},
    "sex": {"case": "lower", "rename": {"w": "f"}},
    "dob": {"parts": ["year", "month", "day"]},
    "age": {"from": "dob", "at": "visit", "unit": "years"},
    "dx": {"case": "upper", "first": 3},
}
SCHEMA = sf.Schema(
    person="patient",
    quasi_identifiers=["visit", "weight", "sex", "age"],
    sensitive="dx",
    recipe=LINES,
)
CLEAN = {
    "visit": ["2020-12-31", "2021-02-01", "2020-12-31", None, "2000-02-29"],
    "weight": ["72.5", None, "1072.5", None, "80.0"],
    "sex": ["m", "f", "f", "m", None],
    "age": ["40", "40", "40", None, "8"],
    "dx": ["E11", "E10", "E11", "E11", "F3"],
}
COUNTS = {
    ("patient", "strip"): (1, 0), ("patient", "case"): (1, 0), ("visit", "date"): (4, 0),
    ("weight", "missing"): (0, 2), ("weight", "number"): (2, 0), ("sex", "case"): (2, 0),
    ("sex", "rename"): (2, 0), ("dob", "parts"): (5, 0), ("age", "from"): (4, 0),
    ("dx", "case"): (2, 0), ("dx", "first"): (2, 0),
}  # fmt: skip


def cells(column: CodedColumn) -> list[str | None]:
    return [None if code < 0 else column.domain.label(code) for code in column.codes]


def csv_file(folder: Path) -> Path:
    pd.DataFrame(VISITS).to_csv(folder / "visits.csv", index=False)
    return folder / "visits.csv"


def parquet_file(folder: Path) -> Path:
    pyarrow.parquet.write_table(pa.table(VISITS), folder / "visits.parquet")
    return folder / "visits.parquet"


def excel_file(folder: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(VISITS))
    for row in zip(*VISITS.values(), strict=True):
        book.active.append(row)
    book.save(folder / "visits.xlsx")
    return folder / "visits.xlsx"


def stata_file(folder: Path) -> Path:
    pyreadstat.write_dta(pd.DataFrame(VISITS).fillna(""), folder / "visits.dta")
    return folder / "visits.dta"


def typed_numbers(folder: Path) -> pd.DataFrame:
    frame = pd.DataFrame(VISITS).astype({"year": int, "month": float, "day": "Int16"})
    return frame.astype({"sex": "category", "dx": "category"})


KINDS: list[Callable[[Path], Any]] = [
    csv_file, parquet_file, excel_file, stata_file, typed_numbers,
    lambda _: pl.DataFrame(VISITS).lazy(),
    lambda _: duckdb.from_arrow(pa.table(VISITS), connection=duckdb.connect()),
    lambda _: pa.table({n: pa.array(v).dictionary_encode() for n, v in VISITS.items()}),
]  # fmt: skip


@pytest.mark.parametrize("made", KINDS)
def test_every_kind_of_data_reads_the_same(made: Callable[[Path], Any], tmp_path: Path) -> None:
    table = open_table(made(tmp_path), SCHEMA)
    assert {
        each.name: cells(each) for each in (*table.quasi_identifiers, *table.sensitive)
    } == CLEAN
    assert table.person.tolist() == [0, 0, 1, 2, 2]
    assert {
        (each.column, each.step): (each.changed, each.made_missing) for each in table.preparation
    } == COUNTS
    assert table.columns == (*VISITS, "dob", "age")
    assert set(table.source.column_names) == {"patient", "dx"}


def test_typed_columns_are_left_as_they_are() -> None:
    days = pa.array([None if each is None else date.fromisoformat(each) for each in CLEAN["visit"]])
    weights = pa.array([None if each is None else float(each) for each in CLEAN["weight"]])
    typed = pa.table(VISITS | {"visit": days, "weight": weights})
    table = open_table(typed, SCHEMA)
    assert {
        each.name: cells(each) for each in (*table.quasi_identifiers, *table.sensitive)
    } == CLEAN
    counts = {(each.column, each.step): each for each in table.preparation}
    assert counts["visit", "date"].changed == counts["weight", "number"].changed == 0


def test_batches_are_counted_together(tmp_path: Path) -> None:
    records = 300_000
    frame = pa.table({"a": ["1,5", "x", None] * (records // 3), "b": ["u"] * records})
    schema = sf.Schema(
        quasi_identifiers="b",
        sensitive="a",
        recipe={"a": {"decimal": ",", "unreadable": "missing"}},
    )
    table = open_table(frame, schema)
    (count,) = table.preparation
    assert (count.changed, count.made_missing) == (records // 3, records // 3)
    assert table.sensitive[0].domain.size == 1


DAYS = st.dates(date(1899, 1, 1), date(2101, 1, 1))


@given(pairs=st.lists(st.tuples(DAYS, st.integers(0, 1500)), min_size=1, max_size=5))
def test_ages_and_months_between_days(pairs: list[tuple[date, int]]) -> None:
    born = [born for born, _ in pairs]
    at = [born + timedelta(days=later) for born, later in pairs]
    source = open_source(pa.table({"dob": born, "at": at}))
    lines = {
        unit: {"from": "dob", "at": "at", "unit": unit} for unit in ("years", "months", "days")
    }
    ready = prepared(source, sf.Schema(quasi_identifiers="dob", recipe=lines))
    found = pa.Table.from_batches(ready.batches(list(lines))).to_pydict()
    assert found["years"] == [oracle.age(a, b) for a, b in zip(born, at, strict=True)]
    assert found["months"] == [oracle.months(a, b) for a, b in zip(born, at, strict=True)]
    assert found["days"] == [later for _, later in pairs]


@pytest.mark.parametrize(
    ("born", "at", "years"),
    [
        ("2000-05-01", "2020-05-01", 20),
        ("2000-05-01", "2020-04-30", 19),
        ("2000-02-29", "2001-02-28", 0),
        ("2000-02-29", "2001-03-01", 1),
        ("2000-02-29", "2004-02-29", 4),
        ("2000-02-29", "2004-02-28", 3),
    ],
)
def test_a_birthday_counts_on_its_day(born: str, at: str, years: int) -> None:
    schema = sf.Schema(quasi_identifiers="age", recipe={"age": {"from": "dob", "at": at}})
    assert cells(open_table(pa.table({"dob": [born]}), schema).quasi_identifiers[0]) == [str(years)]


def refusal(data: dict[str, list[Any]], recipe: dict[str, Any], **roles: Any) -> sf.InputError:
    schema = sf.Schema(quasi_identifiers="b", recipe=recipe, **roles)
    with pytest.raises(sf.InputError) as found:
        open_table(pa.table({"b": ["1"] * len(next(iter(data.values())))} | data), schema)
    assert CANARY not in str(found.value)
    return found.value


def refused(data: dict[str, list[Any]], recipe: dict[str, Any], **roles: Any) -> str:
    return str(refusal(data, recipe, **roles))


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def test_what_cannot_be_read_is_an_error_with_counts() -> None:
    said = refusal({"a": ["1,5", CANARY, "<5", CANARY]}, {"a": {"decimal": ","}}, sensitive="a")
    assert said.subject == "column 'a' of dataframe"
    assert "[recipe]" in said.rule
    # Other text in two records, a sign before a number in one, the first of them in row 2.
    assert numbers(said.found) == [2, 1, 2]
    assert " < " in said.found
    assert 'unreadable = "missing"' in str(said)


@pytest.mark.parametrize(
    ("day", "kind"), [(["3", None], "some of its parts missing"), (["3", "31"], "no date of the")]
)
def test_parts_that_make_no_date(day: list[str | None], kind: str) -> None:
    data = {"y": ["2001", "2001"], "m": ["2", "2"], "d": day}
    line: dict[str, Any] = {"parts": ["y", "m", "d"]}
    said = refusal(data, {"dob": line}, sensitive="dob")
    assert kind in said.found
    assert numbers(said.found) == [1, 2]
    schema = sf.Schema(quasi_identifiers="dob", recipe={"dob": line | {"unreadable": "missing"}})
    table = open_table(pa.table(data), schema)
    assert cells(table.quasi_identifiers[0]) == ["2001-02-03", None]
    assert [(each.changed, each.made_missing) for each in table.preparation] == [(1, 1)]


def test_parts_may_be_names_of_months_and_years_of_two_digits() -> None:
    data = {"y": ["99", "2001", None], "m": ["Feb", "3", None]}
    recipe = {"dob": {"parts": ["y", "m"], "pivot": 1930}}
    table = open_table(pa.table(data), sf.Schema(quasi_identifiers="dob", recipe=recipe))
    assert cells(table.quasi_identifiers[0]) == ["1999-02-01", "2001-03-01", None]


def test_time_that_runs_backwards_or_from_no_date_is_refused() -> None:
    line = {"age": {"from": "dob", "at": "2000-01-01", "unit": "days"}}
    said = refusal({"dob": ["2000-01-02", CANARY]}, line, sensitive="age")
    assert "'at'" in said.found
    assert numbers(said.found)[:2] == [1, 1]


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"c": {"case": "lower"}}, "must have the column 'c', which the recipe cleans"),
        ({"d": {"parts": ["a", "c"]}}, "must have the column 'c', of which the recipe makes 'd'"),
        ({"a": {"parts": ["b", "c"]}}, "must have a name of its own"),
    ],
)
def test_columns_that_are_not_there(recipe: dict[str, Any], said: str) -> None:
    assert said in refused({"a": ["x"]}, recipe)


def test_bytes_and_texts_that_are_not_utf8_are_refused_without_their_values() -> None:
    broken = pa.array([CANARY.encode() + b"\xff"]).view(pa.string())
    for values, said in ((broken, "must hold text in UTF-8"), (pa.array([b"x"]), "found bytes")):
        for recipe in ({"a": {"case": "lower"}}, {"c": {"parts": ["a", "b"]}}):
            assert said in refused({"a": values}, recipe, sensitive=list(recipe))


def test_a_prepared_source_is_not_prepared_again() -> None:
    ready = prepared(open_source(pa.table({"a": ["1.2.2020"], "b": ["x"]})), SCHEMA_OF_DAYS)
    assert prepared(ready, SCHEMA_OF_DAYS) is ready
    assert cells(open_table(ready, SCHEMA_OF_DAYS).quasi_identifiers[0]) == ["2020-02-01"]


SCHEMA_OF_DAYS = sf.Schema(
    quasi_identifiers="a", insensitive="b", recipe={"a": {"date": "%d.%m.%Y"}}
)


def test_sources_of_the_recipe_are_no_unclassified_columns_and_never_released() -> None:
    release = sf.anonymize(pa.table(VISITS), SCHEMA, sf.KAnonymity(1), seed=1)
    assert release.columns == ("patient", "visit", "weight", "sex", "dx", "age")
    own = sf.Schema(
        **{**SCHEMA.model_dump(exclude={"recipe"}), "insensitive": "year", "recipe": LINES}
    )
    assert "year" in sf.anonymize(pa.table(VISITS), own, sf.KAnonymity(1), seed=1).columns


def test_a_derived_column_without_a_role_stops_a_release() -> None:
    recipe = LINES | {"height": {"from": "dob", "at": "2025-12-31"}}
    schema = sf.Schema(**{**SCHEMA.model_dump(exclude={"recipe"}), "recipe": recipe})
    with pytest.raises(sf.InputError, match="column 'height' of dataframe must be classified"):
        open_classified(pa.table(VISITS), schema)


def test_each_step_is_stated_in_results_reports_and_manifest(tmp_path: Path) -> None:
    lines = LINES | {"visit": {"date": ["%d.%m.%Y"], "unreadable": "missing"}}
    schema = sf.Schema(**{**SCHEMA.model_dump(exclude={"recipe"}), "recipe": lines})
    data = pa.table(VISITS | {"visit": [CANARY, *VISITS["visit"][1:]]})
    risk = sf.assess(data, schema)
    steps = {each["name"]: each for each in risk.to_json()["recipe"] if each["step"] == "date"}
    assert steps["visit"] | {"what": ""} == {
        "name": "visit", "step": "date", "what": "", "changed": 3, "made_missing": 1
    }  # fmt: skip
    assert re.search(r"^Recipe: .+\n  patient", str(risk), re.MULTILINE)
    assert [numbers(each) for each in risk.warnings if "'visit'" in each and "recipe" in each] == [
        [1]
    ]
    release = sf.anonymize(data, schema, sf.KAnonymity(1), seed=1)
    release.write(tmp_path / "release.csv")
    manifest = load_manifest(tmp_path / "release.toml")
    assert manifest.preparation == release.manifest.preparation != ()
    for result, name in ((risk, "risk.html"), (release, "release.html")):
        sf.report(result, tmp_path / name)
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert "%d.%m.%Y" in page
        assert "completed years from" in page
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert CANARY not in written + str(risk) + str(release.to_json())


def test_numbers_in_the_place_of_dates_are_told_how_excel_made_them() -> None:
    data = pa.table({"day": ["44927", "1.2.2023"], "sex": ["f", "m"]})
    schema = sf.Schema(quasi_identifiers=["day", "sex"], recipe={"day": {"date": "%d.%m.%Y"}})
    with pytest.raises(sf.InputError, match=r"numbers in 1 record .*days since 1899-12-30"):
        sf.assess(data, schema)
