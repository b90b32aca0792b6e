"""A project from tables and a file of pairs: what is recognised, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

from sfumato.core.errors import InputError
from sfumato.examples import generate_clinics, generate_registrations
from sfumato.review.review_project import load_project, write_project
from sfumato.review.review_settings import Attribute, AttributeKind, DateOrder, NamePart
from sfumato.review.review_sources import from_tables, proposed_attributes

PAIRS = "source_l,id_l,source_r,id_r\na,1,b,12\na,2,b,11\na,1,a,2\n"
A = """\
ID,Given Name,Surname,DOB,ZIP,diagnosis,notes
1,Ann,Smith,1980-02-03,02110,x,n
2,,Lee,,,y,n
"""
B = """\
id,given_name,SURNAME,dob,zip,cost
11,Anne,Smith,1980-03-02,02110,1
12,Bo,Li,1999-01-01,02111,2
"""
NAMES = ("Given Name", "Surname", "DOB", "ZIP")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Two tables and a file of pairs."""
    for name, text in (("a", A), ("b", B), ("pairs", PAIRS)):
        (tmp_path / f"{name}.csv").write_text(text)
    return {name: tmp_path / f"{name}.csv" for name in ("a", "b")}


def test_two_files_and_a_file_of_pairs(files: dict[str, Path], tmp_path: Path) -> None:
    """Headers that differ in case and spaces are one; what tells no person is left out."""
    project = from_tables(files, tmp_path / "pairs.csv")
    assert project.records.column_names == ["source", "id", *NAMES]
    assert project.records.to_pylist()[1] == {
        "source": "a",
        "id": "2",
        "Given Name": None,
        "Surname": "Lee",
        "DOB": None,
        "ZIP": None,
    }
    assert project.pairs.to_pylist() == [
        {"pair": "p1", "left": 0, "right": 3},
        {"pair": "p2", "left": 1, "right": 2},
        {"pair": "p3", "left": 0, "right": 1},
    ]
    assert [each.name_part for each in project.attributes] == [
        NamePart.GIVEN,
        NamePart.FAMILY,
        None,
        None,
    ]
    assert all(len(each) == 64 for each in project.fingerprints.values())
    again = load_project(write_project(project, tmp_path / "project"))
    assert again.records.equals(project.records)
    assert again.attributes == project.attributes


def test_pairs_with_ids_of_their_own_and_dataframes(files: dict[str, Path]) -> None:
    """Such as the pairs of a linkage."""
    tables = {name: csv.read_csv(path) for name, path in files.items()}
    given = {"pair": ["p7"], "source_l": ["b"], "id_l": [11], "source_r": ["a"], "id_r": [1]}
    project = from_tables(tables, pa.table(given))
    assert project.pairs.to_pylist() == [{"pair": "p7", "left": 2, "right": 0}]
    assert project.fingerprints == {"a": "", "b": ""}
    gold = pa.table({**given, "pair": ["x"], "same": ["yes"]})
    assert from_tables(tables, pa.table(given), gold=gold).gold == {"p7": True}


def test_row_by_row_without_pairs(files: dict[str, Path], tmp_path: Path) -> None:
    """The first of one with the first of the other; tables of other lengths are refused."""
    project = from_tables(files)
    assert project.pairs.to_pylist()[1] == {"pair": "p2", "left": 1, "right": 3}
    longer = tmp_path / "longer.csv"
    longer.write_text(B + "13,Cy,Oh,1999-01-01,02111,2\n")
    with pytest.raises(InputError, match="must have pairs to review"):
        from_tables({"a": files["a"], "b": longer})


def test_kinds_of_generated_registrations() -> None:
    """By names and values alone."""
    registrations = generate_registrations(generate_clinics(200, rng=4))
    tables = {"hospital": registrations.hospital, "practice": registrations.practice}
    first = {
        "source_l": ["hospital"],
        "id_l": [registrations.hospital["patient"][0].as_py()],
        "source_r": ["practice"],
        "id_r": [registrations.practice["patient"][0].as_py()],
    }
    project = from_tables(tables, pa.table(first), id_column="patient")
    assert {each.name: each.kind for each in project.attributes} == {
        "given_name": AttributeKind.VARIABLE,
        "surname": AttributeKind.VARIABLE,
        "date_of_birth": AttributeKind.DATE,
        "sex": AttributeKind.CATEGORY,
        "zip": AttributeKind.FIXED,
        "phone": AttributeKind.FIXED,
    }


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["1980-01-31", "1981-02-03"], DateOrder.YEAR_MONTH_DAY),
        (["19800131", "19810203"], DateOrder.YEAR_MONTH_DAY),
        (["31/01/1980", "03.02.1981"], DateOrder.DAY_MONTH_YEAR),
        (["01/31/1980", "02/03/1981"], DateOrder.MONTH_DAY_YEAR),
        (["01/02/1980", "02/03/1981"], DateOrder.DAY_MONTH_YEAR),
    ],
)
def test_the_order_of_dates(values: list[str], order: DateOrder) -> None:
    """As most of them say."""
    table = pa.table({"born": pa.array(values, pa.large_string())})
    (found,) = proposed_attributes(table, ("born",))
    assert (found.kind, found.date_order) == (AttributeKind.DATE, order)


def test_columns_that_say_nothing() -> None:
    """No value, few values, codes of one length, a second given name."""
    count = 200
    columns = {
        "first": [f"n{n}x" for n in range(count)],
        "middle_fname": [f"m{n}" for n in range(count)],
        "last": [f"f{n}" for n in range(count)],
        "empty_address": [None] * count,
        "ward": ["ab"[n % 2] for n in range(count)],
        "card": [f"{n:06}" for n in range(count)],
    }
    table = pa.table({name: pa.array(v, pa.large_string()) for name, v in columns.items()})
    found = proposed_attributes(table, tuple(columns))
    assert [each.kind.name for each in found] == [
        *["VARIABLE"] * 4,
        "CATEGORY",
        "FIXED",
    ]
    parts = [each.name_part for each in found]
    assert parts == [NamePart.GIVEN, None, NamePart.FAMILY, None, None, None]
    assert [each.rarity for each in found] == [part is not None for part in parts]


SURNAME = Attribute(name="surname", kind=AttributeKind.VARIABLE)


@pytest.mark.parametrize(
    ("a", "pairs", "options", "match"),
    [
        (A.replace("2,,", "1,,"), PAIRS, {"id_column": "id"}, "earlier row in row 2"),
        (A.replace("2,,", ",,"), PAIRS, {"id_column": "id"}, "none in row 2"),
        (A.replace("2,,", "1,,").replace("ID", "file_no"), PAIRS, {}, "unknown record in row 1"),
        (A, PAIRS, {"id_column": "key"}, "'key' must be a column of source a"),
        (A, PAIRS.replace("a,2,b,11", "a,SECRET,b,11"), {}, "unknown record in row 2"),
        (A, PAIRS.replace("a,2,b,11", "SECRET,2,b,11"), {}, "unknown record in row 2"),
        (A, PAIRS.replace("a,2,b,11", "a,2,b,"), {}, "unknown record in row 2"),
        (A, PAIRS.replace("id_r", "other"), {}, "one column 'id_r'"),
        (A, PAIRS.replace("a,1,a,2", "a,1,a,1"), {}, "a record with itself in row 3"),
        (A, PAIRS.replace("a,1,a,2", "b,12,a,1"), {}, "an earlier pair again in row 3"),
        (A, "pair,source_l,id_l,source_r,id_r\ng1,a,1,b,12\n", {}, "g first, in row 1"),
        (A.replace("Surname", "Town"), PAIRS, {"attributes": [SURNAME]}, "column of source a"),
        (A, PAIRS, {"attributes": [SURNAME, SURNAME]}, "must be there once"),
        (A, PAIRS, {"attributes": []}, "must have an attribute"),
        ("id,x\n1,SECRET\n2,SECRET\n", PAIRS, {}, "columns in common"),
        (A.replace("DOB", "given-name"), PAIRS, {}, "headers that differ in letters"),
    ],
)
def test_what_is_refused(
    files: dict[str, Path],
    tmp_path: Path,
    a: str,
    pairs: str,
    options: dict[str, object],
    match: str,
) -> None:
    """By column and row, never by value."""
    files["a"].write_text(a)
    (tmp_path / "pairs.csv").write_text(pairs)
    with pytest.raises(InputError, match=match) as caught:
        from_tables(files, tmp_path / "pairs.csv", **options)  # type: ignore[arg-type]
    assert "SECRET" not in str(caught.value)
    assert "Smith" not in str(caught.value)


def test_an_id_that_pairs_share(files: dict[str, Path]) -> None:
    """Ids of pairs differ."""
    rows = {"pair": ["x", "x"], "source_l": ["a", "a"], "id_l": ["1", "2"]}
    pairs = pa.table({**rows, "source_r": ["b", "b"], "id_r": ["11", "12"]})
    with pytest.raises(InputError, match="an earlier pair's id again in row 2"):
        from_tables(files, pairs)
