"""Tables of databases, in and out; what they say holds no password and no value."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from new_databases import KINDS, at, new_database

import sfumato as sf
from sfumato.core.declaration import is_database
from sfumato.table.databases import DatabaseTable, open_database, write_database
from sfumato.table.table_files import open_source, write_table

pytest.importorskip("adbc_driver_sqlite")
SECRET = "Pa55kanarie"
VISITS = pa.table(
    {
        "pid": [f"p{n // 2}" for n in range(40)],
        "age": pa.array([20 + n % 30 for n in range(40)], pa.int32()),
        "seen on": [dt.date(2020, 1, 1 + n % 28) for n in range(40)],
        "dx": [None, "flu", "ü", "gout"] * 10,
        "price": [1.5, None] * 20,
    }
)
SCHEMA = sf.Schema(
    person="pid", quasi_identifiers={"age": "numeric"}, sensitive="dx",
    insensitive=["seen on", "price"], recipe={"dx": {"case": "upper"}},
)  # fmt: skip


@pytest.fixture(params=KINDS)
def base(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database."""
    return new_database(request.param, tmp_path)


def test_a_table_comes_back_and_is_released_into_another(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_database(VISITS, at(base, "visits"))
    source = open_source(at(base, "visits"))
    found = pa.Table.from_batches(source.batches(["dx", "age", "seen on"])).to_pydict()
    assert found["dx"] == VISITS["dx"].to_pylist()
    assert [str(day) for day in found["seen on"]] == [str(d) for d in VISITS["seen on"].to_pylist()]
    release = sf.anonymize(at(base, "visits"), SCHEMA, sf.PidKAnonymity(5), seed=1)
    here = sf.anonymize(VISITS, SCHEMA, sf.PidKAnonymity(5), seed=1)
    # Order and pseudonyms are of the file, so that the places of maxima differ.
    alike = [each.risk.to_json() | {"positions": None} for each in (release, here)]
    assert alike[0] == alike[1]
    written = release.write(at(base, "released"))
    again = open_source(at(base, "released"))
    rows = pa.Table.from_batches(again.batches(again.names))
    assert rows["age"].to_pylist() == release.table["age"].to_pylist()
    assert set(rows["dx"].to_pylist()) == {None, "FLU", "Ü", "GOUT"}
    assert len(written.manifest.output_sha256) == 64
    assert sorted(path.name for path in tmp_path.glob("*.*") if path.suffix != ".db") == [
        "release.toml",
        "released.codebook.md",
    ]
    with pytest.raises(sf.InputError, match=r"must be a new one; found a table of that name"):
        release.write(at(base, "released"), tmp_path / "other.toml")
    assert not (tmp_path / "other.toml").exists()


def test_what_is_not_there(base: str, tmp_path: Path) -> None:
    write_database(VISITS, at(base, "visits"))
    with pytest.raises(sf.InputError, match="table nobody of the database must be a table that"):
        open_database(at(base, "nobody"))
    with pytest.raises(sf.InputError, match="must be a column of"):
        list(open_database(at(base, "visits")).batches(["Robert'); DROP TABLE visits;--"]))


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/base?table=v",
        f"postgresql://me:{SECRET}@127.0.0.1:1/base",
        f"postgresql://me:{SECRET}@[bad/base?table=v",
        f"sqlite:///{SECRET}/nowhere.db?table=v",
        "sqlite:///?table=v",
    ],
)
def test_no_message_holds_a_password_or_a_path(url: str) -> None:
    assert is_database(url)
    for asked in (open_source, lambda each: write_database(VISITS, each)):
        with pytest.raises(sf.InputError) as found:
            asked(url)
        assert SECRET not in str(found.value)
        assert found.value.__suppress_context__ or found.value.__cause__ is None
    if "[" not in url and url.count("table") and "/?" not in url:
        assert SECRET not in repr(DatabaseTable.of(url))


def test_a_url_in_the_place_of_a_path_is_not_told(tmp_path: Path) -> None:
    url = Path(f"postgresql://me:{SECRET}@host?table=v")
    for asked in (open_source, lambda each: write_table(VISITS, each)):
        with pytest.raises(sf.InputError, match="the URL of a database must stand where") as found:
            asked(url)
        assert SECRET not in str(found.value)
    with pytest.raises(sf.InputError, match="the URL of a database must stand where"):
        sf.assess(str(url), SCHEMA, engine="spark")


def test_texts_of_sqlite_that_are_no_numbers_are_told_without_values(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "mixed.db")) as connection, connection:
        connection.execute("create table t (a)")
        connection.executemany("insert into t values (?)", [(1,), ("kanarienvogel",)])
    source = open_database(f"sqlite:///{tmp_path}/mixed.db?table=t")
    found = [batch.column(0).to_pylist() for batch in source.batches(["a"])]
    assert found == [["1", "kanarienvogel"]]
