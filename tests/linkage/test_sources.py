"""Sources: two halves from the first step on, what is refused, nothing left behind."""

import stat
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.core.errors import InputError
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.link_spec import LinkSpec
from sfumato.schema import Schema

COLUMNS = {"surname": "surname", "dob": "date"}


def spec_with(**fields):
    return LinkSpec(**{"columns": COLUMNS, "blocking": ["surname"], **fields})


def one():
    return pa.table(
        {
            "id": ["x1", "x2", "x3"],
            " Sur-Name": ["Smith", " Jones ", ""],
            "DOB": [date(1980, 3, 4), None, date(1990, 1, 1)],
            "phone": ["1", "2", "3"],
            "diagnosis": ["canary1", "canary2", "canary3"],
        }
    )


def two():
    return pa.table({"id": [1, 2], "family": ["Smith", "Lee"], "dob": ["19800304", "1990"]})


def opened(tmp_path, tables=None, schema=None, **fields):
    fields = {
        "id": "id",
        "columns": {"sur_name": "surname", "dob": "date"},
        "blocking": ["sur_name"],
        "rename": {"two": {"sur_name": "family"}},
        **fields,
    }
    tables = {"one": one(), "two": two()} if tables is None else tables
    return open_sources(tables, LinkSpec(**fields), schema=schema, folder=tmp_path)


def test_the_halves(tmp_path):
    with opened(tmp_path) as tables:
        identifying = [pq.read_table(path).to_pydict() for path in tables.identifying]
        analytic = [pq.read_table(path).to_pydict() for path in tables.analytic]
        assert stat.S_IMODE(tables.workspace.path.stat().st_mode) == 0o700
        everything = [p.read_bytes() for p in tables.identifying]
    assert identifying[0] == {
        "record": [0, 1, 2],
        "sur_name": ["Smith", "Jones", None],
        "dob": ["1980-03-04", None, "1990-01-01"],
        "phone": ["1", "2", "3"],
    }
    assert identifying[1] == {
        "record": [3, 4],
        "sur_name": ["Smith", "Lee"],
        "dob": ["19800304", "1990"],
    }
    assert analytic[0] == {"record": [0, 1, 2], "diagnosis": ["canary1", "canary2", "canary3"]}
    assert analytic[1] == {"record": [3, 4]}
    assert not any(b"canary" in half for half in everything)
    assert tables.records.sources == ("one", "two")
    assert [ids.to_pylist() for ids in tables.records.ids] == [["x1", "x2", "x3"], ["1", "2"]]
    assert list(tmp_path.rglob("*.parquet")) == []


def test_a_schema_says_what_is_analytic(tmp_path):
    schema = Schema(quasi_identifiers=["dob"], sensitive=["diagnosis"], insensitive=["phone"])
    with opened(tmp_path, schema=schema) as tables:
        assert pq.read_schema(tables.analytic[0]).names == ["record", "phone", "diagnosis"]
    schema = Schema(quasi_identifiers=["dob"], sensitive=["Sur Name"])
    with pytest.raises(InputError, match="must not be compared"):
        opened(tmp_path, schema=schema)
    assert list(tmp_path.rglob("*.parquet")) == []


def test_records_are_numbered_without_an_id(tmp_path):
    with opened(tmp_path, id=None) as tables:
        assert [ids.to_pylist() for ids in tables.records.ids] == [["1", "2", "3"], ["1", "2"]]
        assert "id" in pq.read_schema(tables.analytic[0]).names


def replaced(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (lambda t: replaced(t, "id", ["canary", "canary", "x"]), r"'id' of source one .* 1 and 2"),
        (lambda t: replaced(t, "id", ["x", None, "canary"]), r"without an id, such as row 2"),
        (lambda t: replaced(t, "DOB", [None, None, " "]), r"'dob' .* no value in source one"),
        (lambda t: t.drop_columns(["DOB"]), r"'dob' .* no such column in source one"),
        (lambda t: t.drop_columns(["id"]), r"'id' must be a column of source one"),
        (lambda t: replaced(t, " Sur-Name", ["x", "canaryÃ©", "y"]), r"one encoding.* row 2"),
        (lambda t: replaced(t, " Sur-Name", ["x", "Zoë", "canary\ufffd"]), r"one encoding.* row 3"),
        (lambda t: replaced(t, " Sur-Name", [b"\xff", b"canary", b"x"]), "bytes"),
        (lambda t: t.append_column("SURNAME", t[" Sur-Name"]), None),
        (lambda t: t.append_column("Sur name", t[" Sur-Name"]), "several headers"),
    ],
)
def test_what_is_refused(tmp_path, table, said):
    tables = {"one": table(one()), "two": two()}
    if said is None:
        opened(tmp_path, tables).close()
        return
    with pytest.raises(InputError, match=said) as caught:
        opened(tmp_path, tables)
    assert "canary" not in str(caught.value)
    assert list(tmp_path.rglob("*.parquet")) == []


def test_one_value_throughout_is_refused(tmp_path):
    tables = {
        "one": replaced(one(), " Sur-Name", ["x", "x", None]),
        "two": replaced(two(), "family", ["x", "x"]),
    }
    with pytest.raises(InputError, match="one value throughout"):
        opened(tmp_path, tables)


def test_letters_of_other_languages_are_no_wrong_encoding(tmp_path):
    table = replaced(one(), " Sur-Name", ["Ångström", "Ãnderson–Čapek", "名"])
    opened(tmp_path, {"one": table, "two": two()}).close()


@pytest.mark.parametrize(
    ("fields", "tables", "said"),
    [
        ({"mode": "dedupe-only"}, {"one": 1, "two": 2}, "must have one table; found 2"),
        ({}, {"one": 1}, "two tables at least"),
        ({"one_per_source": ["three"]}, {"one": 1, "two": 2}, "one_per_source must name sources"),
    ],
)
def test_sources_that_do_not_fit_the_specification(tmp_path, fields, tables, said):
    with pytest.raises(InputError, match=said):
        open_sources(tables, spec_with(**fields), folder=tmp_path)
