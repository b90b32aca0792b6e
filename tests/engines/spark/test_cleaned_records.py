"""The recipe on Spark reads, counts and refuses as on one machine."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf
from sfumato.engines.spark.spark_encoding import open_on_spark
from sfumato.engines.spark.spark_session import release
from sfumato.table.door import open_table

pytestmark = pytest.mark.slow

CANARY = "Canary7"
TIMES = 40
ROWS: dict[str, list[Any]] = {
    "patient": ["P1", "p1 ", "p2", "p3", "p3"],
    "visit": ["31.12.2020", "1.2.2021 ", "31.02.2020", None, "29.2.2000"],
    "weight": ["72,5", "-9", "1.072,5 kg", "", "80"],
    "sex": ["M", "w", "W", "m", None],
    "year": ["1980", "1980", "1980", "1992", "1992"],
    "month": ["2", "2", "12", "02", "2"],
    "day": ["29", "29", "31", "28", "28"],
    "dx": ["e11.9", "E10", "E11", "e11.0", "F3"],
    "note": ["a", " A", "b", "b", None],
}
DATA = pa.table({name: values * TIMES for name, values in ROWS.items()})
LINES: dict[str, Any] = {
    "patient": {"strip": True, "case": "lower"},
    "visit": {"date": "%d.%m.%Y", "unreadable": "missing"},
    "weight": {"decimal": ",", "thousands": ".", "unit": "kg", "missing": ["-9"]},
    "sex": {"case": "lower", "rename": {"w": "f"}},
    "dob": {"parts": ["year", "month", "day"]},
    "age": {"from": "dob", "at": "2021-12-31"},
    "dx": {"first": 3, "case": "upper"},
    "note": {"strip": True, "case": "upper"},
}


def schema_of(**lines: Any) -> sf.Schema:
    return sf.Schema(
        person="patient",
        quasi_identifiers=["visit", "weight", "sex", "age"],
        sensitive="dx",
        insensitive="note",
        recipe=LINES | lines,
    )


@pytest.mark.parametrize("kind", ["csv", "typed"])
def test_both_engines_read_and_count_the_same(kind: str, spark: Any, tmp_path: Path) -> None:
    data = DATA
    if kind == "typed":
        days = [dt.date(2020, 12, 31), None, None, None, dt.date(2000, 2, 29)] * TIMES
        years = pa.array([int(year) for year in ROWS["year"]] * TIMES)
        data = data.set_column(1, "visit", pa.array(days)).set_column(4, "year", years)
    there: Any = spark.createDataFrame(data)
    if kind == "csv":
        there = tmp_path / "visits.csv"
        pyarrow.csv.write_csv(data, there)
    here = open_table(data if kind != "csv" else there, schema_of())
    other = open_on_spark(there, schema_of(), keep_source=True)
    try:
        assert other.columns == here.columns
        assert other.preparation == here.preparation != ()
        assert other.warnings == here.warnings
        assert other.schema == here.schema
        assert other.persons == here.persons == 3
        for one, two in zip(here.quasi_identifiers, other.quasi_identifiers, strict=True):
            labels = [one.domain.label(code) for code in range(one.domain.size)]
            assert labels == [two.domain.label(code) for code in range(two.domain.size)]
        kept = other.frame.select("note").toArrow()["note"].to_pylist()
        assert sorted(kept, key=str) == sorted(here.source["note"].to_pylist(), key=str)
    finally:
        release(other.frame)


DAYS = [dt.date(1970, 1, 31), dt.date(2020, 2, 29), None, dt.date(1999, 12, 1)]
STEPS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "partial": (["31.12.2020", "02/1999", "?", "1.1.2001"],
                {"date": ["%d.%m.%Y", "%m/%Y"], "resolution": "month", "unreadable": "missing"}),
    "year_of": (["2020-12-31", "1999", None, "1-1"],
                {"date": ["%Y-%m-%d", "%Y"], "resolution": "year", "unreadable": "missing"}),
    "short": (["1.2.30", "1.2.29", "31.12.99", " "], {"date": "%d.%m.%y", "pivot": 1930}),
    "named": (["3 März 2020", "4 Mai 2021", "5 xyz 2020", "6 dic 2020"],
              {"date": "%d %b %Y", "unreadable": "missing"}),
    "moment": (["1.2.2020 07:30", "1.2.2020 23:59", None, "1.2.2020 24:00"],
               {"date": "%d.%m.%Y %H:%M", "unreadable": "missing"}),
    "excel": ([44927, 44928, None, 61], {"date": "days since 1899-12-30"}),
    "excel_time": ([44927.5, 44928.0, None, 61.999], {"date": "days since 1899-12-30"}),
    "mac": (["43465", "1.1.2023", "", "x"],
            {"date": ["days since 1904-01-01", "%d.%m.%Y"], "unreadable": "missing"}),
    "typed_day": (DAYS, {"date": "%Y-%m-%d", "resolution": "month"}),
    "plain_day": (["1970-01-31", "2020-02-29", None, "1999-12-01"], {"type": "date"}),
    "number": (["1", " 2.5 ", "-99", "1e3"], {"type": "number", "missing": ["-99"]}),
    "decimals": (["1,5", "2.5", "٣", "−4"], {"decimal": [",", "."]}),
    "thousand": (["1 234,5", "12", "1.5", "1 23"],
                 {"decimal": ",", "thousands": " ", "unreadable": "missing"}),
    "units": (["5 mg", "€ 7", "8 MG", "9"], {"unit": ["mg", "€"]}),
    "text": ([1.0, 2.5, None, 3.0], {"type": "text"}),
    "begins": ([12345, 6, None, 789], {"first": 2}),
    "spelt": (["  a\u00a0 b ", "A B", "ß", None],
              {"strip": True, "case": "upper", "rename": {"A B": "x"}}),
    "typed_missing": ([-9, 4, None, 5], {"missing": ["-9"]}),
    "y": (["1970", "2020", None, "99"], {}), "m": (["1", "feb", None, "12"], {}),
    "d": ([31, 29, None, 1], {}),
    "born": ([], {"parts": ["y", "m", "d"], "pivot": 1950}),
    "month_of": ([], {"parts": ["y", "m"], "pivot": 1950}),
    "age": ([], {"from": "born", "at": "2024-02-28"}),
    "months": ([], {"from": "born", "at": "typed_at", "unit": "months", "unreadable": "missing"}),
    "days": ([], {"from": "born", "at": "2024-02-28", "unit": "days"}),
    "typed_at": ([dt.date(2021, 1, 1), dt.date(2020, 2, 1), None, dt.date(2000, 1, 1)], {}),
}  # fmt: skip
"""Every step, with cells that it reads and cells that it does not: text and typed columns."""


def test_every_step_gives_on_spark_what_it_gives_on_one_machine(spark: Any) -> None:
    given = {name: values for name, (values, _) in STEPS.items() if values}
    data = pa.table({**given, "group": ["a", "a", "b", "b"]})
    schema = sf.Schema(
        quasi_identifiers="group",
        insensitive=list(STEPS),
        recipe={name: line for name, (_, line) in STEPS.items() if line},
    )
    here = open_table(data, schema)
    other = open_on_spark(spark.createDataFrame(data), schema, keep_source=True)
    try:
        assert {each.step for each in here.preparation} == {
            *("strip", "missing", "case", "rename", "first", "number", "date", "text", "parts"),
            "from",
        }
        assert other.preparation == here.preparation
        assert other.warnings == here.warnings
        kept = other.frame.select(*STEPS).toArrow()
        for name in STEPS:
            one, two = (sorted(map(str, t[name].to_pylist())) for t in (here.source, kept))
            assert one == two, name
            assert here.source[name].type == kept[name].type or pa.types.is_temporal(
                kept[name].type
            )
    finally:
        release(other.frame)


def test_what_cannot_be_read_is_refused_alike(spark: Any) -> None:
    data = DATA.set_column(1, "visit", pa.array([*ROWS["visit"][1:], CANARY] * TIMES))
    schema = schema_of(visit={"date": "%d.%m.%Y"})
    said = []
    for opened, given in ((open_table, data), (open_on_spark, spark.createDataFrame(data))):
        with pytest.raises(sf.InputError) as found:
            opened(given, schema)
        said.append(str(found.value).replace(" (the first in row 2)", ""))
    assert said[0] == said[1]
    assert "no date of the calendar in 40 records, numbers with other text" in said[0]
    assert CANARY not in said[0]


def test_a_release_hands_on_what_was_read_and_no_source_of_the_recipe(spark: Any) -> None:
    frame = spark.createDataFrame(DATA)
    there = sf.anonymize(frame, schema_of(), sf.KAnonymity(2), seed=3, engine="spark")
    here = sf.anonymize(DATA, schema_of(), sf.KAnonymity(2), seed=3, ends="tight")
    assert there.columns == here.columns
    assert not set(there.columns) & {"year", "month", "day", "dob"}
    assert there.manifest.preparation == here.manifest.preparation
    assert there.codebook() == here.codebook()
    assert there.risk_before.to_json()["recipe"] == here.risk_before.to_json()["recipe"]
    release(there.data)
