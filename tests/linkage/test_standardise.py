"""Standardisation: one spelling for each value, by kind, and dates that are none."""

import datetime as dt

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from few_cases import fast_first
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.linkage.link_spec import ColumnKind, LinkSpec
from sfumato.linkage.standardisation import (
    date_sql,
    day_first_sql,
    given_in_full_sql,
    standardise,
    standardised_sql,
    surname_in_full_sql,
)


def evaluate(sql, value):
    return duckdb.execute(
        f"SELECT {sql} FROM (SELECT CAST($1 AS VARCHAR) AS x)", [value]
    ).fetchall()[0][0]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (ColumnKind.GIVEN_NAME, "Dr. Anne-Marie", "anne marie"),
        (ColumnKind.GIVEN_NAME, "  JOSÉ ", "jose"),
        (ColumnKind.GIVEN_NAME, "Mr Mr. bob", "bob"),
        (ColumnKind.GIVEN_NAME, "Łukasz", "lukasz"),
        (ColumnKind.GIVEN_NAME, "Mrs", "mrs"),
        (ColumnKind.GIVEN_NAME, "12", None),
        (ColumnKind.SURNAME, "O'Brien, Jr.", "obrien"),
        (ColumnKind.SURNAME, "Smith III", "smith"),
        (ColumnKind.SURNAME, "Müller-Weiß", "muller weiss"),
        (ColumnKind.SURNAME, None, None),
        (ColumnKind.FULL_NAME, "Smith, Dr John", "john smith"),
        (ColumnKind.FULL_NAME, "Mr John Q. Smith, PhD", "john q smith"),
        (ColumnKind.FULL_NAME, "Smith, Jr.", "smith"),
        (ColumnKind.POSTCODE, "sw1a 1aa", "SW1A1AA"),
        (ColumnKind.POSTCODE, "02139-1234", "2139"),
        (ColumnKind.POSTCODE, "2139.0", "2139"),
        (ColumnKind.PHONE, "+44 20 7946 0018", "079460018"),
        (ColumnKind.PHONE, "020 7946 0018", "079460018"),
        (ColumnKind.PHONE, "000000000", None),
        (ColumnKind.PHONE, "123", None),
        (ColumnKind.IDENTIFIER, "000-12-3456", "123456"),
        (ColumnKind.IDENTIFIER, "ab 123", "AB123"),
        (ColumnKind.IDENTIFIER, "999 999 999", None),
        (ColumnKind.EMAIL, " Bob@X.org", "bob@x.org"),
        (ColumnKind.EMAIL, "none", None),
        (ColumnKind.ADDRESS, "12, High Street", "12 high st"),
        (ColumnKind.ADDRESS, "St. Mary's Road", "st marys rd"),
        (ColumnKind.CATEGORY, "Female", "f"),
        (ColumnKind.CATEGORY, " F. ", "f"),
        (ColumnKind.CATEGORY, "NSW", "nsw"),
        (ColumnKind.NUMBER, "007.0", "7"),
        (ColumnKind.NUMBER, "12 A", "12a"),
    ],
)
def test_one_spelling(kind, value, expected):
    assert evaluate(standardised_sql(kind, "x"), value) == expected


@pytest.mark.parametrize(
    "kind", fast_first(4, [kind for kind in ColumnKind if kind is not ColumnKind.DATE])
)
@given(text=st.text(max_size=20).filter(lambda text: "\0" not in text))
def test_what_is_standardised_stays(kind, text):
    once = evaluate(standardised_sql(kind, "x"), text)
    assert once != ""
    if kind not in {ColumnKind.SURNAME, ColumnKind.FULL_NAME, ColumnKind.PHONE}:
        return
    assert once is None or evaluate(standardised_sql(kind, "x"), once) == once


SPELLINGS = ("%Y-%m-%d", "%Y%m%d", "%d/%m/%Y", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y", "%Y/%m/%d")


@pytest.mark.slow
@given(
    day=st.dates(dt.date(1850, 1, 1), dt.date(2099, 12, 31)),
    spelling=st.sampled_from(SPELLINGS),
    time=st.sampled_from(["", " 00:00:00", "T12:30:00Z"]),
)
def test_dates_in_many_spellings(day, spelling, time):
    text = day.strftime(spelling) + time
    assert evaluate(date_sql("x", day_first=True), text) == day.isoformat()


@pytest.mark.parametrize(
    ("text", "expected"),
    fast_first(
        6,
        [
            ("4/3/1980", "1980-04-03"),
            ("13/3/1980", "1980-03-13"),
            ("04.03.80", "1980-04-03"),
            ("1/2/29", "2029-01-02"),
            ("04-MAR-80", "1980-03-04"),
            ("4th march 1980", "1980-03-04"),
            ("1980-02-30", "1980-02-30"),
            ("31.2.1980", "1980-02-31"),
            ("19560449", "1956-04-49"),
            ("1956-13-32", "1956-13-32"),
            ("1980-00-00", None),
            ("1980-99-99", None),
            ("9999-12-32", None),
            ("0000-00-00", None),
            ("4 foo 1980", None),
            ("soon", None),
            (None, None),
        ],
        tuples=True,
    ),
)
def test_dates_with_the_month_first(text, expected):
    assert evaluate(date_sql("x", day_first=False), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("13/2/80", 1),
        ("2/13/1980", -1),
        ("2/3/1980", 0),
        ("1980-13-02", None),
        ("13021980", 1),
        ("02131980", -1),
        ("02031980", 0),
        ("19800213", None),
    ],
)
def test_which_stands_first(text, expected):
    assert evaluate(day_first_sql("x"), text) == expected


def test_full_names_are_taken_apart():
    assert evaluate(given_in_full_sql("x"), "anna maria smith") == "anna maria"
    assert evaluate(surname_in_full_sql("x"), "anna maria smith") == "smith"
    assert evaluate(given_in_full_sql("x"), "cher") is None
    assert evaluate(surname_in_full_sql("x"), "cher") == "cher"


def standardised(tmp_path, columns, halves, **fields):
    paths = []
    for number, half in enumerate(halves):
        size = len(next(iter(half.values())))
        texts = {name: pa.array(values, pa.large_string()) for name, values in half.items()}
        paths.append(tmp_path / f"{number}.parquet")
        pq.write_table(pa.table({"record": range(size), **texts}), paths[-1])
    spec = LinkSpec(columns=columns, blocking=[next(iter(columns))], **fields)
    connection = duckdb.connect()
    made = standardise(connection, paths, spec)
    return made, [connection.table(name).to_arrow_table().to_pydict() for name in made.tables]


def test_each_source_has_its_own_order_of_day_and_month(tmp_path):
    halves = [{"dob": ["03/04/1980", "13/04/1980"]}, {"dob": ["03/04/1980", "04/13/1980", "x"]}]
    made, tables = standardised(tmp_path, {"dob": "date"}, halves)
    assert tables[0]["dob"] == ["1980-04-03", "1980-04-13"]
    assert tables[1]["dob"] == ["1980-03-04", "1980-04-13", None]
    assert made.impossible == {"dob": 1}
    given_order = {"dob": {"kind": "date", "day_first": False}}
    assert standardised(tmp_path, given_order, halves)[1][0]["dob"][0] == "1980-03-04"


def test_nicknames_and_columns_that_a_source_lacks(tmp_path):
    nicknames = tmp_path / "nicknames.csv"
    nicknames.write_text("Bob,Robert\n\nBill,William\n")
    columns = {"name": "full name", "city": "address"}
    halves = [{"name": ["Bob Smith", "Robert Smith"]}, {"name": ["Ann Lee"], "city": ["Ayr"]}]
    made, tables = standardised(tmp_path, columns, halves, nicknames=nicknames)
    assert made.formal
    assert tables[0]["name_given_formal"] == ["robert", "robert"]
    assert tables[0]["name_surname"] == ["smith", "smith"]
    assert tables[0]["city"] == [None, None]
    assert tables[1]["city"] == ["ayr"]
    assert list(tables[0]) == list(tables[1])


@pytest.mark.parametrize("content", [b"canary", b"a,b,canary", b"\xff,canary"])
def test_tables_of_nicknames_that_are_none(tmp_path, content):
    nicknames = tmp_path / "nicknames.csv"
    nicknames.write_bytes(content)
    with pytest.raises(InputError, match=r"nicknames\.csv") as caught:
        standardised(tmp_path, {"n": "given name"}, [{"n": ["a"]}], nicknames=nicknames)
    assert "canary" not in str(caught.value)
